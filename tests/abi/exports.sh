# SPDX-License-Identifier: Apache-2.0
# The library exports the functions of jianmu.h, and nothing else; a plug-in exports its entry and needs nothing of ours.

. "$JIANMU_SOURCE/tests/tap.sh" || exit 1
type nm > /dev/null 2>&1 || skip_all "nm is not installed"
kept=$(grep -v '^#' "$JIANMU_SOURCE/tests/abi/exports.txt")

declared=$(sed -e 's|/\*.*||' "$JIANMU_SOURCE/libjianmu/jianmu.h" | grep -v '^ \*\|^typedef' |
    grep -oE '\bjianmu_[a-z0-9_]+\(' | tr -d '(' | LC_ALL=C sort -u)
is "the list is that of jianmu.h" "$(diff <(printf '%s\n' "$kept") <(printf '%s\n' "$declared"))" ""

lib=$JIANMU_BUILD/.libs/libjianmu.so
exported=$(nm -D --defined-only "$lib" | awk '$2 != "A" { print $3 }')
is "the library exports just these" \
    "$(diff <(printf '%s\n' "$kept") <(sed 's/@.*//' <<< "$exported" | LC_ALL=C sort -u))" ""
if grep -q '@' <<< "$exported"; then
    is "each with a version" "$(grep -v '@@JIANMU_0$' <<< "$exported")" ""
fi
unlike "libcurl is not linked to it" "$(readelf -d "$lib" | grep NEEDED)" 'libcurl'

for so in "$JIANMU_BUILD"/tools/.libs/*.so "$JIANMU_BUILD"/plugins/.libs/*.so "$JIANMU_BUILD"/plugins/*/.libs/*.so \
          "$JIANMU_BUILD"/tools/*/.libs/*.so "$JIANMU_BUILD"/guards/*/.libs/*.so "$JIANMU_BUILD"/.libs/*.so; do
    [ -f "$so" ] && [ "${so##*/}" != libjianmu.so ] || continue
    is "${so##*/} exports its entry alone" "$(nm -D --defined-only "$so" | awk '{ print $3 }')" jianmu_plugin_entry
    is "${so##*/} needs nothing of ours" "$(nm -D --undefined-only "$so" | grep -E '\b(jianmu|jm)_')" ""
done

tap_done
