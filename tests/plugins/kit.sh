# SPDX-License-Identifier: Apache-2.0
# For the tests of this folder: fixtures into a private plug-in directory, and what look says of them.

umask 022
. "$JIANMU_SOURCE/tests/tap.sh" || exit 1
built=$JIANMU_BUILD/tests/plugins
look=$built/look
run_under look
dir=$(cd "$tap_tmp" && pwd -P) || bail "no temporary directory"
export JIANMU_TEST_MARK=$tap_tmp/mark

why=$("$look" --trusted "$dir") || skip_all "no plug-in can stand in $dir: $why"

# put FIXTURE FILE: a copy of a fixture.
put() {
    mkdir -p "${2%/*}"
    cp "$built/.libs/$1.so" "$2" && chmod 0755 "$2" || bail "fixture $1 is missing"
}

# poke FILE OFFSET BYTES: bytes as printf knows them.
poke() {
    printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# column N FILE: of the line of FILE in $lines.
column() {
    printf '%s\n' "$lines" | awk -F '\t' -v file="$2" -v n="$1" '$1 == file { print $n; exit }'
}

# refused FILE CODE SENTENCE: state, code and the whole sentence.
refused() {
    local got
    got=$(column 4 "$1")
    is "$1 is refused: $2" "$got $(column 5 "$1")" "refused $2"
    is "$1 says why" "$(column 6 "$1")" "$3"
}

usable() {
    is "$1 beside them is usable" "$(column 4 "$1") $(column 5 "$1")" "usable -"
}
