/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as a plug-in file: read, judged, never run. In "make check" the files given are damaged in many
 * ways by a generator with a fixed seed. To search further:
 *   clang -g -fsanitize=fuzzer,address,undefined -DLIBFUZZER -I. -I$srcdir/libjianmu $srcdir/tests/plugins/fuzz_note.c
 *       $srcdir/libjianmu/plugin/{elf,note,symbols,inspect,refusal}.c $srcdir/libjianmu/base/{buffer,error,json,json_parse,text}.c
 *       -ljansson -lm -o fuzz_note && ./fuzz_note -max_len=65536 corpus/ */
#include "config.h"
#include "plugin/item.h"
#include "plugin/symbols.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check(const struct jm_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++) {
        const struct jm_note *note = &notes->list[i];
        size_t name = strlen(note->name), text = strlen(note->text);
        if (!name || name > 64 || name + text > note->raw_len || !json_is_object(note->json))
            abort();
    }
}

static int judge(int fd, uint32_t kind)
{
    struct jm_notes notes;
    struct jm_refusal r = {0};
    int rc = jm_inspect(fd, "/dir/boxed.so", kind, &notes, &r);
    if (!rc == (r.code || r.sentence || r.shortage))
        abort();
    if (!rc && !notes.count)
        abort();
    check(&notes);
    jm_notes_free(&notes);
    jm_refusal_free(&r);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static int fd = -1;
    struct jm_elf elf;
    struct jm_notes notes = {0};
    struct jm_refusal r = {0};
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (ftruncate(fd, 0) || pwrite(fd, data, len, 0) != (ssize_t)len)
        abort();
    judge(fd, JIANMU_KIND_TOOL);
    judge(fd, JIANMU_KIND_BACKEND);
    judge(fd, JIANMU_KIND_GUARD);
    judge(fd, JIANMU_KIND_SINK);
    if (!jm_elf_open(&elf, fd, "/dir/boxed.so", &r)) { /* the symbols of a file without notes too */
        jm_symbols_check(&elf, &r);
        jm_refusal_free(&r);
        jm_notes_read(&elf, &notes, &r);
        jm_notes_free(&notes);
    }
    jm_refusal_free(&r);
    return 0;
}

#ifndef LIBFUZZER
static uint64_t next_random(void)
{
    static uint64_t x = 88172645463325252u;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

/* Mostly where the tables are: in the first kilobyte. */
static void damage(uint8_t *data, size_t len)
{
    static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff};
    for (uint64_t n = 1 + next_random() % 8; n; n--) {
        size_t at = next_random() % (next_random() % 4 && len > 1024 ? 1024 : len);
        switch (next_random() % 3) {
        case 0: data[at] ^= (uint8_t)(1u << next_random() % 8); break;
        case 1: data[at] = odd[next_random() % sizeof odd]; break;
        default: data[at] = (uint8_t)next_random();
        }
    }
}

static int damage_file(const char *path, unsigned times)
{
    FILE *in = fopen(path, "re");
    uint8_t *data = malloc(1 << 20), *copy = malloc(1 << 20);
    if (!in || !data || !copy)
        return -1;
    size_t len = fread(data, 1, 1 << 20, in);
    fclose(in);
    LLVMFuzzerTestOneInput(data, len);
    for (unsigned i = 0; i < times; i++) {
        memcpy(copy, data, len);
        damage(copy, len);
        LLVMFuzzerTestOneInput(copy, i % 8 ? len : next_random() % (len + 1));
    }
    free(data);
    free(copy);
    return len ? 0 : -1;
}

int main(void)
{
    static const char *const fixtures[] = {"good", "boxed", "many", "no_note", "json_deep"};
    char path[4096];
    printf("1..5\n");
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/tests/plugins/.libs/%s.so", getenv("JIANMU_BUILD"), fixtures[i]);
        printf("%s %d - %s damaged in 2000 ways\n", damage_file(path, 2000) ? "not ok" : "ok", i + 1, fixtures[i]);
        fflush(stdout);
    }
    return 0;
}
#endif
