# SPDX-License-Identifier: Apache-2.0
# Every exit status means one thing, and --json says which where a job's own status looks the same.
. "$JIANMU_SOURCE/tests/cli/common.sh" || exit 1

python() {
    printf '%s\n' "$@" >script.py
}

# job_ends NAME STATUS REASON ARG...: script.py, with and without --json.
job_ends() {
    local name=$1 want=$2 reason=$3
    shift 3
    cli job script.py "$@"
    is "$name: status" "$status" "$want"
    like "$name: a sentence" "$err" 'jianmu: Job |jianmu: ended by signal'
    cli job script.py --json "$@"
    is "$name: status with --json" "$status" "$want"
    is "$name: reason" "$(member 'it["reason"]')" "$reason"
}

for code in 0 1 3 124 125 126 127 130 137 143 255; do
    python 'import sys' "print('x')" "sys.exit($code)"
    cli job script.py
    is "a job that exits $code" "$status $out $err" "$code x "
    cli job script.py --json
    is "and is said to have exited" "$status $(member '[it["reason"], it["exit_code"]]')" "$code [\"exited\", $code]"
done
for signal in 6 9 11 15; do
    python 'import os' "os.kill(os.getpid(), $signal)"
    job_ends "a job that ends by signal $signal" $((128 + signal)) signalled
    is "and the signal" "$(member 'it["signal"]')" "$signal"
done
python 'while True: pass'
job_ends "a timeout" 124 timeout --timeout 300ms
like "the sentence of a timeout" "$(member 'it["message"]')" 'timed out after 0\.3s'
job_ends "processor time" 137 cpu_time --cpu-time 300ms --timeout 60s
python "print('x' * 200000)"
job_ends "output" 137 output --output-limit 1k
python '#!/bin/sh' 'exec head -c 200000 /dev/zero >f' # Python ignores the signal, and so exits
job_ends "file size" 137 fsize --fsize 1k
refused "a missing script" 127 "script 'nothing.py': No such file" job nothing.py
refused "a directory for a script" 125 "script '.': Is a directory" job .
python 'print(1)'
chmod 0 script.py
status=0
out=$(weak "$jianmu" job script.py 2>stderr) || status=$?
is "an unreadable script" "$status $out $(<stderr)" "125  jianmu: script 'script.py': Permission denied"
chmod 600 script.py
mkdir nopath
PATH_BEFORE=$PATH
status=0
out=$(PATH=$here/nopath "$jianmu" job script.py 2>stderr) || status=$?
is "a missing interpreter: status" "$status" 127
is "a missing interpreter: nothing on standard output" "$out" ""
like "a missing interpreter: message" "$(<stderr)" "python3"
status=0
out=$(PATH=$here/nopath "$jianmu" --json job script.py 2>/dev/null) || status=$?
is "a missing interpreter: code" "$status $(member 'it["error"]["code"]')" "127 not_found"
refused "an unknown language" 125 "language 'cobol' is not known; known are python" job script.py --language cobol
[ "$PATH" = "$PATH_BEFORE" ] || bail "PATH changed"

refused "an unknown tool" 127 "unknown tool \"run_pyton\", did you mean \"run_python\"" run run_pyton
cli run run_pyton --json
is "its code" "$status $(member 'it["error"]["code"]')" "127 not_found"
like "its sentence is there too" "$(member 'it["error"]["message"]')" 'run_python'
cli run run_python --yes --timeout 60 --args '{"code": "print(6 * 7)"}'
is "a tool that succeeds" "$status $out $err" "0 42 "
cli run run_python --yes --timeout 60 --args '{"code": "1/0"}'
is "a tool that fails: status and value" "$status $out" '1 {"error":"ZeroDivisionError: division by zero"}'
like "a tool that fails: message" "$err" '^jianmu: .*ZeroDivisionError'
cli run run_python --yes --timeout 60 --json --args '{"code": "1/0"}'
is "a tool that fails: reason" "$status $(member 'it["reason"]')" "1 tool_failed"
cli run run_python --yes --timeout 500ms --args '{"code": "while True: pass"}'
is "a tool whose time is over: status" "$status" 124
is "a tool whose time is over: message" "$err" "jianmu: Tool 'run_python' timed out after 0.5s"
cli run run_python --yes --timeout 500ms --json --args '{"code": "while True: pass"}'
is "a tool whose time is over: reason" "$status $(member 'it["reason"]')" "124 timeout"
refused "a limit that cannot be enforced" 125 "cannot enforce network.*none" job script.py --network none
cli job script.py --network none --json
is "its code" "$status $(member 'it["error"]["code"]')" "125 unsupported"
refused "a bad constraint" 125 "timeout_s" job script.py --timeout=-1
cli job script.py --timeout=-1 --json
is "its code" "$status $(member 'it["error"]["code"]')" "125 invalid"

# 126: what policy.yaml forbids
conf=$(sed -n 's/^sysconfdir = //p' "$JIANMU_BUILD/Makefile")
prefix=$(sed -n 's/^prefix = //p' "$JIANMU_BUILD/Makefile")
conf=${conf//'${prefix}'/$prefix}
export conf
can_mount || skipping "no mount namespace"
[ -d "$conf" ] || skipping "there is no $conf to mount over"
policy='mount -t tmpfs none "$conf" && mkdir "$conf/jianmu" && printf "max:\n  timeout_s: 5\n" >"$conf/jianmu/policy.yaml" && '
in_mounts "$policy"'exec "$jianmu" job script.py --constraints "{\"timeout_s\": 10}"'
is "a call that policy.yaml denies: status" "$status" 126
is "a call that policy.yaml denies: nothing on standard output" "$out" ""
like "a call that policy.yaml denies: message" "$err" 'timeout_s.*policy.yaml:2'
in_mounts "$policy"'exec "$jianmu" job script.py --timeout 10'
is "the call's own timeout does not escape the policy" "$status $out" "126 "
in_mounts "$policy"'exec "$jianmu" job script.py --timeout 5'
is "a call that policy.yaml allows" "$status $out" "0 1"
skipping
ok "no job left anything" nothing_left
tap_done
