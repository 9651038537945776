#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The table of table.sh, in the build tree: the backend local, and the example that runs through setpriv(1).
. "$JIANMU_SOURCE/tests/tap.sh"
. "$JIANMU_SOURCE/tests/outside/table.sh"
dir=$tap_tmp/plugins
bash "$JIANMU_SOURCE/tests/plugin-dir.sh" "$dir"
for example in hello:tools setpriv:backends; do
    name=${example%:*}
    ${CC:-cc} -shared -fPIC -I"$JIANMU_SOURCE/libjianmu" $(pkg-config --cflags jansson) \
        "$JIANMU_SOURCE/examples/$name/$name.c" -o "$dir/${example#*:}/$name.so" $(pkg-config --libs jansson) ||
        bail "$name does not build"
done
chmod go-w "$dir" "$dir"/* "$dir"/*/*
export JIANMU_TOOL_ENTRY=$JIANMU_BUILD/entry/jianmu-tool-entry
jianmu=("$JIANMU_BUILD/cli/jianmu" --plugin-dir "$dir")
[ -x /usr/bin/setpriv ] || skip_all "there is no setpriv(1)"
for mode in local setpriv; do run_table; done

# One configuration, a backend for each tool: the example is what is tested.
at=$JIANMU_SOURCE/examples/placement/jianmu.yaml
place() { "${jianmu[@]}" --config "$at" "$@" 2>&1; }
backend() { sed -n 's/.*"execution.completed".*"backend": *"\([a-z]*\)".*/\1/p' "$tap_tmp/events"; rm "$tap_tmp/events"; }
is "a tool in the mode its rule names" "$(place run run_python --yes --args '{"code": "print(6 * 7)"}' --events "$tap_tmp/events")" 42
is "its events name that backend" "$(backend)" setpriv
place run hello --args '{"name": "you"}' --events "$tap_tmp/events" >"$tap_tmp/out"
is "another where the file says" "$(backend) $(<"$tap_tmp/out")" "local Hello, you!"
echo 'print("from a job")' >"$tap_tmp/job.py"
is "jobs by their own rule" "$(place job "$tap_tmp/job.py" --events "$tap_tmp/events") $(backend)" "from a job setpriv"
like "explain says where, and by which line" "$(place explain run_python)" 'mode +setpriv +.*jianmu.yaml:[0-9]+'
printf 'tools:\n  hello:\n    memory: 64m\n' >"$tap_tmp/memory.yaml"
like "a limit of one tool is asked for" "$("${jianmu[@]}" --config "$tap_tmp/memory.yaml" run hello --args '{"name": "you"}' 2>&1)" \
    'cannot enforce memory .*memory.yaml:3'
is "the command line goes before rules" \
    "$(place run run_python --yes --mode local --args '{"code": "print(1)"}' --events "$tap_tmp/events") $(backend)" "1 local"
ok "a backend fits into 120 lines" test "$(wc -l <"$JIANMU_SOURCE/examples/setpriv/setpriv.c")" -lt 120
tap_done
