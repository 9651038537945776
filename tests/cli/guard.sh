# SPDX-License-Identifier: Apache-2.0
# The guard on the command line: the three sections of doc/examples, and what is left of calls without its file.
. "$JIANMU_SOURCE/tests/cli/common.sh"
mkdir ws && echo hello >ws/f && mkdir ws/.ssh && echo secret >ws/.ssh/id
examples=$JIANMU_SOURCE/doc/examples

# ---- rule and line, before anything runs ----
work=$examples/guard-workstation.yaml
rule=$(grep -n 'name: no-secrets' "$work" | cut -d: -f1)
cli run read_file --args '{"path": "f"}' --workspace ws --config "$work"
is "what no rule speaks of is read" "$status $(member 'it["content"]')" "0 hello"
refused "a rule denies, and is named with its line" 126 \
    "^jianmu: tool 'read_file' is denied: keys and passwords are not for agents \(rule no-secrets, .*guard-workstation.yaml:$rule\)$" \
    run read_file --args '{"path": ".ssh/id"}' --workspace ws --config "$work"
refused "confirming does not help against it" 126 'rule no-secrets' \
    run read_file --args '{"path": ".ssh/id"}' --workspace ws --config "$work" --yes
cli run run_python --args '{"code": "print(6 * 7)"}' --config "$work"
is "what a rule allows needs no confirmation" "$status $out" "0 42"
refused "another value of the plan, and it does" 126 'needs confirmation.*profile standard' \
    run run_python --args '{"code": "print(6 * 7)"}' --config "$work" --timeout 60
cli explain read_file --args '{"path": ".ssh/id"}' --config "$work"
like "explain says the same" "$out" "guard: deny.*no-secrets.*guard-workstation.yaml:$rule"
refused "a maximum of the section holds" 126 'timeout_s: 60.0 .*above the maximum 30.0 .*guard-service.yaml' \
    run list_dir --args '{"path": "."}' --workspace ws --config "$examples/guard-service.yaml" --timeout 60
refused "the last rule of a service" 126 'this service only reads' \
    run run_shell --args '{"command": "ls"}' --config "$examples/guard-service.yaml" --yes
cli job --config "$examples/guard-service.yaml" - <<<'echo hi'
is "deny holds for the operator's own jobs, too" "$status $out" "126 "
printf 'guard: {profile: dev}\n' >jianmu.yaml
refused "a file found in the current directory has no say" 125 'jianmu.yaml:1:1: .*--config' run list_dir --args '{"path": "."}'
rm jianmu.yaml

# ---- its file is gone, or not to be trusted ----
chmod g+w "$plugins/guards/policy.so"
refused "a guard that others could have changed denies every call" 126 'guard "policy" cannot be had.*chmod' \
    run list_dir --args '{"path": "."}' --workspace ws
rm "$plugins/guards/policy.so"
for call in 'list_dir {"path": "."}' 'read_file {"path": "f"}' 'run_python {"code": "1"}'; do
    refused "without the guard's file every call is denied: ${call%% *}" 126 \
        'guard "policy" cannot be had, so every call is denied' run "${call%% *}" --args "${call#* }" --workspace ws --yes
done
echo 'print(1)' >job.py
refused "and every job" 126 'every call is denied' job job.py
tap_done
