/* SPDX-License-Identifier: Apache-2.0
 * A growing string of bytes. Zeroed is empty. Once an allocation failed it stays failed and takes no more. */
#ifndef JM_BUFFER_H
#define JM_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct jm_buffer {
    char *data; /* a NUL stands behind len bytes once anything was added */
    size_t len, cap;
    bool failed;
};

void jm_buffer_add(struct jm_buffer *b, const void *bytes, size_t len);
void jm_buffer_adds(struct jm_buffer *b, const char *text);
void jm_buffer_addf(struct jm_buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text, new, and b empty again; NULL where memory ran out. */
char *jm_buffer_take(struct jm_buffer *b);
void jm_buffer_free(struct jm_buffer *b);

/* new, NULL without memory. glibc's vasprintf writes a byte too far where its last realloc fails. */
char *jm_vformat(const char *format, va_list ap) __attribute__((format(printf, 1, 0)));
/* In asprintf's place: 0, or -1 without memory, and then *text is NULL. */
int jm_format(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
