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
mkdir -p config/jianmu && cp "$examples/guard-service.yaml" config/jianmu/jianmu.yaml && : >jianmu.yaml
XDG_CONFIG_HOME=$PWD/config refused "nor does it switch off the user's" 126 'this service only reads' \
    run run_shell --args '{"command": "ls"}' --yes
rm -r jianmu.yaml config

# ---- a skill is its directory, however that was written ----
mkdir -p skills/bad skills/good && ln -s skills/bad link && ln -s "$PWD/skills/bad" skills/good/too
printf 'guard: {rules: [{name: bad, skill: "*/skills/bad", then: deny}]}\n' >skill.yaml
for skill in skills/bad "$PWD/skills/bad" skills/bad/ skills//bad skills/good/../bad skills/./bad link link/ skills/good/too; do
    refused "the rule on a skill holds for $skill" 126 'rule bad,' \
        run list_dir --args '{"path": "."}' --workspace ws --skill "$skill" --config skill.yaml
done
for skill in "$PWD/skills/bad:ro" "$PWD/link:rw" skills/../link/:ro; do
    refused "and in constraints: $skill" 126 'rule bad,' \
        run list_dir --args '{"path": "."}' --workspace ws --constraints "{\"skill\": \"$skill\"}" --config skill.yaml
done
cli run list_dir --args '{"path": "."}' --workspace ws --skill skills/good --config skill.yaml
is "and not for another" "$status" 0
printf 'guard: {rules: [{name: bad, plan: {skill: {glob: "*/skills/bad"}}, then: deny}]}\n' >skill.yaml
refused "as a condition on the plan, too" 126 'rule bad,' \
    run list_dir --args '{"path": "."}' --workspace ws --constraints "{\"skill\": \"$PWD/link:ro\"}" --config skill.yaml
refused "one that is not there is no way around it" 125 'no rule can be held against it' \
    run list_dir --args '{"path": "."}' --workspace ws --constraints '{"skill": "/nonexistent/skills/bad"}' --config skill.yaml

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
