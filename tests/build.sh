#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What configure offers: an out-of-tree build with everything optional left out, and its table.
. "$JIANMU_SOURCE/tests/tap.sh"
mkdir "$tap_tmp/b" && cd "$tap_tmp/b" || bail "no directory"
out=$("$JIANMU_SOURCE/configure" --without-curl --without-cmocka --prefix="$tap_tmp/p" 2>&1) || bail "configure: $(tail -n 5 <<<"$out")"
like "configure says what is on and off" "$out" 'tool http_request +no'
like "and what it found" "$out" 'unit tests in C +no'
ok "control: list_dir is built" test -n "$(make -s -n all 2>/dev/null | grep list_dir.c)"
ok "without curl there is no http_request" test -z "$(make -s -n all 2>/dev/null | grep http_request.c)"
ok "make is one make" test "$(find . -name Makefile | wc -l)" -eq 1
ok "nothing is written beside the sources" test ! -e "$JIANMU_SOURCE/config.status"
like "the help names each switch" "$("$JIANMU_SOURCE/configure" --help)" '--without-curl.*--without-cmocka'
for flag in -Wall -Wextra -Wshadow; do
    like "warnings are on: $flag" "$(grep '^JM_WARNINGS' Makefile)" "$flag"
done
tap_done
