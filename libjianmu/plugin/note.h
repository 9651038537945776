/* SPDX-License-Identifier: Apache-2.0
 * What a plug-in says of itself, read from its file as data. */
#ifndef JM_NOTE_H
#define JM_NOTE_H

#include "plugin/elf.h"
#include <jansson.h>

#define JM_NOTE_BYTES (256u * 1024)
#define JM_NOTES 64u

struct jm_note {
    char *raw; /* as in the file; struct jianmu_note_head at its begin */
    size_t raw_len;
    uint32_t kind, danger;
    uint64_t flags;
    const char *name, *text; /* in raw */
    json_t *json;
};

struct jm_notes {
    struct jm_note *list;
    size_t count;
};

/* All notes of the file, at least one, sorted by name, each of this ABI and well formed; or refused. */
int jm_notes_read(struct jm_elf *elf, struct jm_notes *notes, struct jm_refusal *r);
void jm_note_clear(struct jm_note *note);
void jm_notes_free(struct jm_notes *notes);

#endif
