/* SPDX-License-Identifier: Apache-2.0
 * The walk of artifacts.c, and what it needs for one file. */
#ifndef JM_WALK_H
#define JM_WALK_H

#include "files/artifacts.h"
#include "files/skipped.h"
#include "files/written.h"

struct jm_walk {
    const struct jm_workdir *dir;
    const struct jm_artifact_caps *caps;
    struct jm_artifact_list *list;
    size_t room;               /* of list->items */
    uint64_t total;
    dev_t dev;
    struct jm_skips skips;
    struct jm_arena scratch;   /* paths of directories and of what was skipped */
    char *path;                /* of what is looked at: that of the directory, a "/", a name */
    size_t path_room, prefix_len;
    const struct jm_written **by_inode;
    bool *unchanged;           /* one for each of dir->written */
};

/* -1 without memory */
int jm_walk_skip(struct jm_walk *w, enum jm_why why);
/* The written file with that inode, or NULL. */
const struct jm_written *jm_walk_written(const struct jm_walk *w, ino_t ino);
/* Takes the file name of directory fd, whose path is w->path; -1 without memory. */
int jm_walk_file(struct jm_walk *w, int fd, const char *name);
/* For what could not be opened or read. */
int jm_walk_skip_errno(struct jm_walk *w, int errnum);
/* -1: a regular file or a directory */
int jm_why_of_mode(mode_t mode);

#endif
