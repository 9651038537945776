/* SPDX-License-Identifier: Apache-2.0
 * The pool: a reaper whose last tree is provably empty serves the next job. */
#ifndef JM_REAPERS_H
#define JM_REAPERS_H

#include "process/process.h"
#include "process/spawn.h"
#include <pthread.h>

#define JM_REAPERS_KEPT 4

struct jm_credentials {
    uid_t uid[3];
    gid_t gid[3];
    int group_count;
    gid_t groups[64];
};

struct jm_reapers {
    pthread_mutex_t lock;
    pid_t owner;                     /* the process that made it */
    int image;                       /* memory file, or -1 */
    const char *file;                /* used where the image cannot be executed */
    uint32_t flags;                  /* of every request: JM_REAPER_UNSCOPED, JM_REAPER_SCAN: for tests */
    struct jm_credentials credentials; /* with which those kept were started */
    unsigned generation;             /* counts their changes */
    struct jm_reaper kept[JM_REAPERS_KEPT];
    int count;
};

/* A kept one, or a new one. JIANMU_FORKED in a forked child. */
int jm_reapers_take(struct jm_reapers *reapers, struct jm_reaper *reaper, jianmu_error **err);
/* Back, idle. */
void jm_reapers_put(struct jm_reapers *reapers, struct jm_reaper *reaper);
/* Not to be used again: it ends, after what lives of its tree. */
void jm_reaper_dismiss(struct jm_reaper *reaper);

#endif
