# SPDX-License-Identifier: Apache-2.0
# A small TAP writer for tests in bash. Source it first:
#
#   . "$JIANMU_SOURCE/tests/tap.sh"
#   is   "two words"     "$got" "a b"      # exact
#   like "says why"      "$got" 'no such'  # extended regular expression, anywhere in the text
#   unlike "no secret"   "$got" 'hunter2'
#   ok   "is a file"     test -f "$file"   # the command's exit status decides
#   not_ok "is gone"     test -e "$file"
#   pass NAME; fail NAME [WHY]             # decided elsewhere
#   skip NAME REASON                       # this one check cannot run here
#   skipping REASON ... skipping           # nor can those between: they are skipped under their own names
#   skip_all REASON                        # nothing of this file can run here
#   bail REASON                            # nothing makes sense any more
#   tap_done                               # the last line: writes the plan
#
# $tap_tmp is a private directory, removed at the end. A script that ends without tap_done fails.
# Functions named in at_exit run before the directory is removed.

tap_count=0
tap_failed=0
tap_finished=
tap_cleanups=()
tap_pid=$BASHPID
tap_tmp=$(mktemp -d "${TMPDIR:-/tmp}/jianmu-test.XXXXXX") || { echo 'Bail out! no temporary directory'; exit 1; }
# Tests must not read what the user who runs them has configured.
unset JIANMU_CONFIG JIANMU_PLUGIN_PATH JIANMU_TOOL_ARGS_MAX XDG_CONFIG_HOME XDG_DATA_HOME
export HOME=$tap_tmp/home
mkdir "$HOME"

diag() {
    printf '%s\n' "$*" | sed 's/^/# /'
}

tap_skipping=

skipping() {
    tap_skipping=${1-}
}

pass() {
    if [ -n "$tap_skipping" ]; then skip "$1" "$tap_skipping"; return; fi
    tap_count=$((tap_count + 1))
    printf 'ok %d - %s\n' "$tap_count" "${1//#/}"
}

fail() {
    if [ -n "$tap_skipping" ]; then skip "$1" "$tap_skipping"; return; fi
    tap_count=$((tap_count + 1))
    tap_failed=$((tap_failed + 1))
    printf 'not ok %d - %s\n' "$tap_count" "${1//#/}"
    shift
    if [ $# -gt 0 ]; then diag "$@"; fi
}

ok() {
    local name=$1 status=0
    shift
    "$@" || status=$?
    if [ "$status" -eq 0 ]; then pass "$name"; else fail "$name" "status $status: $*"; fi
}

not_ok() {
    local name=$1
    shift
    if "$@"; then fail "$name" "must fail, and did not: $*"; else pass "$name"; fi
}

is() {
    if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "got:  $2"$'\n'"want: $3"; fi
}

isnt() {
    if [ "$2" != "$3" ]; then pass "$1"; else fail "$1" "got what must not be: $2"; fi
}

like() {
    if [[ $2 =~ $3 ]]; then pass "$1"; else fail "$1" "got:  $2"$'\n'"want something like: $3"; fi
}

unlike() {
    if [[ $2 =~ $3 ]]; then fail "$1" "got:  $2"$'\n'"must not be like: $3"; else pass "$1"; fi
}

skip() {
    tap_count=$((tap_count + 1))
    printf 'ok %d - %s # SKIP %s\n' "$tap_count" "${1//#/}" "$2"
}

skip_all() {
    tap_finished=1
    printf '1..0 # SKIP %s\n' "$1"
    exit 0
}

bail() {
    tap_finished=1
    printf 'Bail out! %s\n' "$*"
    exit 1
}

at_exit() {
    tap_cleanups+=("$1")
}

tap_done() {
    tap_finished=1
    printf '1..%d\n' "$tap_count"
    exit $((tap_failed > 0))
}

tap_exit() {
    local status=$? f
    [ "$BASHPID" = "$tap_pid" ] || return "$status"
    for f in "${tap_cleanups[@]}"; do "$f"; done
    chmod -R u+rwX "$tap_tmp" 2>/dev/null
    rm -rf "$tap_tmp"
    if [ -z "$tap_finished" ]; then
        printf 'Bail out! the script ended early with status %d\n' "$status"
        exit 1
    fi
    exit "$status"
}
trap tap_exit EXIT

# wait_for SECONDS COMMAND...: until the command succeeds; its failure is the status.
wait_for() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.05
    done
}

# run_under VARIABLE: the program that it names is run by the words of $JIANMU_UNDER from now on, where that is set.
run_under() {
    [ -n "${JIANMU_UNDER-}" ] || return 0
    local -n program=$1
    local script=$tap_tmp/under-${program##*/}
    printf '#!%s\nexec %s %q "$@"\n' "$BASH" "$JIANMU_UNDER" "$program" >"$script"
    chmod 755 "$script"
    program=$script
}

# alive PID: runs, and is not a zombie.
alive() {
    local state
    state=$(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null) || return 1
    [ -n "$state" ] && [ "$state" != Z ] && [ "$state" != X ]
}
dead() {
    ! alive "$1"
}
