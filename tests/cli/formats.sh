# SPDX-License-Identifier: Apache-2.0
# jianmu tools --format and tools lint: each form with its own names, the shipped tools without an error.
. "$JIANMU_SOURCE/tests/cli/common.sh" || exit 1
filter='[t for t in it if t.get("name", t.get("function", {}).get("name")) == "run_python"][0]'

cli tools --format mcp
is "mcp: sorted by name" "$(member 'sorted(t["name"] for t in it) == [t["name"] for t in it] and len(it) > 4')" true
is "mcp: what it holds" "$(member "sorted($filter)")" '["annotations", "description", "inputSchema", "name"]'
is "mcp: a dangerous tool says so" "$(member "$filter['annotations']")" \
    '{"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": false}'
is "mcp: one that reads, too" "$(member '[t for t in it if t["name"] == "list_dir"][0]["annotations"]["readOnlyHint"]')" true
cli tools --format openai
is "openai: what it holds" "$(member "[$filter['type'], sorted($filter['function'])]")" \
    '["function", ["description", "name", "parameters"]]'
cli tools --format openai-responses
is "openai-responses: strict must stand there" "$(member "[$filter['type'], $filter['strict'], sorted($filter)]")" \
    '["function", false, ["description", "name", "parameters", "strict", "type"]]'
cli tools --format anthropic
is "anthropic: what it holds" "$(member "sorted($filter)")" '["description", "input_schema", "name"]'
cli tools --format gemini
is "gemini: what it holds" "$(member "sorted($filter)")" '["description", "name", "parametersJsonSchema"]'
cli tools --format jianmu
is "jianmu: its own" "$(member "sorted($filter)")" '["danger", "description", "flags", "mode", "name", "parameters", "path"]'

cli tools --format openai --strict
is "strict where it is true" "$(member "$filter['function']['strict']")" true
is "not where an argument is optional" \
    "$(member '[t["function"]["strict"] for t in it if t["function"]["name"] == "list_dir"][0]')" false
like "which is said" "$err" 'tool "list_dir": strict cannot be claimed: the property "path" is not required'
cli tools --format openai --strict
before=$out
cli tools --format openai --strict
is "the same each time" "$out" "$before"
refused "--strict alone" 2 '--strict needs --format' tools --strict
refused "a word too many" 2 'no argument but lint' tools all
refused "lint in a format" 2 'do not go together' tools lint --format mcp

cli tools lint
is "no shipped tool has an error" "$status $(grep -c ': error: ' <<<"$out")" "0 0"
is "nor a warning" "$out" ""
cli tools lint --json
is "which is an empty list of JSON" "$status $out" "0 []"

mkdir -p mine/tools
chmod 755 mine mine/tools
cp "$JIANMU_BUILD/tests/cli/.libs/odd.so" mine/tools/odd.so || bail 'odd.so is not built'
chmod 755 mine/tools/odd.so
cli --plugin-dir "$PWD/mine" tools lint
is "a bad tool: 1" "$status" 1
like "what is wrong at the top" "$out" 'odd: error: "anyOf" at the top is refused'
like "and below" "$out" 'odd: error: /properties/a b: the name of a property is'
cli --plugin-dir "$PWD/mine" tools lint --json
is "as JSON, with the pointer" "$(member 'sorted(set((e["tool"], e["level"], e["at"]) for e in it if e["level"] == "error"))')" \
    '[["odd", "error", ""], ["odd", "error", "/properties/a b"]]'
tap_done
