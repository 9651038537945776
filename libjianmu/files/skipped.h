/* SPDX-License-Identifier: Apache-2.0
 * What was not collected, and why. A job can make as many of these as it likes, so only the first of each kind
 * are named and the others counted. */
#ifndef JM_SKIPPED_H
#define JM_SKIPPED_H

#include "files/arena.h"
#include <jansson.h>
#include <stdint.h>

enum jm_why {
    JM_WHY_SYMLINK,
    JM_WHY_HARDLINK,
    JM_WHY_FIFO,
    JM_WHY_SOCKET,
    JM_WHY_DEVICE,
    JM_WHY_TOO_LARGE,
    JM_WHY_COUNT,
    JM_WHY_TOTAL,
    JM_WHY_DEPTH,
    JM_WHY_MOUNT,
    JM_WHY_UNREADABLE,
    JM_WHY_VANISHED,
    JM_WHY_CHANGED,
    JM_WHYS
};

#define JM_SKIPPED_NAMED 200

struct jm_skip {
    const char *path;
    enum jm_why why;
    int errnum;    /* of unreadable */
    uint64_t size; /* of too_large and total */
};

struct jm_skips {
    struct jm_skip *items;
    size_t count, room;
    uint64_t seen[JM_WHYS];
};

/* path is copied into the arena. -1 without memory. */
int jm_skip_add(struct jm_skips *skips, struct jm_arena *arena, const struct jm_skip *skip, size_t path_len);
/* Sorted by path; new; NULL without memory. */
json_t *jm_skips_json(struct jm_skips *skips);
/* The path in valid UTF-8, new; NULL without memory. */
json_t *jm_path_json(const char *path);

#endif
