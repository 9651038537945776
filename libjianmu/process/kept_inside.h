/* SPDX-License-Identifier: Apache-2.0
 * What kept.c and exchange.c share. */
#ifndef JM_KEPT_INSIDE_H
#define JM_KEPT_INSIDE_H

#include "process/kept.h"
#include "process/protocol.h"
#include "process/spawn.h"
#include <limits.h>

#define JM_KEPT_ANSWER_NS (5 * JM_REAPER_PATIENCE_NS) /* the reaper itself gives up after 4 */

struct jm_kept {
    struct jm_reapers *reapers;
    struct jm_reaper reaper;
    int in, out, err;            /* our ends; in is a socket, since a write to it must not raise SIGPIPE */
    bool spoke;                  /* it has written to standard output: it can be interrupted */
    bool gone;
    int64_t lease;               /* until when the reaper leaves it alone; 0: for ever */
    struct jm_reaper_answer answer; /* once it is gone */
    char path[PATH_MAX];
};

void jm_kept_tell(struct jm_kept *kept, const void *word, size_t len);
/* What is not asked for soon again is killed by the reaper by itself: the host need not wake for it. */
void jm_kept_lease(struct jm_kept *kept, double idle_s, double cpu_time_s);
/* It is dead, or its reaper is. */
void jm_kept_bury(struct jm_kept *kept, const struct jm_reaper_answer *answer);

#endif
