# SPDX-License-Identifier: Apache-2.0
# Every way in which a file can be no plug-in: its code, its sentence, and that nothing else is disturbed.

. "$JIANMU_SOURCE/tests/plugins/kit.sh" || exit 1
tools=$dir/p/tools
backends=$dir/p/backends
guards=$dir/p/guards
sinks=$dir/p/sinks


put other_good "$tools/zz_last.so"
put boxed "$backends/boxed.so"
put watchman "$guards/watchman.so"
put drain "$sinks/drain.so"

# ---- found by reading ----
for f in sysv sysv_none abi no_entry no_note needs_ours json_broken json_list json_twice json_deep text_bad name_bad danger; do
    put $f "$tools/$f.so"
done
put boxed "$tools/kind.so"
put good "$backends/good.so"
put boxed "$backends/other_name.so"
put watchman "$guards/other_guard.so"
put drain "$sinks/other_sink.so"
put watchman "$sinks/watchman.so"
put good "$tools/half.so" && truncate -s 2000 "$tools/half.so"
put good "$tools/head.so" && truncate -s 30 "$tools/head.so"
put good "$tools/segments.so" && poke "$tools/segments.so" 32 '\377\377\377\0'
put good "$tools/bits32.so" && poke "$tools/bits32.so" 4 '\1' && poke "$tools/bits32.so" 18 '\3\0'
put good "$tools/machine.so" && poke "$tools/machine.so" 18 '\363\0'
put good "$tools/order.so" && poke "$tools/order.so" 5 '\2' && poke "$tools/order.so" 18 '\0\025'
put good "$tools/object.so" && poke "$tools/object.so" 16 '\1\0'
put good "$tools/many_segments.so" && poke "$tools/many_segments.so" 56 '\101\0'
: > "$tools/empty.so"
printf '#!/bin/sh\nexit 0\n' > "$tools/script.so" && chmod 755 "$tools/script.so"
truncate -s 4G "$tools/sparse.so"
mkfifo "$tools/fifo.so"
mkdir "$tools/directory.so"
"$look" --socket "$tools/socket.so"
ln -s /dev/null "$tools/device.so"
ln -s nothing_here.so "$tools/dangling.so"
ln -s loop.so "$tools/loop.so"
put good "$tools/group.so" && chmod 0775 "$tools/group.so"
put good "$tools/world.so" && chmod 0777 "$tools/world.so"
put good "$tools/it's.so" && chmod 0757 "$tools/it's.so"
put good "$dir/open dir/out.so" && chmod 0777 "$dir/open dir"
ln -s "../../open dir/out.so" "$tools/leads_out.so"

# ---- found by loading ----
for f in needs_other too_short headless item_abi item_kind null_note stray_note unlisted no_run plugin_null \
         plugin_short plugin_abi plugin_empty; do
    put $f "$tools/$f.so"
done
put no_job "$backends/no_job.so"
put no_tool "$backends/no_tool.so"
put no_decide "$guards/no_decide.so"
put no_event "$sinks/no_event.so"
# the same name with another last letter: a library that nobody has
put good "$tools/dependency.so"
LC_ALL=C sed -i 's/libjansson\.so\.4/libjansson.so.X/; s/Gives a number/Takes a number/' "$tools/dependency.so"

lines=$("$look" "$dir/p"); status=$?
is "listing succeeds" "$status" 0

is "listing ran nothing" "$(ls "$tap_tmp"/mark.* 2>/dev/null)" ""
usable zz_last.so
usable boxed.so
usable sysv.so
t=$tools
wrong="describes itself wrongly"
refused abi.so abi "$t/abi.so is built for ABI 7, and this is ABI 0; it must be built again with this jianmu-plugin.h"
refused no_entry.so no_entry "$t/no_entry.so does not export jianmu_plugin_entry: JIANMU_PLUGIN is missing in it"
refused sysv_none.so no_entry "$t/sysv_none.so does not export jianmu_plugin_entry: JIANMU_PLUGIN is missing in it"
refused no_note.so no_note "$t/no_note.so has no note of jianmu: it is some other shared object, or was built without JIANMU_TOOL or JIANMU_BACKEND"
refused needs_ours.so undefined_symbol "$t/needs_ours.so needs the symbol jianmu_version, which no plug-in can have: what the core does for plug-ins is reached through the services of their context"
refused json_broken.so bad_note "$t/json_broken.so $wrong: the JSON of \"json_broken\", line 2, column 2: not a value"
refused json_list.so bad_note "$t/json_list.so $wrong: the JSON of \"json_list\" is not an object"
refused json_twice.so bad_note "$t/json_twice.so $wrong: the JSON of \"json_twice\", line 1, column 13: a name stands here twice"
refused json_deep.so bad_note "$t/json_deep.so $wrong: the JSON of \"json_deep\" is nested more than 64 deep"
refused text_bad.so bad_note "$t/text_bad.so $wrong: its text is not UTF-8"
refused name_bad.so name "$t/name_bad.so: \"Name_bad\" is no name; one is 1 to 64 of a-z, 0-9, \"_\" and \"-\", and begins with a letter or digit"
refused danger.so bad_note "$t/danger.so $wrong: a tool must say whether it reads, writes or is dangerous"
refused kind.so kind "$t/kind.so: \"boxed\" is not a tool, and this directory is for tools"
refused good.so kind "$backends/good.so: \"good\" is not a backend, and this directory is for backends"
refused other_name.so name "$backends/other_name.so is the backend \"boxed\" and must be named boxed.so"
refused other_guard.so name "$guards/other_guard.so is the guard \"watchman\" and must be named watchman.so"
refused other_sink.so name "$sinks/other_sink.so is the sink \"drain\" and must be named drain.so"
like "a guard among the sinks is refused" "$lines" "watchman.so"$'\t'"sink"$'\t'"-"$'\t'"refused"$'\t'"kind"
refused head.so truncated "$t/head.so is cut short: 30 bytes are less than its head"
is "half.so is refused: truncated" "$(column 4 half.so) $(column 5 half.so)" "refused truncated"
like "half.so says why" "$(column 6 half.so)" "^$t/half.so is cut short: it has 2000 bytes, and segment [0-9]+ ends behind them$"
refused segments.so truncated "$t/segments.so is cut short: its table of segments is missing"
machine=$(uname -m)
refused bits32.so architecture "$t/bits32.so is built for 32-bit i386, and this is 64-bit $machine"
refused machine.so architecture "$t/machine.so is built for 64-bit riscv, and this is 64-bit $machine"
refused order.so architecture "$t/order.so is built for 64-bit powerpc64 of the other byte order, and this is 64-bit $machine"
refused object.so not_elf "$t/object.so is an ELF file, but not a shared object"
refused many_segments.so not_elf "$t/many_segments.so has 65 segments, more than 64"
refused empty.so truncated "$t/empty.so is empty"
refused script.so not_elf "$t/script.so is not an ELF file"
refused sparse.so not_elf "$t/sparse.so is not an ELF file"
refused fifo.so not_regular "$t/fifo.so is a FIFO, not a regular file"
refused directory.so not_regular "$t/directory.so is a directory, not a regular file"
refused socket.so not_regular "$t/socket.so is a socket, not a regular file"
refused device.so not_regular "/dev/null is a device, not a regular file"
refused dangling.so link "$t/dangling.so is a symbolic link to something that does not exist"
refused loop.so link "$t/loop.so leads through more than 40 symbolic links"
refused group.so mode "file $t/group.so can be written by its group (mode 0775); mend it with: chmod go-w $t/group.so"
refused world.so mode "file $t/world.so can be written by group and others (mode 0777); mend it with: chmod go-w $t/world.so"
refused "it's.so" mode "file $t/it's.so can be written by others (mode 0757); mend it with: chmod go-w '$t/it'\\''s.so'"
refused leads_out.so ancestor_mode "directory $dir/open dir can be written by group and others (mode 0777); mend it with: chmod go-w '$dir/open dir'"

# Those that only loading finds are usable so far.
for f in needs_other too_short no_run plugin_null dependency; do
    is "$f.so is not found by reading" "$(column 4 $f.so)" usable
done

lines=$("$look" --load "$dir/p"); status=$?
is "loading all of them succeeds" "$status" 0
usable zz_last.so
usable boxed.so
ok "the good one's code has run" test -e "$tap_tmp/mark.other_good"
first="of the first release"
refused needs_other.so undefined_symbol "$t/needs_other.so cannot be loaded: undefined symbol: nowhere_to_be_found"
refused dependency.so dependency "$t/dependency.so cannot be loaded: libjansson.so.X: cannot open shared object file: No such file or directory"
refused too_short.so size "$t/too_short.so: the descriptor of \"too_short\" has 24 bytes, less than the 32 $first"
refused headless.so size "$t/headless.so: descriptor 0 has 8 bytes, less than its head"
refused item_abi.so abi "$t/item_abi.so: \"item_abi\" is built for ABI 7, and this is ABI 0"
refused item_kind.so mismatch "$t/item_kind.so: the note of \"item_kind\" says tool, its descriptor does not"
for f in null_note stray_note unlisted; do
    refused $f.so mismatch "$t/$f.so: no descriptor belongs to the note of \"$f\"; is JIANMU_ITEM($f) missing in its JIANMU_PLUGIN?"
done
refused no_run.so callback "$t/no_run.so: the tool \"no_run\" has no run callback"
refused no_job.so callback "$backends/no_job.so: the backend \"no_job\" has no run_job callback"
refused no_tool.so callback "$backends/no_tool.so: the backend \"no_tool\" has no run_tool callback"
refused no_decide.so callback "$guards/no_decide.so: the guard \"no_decide\" has no decide callback"
refused no_event.so callback "$sinks/no_event.so: the sink \"no_event\" has no event callback"
usable drain.so
like "the guard is usable after loading" "$lines" "watchman.so"$'\t'"guard"$'\t'"watchman"$'\t'"usable"
refused plugin_null.so no_descriptor "$t/plugin_null.so: its jianmu_plugin_entry returned NULL"
refused plugin_short.so size "$t/plugin_short.so: its struct jianmu_plugin has 8 bytes, less than the 24 $first"
refused plugin_abi.so abi "$t/plugin_abi.so is built for ABI 7, and this is ABI 0; it must be built again with this jianmu-plugin.h"
refused plugin_empty.so no_descriptor "$t/plugin_empty.so: its struct jianmu_plugin lists 0 items, not 1 to 64"

tap_done
