# SPDX-License-Identifier: Apache-2.0
# Odd places, variables, masks and file systems: a job and a tool call work there, or the sentence says why not.
. "$JIANMU_SOURCE/tests/cli/common.sh" || exit 1

cat >$tap_tmp/job.py <<'PY'
import os
open("kept", "w").write("x")
print(1.5, os.path.exists(os.environ["HOME"]), os.path.exists(os.environ["TMPDIR"]))
PY
job=$tap_tmp/job.py
n=0
results() { # a new name outside the current directory
    n=$((n + 1))
    kept=$tap_tmp/out$n
}

# works NAME COMMAND...: what starts jianmu is run with its arguments behind it.
works() {
    local name=$1
    shift
    results
    status=0
    out=$("$@" job "$job" --out "$kept" --timeout 60.5s 2>"$tap_tmp/stderr") || status=$?
    is "$name: a job" "$status $out $(cat "$kept/kept" 2>&1)" "0 1.5 True True x"
    status=0
    out=$("$@" run run_python --yes --timeout 60.5s --args '{"code": "print(1.5)"}' 2>"$tap_tmp/stderr") || status=$?
    is "$name: a tool" "$status $out" "0 1.5"
    out=$("$@" explain job --timeout 60.5 --json 2>/dev/null)
    is "$name: a plan" "$(member 'it["settings"]["timeout_s"]["value"]')" 60.5
}

inside() { # DIR COMMAND...
    (cd "$1" && shift && "$@")
}

works "as it is" "$jianmu"
for variable in HOME USER TERM LANG TMPDIR SHELL LOGNAME; do
    works "$variable unset" env -u "$variable" "$jianmu"
done
works "an empty environment" env -i LD_LIBRARY_PATH="$LD_LIBRARY_PATH" JIANMU_PLUGIN_PATH="$plugins" TMPDIR="$jobs" \
    "$jianmu"
works "LC_ALL=C" env LC_ALL=C "$jianmu"
works "a locale that is not there" env LC_ALL=xx_XX.UTF-8 "$jianmu"
for locale in $(locale -a 2>/dev/null | grep -i '^\(tr_TR\|de_DE\|fr_FR\)\.utf-\?8$'); do
    works "LC_ALL=$locale" env LC_ALL="$locale" "$jianmu"
done
works "TZ=:/etc/shadow" env TZ=:/etc/shadow "$jianmu"
works "HOME that is not there" env HOME=/nonexistent "$jianmu"
works "HOME that is relative" env HOME=. "$jianmu"
works "PATH empty" env PATH= "$jianmu"
works "many descriptors" bash -c 'for i in {20..200}; do eval "exec $i</dev/null"; done; exec "$0" "$@"' "$jianmu"
works "few descriptors" bash -c 'ulimit -n 24; exec "$0" "$@"' "$jianmu"
works "no core, small stack" bash -c 'ulimit -c 0 -s 256; exec "$0" "$@"' "$jianmu"

for mask in 0777 0000 0177; do
    results
    status=0
    out=$(umask $mask && "$jianmu" job "$job" 2>/dev/null) || status=$?
    is "umask $mask: a job" "$status $out" "0 1.5 True True"
done
out=$(umask 0777 && "$jianmu" job - <<<'import os; print(oct(os.umask(0)))')
is "a job has an ordinary umask" "$out" 0o22
# shellcheck disable=SC2016 # the inner shell's
works "the current directory is gone" bash -c \
    'mkdir "$TMPDIR/gone" && cd "$TMPDIR/gone" && rmdir "$TMPDIR/gone" && exec "$0" "$@"' "$jianmu"
mkdir gone
status=0
(cd gone && rmdir ../gone && exec "$jianmu" tools --plugin-dir x >../out 2>"$tap_tmp/stderr") || status=$?
is "a relative plug-in directory where the current one is gone" "$status $(cat out) $(<"$tap_tmp/stderr")" \
    "125  jianmu: --plugin-dir x: the current directory is unknown: No such file or directory"
mkdir closed
# shellcheck disable=SC2016
works "the current directory cannot be read" weak bash -c \
    'chmod 700 closed && cd closed && chmod 0 . && exec "$0" "$@"' "$jianmu"
chmod 700 closed
deep=$here
for _ in {1..30}; do deep=$deep/$(printf 'd%.0s' {1..100}); done
mkdir -p "$deep"
works "a very long current directory" inside "$deep" "$jianmu"
long=$jobs/$(printf 't%.0s' {1..200})
mkdir -p "$long"
works "a long TMPDIR" env TMPDIR="$long" "$jianmu"
works "TMPDIR that is not there" env TMPDIR=/nonexistent "$jianmu"
works "TMPDIR that is relative" env TMPDIR=. "$jianmu"
works "TMPDIR that is a file" env TMPDIR="$job" "$jianmu"
mkdir shared
chmod 777 shared
works "TMPDIR that others can write to, not sticky" env TMPDIR="$here/shared" "$jianmu"
is "is passed over" "$(ls -A shared)" ""
rmdir "$long" shared

can_mount || skipping "no mount namespace"
in_mounts 'mount -t tmpfs -o noexec none "$TMPDIR" && "$jianmu" job "$tap_tmp/job.py" && ls -A "$TMPDIR"'
is "TMPDIR noexec: a script runs, nothing is left" "$status $out" "0 1.5 True True"
in_mounts 'mount -t tmpfs -o ro none "$TMPDIR" && exec "$jianmu" job "$tap_tmp/job.py"'
is "TMPDIR read-only: another place is taken" "$status $out" "0 1.5 True True"
in_mounts 'mount -t tmpfs -o size=4k,nr_inodes=4 none "$TMPDIR" && exec "$jianmu" job "$tap_tmp/job.py"'
is "TMPDIR full: another place is taken, or the sentence says so" "$status ${out:-$(grep -c "work \
    directory" <<<"$err")}" \
    "$([ "$status" -eq 0 ] && echo '0 1.5 True True' || echo '125 1')"
in_mounts 'mount -t tmpfs -o size=64k none "$TMPDIR"
    "$jianmu" job - <<<"
import os
try:
    open(\"big\", \"wb\").write(b\"x\" * 1000000)
except OSError as e:
    print(e.strerror)"; ls -A "$TMPDIR"'
is "TMPDIR fills up while a job runs: it sees that, nothing is left" "$status $out" "0 No space left on device"
in_mounts 'mount -t tmpfs -o ro none "$TMPDIR" && mount -t tmpfs -o ro none /dev/shm &&
    printf "execution: {local: {workdir: \"%s\"}}\n" "$TMPDIR" >c.yaml &&
    exec "$jianmu" job "$tap_tmp/job.py" --config c.yaml'
is "a read-only execution.local.workdir: status" "$status $out" "125 "
like "a read-only execution.local.workdir: sentence" "$err" "work directory.*$jobs.*Read-only file system"
in_mounts 'umount -l /proc; exec "$jianmu" job "$tap_tmp/job.py"'
# a leak checker that cannot look into /proc has the last word about the status
[[ $err != *"LeakSanitizer has encountered a fatal error"* ]] || status=125
is "no /proc: refused, not run weaker" "$status $out" "125 "
like "no /proc: sentence" "$err" '/proc is not mounted'
in_mounts 'mount -t tmpfs -o noexec none /dev/shm; mount -t proc -o hidepid=2 proc /proc &&
    exec "$jianmu" job "$tap_tmp/job.py"'
is "/proc with hidepid=2" "$status $out" "0 1.5 True True"
mkdir full
in_mounts 'mount -t tmpfs -o size=4k none full; exec "$jianmu" job - --out full <<<"
open(\"big\", \"wb\").write(b\"x\" * 100000)"; ls -A full'
is "--out without space: status" "$status" 125
like "--out without space: sentence" "$err" 'full/big: No space left on device'
skipping
ok "nothing is left at the end" nothing_left
tap_done
