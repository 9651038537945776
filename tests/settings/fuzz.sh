#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/settings/fuzz.sh BUILD SECONDS: both targets under libFuzzer with the address and undefined sanitizers, from the
# corpus on. Needs clang and a configured BUILD directory (for config.h). What it finds stays in BUILD/fuzz-settings.
set -e
build=$(cd "$1" && pwd) seconds=$2
source=$(cd "${0%/*}/../.." && pwd)
where=$build/fuzz-settings
mkdir -p "$where"
for target in yaml json; do
    mkdir -p "$where/$target"
    clang -g -O1 -std=gnu11 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
        -DJM_BACKENDS_ROOT='"/nonexistent"' -DJM_SYSCONFDIR='"/nonexistent"' -I"$build" -I"$source/libjianmu" \
        "$source/tests/settings/fuzz_$target.c" "$source"/libjianmu/{base,schema,settings,plugin}/*.c \
        -o "$where/fuzz_$target" -ljansson -lyaml -lltdl -lpcre2-8 -lm
    (cd "$where" && ./fuzz_$target -max_total_time="$seconds" -timeout=5 -rss_limit_mb=512 -print_final_stats=1 \
        "$where/$target" "$source/tests/settings/corpus/$target")
done
