# SPDX-License-Identifier: Apache-2.0
# Every kind of bad value: the right status, nothing on standard output, a sentence that names the thing and the value,
# and nothing left behind.
. "$JIANMU_SOURCE/tests/cli/common.sh" || exit 1
echo 'open("ran", "w").write("x"); print("ran")' >job.py

# ---- constraints, as options and as JSON ----
while read -r option value pattern; do
    refused "--$option=$value" 125 "$pattern" job job.py "--$option=$value"
done <<'ROWS'
timeout 0 timeout_s.*"0"
timeout -1 timeout_s.*"-1"
timeout nan timeout_s.*"nan"
timeout inf timeout_s.*"inf"
timeout 1e999 timeout_s.*"1e999"
timeout 99999999999h timeout_s.*99999999999h
timeout 5x timeout_s.*"5x"
timeout 1m30 timeout_s.*"1m30"
timeout s timeout_s.*"s"
timeout 0x10 timeout_s.*"0x10"
timeout 1,5s timeout_s.*"1,5s"
cpu-time 0s cpu_time_s.*"0s"
memory 0 memory.*"0"
memory -1m memory.*"-1m"
memory 512mb memory.*"512mb"
memory 9999999999999999999999g memory.*9999999999999999999999g
memory 1e3 memory.*"1e3"
cpus 0 cpus.*"0"
cpus nan cpus.*"nan"
cpus two cpus.*"two"
pids 0 pids.*"0"
pids 1.5 pids.*"1.5"
nofile -3 nofile.*"-3"
fsize 0 fsize.*"0"
disk x disk.*"x"
output-limit 0k output_limit.*"0k"
max-output 0 max_output.*"0"
capture -1 capture.*"-1"
network -v=/:/h network.*"-v=/:/h"
image --privileged docker_image.*"--privileged"
mode nativ unknown.mode.*"nativ".*local
mode ../evil mode.*"../evil"
ROWS
for value in '' ' ' '1 s' ' 1s' '1s '; do
    refused "--timeout '$value'" 125 "timeout_s.*\"$value\"" job job.py "--timeout=$value"
done
refused "--timeout with a newline" 125 'timeout_s' job job.py --timeout $'1\n2'
refused "--mode with nothing" 125 'mode: "" is empty' job job.py --mode=
cli job job.py --mode=' LOCAL '
is "a mode is normalised" "$status $out" "0 ran"
refused "a mode of a backend that is not there" 125 'unknown mode "docker"; available: .*local' job job.py --mode \
    'docker '
refused "a mode with blanks in it is another" 125 'unknown mode "docker x"' job job.py --mode 'docker x'
while IFS='|' read -r json pattern; do
    refused "--constraints $json" 125 "$pattern" job job.py --constraints "$json"
done <<'ROWS'
{"tiemout_s": 3}|unknown field "tiemout_s".*did you mean "timeout_s"
{"timeout_s": true}|timeout_s: true
{"timeout_s": [3]}|timeout_s: a list
{"timeout_s": {}}|timeout_s: a mapping
{"timeout_s": 0}|timeout_s: 0
{"timeout_s": -2.5}|timeout_s: -2.5
{"timeout_s": 1e400}|--constraints: bad JSON.*1e400|real number overflow
{"memory": 0.5}|memory: 0.5
{"memory": 99999999999999999999}|--constraints: bad JSON.*integer|too big
{"network": 3}|network: 3
{"tmpfs_noexec": "maybe"}|tmpfs_noexec: "maybe"
{"scope": "everything"}|scope: "everything"
{"mode": null, "mode": "local"}|bad JSON: duplicate object key
{"env": {"A=B": "x"}}|env: "A=B"
{"env": {"A": 3}}|env: "A"
{"env": {"": "x"}}|env: ""
{"env": ["A"]}|env: a list
{"execution": 3}|execution: 3
{"execution": {"timeout": 3}}|unknown field "timeout"
[]|must be a JSON object
3|must be a JSON object
{|bad JSON: .*line 1, column 1
{"mode": "local\u0000docker"}|mode.*NUL
ROWS
refused "--constraints with nothing" 125 'bad JSON' job job.py --constraints ''
refused "--constraints of a missing file" 125 '--constraints: nothing.json: No such file' job job.py --constraints \
    @nothing.json
secret='{"env": {"TOKEN": ["hunter2"]}}'
cli job job.py --constraints "$secret"
unlike "a complaint about the environment does not show its value" "$err" hunter2
refused "--plugin-dir that is empty" 125 'plug-in directory: ""' job job.py --plugin-dir ''
refused "a workspace that is not there" 125 'workspace.*/nonexistent' run list_dir --args '{"path": "."}' --workspace \
    /nonexistent
refused "--args that is no object" 125 '--args: must be a JSON object' run list_dir --args '[]'
refused "--args of a missing file" 125 '--args: nothing.json: No such file' run list_dir --args @nothing.json
refused "--args with a key twice" 125 '--args: bad JSON: duplicate' run list_dir --args '{"path": ".", "path": "/"}'

# ---- the configuration file: file, line and column ----
n=0
while IFS='|' read -r text pattern; do
    n=$((n + 1))
    printf -- "$text" >"c$n.yaml"
    refused "yaml: $text" 125 "c$n\.yaml:$pattern" job job.py --config "c$n.yaml"
done <<'ROWS'
execution:\n  timeuot_s: 3\n|2:3: unknown key "timeuot_s" in execution; did you mean "timeout_s"
exection:\n  timeout_s: 3\n|1:1: unknown key "exection"; did you mean "execution"
execution:\n  timeout_s: soon\n|2:14: execution.timeout_s: "soon"
execution:\n  timeout_s: 0\n|2:14: execution.timeout_s: 0
execution:\n  timeout_s: -1s\n|2:14: execution.timeout_s: "-1s"
execution:\n  timeout_s: .inf\n|2:14: .*inf
execution:\n  max_retries: 3.5\n|2:16: execution.max_retries: 3.5
execution:\n  max_retries: many\n|2:16: execution.max_retries: "many"
execution:\n  tool_args_max: 131055\n|2:18: execution.tool_args_max: 131055
execution:\n  docker:\n    reuse_container: yes\n|3:22: .*"yes".*true, false
execution:\n  docker:\n    env_allowprefix: [""]\n|3:[0-9]+: .*"" is empty
execution:\n  docker:\n    imgae: x\n|3:5: unknown key "imgae" in execution.docker.*plug-in
execution:\n  native:\n    x: 1\n|2:3: unknown key "native".*backend
execution: 3\n|1:12: execution must be a mapping
execution:\n  timeout_s: 1\n  timeout_s: 2\n|3:3: .*timeout_s
execution: {timeout_s: 1\n|[0-9]+:[0-9]+: 
execution:\n\ttimeout_s: 1\n|2:1: 
a: &x [1]\nb: *x\n|[0-9]+:[0-9]+: 
guard:\n  x: 1\n|2:3: unknown key "x" in guard
tools:\n  run_pyton:\n    timeout_s: 3\n|2:3: .*run_pyton
tools:\n  run_python:\n    timeout: 3\n|3:5: unknown key "timeout".*"timeout_s"
plugins:\n  path: [relative]\n|2:[0-9]+: .*"relative" is not an absolute path
--- a\n--- b\n|[0-9]+:[0-9]+: 
\xff\n|[0-9]+:[0-9]+: 
ROWS
python3 -c 'print("[" * 5000 + "]" * 5000)' >deep.yaml
refused "yaml that is too deep" 125 'deep.yaml:[0-9]+:[0-9]+: ' job job.py --config deep.yaml
python3 -c 'print("#" * 2000000)' >large.yaml
refused "yaml that is too large" 125 'large.yaml' job job.py --config large.yaml
refused "a missing file" 125 'nothing.yaml: No such file' job job.py --config nothing.yaml
refused "a directory" 125 '\.' job job.py --config .
JIANMU_CONFIG=$here/nothing.yaml refused "a missing file named by the environment" 125 \
    'JIANMU_CONFIG.*nothing.yaml: No such file' job job.py
JIANMU_PLUGIN_PATH=relative refused "a relative path in the environment" 125 'JIANMU_PLUGIN_PATH.*"relative"' job job.py
JIANMU_TOOL_ARGS_MAX=many refused "a wrong number in the environment" 125 'JIANMU_TOOL_ARGS_MAX.*"many"' job job.py
for text in 'plugins: {path: [/x]}' 'tools: {run_python: {timeout_s: 3}}' 'execution: {local: {python: /bin/true}}' \
    'execution: {local: {env_allowlist: [SECRET]}}' 'execution: {docker: {env_allowprefix: [A]}}'; do
    echo "$text" >jianmu.yaml
    refused "found in the current directory: $text" 125 'jianmu.yaml:1:[0-9]+: .*--config' job job.py
done
echo 'execution: {timeout_s: 7}' >jianmu.yaml
cli explain job --json
is "found in the current directory: a limit" "$(member 'it["settings"]["timeout_s"]["source"]')" "jianmu.yaml:1"
rm jianmu.yaml

# ---- what a job is given ----
while IFS='|' read -r rel pattern; do
    refused "--input job.py=$rel" 125 "$pattern" job job.py --input "job.py=$rel"
done <<'ROWS'
/abs|"?'?/abs
../up|\.\./up
a/../b|a/\.\./b
..|\.\.
main.py|main\.py
./main.py|main\.py
a/|a/
ROWS
refused "an input twice" 125 'x.*before' job job.py --input job.py=x --input job.py=./x
refused "a missing input" 125 '--input nothing: No such file' job job.py --input nothing
refused "an input name that is too long" 125 'aaaa' job job.py --input "job.py=$(printf 'a%.0s' {1..300})"
not_ok "no job ever ran here" test -e ran
ok "nothing is left" nothing_left

# ---- what a tool is given ----
cli run run_python --args '{"cod": "1"}'
isnt "a wrong argument of a tool is no success" "$status" 0
is "and prints nothing as its result" "$(printf '%s' "$out" | grep -vc error)" 0
like "and the sentence names it" "$err" 'cod'
tap_done
