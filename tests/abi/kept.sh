# SPDX-License-Identifier: Apache-2.0
# Plug-ins as earlier releases built them: they load and run for ever. See kept/README.

. "$JIANMU_SOURCE/tests/plugins/kit.sh" || exit 1
header=$JIANMU_SOURCE/libjianmu/jianmu-plugin.h
kept=$JIANMU_SOURCE/tests/abi/kept
number=$(sed -n 's/^#define JIANMU_ABI \([0-9][0-9]*\)u$/\1/p' "$header")

like "the header has its ABI number" "$number" '^[0-9]+$'
ok "the header of that number is kept" test -f "$kept/jianmu-plugin-$number.h"
if [ "$number" = 0 ]; then
    is "the number is 0: the kept header is today's" "$(diff "$kept/jianmu-plugin-0.h" "$header")" ""
fi

# Of this build, as a release would keep them.
mkdir -p "$dir/now/tools" "$dir/now/backends"
cp "$JIANMU_BUILD/tests/abi/.libs/kept_tool.so" "$dir/now/tools/"
cp "$JIANMU_BUILD/tests/abi/.libs/kept_backend.so" "$dir/now/backends/"
strip "$dir"/now/*/*.so 2>/dev/null
chmod 0755 "$dir"/now/*/*.so
check_set() {
    lines=$("$look" --run "$2")
    is "$1: the tool is usable" "$(column 4 kept_tool.so)" usable
    is "$1: the backend is usable" "$(column 4 kept_backend.so)" usable
    like "$1: the tool runs" "$lines" 'kept_tool = 42'
}
check_set "built now and stripped" "$dir/now"

sets=0
for set in "$kept"/*-"$(uname -m)"; do
    [ -d "$set" ] || continue
    sets=$((sets + 1))
    cp -r "$set" "$dir/set$sets" && chmod -R u+w,go-w "$dir/set$sets"
    check_set "${set##*/}" "$dir/set$sets"
done
if [ "$number" = 0 ]; then
    is "before the first release no binaries are kept" "$sets" 0
else
    ok "there are binaries of a release" test "$sets" -gt 0
fi

tap_done
