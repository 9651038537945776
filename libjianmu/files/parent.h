/* SPDX-License-Identifier: Apache-2.0
 * The directories in which work directories are made. */
#ifndef JM_PARENT_H
#define JM_PARENT_H

#include "jianmu.h"
#include <stdbool.h>

#define JM_WORKDIR_PREFIX "jianmu_local_job_"

struct jm_parent {
    const char *path; /* borrowed */
    bool asked;       /* false: taken only where it is better than what comes behind */
};

/* The i-th place to try, best first; false behind the last. chosen: the only place for new directories, one more
 * to look for old ones in; or NULL. */
bool jm_parent_nth(const char *chosen, bool old, size_t i, struct jm_parent *parent);
/* Opens it (O_PATH), if it is fit for a work directory with `bytes` of inputs; -1 with *why: what is wrong, static,
 * or NULL and *errnum. */
int jm_parent_open(const struct jm_parent *parent, uint64_t bytes, const char **why, int *errnum);

#endif
