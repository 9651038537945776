/* SPDX-License-Identifier: Apache-2.0
 * What a job left in its directory, taken without following or opening anything that is not a plain file of
 * its own. Every process of the job is dead by then. */
#ifndef JM_ARTIFACTS_H
#define JM_ARTIFACTS_H

#include "files/arena.h"
#include "files/workdir.h"

struct jm_artifact_caps {
    uint64_t count, bytes, total, depth; /* files, bytes of one, bytes of all, directories deep; 0 is none at all */
};

struct jm_artifact_list {
    jianmu_artifact *items;      /* sorted by path as bytes */
    size_t count;
    /* Array of {"path", "why"}: symlink hardlink fifo socket device too_large count total depth mount unreadable
     * vanished changed (while it was read). With "size" for too_large and total, "error" for unreadable, "path_hex"
     * where path is not the very bytes. Of each why 200 are named; then one with "path": "" has in "more" how many
     * others there were. */
    json_t *skipped;
    /* Array of paths: written to, replaced or gone; the script's name included. New content of inputs is among the
     * items, that of the script is not. */
    json_t *modified_inputs;
    struct jm_arena arena;       /* paths and bytes */
};

/* 0, or -1 without memory; what cannot be read is in skipped, never an error. *list needs no preparation. */
int jm_artifacts_collect(const struct jm_workdir *dir, const struct jm_artifact_caps *caps,
                         struct jm_artifact_list *list, jianmu_error **err);
void jm_artifact_list_free(struct jm_artifact_list *list);

#endif
