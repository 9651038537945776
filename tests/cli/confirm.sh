# SPDX-License-Identifier: Apache-2.0
# What the guard says on the command line: what is asked, what is denied, and what explain shows of it.
. "$JIANMU_SOURCE/tests/cli/common.sh" || exit 1

code='{"code": "print(6 * 7)"}'

# ---- nobody to ask ----
refused "a dangerous tool is not run unasked" 126 'run_python.*--yes confirms it' run run_python --args "$code"
cli run run_python --args "$code" --json
is "--json carries code, rule and source" \
    "$status $(member '[it["error"]["code"], bool(it["error"]["rule"]), bool(it["error"]["source"]), sorted(it["error"])]')" \
    '126 ["needs_confirmation", true, true, ["code", "message", "rule", "source"]]'
cli run run_python --yes --args "$code"
is "--yes confirms it" "$status $out" "0 42"
cli job <(echo 'print(1)')
is "a job is the operator's own act" "$status $out" "0 1"
echo text >note
cli run read_file --workspace "$here" --args '{"path": "note"}'
like "what only reads is not asked about" "$status $out" '^0 .*text'

# ---- rules ----
cat >rules.yaml <<'Y'
guard:
  rules:
    - name: no-six
      tool: run_python
      args: [{at: /code, glob: "*6*"}]
      then: deny
      message: no six today
    - {name: quiet, tool: run_python, then: allow}
    - {name: no-jobs, tool: job, then: deny}
  rates:
    - {tool: read_file, calls: 1, per: 1h}
Y
guarded() {
    cli "$@" --config "$here/rules.yaml"
}
guarded run run_python --args "$code" --json
is "a rule denies" "$status $(member '[it["error"]["code"], it["error"]["rule"], it["error"]["source"].rsplit("/", 1)[-1]]')" \
    '126 ["denied", "no-six", "rules.yaml:3"]'
like "and its sentence is said" "$err" 'no six today'
guarded run run_python --yes --args "$code"
is "--yes does not help against it" "$status" 126
guarded run run_python --args '{"code": "print(1)"}'
is "a rule allows" "$status $out" "0 1"
guarded job <(echo 'print(1)')
is "what denies jobs denies the operator, too" "$status $out" "126 "
guarded run run_python --args '{"cod": 1}' --json
is "arguments meet the schema before any rule" "$status $(member '[it["error"]["code"], len(it["error"]["complaints"]) > 0]')" \
    '125 ["invalid", true]'

# ---- explain ----
guarded explain run_python --args "$code"
like "explain shows verdict, rule and line" "$out" 'guard: deny \(rule no-six, .*rules\.yaml:3\)'
guarded explain run_python --args '{"code": "print(1)"}'
like "of these arguments" "$out" 'guard: allow \(rule quiet, .*rules\.yaml:8\)'
guarded explain run_python --args "$code" --json
is "and so does --json" "$(member '[it["guard"]["verdict"], it["guard"]["rule"]]')" '["deny", "no-six"]'
cli explain run_python
like "explain of the profile's own rule" "$out" 'guard: confirm'
cli explain run_python --args '{"cod": 1}'
like "and what is wrong with arguments" "$out" "guard: none: no verdict was reached.*arguments of tool 'run_python'"
cli explain job
like "a job is explained as the operator's own act" "$out" "guard: confirm .*; nobody is asked, since"
cli explain job --json
is "with --json, too" "$(member '[it["guard"]["verdict"], it["guard"]["confirmed"]]')" '["confirm", true]'
cli explain run_python
isnt "a tool of which that is not so" "$(grep -c 'nobody is asked' <<<"$out")" 1

# ---- on a terminal ----
for answer in y yes; do
    on_terminal "$answer"$'\n' "$jianmu" run run_python --args "$code"
    like "'$answer' on a terminal: it runs" "$out" '^0 .*print\(6 \* 7\).*42'
done
for answer in n "" Y maybe "y y"; do
    on_terminal "$answer"$'\n' "$jianmu" run run_python --args "$code"
    like "'$answer' on a terminal: it does not" "$out" '^126 .*was not confirmed'
done
on_terminal $'y\n' /bin/sh -c "echo ready; sleep 1; exec timeout --foreground 5 '$jianmu' run run_python --args '$code'"
like "what was typed before the question is no answer" "$out" '^1[0-9][0-9] .*run it\?'
on_terminal $'y\n' "$jianmu" run run_python --args '{"code": "print(1) # \u001b]52;c;eA\u0007\u009b2J"}'
steers='(^|[^\])\\x(1b|9b)'
if [[ $out =~ $steers ]]; then fail "what is asked about cannot steer the terminal" "$out"; else
    like "what is asked about cannot steer the terminal" "$out" '^0 .*u001b'; fi
on_terminal $'y\n' /bin/sh -c "'$jianmu' run run_python --args '$code' 2>said"
like "without standard error on the terminal nobody is asked" "$out $(<said)" '^126 .*needs|^126 .*--yes'
tap_done
