# SPDX-License-Identifier: Apache-2.0
# What is found, in which order, and what is hidden by what.

. "$JIANMU_SOURCE/tests/plugins/kit.sh" || exit 1

names() {
    printf '%s\n' "$lines" | awk -F '\t' '{ printf "%s/%s:%s ", $2, $3, $4 }'
}

# ---- one directory ----
# made in an order that is not the alphabet's
for f in zz m a; do put many "$dir/one/tools/$f.so"; rm "$dir/one/tools/$f.so"; done
put plugin_long "$dir/one/tools/zz.so"
put other_good "$dir/one/tools/m.so"
put many "$dir/one/tools/a.so"
put boxed "$dir/one/backends/boxed.so"
put good "$dir/one/tools/.hidden.so"
put good "$dir/one/tools/good.so.bak"
put good "$dir/one/tools/good"
put good "$dir/one/tools/libgood.so.0"
echo "dlname='good.so'" > "$dir/one/tools/good.la"
: > "$dir/one/tools/.so"
lines=$("$look" "$dir/one")
is "all of them, sorted, and only *.so" "$(names)" \
    "backend/boxed:usable tool/first:usable tool/second:usable tool/third:usable tool/other_good:usable tool/plugin_long:usable "
is "listing ran nothing" "$(ls "$tap_tmp"/mark.* 2>/dev/null)" ""
is "again is the same" "$("$look" "$dir/one")" "$lines"
lines=$("$look" "$dir/one" "$dir/one/." "$dir/one")
is "a directory given twice counts once" "$(names | wc -w)" 6

# ---- as JSON ----
want='[
 {
  "path": "DIR/one/backends/boxed.so",
  "origin": "--plugin-dir",
  "kind": "backend",
  "name": "boxed",
  "state": "usable",
  "code": null,
  "sentence": null,
  "text": "Gives a number.",
  "danger": null,
  "flags": [
   "in_process"
  ],
  "loaded": false
 },
 {
  "path": "DIR/one/tools/a.so",
  "origin": "--plugin-dir",
  "kind": "tool",
  "name": "first",
  "state": "usable",
  "code": null,
  "sentence": null,
  "text": "Gives a number.",
  "danger": "read",
  "flags": [
   "read_only"
  ],
  "loaded": false
 },'
is "the report as JSON" "$("$look" --json "$dir/one" | sed "s|$dir|DIR|" | head -n 31)" "$want"
put abi "$dir/json/tools/abi.so"
mv "$dir/json/tools/abi.so" "$dir/json/tools/$(printf 'b\377d').so"
json=$("$look" --json "$dir/json")
like "a path that is not UTF-8 can be told" "$json" '"path": "[^"]*/tools/b(�|\\uFFFD)d.so"'
like "JSON has the code" "$json" '"code": "abi"'
like "JSON has no name where none is known" "$json" '"name": null'

# ---- many directories: the first wins ----
put good "$dir/two/tools/g.so"
put same_good "$dir/three/tools/g.so"
put boxed "$dir/three/backends/boxed.so"
lines=$("$look" --run "$dir/two" "$dir/three")
like "the first is used" "$lines" $'g.so\ttool\tgood\tusable'$'\t-\t-\n''good = 42'
like "the later one is hidden, and by what" "$lines" \
    $'g.so\ttool\tgood\tshadowed\t-\t'"$dir/three/tools/g.so is hidden by $dir/two/tools/g.so, which holds the tool \"good\" too and is found first"
lines=$("$look" --run "$dir/three" "$dir/two")
like "the other way round" "$lines" $'good = 7\n.*shadowed'
lines=$("$look" "$dir/two" "$dir/three" "$dir/one")
is "a name of its own is not hidden by another kind" "$(names)" \
    "tool/good:usable backend/boxed:usable tool/good:shadowed backend/boxed:shadowed tool/first:usable tool/second:usable tool/third:usable tool/other_good:usable tool/plugin_long:usable "

# ---- one name twice in one directory ----
put good "$dir/clash/tools/a.so"
put same_good "$dir/clash/tools/b.so"
put other_good "$dir/clash/tools/c.so"
ln -s a.so "$dir/clash/tools/d.so"
lines=$("$look" "$dir/clash" "$dir/two")
c=$dir/clash/tools
refused a.so clash "$c/a.so and $c/b.so in one directory both hold a tool \"good\"; one of them must go"
refused b.so clash "$c/b.so and $c/a.so in one directory both hold a tool \"good\"; one of them must go"
refused d.so clash "$c/d.so and $c/a.so in one directory both hold a tool \"good\"; one of them must go"
usable c.so
usable g.so

# ---- asked for by name ----
find_() {
    "$look" --find "$@"
}
like "found" "$(find_ tool good "$dir/two")" "^g.so	tool	good	usable"
like "found behind a refused one" "$(find_ tool good "$dir/clash" "$dir/two")" "^g.so	tool	good	usable"
is "a tool of another name: the nearest" "$(find_ tool gud "$dir/two" "$dir/one")" \
    'not_found: unknown tool "gud"'
is "a tool with one letter missing: the nearest" "$(find_ tool secon "$dir/one")" \
    'not_found: unknown tool "secon", did you mean "second"?'
is "an unknown mode: all there are" "$(find_ backend boxd "$dir/one")" \
    'not_found: unknown mode "boxd", did you mean "boxed"? Available: boxed'
is "an unknown mode like none" "$(find_ backend docker "$dir/one")" 'not_found: unknown mode "docker"; available: boxed'
is "no backend at all" "$(find_ backend docker "$dir/two")" 'not_found: unknown mode "docker"; no backend was found'
is "a tool is no backend" "$(find_ backend good "$dir/two")" 'not_found: unknown mode "good"; no backend was found'
put boxed "$dir/refused/backends/boxed.so" && chmod 0777 "$dir/refused/backends/boxed.so"
f=$dir/refused/backends/boxed.so
is "a refused one: its sentence" "$(find_ backend boxed "$dir/refused")" \
    "unavailable: backend \"boxed\" cannot be used: file $f can be written by group and others (mode 0777); mend it with: chmod go-w $f"
like "a clash: its sentence" "$(find_ tool good "$dir/clash")" '^unavailable: tool "good" cannot be used: .* one of them must go$'

tap_done
