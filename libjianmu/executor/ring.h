/* SPDX-License-Identifier: Apache-2.0
 * The last bytes of a stream that nobody may be reading. Zeroed is empty. */
#ifndef JM_RING_H
#define JM_RING_H

#include <stddef.h>
#include <stdint.h>

#define JM_RING_MOST 32768u /* bytes */

struct jm_ring {
    char *data;
    uint32_t cap, begin, len;
    uint64_t dropped;
};

/* Where there is no room, the oldest bytes go and are counted. */
void jm_ring_add(struct jm_ring *r, const void *bytes, size_t len);
size_t jm_ring_read(struct jm_ring *r, void *bytes, size_t len);
void jm_ring_free(struct jm_ring *r);

#endif
