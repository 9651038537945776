/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include <stdio.h>
#include <string.h>

static bool reserve(struct jm_buffer *b, size_t more)
{
    if (b->failed || more >= SIZE_MAX / 2 - b->len) {
        b->failed = true;
        return false;
    }
    size_t need = b->len + more + 1;
    if (need <= b->cap)
        return true;
    size_t cap = b->cap ? b->cap : 64;
    while (cap < need)
        cap *= 2;
    char *data = realloc(b->data, cap);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->cap = cap;
    return true;
}

void jm_buffer_add(struct jm_buffer *b, const void *bytes, size_t len)
{
    if (!reserve(b, len))
        return;
    if (len)
        memcpy(b->data + b->len, bytes, len);
    b->len += len;
    b->data[b->len] = 0;
}

void jm_buffer_adds(struct jm_buffer *b, const char *text)
{
    jm_buffer_add(b, text, strlen(text));
}

void jm_buffer_addf(struct jm_buffer *b, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (n < 0 || !reserve(b, (size_t)n)) {
        b->failed = true;
        return;
    }
    va_start(ap, format);
    vsnprintf(b->data + b->len, (size_t)n + 1, format, ap);
    va_end(ap);
    b->len += (size_t)n;
}

char *jm_vformat(const char *format, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = n < 0 ? NULL : malloc((size_t)n + 1);
    if (text)
        vsnprintf(text, (size_t)n + 1, format, ap);
    return text;
}

int jm_format(char **text, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    *text = jm_vformat(format, ap);
    va_end(ap);
    return *text ? 0 : -1;
}

char *jm_buffer_take(struct jm_buffer *b)
{
    if (!reserve(b, 0)) {
        jm_buffer_free(b);
        return NULL;
    }
    b->data[b->len] = 0;
    char *data = b->data;
    *b = (struct jm_buffer){0};
    return data;
}

void jm_buffer_free(struct jm_buffer *b)
{
    free(b->data);
    *b = (struct jm_buffer){0};
}
