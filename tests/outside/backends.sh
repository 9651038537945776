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
ok "a backend fits into 120 lines" test "$(wc -l <"$JIANMU_SOURCE/examples/setpriv/setpriv.c")" -lt 120
tap_done
