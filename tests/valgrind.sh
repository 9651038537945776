#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs one test program under valgrind; a finding is a failed test.
exec bash "${JIANMU_SOURCE:?}/tests/program.sh" "${JIANMU_BUILD:?}/libtool" --mode=execute valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite \
    --show-leak-kinds=definite --child-silent-after-fork=yes --trace-children=no --suppressions="$JIANMU_SOURCE/tests/valgrind.supp" "$@"
