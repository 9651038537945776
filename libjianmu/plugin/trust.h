/* SPDX-License-Identifier: Apache-2.0
 * Who could change this file? A path is trusted when the file and every directory on the way to it, links
 * followed, belong to root or to the effective user and can be written by nobody else. */
#ifndef JM_TRUST_H
#define JM_TRUST_H

#include "plugin/refusal.h"
#include <sys/stat.h>

struct jm_place {
    int fd;
    char *real; /* the path without links */
    struct stat st;
};
#define JM_PLACE_INIT {-1, NULL, {0}}

/* An absolute path that leads to a directory; place->fd is good for openat alone. 0; -1 refused; 1 there is no
 * such directory. */
int jm_trust_dir(const char *path, struct jm_place *place, struct jm_refusal *r);
/* A name in a trusted directory that leads to a regular file; place->fd is open for reading. 0 or -1. */
int jm_trust_file(const struct jm_place *dir, const char *name, struct jm_place *place, struct jm_refusal *r);
void jm_place_close(struct jm_place *place);

#define jm_auto_place __attribute__((cleanup(jm_place_close)))

#endif
