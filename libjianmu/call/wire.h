/* SPDX-License-Identifier: Apache-2.0
 * Frames between the core and a tool host: a header of 24 bytes, little-endian, then the payload.
 *
 *   u32 magic "JMF0"   u32 type   u64 id   u64 length
 *
 * Over any pair of descriptors. The side that reads trusts nothing: magic, type and length are checked. */
#ifndef JM_WIRE_H
#define JM_WIRE_H

#include "jianmu.h"
#include <stdbool.h>

#define JM_FRAME_HEADER 24u
#define JM_FRAME_MOST (UINT64_C(64) << 20) /* bytes of one payload */

enum jm_frame_type {
    JM_FRAME_REQUEST = 1, /* JSON: {"tool", "path", "args", "settings", "own", "timeout_s"?} */
    /* JSON: {"ok": true, "result"?, "dropped", "failed"?, "limit"?, "died"?} or {"ok": false, "error": {"code",
     * "message"}}, and in both "transient" */
    JM_FRAME_RESULT = 2,
    JM_FRAME_EVENT = 3    /* JSON: {"name", "payload"} */
};

struct jm_frame {
    uint32_t type;
    uint64_t id, len;
    char *data; /* a NUL stands behind it */
};

void jm_frame_header(unsigned char header[JM_FRAME_HEADER], uint32_t type, uint64_t id, uint64_t len);
/* 0, or -1: errno. Never raises SIGPIPE on a socket; on a pipe the caller blocks it. */
int jm_frame_write(int fd, uint32_t type, uint64_t id, const void *data, size_t len);
/* 0 a frame (data is new), 1 end of file before one, -1 an error. */
int jm_frame_read(int fd, struct jm_frame *frame, jianmu_error **err);

/* Frames out of pieces as they come. Zeroed is empty. */
struct jm_frame_reader {
    unsigned char header[JM_FRAME_HEADER];
    size_t have;              /* of the header, then of the payload */
    bool in_payload, broken;
    struct jm_frame frame;
};
/* Takes up to len bytes; returns how many were used; *ready says that reader->frame is whole: take its data. */
size_t jm_frame_feed(struct jm_frame_reader *reader, const void *bytes, size_t len, bool *ready);

#endif
