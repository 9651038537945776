#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the documents must say, and that every manual page is sound.
. "${JIANMU_SOURCE:?}/tests/tap.sh" || exit 1
cd "$JIANMU_SOURCE" || exit 1
pages=$(find doc tools plugins -name '*.[1-8]' | sort)
ok "there are manual pages" test "$(wc -w <<<"$pages")" -gt 10
for page in $pages; do
    if command -v mandoc >/dev/null; then
        is "$page has no warnings" "$(mandoc -T lint -W warning "$page" 2>&1)" ""
    else
        skip "$page has no warnings" "there is no mandoc"
    fi
done
for tool in tools/*/; do
    tool=$(basename "$tool")
    [ "$tool" = common ] || ok "$tool has a manual page" test -n "$(find tools -name "*$tool*.7")"
done
for f in README.md doc/jianmu-local.7 SECURITY.md; do
    ok "$f says that local is no security boundary" grep -qi 'no security boundary' "$f"
done
ok "the manual names the deviations from its sources" grep -q 'contradict each other or themselves, it was decided' doc/jianmu.1
for command in run job tools backends plugins explain doctor gc; do
    ok "jianmu(1) has $command" grep -qE "^\.(It|Ss|Cm|Ic).*\b$command\b" doc/jianmu.1
done
for f in README.md HACKING.md SECURITY.md NEWS LICENSE; do ok "$f is there" test -s "$f"; done
is "the README's tool is the example" "$(sed -n '/#include <jianmu-plugin.h>/,/JIANMU_PLUGIN/p' README.md | sed 's/^    //')" \
    "$(sed -n '/#include <jianmu-plugin.h>/,/JIANMU_PLUGIN/p' examples/hello/hello.c)"
tap_done
