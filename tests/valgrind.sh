#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one test under valgrind: a program itself, a script with $JIANMU_UNDER, the words that it puts before each program
# of ours. What valgrind finds is a failed test, whatever the test makes of the program's status.
logs=$(mktemp -d "${TMPDIR:-/tmp}/jianmu-valgrind.XXXXXX") || exit 1
trap 'rm -rf "$logs"' EXIT
chmod 1777 "$logs" # some tests go on as another user
under="$(command -v valgrind) -q --log-file=$logs/%p --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite
    --show-leak-kinds=definite --child-silent-after-fork=yes --trace-children=no
    --suppressions=${JIANMU_SOURCE:?}/tests/valgrind.supp"
case $1 in
*.sh) JIANMU_UNDER=$(echo $under) bash "$@" ;;
*.py) JIANMU_UNDER=$(echo $under) python3 "$@" ;;
*) bash "$JIANMU_SOURCE/tests/program.sh" "${JIANMU_BUILD:?}/libtool" --mode=execute $under "$@" ;;
esac
status=$?
for log in "$logs"/*; do
    grep -q '^==' "$log" || continue # the rest is about system calls that it does not know
    grep -v '^--' "$log" | sed 's/^/# /'
    echo "Bail out! valgrind has found something in $1"
    exit 1
done
exit $status
