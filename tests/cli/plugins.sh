# SPDX-License-Identifier: Apache-2.0
# A shared object dropped into a directory is usable at the next command; a bad one is listed and disturbs nothing.
. "$JIANMU_SOURCE/tests/cli/common.sh" || exit 1
umask 022
fixtures=$JIANMU_BUILD/tests/plugins/.libs
export JIANMU_TEST_MARK=$tap_tmp/mark
mkdir -p more/tools more/backends

drop() { # FIXTURE FILE
    install -m 755 "$fixtures/$1.so" "more/$2" || bail "fixture $1 is missing"
}

# state FILE: of the plug-in with that file name.
state() {
    printf '%s' "$out" | python3 -c '
import json, sys
for p in json.load(sys.stdin):
    if p["path"].endswith("/" + sys.argv[1]):
        print(p["state"], p["code"] or "-", p["origin"])' "$1"
}

# ---- dropped in ----
refused "not there yet" 127 'unknown tool "good"' run good --plugin-dir more
drop good tools/good.so
cli tools --plugin-dir more
like "a tool is there at the next command" $'\n'"$out" $'\ngood +read +Gives a number'
cli run good --plugin-dir more
is "and can be called" "$status $out" "0 42"
rm "$tap_tmp"/mark* 2>/dev/null
drop boxed backends/boxed.so
cli backends --plugin-dir more
like "a backend is there at the next command" "$out" 'boxed +Gives a number'
cli run list_dir --mode boxed --plugin-dir more --workspace .
isnt "and its mode is known" "$status" 125
cli explain job --mode nosuch --plugin-dir more
like "an unknown mode lists it" "$status $err" '^125 .*available: .*boxed.*local|^125 .*available: .*local.*boxed'
printf 'tools:\n  good:\n    timeout_s: 3\n' >c.yaml
cli explain good --json --plugin-dir more --config c.yaml
is "its name may stand in the configuration" "$(member 'it["settings"]["timeout_s"]["source"]')" c.yaml:3
refused "without it that is an error which names it" 125 'c.yaml:2:3: tools\.good.*good' tools --config c.yaml
rm "$tap_tmp"/mark* 2>/dev/null
cli tools --plugin-dir more
cli plugins --plugin-dir more
cli backends --plugin-dir more
is "listing runs none of their code" "$(ls "$tap_tmp"/mark* 2>/dev/null)" ""

# ---- the tools of a skill ----
mkdir -p skill/tools
install -m 755 "$fixtures/same_good.so" skill/tools/good.so
install -m 755 "$JIANMU_BUILD/tests/call/.libs/skilltools.so" skill/tools/own.so
cli tools --skill skill --plugin-dir more
like "a skill's tools are listed" $'\n'"$out" $'\nskill_only +read'
is "once" "$(grep -c '^good ' <<<"$out")" 1
cli run good --skill skill --plugin-dir more
is "and go before those of the directories" "$status $out" "$(cli run good --plugin-dir skill; echo "$status $out")"
isnt "which have others of that name" "$out" 42
cli run skill_only --skill skill
like "they can be called" "$status $out" '^0 .*"flavour": *"mint"'
refused "without the skill they are not there" 127 'unknown tool "skill_only"' run skill_only
chmod 777 skill/tools
refused "what others can write to is not loaded" 127 'skill_only.*of its skill a file cannot be used: .*chmod' run skill_only --skill skill
chmod 755 skill/tools

# ---- search order ----
mkdir -p first/tools home/jianmu/tools
install -m 755 "$fixtures/same_good.so" first/tools/good.so
cli plugins --json --plugin-dir first --plugin-dir more
is "the first of two directories wins" "$(printf '%s' "$out" | python3 -c '
import json, sys
print([(p["path"].split("/")[-3], p["state"]) for p in json.load(sys.stdin) if p["name"] == "good"])')" \
    "[('first', 'usable'), ('more', 'shadowed')]"
cli run good --plugin-dir first --plugin-dir more
is "and is the one that is called" "$status $out" "0 7"
cli run good --plugin-dir more --plugin-dir first
is "the other way round" "$status $out" "0 42"
install -m 755 "$fixtures/other_good.so" home/jianmu/tools/other.so
XDG_DATA_HOME=$here/home cli plugins --json
is "the user's own directory" "$(state other.so)" "usable - user"
printf 'plugins:\n  path: [%s]\n' "$here/more" >c.yaml
cli plugins --json --config c.yaml
is "a directory of the configuration" "$(state good.so)" "usable - plugins.path"
JIANMU_PLUGIN_PATH=$plugins:$here/more cli plugins --json
is "a directory of the environment" "$(state good.so)" "usable - JIANMU_PLUGIN_PATH"

# ---- bad ones ----
for fixture in abi no_entry no_note needs_ours json_broken too_short; do
    drop "$fixture" "tools/$fixture.so"
done
head -c 2000 "$fixtures/good.so" >more/tools/cut.so
echo 'not a shared object' >more/tools/text.so
mkdir more/tools/directory.so
mkfifo more/tools/fifo.so
install -m 775 "$fixtures/other_good.so" more/tools/writable.so
sed 's/\x02\x01\x01/\x01\x01\x01/' "$fixtures/good.so" >more/tools/other-machine.so
chmod 755 more/tools/*.so 2>/dev/null
chmod g+w more/tools/writable.so
cli plugins --json --plugin-dir more
while read -r file code; do
    is "$file: state and code" "$(state "$file" | cut -d' ' -f 1,2)" "refused $code"
done <<'BAD'
abi.so abi
no_note.so no_note
needs_ours.so undefined_symbol
json_broken.so bad_note
cut.so truncated
text.so not_elf
directory.so not_regular
fifo.so not_regular
writable.so mode
other-machine.so architecture
BAD
is "the good one is usable all the same" "$(state good.so)" "usable - --plugin-dir"
is "each refused one has a sentence that names its file" "$(printf '%s' "$out" | python3 -c '
import json, os, sys
print([p["path"] for p in json.load(sys.stdin) if p["state"] == "refused" and os.path.basename(p["path"]) not in p["sentence"]])')" "[]"
is "and all sentences differ" "$(printf '%s' "$out" | python3 -c '
import json, os, sys
s = [p["sentence"].replace(os.path.basename(p["path"]), "") for p in json.load(sys.stdin) if p["state"] == "refused"]
print(len(s) - len(set(s)) <= 1, len(s) >= 10)')" "True True"
cli plugins --plugin-dir more
like "for people: state, kind, path" "$out" "refused +tool +- +$here/more/tools/abi.so +\\(--plugin-dir\\)"
like "for people: code and sentence below" "$out" $'\n +undefined_symbol: .*needs_ours.so'
like "for people: what mends it" "$out" 'chmod'
is "listing bad ones is no failure" "$status" 0
cli run good --plugin-dir more
is "the good one works beside them" "$status $out" "0 42"
refused "one that was asked for is an error with its reason" 125 'needs_ours.*undefined symbol|needs_ours.*symbol' \
    run needs_ours --plugin-dir more
cli run needs_ours --plugin-dir more --json
is "its code" "$(member 'it["error"]["code"]')" unavailable
refused "one that was found bad when it was loaded" 125 'no_entry' run no_entry --plugin-dir more
install -m 755 "$fixtures/abi.so" more/backends/abi.so
refused "a refused backend that was asked for" 125 'abi' job --mode abi --plugin-dir more /dev/null

# ---- trust ----
mkdir -p open/tools
install -m 755 "$fixtures/good.so" open/tools/good.so
chmod 777 open
cli plugins --json --plugin-dir open
is "an ancestor that others can write" "$(state good.so)" "refused ancestor_mode --plugin-dir"
like "is named, with the chmod" \
    "$(member '[p["sentence"] for p in it if p["path"].endswith("/open/tools/good.so")][0]')" "chmod [^ ]* .*$here/open( |\$|[^/])"
refused "and the tool is not called" 125 'chmod' run good --plugin-dir open
chmod 1777 open
cli run good --plugin-dir open
is "a sticky one is trusted, as /tmp is" "$status $out" "0 42"
chmod 755 open
ln -s "$here/more/tools/good.so" open/tools/linked.so
chmod 777 more
cli plugins --json --plugin-dir open
is "a link into a directory that others can write" "$(state linked.so | cut -d' ' -f 1)" refused
chmod 755 more
chown 12345 open/tools/good.so 2>/dev/null || skipping "only root can give files away"
cli plugins --json --plugin-dir open
is "somebody else's file" "$(state good.so)" "refused owner --plugin-dir"
skipping
bad=$'od\xff'
mkdir -p "$bad/tools"
install -m 755 "$fixtures/good.so" "$bad/tools/good.so"
cli run good --plugin-dir "$bad"
is "a directory whose name is no UTF-8" "$status $out" "0 42"
cli plugins --json --plugin-dir "$bad"
is "is listed with its name repaired" "$(state good.so)" "usable - --plugin-dir"
cli run good --plugin-dir /nonexistent --plugin-dir more
is "a directory that is not there is passed over" "$status $out" "0 42"
tap_done
