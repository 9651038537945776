/* SPDX-License-Identifier: Apache-2.0
 * One line of JSON, put together piece by piece: no locale, no allocation where it is short, always valid UTF-8. */
#ifndef JM_LINE_H
#define JM_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jm_rules;

enum { JM_LINE_WORK = 8 << 20 };

struct jm_line {
    const struct jm_rules *rules; /* what strings of others must not show; NULL: the usual forms of keys */
    size_t most;         /* characters of a string, whatever its place allows */
    size_t len, cap;
    char *data;          /* small, or the heap's; a NUL stands behind len bytes once it is complete */
    long work;           /* what may yet be spent on looking for secrets, in about bytes; behind it nothing is shown */
    bool failed;         /* something was left out for want of memory */
    char small[1536];
};

void jm_line_init(struct jm_line *line);
void jm_line_free(struct jm_line *line);

void jm_line_add(struct jm_line *line, const char *bytes, size_t len);
#define jm_line_lit(line, literal) jm_line_add(line, literal, sizeof(literal) - 1)
/* A string in quotes, escaped; bad UTF-8 becomes U+FFFD; behind `most` characters an ellipsis. */
void jm_line_string(struct jm_line *line, const char *text, size_t len, size_t most);
/* The same of what others wrote: what looks like a secret becomes "[redacted]". */
void jm_line_text(struct jm_line *line, const char *text, size_t len, size_t most);
void jm_line_integer(struct jm_line *line, int64_t number);
void jm_line_seconds(struct jm_line *line, int64_t nanoseconds); /* exact: "0.000012345", "3.0" */
void jm_line_real(struct jm_line *line, double number);
void jm_line_time(struct jm_line *line, int64_t nanoseconds); /* since 1970: "2026-01-31T23:59:59.123456Z", in quotes */
/* Any value, in at most about `most` bytes. False: it is larger, deeper than 64 or cyclic, or memory is short; the line
 * is as it was before. */
bool jm_line_json(struct jm_line *line, const json_t *value, size_t most);
/* The same with a comma and a key before it; what has the name of a secret is not shown. */
bool jm_line_member(struct jm_line *line, const char *key, const json_t *value, size_t most);

#endif
