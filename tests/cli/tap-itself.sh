# SPDX-License-Identifier: Apache-2.0
# The test library of the shell tests can fail, and says so.
. "$JIANMU_SOURCE/tests/tap.sh" || exit 1

run_script() {
    local status=0
    printf '. "$JIANMU_SOURCE/tests/tap.sh"\n%s\n' "$1" | bash >"$tap_tmp/out" 2>&1 || status=$?
    out=$(grep -v '^#' "$tap_tmp/out" | tr '\n' '|')
    out="$out$status"
}

run_script 'ok a true; is b x x; like c xyz y; pass d; skip e why; tap_done'
is "what holds is ok" "$out" 'ok 1 - a|ok 2 - b|ok 3 - c|ok 4 - d|ok 5 - e # SKIP why|1..5|0'
run_script 'ok a false; is b x y; like c xyz a; unlike d xyz y; not_ok e true; isnt f x x; fail g; tap_done'
is "what does not hold is not ok" "$out" \
    'not ok 1 - a|not ok 2 - b|not ok 3 - c|not ok 4 - d|not ok 5 - e|not ok 6 - f|not ok 7 - g|1..7|1'
run_script 'skipping "no such kernel"; ok a true; is b x y; like c x y; fail d; skipping; is e x y; tap_done'
is "checks can be skipped under their own names" "$out" \
    'ok 1 - a # SKIP no such kernel|ok 2 - b # SKIP no such kernel|ok 3 - c # SKIP no such kernel|ok 4 - d # SKIP no such kernel|not ok 5 - e|1..5|1'
run_script 'pass a; exit 0'
is "an early end is no success" "$out" 'ok 1 - a|Bail out! the script ended early with status 0|1'
run_script 'skip_all "no such kernel"'
is "a whole file can be skipped" "$out" '1..0 # SKIP no such kernel|0'
run_script 'echo "$tap_tmp"; touch "$tap_tmp/x"; mkdir -m 0 "$tap_tmp/y"; at_exit bye; bye() { ls "$tap_tmp" | wc -l; }; tap_done'
like "cleanups run before the directory goes" "$out" '\|3\|0$'
not_ok "the directory is gone" test -e "$(head -n 1 "$tap_tmp/out")"

sleep 60 &
pid=$!
ok "alive: a running process" alive "$pid"
kill "$pid"
wait "$pid" 2>/dev/null
ok "dead: a reaped process" dead "$pid"
tap_done
