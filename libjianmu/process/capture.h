/* SPDX-License-Identifier: Apache-2.0
 * Keeps the head and the tail of a stream within a limit, in one allocation that grows with what came. Zeroed,
 * then jm_capture_limit. */
#ifndef JM_CAPTURE_H
#define JM_CAPTURE_H

#include "process/process.h"

#define JM_CAPTURE_DIRECT 65536 /* smaller rooms at the end are not offered */

struct jm_capture {
    char *data;       /* up to the limit in order; beyond it [head, limit) is a ring and its oldest byte is at `ring` */
    size_t size, len, limit, head, ring;
    uint64_t total;
    bool failed;      /* out of memory: some bytes were lost */
};

void jm_capture_limit(struct jm_capture *c, uint64_t limit);
/* Where the next bytes may be written without a copy, or NULL: use jm_capture_add. */
void *jm_capture_room(struct jm_capture *c, size_t *len);
void jm_capture_filled(struct jm_capture *c, size_t len); /* that many were written there */
void jm_capture_add(struct jm_capture *c, const void *bytes, size_t len);
/* Moves it all to *stream; c is empty again. False without memory. */
bool jm_capture_finish(struct jm_capture *c, struct jm_stream *stream);
void jm_capture_free(struct jm_capture *c);

#endif
