# SPDX-License-Identifier: Apache-2.0
# jianmu run, its arguments and what it prints; events; gc.
. "$JIANMU_SOURCE/tests/cli/common.sh" || exit 1

code='{"code": "print(6 * 7)"}'
cli run run_python --yes --timeout 60 --args "$code"
is "arguments as text" "$status $out" "0 42"
echo "$code" >args.json
cli run run_python --yes --timeout 60 --args @args.json
is "arguments in a file" "$status $out" "0 42"
is "arguments on standard input" "$("$jianmu" run run_python --yes --timeout 60 --args - <args.json)" 42
cli run run_python --yes --timeout 60 --args '"{\"code\": \"print(6 * 7)\"}"'
is "arguments as a string with JSON in it" "$status $out" "0 42"
cli run run_python --yes --args '"[1]"'
like "which holds an object" "$status $err" '^125 jianmu: --args: must be a JSON object'
cli --args=x run run_python
is "an own option before the command" "$status" 2
mkdir data
printf 'a\nb' >data/f.txt
cli run read_file --workspace data --args '{"path": "f.txt"}'
is "anything but a string is compact JSON" "$out" '{"content":"a\nb","offset":0,"size":3}'
"$jianmu" run run_python --yes --timeout 60 --args '{"code": "print(chr(228) + chr(10) + chr(0x5efa))"}' >raw
is "a string is raw, with one newline" "$(od -An -tx1 raw)" " c3 a4 0a e5 bb ba 0a"
cli run list_dir --workspace data
is "no arguments are an empty object" "$status $(member 'it["entries"][0]["name"]')" "0 f.txt"
cli run run_python --yes --timeout 60 --args "$code" --json
is "--json is one object" "$(member '[it["reason"], it["value"], it["exit_code"]]')" '["exited", "42", 0]'
is "on one line" "$(printf '%s\n' "$out" | wc -l)" 1
cli run write_file --workspace data --args '{"path": "g.txt", "content": "x"}'
is "a workspace is read-only" "$status $(ls data)" "1 f.txt"
cli run write_file --workspace data:rw --args '{"path": "g.txt", "content": "x"}'
is "unless it is rw" "$status $(<data/g.txt)" "0 x"
cli run run_python --yes --timeout 60 --args '{"code": "print(\"x\" * 5000)"}' --max-output 300
is "text is cut to --max-output characters" "${#out}" 300
like "and the rest is counted on standard error" "$err" '^jianmu: 4700 characters'
cli job <(echo 'print(1)') --constraints '{"scope": "tools", "timeout_s": 5}'
like "constraints out of scope are passed over, and it is said" "$status $out $err" '^0 1 jianmu: .*scope'
cli job <(echo 'print(1)') --constraints '{"scope": "tools", "mode": "nosuch"}'
like "so is a mode out of scope" "$status $out $err" '^0 1 jianmu: mode: not heeded, .*"tools" has no jobs'
cli run run_python --yes --timeout 60 --args '{"code": "print(2)"}' --constraints '{"execution": {"scope": "skill", "mode": "nosuch"}}'
like "for tools, too" "$status $out $err" '^0 2 jianmu: mode: not heeded, .*"skill" has no tool calls'
cli job <(echo 'print(1)') --constraints '{"scope": "skill", "mode": "nosuch"}'
is "in scope it counts" "$status" 125
cli explain job --constraints '{"scope": "tools", "timeout_s": 5}' --json
is "in the plan too" "$(member '[it["settings"]["timeout_s"]["value"], it["notice"] is None]')" '[null, false]'
cli explain run_python --constraints '{"scope": "tools", "timeout_s": 5}' --json
is "in scope they hold" "$(member 'it["settings"]["timeout_s"]["value"]')" 5.0

# ---- events ----
events() {
    python3 - "$1" <<'PY'
import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line)
    p = e["payload"]
    assert set(e) == {"event", "time", "run_id", "node_name", "tool_call_id", "payload"}, e
    assert e["run_id"] is None and line.endswith("\n"), e
    print(e["event"], p["backend"], p["tool"], p.get("verdict", p.get("reason", p.get("code", "-"))))
PY
}
cli run run_python --yes --timeout 60 --args "$code" --events ev
is "a call: started, completed" "$(events ev)" \
    $'execution.started local run_python -\nexecution.decision local run_python confirm\nexecution.completed local run_python exited'
is "the file is the owner's alone" "$(stat -c %a ev)" 600
cli job <(echo 'print(1)') --events ev
is "a second call is appended" "$(events ev | tail -n 3)" \
    $'execution.started local job -\nexecution.decision local job confirm\nexecution.completed local job exited'
cli run run_python --yes --timeout 300ms --args '{"code": "while True: pass"}' --events ev2
is "a timeout: failed" "$(events ev2)" \
    $'execution.started local run_python -\nexecution.decision local run_python confirm\nexecution.failed local run_python timeout'
is "its payload" "$(python3 -c '
import json, sys
p = json.loads(open("ev2").readlines()[-1])["payload"]
print(p["error"], p["timeout_s"])')" "tool_timeout: timed out after 0.3s 0.3"
cli job <(echo 'print(1)') --network none --events ev3
is "a refused call: started, failed" "$(events ev3)" \
    $'execution.started local job -\nexecution.decision local job confirm\nexecution.failed local job unsupported'
is "its sentence is the one on standard error" "jianmu: $(python3 -c '
import json
print(json.loads(open("ev3").readlines()[-1])["payload"]["error"])')" "$err"
cli job <(echo 'print(1)') --events /nonexistent/x
is "a file for events that cannot be opened" "$status $out $err" \
    "125  jianmu: --events: sink 'jsonl' could not be opened: /nonexistent/x: No such file or directory"
if [ -c /dev/full ]; then
    cli job <(echo 'print(1)') --events /dev/full
    is "events that cannot be written break no call" "$status $out" "0 1"
    is "but it is said, once" "$err" "jianmu: events: 3 events were lost (jsonl)"
else
    skip "events that cannot be written break no call" "no /dev/full"
fi
for i in 1 2 3 4; do
    "$jianmu" job <(echo 'print(1)') --events shared >/dev/null &
done
wait
is "several writers share a file, lines stay whole" "$(events shared | sort | uniq -c | tr -s ' ')" \
    $' 4 execution.completed local job exited\n 4 execution.decision local job confirm\n 4 execution.started local job -'

# ---- gc ----
cli gc
is "nothing to remove" "$status $out" "0 "
mkdir -m 700 "$jobs/jianmu_local_job_aaaaaaaaaaaaaaaa" "$jobs/jianmu_local_job_aaaaaaaaaaaaaaaa/work" "$jobs/other"
touch "$jobs/jianmu_local_job_aaaaaaaaaaaaaaaa/work/f"
start job <(echo 'import os, time; print(os.getcwd(), flush=True); time.sleep(300)') >said 2>/dev/null
ok "a job runs" wait_for 30 has_line said
cli gc
is "a dead one's directory is removed and printed" "$status $out" "0 $jobs/jianmu_local_job_aaaaaaaaaaaaaaaa"
ok "a living one's is not" test -d "$(<said)"
ok "nor is what is not ours" test -d "$jobs/other"
rmdir "$jobs/other"
mkdir -m 700 "$jobs/jianmu_local_job_bbbbbbbbbbbbbbbb"
cli gc --json
is "gc --json" "$(member 'it')" "{\"removed\": [\"$jobs/jianmu_local_job_bbbbbbbbbbbbbbbb\"]}"
kill "$background"
wait "$background"
ok "nothing is left at the end" wait_for 10 nothing_left
tap_done
