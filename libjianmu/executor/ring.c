/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "executor/ring.h"
#include <stdlib.h>
#include <string.h>

static void copy_out(const struct jm_ring *r, char *to, size_t len)
{
    size_t first = r->cap - r->begin < len ? r->cap - r->begin : len;
    if (first)
        memcpy(to, r->data + r->begin, first);
    if (len > first)
        memcpy(to + first, r->data, len - first);
}

/* Room for so many more bytes, as far as it may grow. */
static void grow(struct jm_ring *r, size_t more)
{
    uint32_t cap = r->cap ? r->cap : 1024;
    size_t need = r->len + more;
    while (cap < need && cap < JM_RING_MOST)
        cap *= 2;
    char *data = cap > r->cap ? malloc(cap) : NULL;
    if (!data)
        return;
    copy_out(r, data, r->len);
    free(r->data);
    r->data = data;
    r->cap = cap;
    r->begin = 0;
}

void jm_ring_add(struct jm_ring *r, const void *bytes, size_t len)
{
    const char *from = bytes;
    if (len > r->cap - r->len)
        grow(r, len);
    if (len > r->cap) {
        r->dropped += len - r->cap;
        from += len - r->cap;
        len = r->cap;
    }
    if (!len)
        return;
    uint32_t room = r->cap - r->len, gone = len > room ? (uint32_t)len - room : 0;
    r->begin = (r->begin + gone) % r->cap;
    r->len -= gone;
    r->dropped += gone;
    uint32_t end = (r->begin + r->len) % r->cap;
    size_t first = r->cap - end < len ? r->cap - end : len;
    memcpy(r->data + end, from, first);
    memcpy(r->data, from + first, len - first);
    r->len += (uint32_t)len;
}

size_t jm_ring_read(struct jm_ring *r, void *bytes, size_t len)
{
    if (len > r->len)
        len = r->len;
    if (!len)
        return 0;
    copy_out(r, bytes, len);
    r->begin = (r->begin + (uint32_t)len) % r->cap;
    r->len -= (uint32_t)len;
    return len;
}

void jm_ring_free(struct jm_ring *r)
{
    free(r->data);
    *r = (struct jm_ring){0};
}
