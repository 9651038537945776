#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each promise has a test, and that test is one that is run.
. "$JIANMU_SOURCE/tests/tap.sh"
wanted="A1 A2 A3 A4 A5 A6 A7 A8 A9 B1 B2 B3 B4 B5 B6 B7 B8 C1 C2 C3 C4 D1 D2 D3 D4 D5 D6 D7 D8 F1 F2 F3 F4 F5 F6 F8 G-run_python
    G-run_shell G-python_repl G-files G-http_request H-run H-job H-list H-explain H-doctor H-gc H-status I1 I5 J"
list=$JIANMU_SOURCE/tests/contract.tsv
for id in $wanted; do
    ok "$id has a row" grep -q "^$id	" "$list"
done
# What the build runs when nobody picks tests by hand.
run=$(env -u MAKEFLAGS -u MAKEOVERRIDES make -s -C "$JIANMU_BUILD" -f - jm-tests 2>/dev/null <<'MK'
include Makefile
jm-tests:
	@echo $(TESTS)
MK
)
ok "the list of tests can be read" test "$(wc -w <<<"$run")" -gt 20
is_run() {
    case $1 in
    *.c) grep -qwF "${1%.c}" <<<"$run" || grep -qE "_SOURCES = .*$1" "$JIANMU_SOURCE"/tests/*/fragment.am ;;
    tests/outside/table.sh | tests/outside/installed.sh) return 0 ;;
    *) grep -qwF "$1" <<<"$run" ;;
    esac
}
while IFS=$'\t' read -r id promise test rest; do
    case $id in '#'* | '') continue ;; esac
    file=${test%%:*}
    needle=${test#"$file"}
    needle=${needle#:}
    name="$id: $file${needle:+ ($needle)}"
    if [ -z "$promise" ] || [ -z "$test" ] || [ -n "$rest" ]; then
        fail "$name" "a row is: id, promise, test"
    elif [ ! -f "$JIANMU_SOURCE/$file" ]; then
        fail "$name" "there is no such test"
    elif ! is_run "$file"; then
        fail "$name" "no make check runs it"
    elif [ -n "$needle" ] && ! grep -qF -- "$needle" "$JIANMU_SOURCE/$file"; then
        fail "$name" "it does not speak of that"
    else
        pass "$name"
    fi
done <"$list"
tap_done
