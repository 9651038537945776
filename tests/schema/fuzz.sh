#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/schema/fuzz.sh BUILD SECONDS: schemas and values under libFuzzer with the address and undefined sanitizers, from
# the corpus on. Needs clang and a configured BUILD directory (for config.h). What it finds stays in BUILD/fuzz-schema.
set -e
build=$(cd "$1" && pwd) seconds=$2
source=$(cd "${0%/*}/../.." && pwd)
where=$build/fuzz-schema
mkdir -p "$where/corpus"
clang -g -O1 -std=gnu11 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
    -I"$build" -I"$source/libjianmu" "$source/tests/schema/fuzz_schema.c" "$source"/libjianmu/{base,schema}/*.c \
    -o "$where/fuzz_schema" -ljansson -lpcre2-8 -lm
cd "$where" && ./fuzz_schema -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 -max_len=2000 \
    -dict="$source/tests/schema/words.dict" corpus "$source/tests/schema/corpus/schema"
