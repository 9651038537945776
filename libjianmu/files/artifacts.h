/* SPDX-License-Identifier: Apache-2.0
 * What a job left in its directory, taken without following or opening anything that is not a plain file of
 * its own. Every process of the job is dead by then. */
#ifndef JM_ARTIFACTS_H
#define JM_ARTIFACTS_H

#include "workdir.h"

struct jm_artifact_caps {
    uint64_t count, bytes, total, depth; /* files, bytes of one, bytes of all, directories deep */
};

struct jm_artifact_list {
    jianmu_artifact *items;      /* sorted by path as bytes */
    size_t count;
    json_t *skipped;             /* array of {"path", "why", …}: why is symlink hardlink fifo socket device too_large count total depth mount unreadable vanished */
    json_t *modified_inputs;     /* array of paths, the script's name included where it was changed */
};

/* 0, or -1 without memory; what cannot be read is in skipped, never an error. */
int jm_artifacts_collect(const struct jm_workdir *dir, const struct jm_artifact_caps *caps, struct jm_artifact_list *list,
                         jianmu_error **err);
void jm_artifact_list_free(struct jm_artifact_list *list);

#endif
