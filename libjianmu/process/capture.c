/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "process/capture.h"
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 65536       /* what a pipe holds; memory that is not written to costs nothing */
#define SECOND_SIZE (1 << 20)  /* who writes more writes much more, and copies would take longer than the pipe */

void jm_capture_limit(struct jm_capture *c, uint64_t limit)
{
    c->limit = limit < SIZE_MAX / 2 ? (size_t)limit : SIZE_MAX / 2;
    c->head = c->limit - c->limit / 2;
}

/* At least one more byte of linear room, unless the limit is reached. */
static bool grow(struct jm_capture *c)
{
    size_t size = !c->size ? FIRST_SIZE : c->size < SECOND_SIZE ? SECOND_SIZE : 2 * c->size;
    if (size > c->limit)
        size = c->limit;
    char *data = realloc(c->data, size + 1);
    if (!data) {
        c->failed = true;
        return false;
    }
    c->data = data;
    c->size = size;
    return true;
}

void *jm_capture_room(struct jm_capture *c, size_t *len)
{
    if (c->len < c->limit) {
        if (c->len == c->size && !grow(c))
            return NULL;
        *len = c->size - c->len;
        return c->data + c->len;
    }
    if (c->limit - c->head < JM_CAPTURE_DIRECT)
        return NULL;
    *len = c->limit - c->head - c->ring;
    return c->data + c->head + c->ring;
}

void jm_capture_filled(struct jm_capture *c, size_t len)
{
    c->total += len;
    if (c->len < c->limit)
        c->len += len;
    else if ((c->ring += len) == c->limit - c->head)
        c->ring = 0;
}

void jm_capture_add(struct jm_capture *c, const void *bytes, size_t len)
{
    const char *from = bytes;
    while (len && c->len < c->limit) {
        if (c->len == c->size && !grow(c)) {
            c->total += len;
            return;
        }
        size_t n = c->size - c->len < len ? c->size - c->len : len;
        memcpy(c->data + c->len, from, n);
        jm_capture_filled(c, n);
        from += n;
        len -= n;
    }
    size_t ring = c->limit - c->head;
    if (len > ring) { /* all but the end would be overwritten */
        c->total += len - ring;
        from += len - ring;
        len = ring;
    }
    while (len) {
        size_t n = ring - c->ring < len ? ring - c->ring : len;
        memcpy(c->data + c->head + c->ring, from, n);
        jm_capture_filled(c, n);
        from += n;
        len -= n;
    }
}

static void reverse(char *p, size_t len)
{
    for (char *q = p + len; p < --q; p++) {
        char byte = *p;
        *p = *q;
        *q = byte;
    }
}

bool jm_capture_finish(struct jm_capture *c, struct jm_stream *stream)
{
    if (c->failed || (!c->data && !(c->data = malloc(1))))
        return false;
    if (c->ring) { /* rotate the oldest byte to the front */
        reverse(c->data + c->head, c->ring);
        reverse(c->data + c->head + c->ring, c->limit - c->head - c->ring);
        reverse(c->data + c->head, c->limit - c->head);
    }
    c->data[c->len] = 0;
    if (c->size > 2 * c->len) { /* for as long as the result is kept */
        char *data = realloc(c->data, c->len + 1);
        if (data)
            c->data = data;
    }
    *stream = (struct jm_stream){.data = c->data, .len = c->len, .head = c->len, .dropped = c->total - c->len};
    if (stream->dropped)
        stream->head = c->head;
    *c = (struct jm_capture){0};
    return true;
}

void jm_capture_free(struct jm_capture *c)
{
    free(c->data);
    *c = (struct jm_capture){0};
}
