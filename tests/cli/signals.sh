# SPDX-License-Identifier: Apache-2.0
# Interrupted, hung up, killed, or with nobody to write to: the job never outlives the command.
. "$JIANMU_SOURCE/tests/cli/common.sh" || exit 1

cat >family.py <<'PY'
import os, subprocess, sys, time
child = subprocess.Popen(["sleep", "300"], start_new_session=True)
print(os.getpid(), child.pid, os.getppid(), os.getcwd(), flush=True)
open("kept", "w").write("x")
time.sleep(300)
PY

# begin ARG...: starts family.py, waits until its processes are seen alive.
begin() {
    rm -f said
    start job family.py "$@" >said 2>said.err
    wait_for 30 has_line said || bail "the job does not start: $(<said.err)"
    read -r job child reaper work <said
    if ! alive "$job" || ! alive "$child" || ! alive "$reaper" || ! [ -d "$work" ]; then
        bail "its processes were not seen alive"
    fi
}

# over NAME: nothing of it lives on.
over() {
    ok "$1: the job is dead" wait_for 10 dead "$job"
    ok "$1: its escaped child is dead" wait_for 10 dead "$child"
    ok "$1: its directory is gone" wait_for 10 nothing_left
}

while read -r name want; do
    begin --out "out.$name" --events "events.$name"
    kill -s "$name" "$background"
    wait "$background"
    is "$name: status" "$?" "$want"
    over "$name"
    ok "$name: the watcher is gone" wait_for 10 dead "$reaper"
    is "$name: what the job left is kept" "$(cat "out.$name/kept")" x
    is "$name: the events end" "$(python3 -c '
import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line)
    if e["event"] != "execution.decision":
        print(e["event"], e["payload"].get("reason"))' "events.$name")" $'execution.started None\nexecution.failed cancelled'
    like "$name: a sentence" "$(<said.err)" 'cancelled'
done <<'SIGNALS'
INT 130
TERM 143
HUP 129
SIGNALS

begin
kill -s KILL "$background"
wait "$background" 2>/dev/null
is "KILL: status" "$?" 137
over "KILL"
ok "KILL: the watcher is gone" wait_for 10 dead "$reaper"

# a tool that does not look at its time: the first signal lets the caller go on
cat >stubborn.c <<'C'
#include <jianmu-plugin.h>
#include <unistd.h>
static json_t *run(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self, (void)ctx, (void)args;
    write(2, "stubborn\n", 9);
    for (;;)
        pause();
}
JIANMU_TOOL(stubborn, run, JIANMU_DANGER_READ, 0, "Never returns.", "{\"type\": \"object\"}")
JIANMU_PLUGIN(JIANMU_ITEM(stubborn))
C
mkdir -p -m 755 more/tools
cc=$(sed -n 's/^CC = //p' "$JIANMU_BUILD/Makefile")
# shellcheck disable=SC2046 # words are wanted
if $cc -shared -fPIC -I"$JIANMU_SOURCE/libjianmu" $(pkg-config --cflags jansson) stubborn.c -o more/tools/stubborn.so \
    2>/dev/null && chmod 755 more/tools/stubborn.so; then
    start run stubborn --plugin-dir more --timeout 300s 2>said.err
    ok "a tool that never returns has begun" wait_for 30 grep -q stubborn said.err
    kill -s INT "$background"
    wait "$background"
    is "one INT ends it: the call is abandoned" "$?" 130
    start run stubborn --plugin-dir more 2>said.err
    ok "without a timeout it runs on the caller's thread" wait_for 30 grep -q stubborn said.err
    kill -s INT "$background"
    sleep 0.3
    kill -s INT "$background"
    wait "$background"
    is "a second INT ends the command at once" "$?" 130
else
    skip "one INT ends a tool that never returns" "no compiler here"
    skip "a second INT ends the command at once" "no compiler here"
fi

echo 'import time; print("up", flush=True); time.sleep(2); print("done")' >patient.py
python3 -c '
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$jianmu" job patient.py >nohup.out &
background=$!
ok "a job under nohup has begun" wait_for 30 grep -qs up nohup.out
kill -s HUP "$background"
wait "$background"
is "a signal that is ignored stays ignored" "$? $(tail -n 1 nohup.out)" "0 done"

# ---- nobody to write to ----
cat >endless.py <<'PY'
import os, sys
sys.stderr.write("%d %s\n" % (os.getpid(), os.getcwd()))
sys.stderr.flush()
while True:
    print("x" * 1000)
PY
set -o pipefail
timeout 60 python3 -c '
import os, signal, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$jianmu" job endless.py 2>said.err | head -c 10 >head.out
status=("${PIPESTATUS[@]}")
set +o pipefail
is "a closed pipe: ends by SIGPIPE" "${status[0]}" 141
is "a closed pipe: what was read is right" "$(<head.out)" xxxxxxxxxx
read -r job work <said.err
isnt "a closed pipe: the job has run" "$job" ""
ok "a closed pipe: the job is dead" dead "$job"
not_ok "a closed pipe: its directory is gone" test -e "$work"
timeout 60 python3 -c '
import os, signal, sys
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$jianmu" job endless.py 2>said.err | head -c 10 >head.out
status=("${PIPESTATUS[@]}")
is "a closed pipe where SIGPIPE is ignored: status" "${status[0]}" 125
like "a closed pipe where SIGPIPE is ignored: message" "$(tail -n 1 said.err)" '^jianmu: standard output: Broken pipe'
read -r job work <said.err
ok "a closed pipe where SIGPIPE is ignored: the job is dead" dead "$job"

if [ -c /dev/full ]; then
    timeout 60 "$jianmu" job endless.py >/dev/full 2>said.err
    is "a full standard output: status" "$?" 125
    like "a full standard output: message" "$(tail -n 1 said.err)" '^jianmu: standard output: No space left'
    read -r job work <said.err
    ok "a full standard output: the job is dead" dead "$job"
    for command in tools 'tools --json' backends plugins 'explain job' 'explain --keys' --help --version doctor \
        'run list_dir --args {"path":"."} --workspace .' 'run list_dir --args {"path":"."} --workspace . --json'; do
        # shellcheck disable=SC2086 # words are wanted
        "$jianmu" $command >/dev/full 2>said.err
        is "a full standard output: jianmu $command" "$? $(grep -c 'standard output: No space left' said.err)" "125 1"
    done
else
    skip "a full standard output" "no /dev/full"
fi
timeout 60 "$jianmu" job endless.py >&- 2>said.err
is "a closed standard output: status" "$?" 125
like "a closed standard output: message" "$(tail -n 1 said.err)" '^jianmu: standard output: Bad file descriptor'
"$jianmu" tools >&- 2>said.err
is "a closed standard output: a list" "$? $(<said.err)" "125 jianmu: standard output: Bad file descriptor"
echo 'open("f", "w").write("quiet")' >quiet.py
"$jianmu" job quiet.py --out quiet >&- 2>&- <&-
is "a job that says nothing needs no descriptor" "$? $(<quiet/f)" "0 quiet"
"$jianmu" job <(echo 'import sys; print(repr(sys.stdin.read()))') >said <&-
is "a closed standard input is an empty one" "$? $(<said)" "0 ''"
"$jianmu" run list_dir --args - <&- 2>said.err
is "arguments from a closed standard input" "$? $(<said.err)" "125 jianmu: --args: standard input: Bad file descriptor"
"$jianmu" nonsense 2>&- >said
is "a closed standard error" "$? $(<said)" "2 "
ok "nothing is left at the end" nothing_left
tap_done
