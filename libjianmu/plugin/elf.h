/* SPDX-License-Identifier: Apache-2.0
 * The head of a shared object, read with bounds and without running or mapping anything of it. A file may
 * shrink meanwhile: that is why all is read with pread. */
#ifndef JM_ELF_H
#define JM_ELF_H

#include "plugin/refusal.h"
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JM_ELF_SEGMENTS 64u

struct jm_elf {
    int fd;           /* borrowed */
    const char *path; /* borrowed; for sentences */
    uint64_t size;
    unsigned count;
    Elf64_Phdr segments[JM_ELF_SEGMENTS];
    uint64_t window_at; /* the piece of the file that was read last: symbols are many, small and close together */
    size_t window_len;
    char window[8192];
};

/* A shared object of this machine with all its segments in the file, or refused. */
int jm_elf_open(struct jm_elf *elf, int fd, const char *path, struct jm_refusal *r);
bool jm_elf_read(struct jm_elf *elf, void *to, size_t len, uint64_t offset);
/* From an address of the loaded object. */
bool jm_elf_read_at(struct jm_elf *elf, void *to, size_t len, uint64_t address);

#endif
