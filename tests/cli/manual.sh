# SPDX-License-Identifier: Apache-2.0
# The manual pages say what the program does: options, commands, keys, and examples that compile and run.
. "$JIANMU_SOURCE/tests/cli/common.sh" || exit 1
umask 022
doc=$JIANMU_SOURCE/doc

if type -P mandoc >/dev/null; then
    for page in "$doc"/*.[1-8] "$JIANMU_SOURCE"/tools/*/*.7; do
        is "${page##*/} is good mdoc" "$(mandoc -T lint -W warning "$page" 2>&1)" ""
    done
else
    skip "the pages are good mdoc" "no mandoc"
fi

# ---- options and commands ----
in_manual=$(sed -n 's/^\.It Fl -\([a-z-]*\).*/\1/p' "$doc/jianmu.1" | sort)
in_help=$( { "$jianmu" --help; for c in run job tools explain; do "$jianmu" $c --help; done; } |
    sed -n 's/^  --\([a-z-]*\).*/\1/p' | sort -u)
is "the options of --help are those of the manual" "$in_help" "$in_manual"
is "no option stands twice in the manual" "$in_manual" "$(sort -u <<<"$in_manual")"
is "the commands of --help are those of the manual" \
    "$("$jianmu" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | sort)" \
    "$(sed -n '/^\.Sh COMMANDS/,/^\.Sh OPTIONS/s/^\.It Cm \([a-z]*\).*/\1/p' "$doc/jianmu.1" | sort)"
arguments() { # of options: a word each, capitals as in --help
    sed -n 's/^\.It Fl -\([a-z-]*\) Ar \(.*\)/\1 \2/p' "$doc/jianmu.1" | sed 's/ Ns//g; s/ | / /; s/Ar //g; s/Cm //g; s/Op //g'
}
ok "the manual gives a value to each option that takes one" test "$(arguments | cut -d' ' -f1 | sort)" = \
    "$( { "$jianmu" --help; for c in run job tools explain; do "$jianmu" $c --help; done; } |
        sed -n 's/^  --\([a-z-]*\) [A-Z].*/\1/p' | sort -u)"

# ---- keys of the file ----
"$jianmu" explain --keys --json >keys.json
ok "the keys are those of jianmu.yaml(5), with type and default" python3 - "$doc/jianmu.yaml.5" <<'PY'
import json, re, sys

def written(kind, value):
    """A default as the manual may say it."""
    if value is None:
        return {"unset"}
    if kind == "list":
        return {"empty"} if value == [] else {json.dumps(value)}
    if kind == "size":
        return {str(value), f"{value >> 20}m", f"{value >> 20} MiB"}
    if kind == "bool":
        return {json.dumps(value)}
    if isinstance(value, float):
        return {repr(value), f"{value:g}"}
    return {str(value)}

manual = {}
for line in open(sys.argv[1]):
    found = re.match(r"\.It Cm ((?:execution|plugins|events)\.\S+) Pq (\w+)( or null)?, (?:Li )?(.*)$", line)
    if found:
        manual[found[1]] = (found[2], found[4])
keys = {k["key"]: k for k in json.load(open("keys.json")) if "yaml" in k["layers"] and "." in k["key"]
        and not k.get("sink") and not k.get("guard")}
bad = [f"not in the manual: {k}" for k in keys if k not in manual]
bad += [f"no such key: {k}" for k in manual if k not in keys]
for name in manual.keys() & keys.keys():
    kind, default = manual[name]
    if kind != keys[name]["type"]:
        bad.append(f"{name}: the type is {keys[name]['type']}, the manual says {kind}")
    elif default not in written(kind, keys[name]["default"]):
        bad.append(f"{name}: the default is {keys[name]['default']}, the manual says {default}")
print("\n".join("# " + b for b in bad))
sys.exit(bool(bad) or len(keys) < 20)
PY
cat >rule.py <<'PY'
import json, re, sys
names = sorted({k["name"] for k in json.load(open("keys.json")) if "tools" in k["layers"] and not k.get("tool")})
text = open(sys.argv[1]).read()
rule = text[text.index(".It Cm tools. Ns Ar glob"):]
rule = rule[:rule.index("and the keys the tool")]
print(names == sorted(re.findall(r"[a-z_]{4,}", rule.split("one character:")[1].replace(".Cm", ""))), names)
PY
like "what may stand below tools.<glob>" "$(python3 rule.py "$doc/jianmu.yaml.5")" '^True'
sed -n '/^execution:/,/^\.Ed/p' "$doc/jianmu.yaml.5" | sed '/^\./d' >sample.yaml
cli explain run_python --json --config sample.yaml
is "the sample of the manual is read" \
    "$(member '[it["settings"]["timeout_s"]["value"], it["settings"]["timeout_s"]["line"]]')" "[5.0, 8]"

# ---- the headers ----
functions=$(grep -v '^#' "$JIANMU_SOURCE/tests/abi/exports.txt")
is "jianmu(3) names every function" "$(for f in $functions; do grep -q "^\.\(Pq \)\?Fn $f\b" "$doc/jianmu.3" || echo "$f"; done)" ""
services=$(sed -n '/^typedef struct jianmu_services/,/^} jianmu_services/p' "$JIANMU_SOURCE/libjianmu/jianmu-plugin.h" |
    grep -oE '\(\*[a-z_]+\)\(' | tr -d '(*)')
ok "there are services" test "$(wc -w <<<"$services")" -gt 15
is "jianmu-plugin(3) names every service" \
    "$(for f in $services; do grep -qE "^\.It Fn (.* , )?$f( , .*)?\$" "$doc/jianmu-plugin.3" || echo "$f"; done)" ""

# ---- programs ----
take() { # PAGE NAME
    sed -n "/^\\.\\\\\" BEGIN $2\$/,/^\\.\\\\\" END/p" "$doc/$1" | sed '/^\.\\"/d; s/\\e/\\/g; s/\\&//g' >"$2"
    [ -s "$2" ] || bail "$1 has no $2"
}
cc=$(sed -n 's/^CC = //p' "$JIANMU_BUILD/Makefile")
cflags="-Wall -Wextra -Werror -I$JIANMU_SOURCE/libjianmu $(pkg-config --cflags jansson 2>/dev/null)"
sanitize=$(sed -n 's/^CFLAGS = //p' "$JIANMU_BUILD/Makefile" | grep -o -- '-fsanitize=[^ ]*')
mkdir -p more/tools more/backends more/guards
take jianmu.3 example.c
# shellcheck disable=SC2086 # words are wanted
if $cc $cflags $sanitize example.c -o example -L"$JIANMU_BUILD/.libs" -ljianmu -ljansson 2>cc.err; then
    pass "jianmu(3): the example compiles"
    is "jianmu(3): it prints what the page says" "$(./example 2>&1)" \
        "$(sed -n '/^and prints/,/^\.Ed/p' "$doc/jianmu.3" | sed '/^\./d; /^and prints/d')"
else
    fail "jianmu(3): the example compiles" "$(<cc.err)"
fi
for name in hello nap nice curfew; do
    take jianmu-plugin.3 $name.c
    # shellcheck disable=SC2086
    ok "jianmu-plugin(3): $name compiles" $cc $cflags $sanitize -shared -fPIC $name.c -o $name.so -ljansson
done
chmod 755 ./*.so
cp hello.so nap.so more/tools/
cp nice.so more/backends/
cp curfew.so more/guards/
cli plugins --plugin-dir more --json
like "the guard of the page is usable" "$out" '"curfew"'
hour=$((10#$(date -u +%H)))
mkdir yard
for night in "$(((hour + 23) % 24)) $(((hour + 2) % 24)) 126" "$(((hour + 4) % 24)) $(((hour + 20) % 24)) 0"; do
    read -r from until want <<<"$night"
    printf 'guard: {profile: dev, use: [policy, curfew], curfew: {from: %d, until: %d}}\n' "$from" "$until" >c.yaml
    cli run write_file --plugin-dir more --config c.yaml --workspace yard:rw --args '{"path": "f", "content": "x"}'
    is "from $from to $until it answers $want, as at $hour" "$status" "$want"
done
like "and says whose word it was" "$("$jianmu" explain write_file --plugin-dir more --config c.yaml)" '^(.|\n)*guard: allow'
cli run hello --plugin-dir more --args '{"name": "world"}'
is "hello runs" "$status $out" "0 Hello, world!"
cli run hello --plugin-dir more
like "hello without a name" "$status $err" \
    '^125 jianmu: arguments of tool .hello.: expected the property "name"'
cli run nap --plugin-dir more --args '{"ms": 5}'
is "nap runs" "$status $out" "0 5"
cli run nap --plugin-dir more --args '{"ms": 20000}' --timeout 200ms
is "nap looks at its time" "$status $err" "124 jianmu: Tool 'nap' timed out after 0.2s"
printf 'tools: {nap: {longest_ms: 10}}\n' >c.yaml
cli run nap --plugin-dir more --config c.yaml --args '{"ms": 11}'
is "nap has a key of its own" "$status $err" "1 jianmu: ms: at most 10"
export JIANMU_TOOL_ENTRY=$JIANMU_BUILD/entry/jianmu-tool-entry
echo 'import os; print(os.nice(0)); open("f", "w").write("x")' >nice.py
cli job --mode nice --plugin-dir more nice.py --out nice.out
is "the backend of the page runs jobs" "$status $out $(cat nice.out/f)" "0 10 x"
cli run hello --mode nice --plugin-dir more --args '{"name": "host"}'
is "and tools, in a tool host" "$status $out" "0 Hello, host!"
tap_done
