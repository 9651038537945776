# SPDX-License-Identifier: Apache-2.0
# jianmu validate: the verdict on each value, in words and as lines of JSON, and its statuses.
. "$JIANMU_SOURCE/tests/cli/common.sh" || exit 1
echo '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}' >schema.json
echo '{"n": 1.0}' >good.json
echo '{"n": "\u001b[31m"}' >bad.json
echo '{"n": 1, "n": 2}' >twice.json
echo 'n: 1' >yaml.json

cli validate schema.json good.json
is "a good value: 0" "$status $out" "0 good.json: valid"
cli validate schema.json
is "a schema alone: 0, and silence" "$status$out$err" 0
cli validate schema.json good.json bad.json
is "one bad value of two: 1" "$status" 1
is "each has its line, and the bad one says why" "$out" 'good.json: valid
bad.json: invalid
    /n: expected an integer, found the string "\u001b[31m"'
cli validate --json schema.json good.json bad.json twice.json yaml.json
is "with --json a line of JSON each" "$status $(wc -l <<<"$out")" "1 4"
is "and what it says" "$(python3 -c '
import json, sys
for line in sys.stdin:
    it = json.loads(line)
    print(it["instance"], it["valid"], it.get("error", "-")[:8], [c["at"] for c in it.get("complaints", [])])' <<<"$out")" \
    "good.json True - []
bad.json False - ['/n']
twice.json False bad JSON []
yaml.json False bad JSON []"
cli validate schema.json none.json
is "an instance that cannot be read: 125" "$status" 125
like "it is named" "$out" 'none.json: not judged.*No such file'
out=$("$jianmu" validate schema.json - <good.json 2>&1)
is "standard input" "$out" "-: valid"
out=$("$jianmu" validate - good.json <schema.json 2>&1)
is "or the schema from it" "$out" "good.json: valid"
refused "not twice" 2 'read once' validate - -
refused "no schema" 2 'no schema given' validate
refused "a schema that is not there" 2 'none.json: No such file' validate none.json good.json
refused "a schema that is no JSON" 2 'yaml.json: bad JSON: ' validate yaml.json good.json
echo '{"items": {"$ref": "https://example.org/x"}}' >remote.json
refused "a schema that cannot be used" 2 'remote.json: /items: "\$ref" is .*nothing is fetched' validate remote.json good.json
cli validate --json remote.json good.json
is "and as JSON" "$status $(member 'it["schema"] + " " + it["error"]["code"]')" "2 remote.json invalid"
name=$(printf 'caf\351.json') && cp good.json "$name"
cli validate --json schema.json "$name"
is "a name that is not UTF-8" "$status $(member 'it["instance"]')" "0 caf?.json"
tap_done
