# SPDX-License-Identifier: Apache-2.0
# What the tests of the command line share: the built program, its plug-ins, a place for its jobs.
# shellcheck shell=bash
. "$JIANMU_SOURCE/tests/tap.sh" || exit 1

# The program itself, not libtool's script around it: some tests leave it no shell to run with.
jianmu=$JIANMU_BUILD/cli/.libs/jianmu
[ -x "$jianmu" ] || jianmu=$JIANMU_BUILD/cli/jianmu
export LD_LIBRARY_PATH=$JIANMU_BUILD/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
[ -x "$jianmu" ] || bail "$jianmu is not built"
run_under jianmu

plugins=$tap_tmp/plugins
bash "$JIANMU_SOURCE/tests/plugin-dir.sh" "$plugins" "$JIANMU_BUILD" || bail 'no plug-in directory'
export JIANMU_PLUGIN_PATH=$plugins

jobs=$tap_tmp/jobs
mkdir "$jobs"
export TMPDIR=$jobs
here=$tap_tmp/here
mkdir "$here"
cd "$here" || bail 'no current directory'

# cli ARG...: runs it; $status, $out and $err are what came.
cli() {
    status=0
    out=$("$jianmu" "$@" 2>"$tap_tmp/stderr" </dev/null) || status=$?
    err=$(<"$tap_tmp/stderr")
}

# refused NAME STATUS PATTERN ARG...: nothing on standard output, that status, a sentence like that.
refused() {
    local name=$1 want=$2 pattern=$3
    shift 3
    cli "$@"
    if [ "$status" -ne "$want" ]; then
        fail "$name" "status $status, want $want; $err"
    elif [ -n "$out" ]; then
        fail "$name" "this came on standard output: $out"
    elif ! [[ $err =~ $pattern ]]; then
        fail "$name" "got:  $err"$'\n'"want something like: $pattern"
    else
        pass "$name"
    fi
}

# member FILTER: of the JSON in $out, by a Python expression on `it`.
member() {
    printf '%s' "$out" | python3 -c '
import json, sys
it = json.load(sys.stdin)
value = eval(sys.argv[1])
print(value if isinstance(value, str) else json.dumps(value))' "$1"
}

# has_line FILE: its first line is whole; Python writes one in pieces.
has_line() {
    [ -e "$1" ] && [ "$(wc -l <"$1")" -gt 0 ]
}

nothing_left() {
    [ -z "$(ls -A "$jobs")" ]
}

# A program in its own session without this shell's ignored signals; its number is in $background.
start() {
    python3 -c '
import os, signal, sys
for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGPIPE):
    signal.signal(s, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$jianmu" "$@" <&0 & # else the shell gives it /dev/null
    background=$!
}

# A mount namespace of one's own, for real root only: in a user namespace the root directory is nobody's, and what
# lies below it is rightly not trusted.
can_mount() {
    [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null
}

# in_mounts SCRIPT: bash with $jianmu, its own mounts, and our variables; $status, $out and $err as with cli.
# Between "can_mount || skipping REASON" and "skipping": does nothing where there are none.
in_mounts() {
    if [ -n "$tap_skipping" ]; then status=0 out='{"checks": []}' err=; return; fi
    status=0
    out=$(jianmu=$jianmu tap_tmp=$tap_tmp unshare -m --propagation private bash -c "$1" 2>"$tap_tmp/stderr" </dev/null) ||
        status=$?
    err=$(<"$tap_tmp/stderr")
}

# weak COMMAND...: runs it without the right to read and write everything, which root has.
weak() {
    if [ "$(id -u)" -ne 0 ]; then "$@"; else setpriv --bounding-set=-dac_override,-dac_read_search "$@"; fi
}

# on_terminal TYPED COMMAND...: $out is its status and, as a Python literal, what the terminal got.
cat >"$tap_tmp/onpty.py" <<'PY'
# On a terminal of its own: types once it is asked.
import os, pty, select, sys, termios, time
typed, command = sys.argv[1].encode(), sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    attributes = termios.tcgetattr(1)
    attributes[1] &= ~termios.OPOST
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(1, termios.TCSANOW, attributes)
    os.execv(command[0], command)
got = b""
end = time.time() + 60
while time.time() < end:
    if not select.select([fd], [], [], 1)[0]:
        continue
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    got += data
    if typed and (b"ready" in got or b"y or n" in got):
        os.write(fd, typed)
        typed = b""
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status), ascii(got.decode("utf-8", "surrogateescape")))
PY
on_terminal() {
    out=$(python3 "$tap_tmp/onpty.py" "$@" 2>&1)
}
