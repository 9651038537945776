/* SPDX-License-Identifier: Apache-2.0
 * The sink otlp: spans of OpenTelemetry as OTLP/JSON, made and sent by a thread of its own. */
#ifndef OTLP_H
#define OTLP_H

#include "base/buffer.h"
#include "jianmu-plugin.h"
#include <stdbool.h>

/* One ended call, as it waits in the queue. */
struct ended {
    struct ended *next;
    int64_t start_ns, end_ns;
    uint8_t trace_id[16], span_id[8], parent_id[8];
    uint32_t flags;
    bool failed;
    size_t size, line_len;
    const char *state; /* in line, or NULL */
    char line[];
};

/* span.c: {"resourceSpans": [...]} of a batch as one line with its newline; *count: spans that are in it. */
char *spans_print(const json_t *resource, const struct ended *batch, size_t *len, size_t *count);

/* resource.c, from the environment: attributes of the process; new. NULL without memory. */
json_t *resource_new(void);
/* "name=value,name=value", both percent-encoded, into an object. */
int pairs_read(const char *text, json_t *object);
json_t *attribute(const char *name, const char *value); /* new; value NULL: NULL */
json_t *attribute_number(const char *name, int64_t value);

/* post.c: HTTP by libcurl, which is loaded at first use. */
struct post {
    char *url;
    json_t *headers;       /* {name: value} */
    double timeout_s;
    void *library, *easy, *list;
    bool broken;           /* no libcurl */
    bool (*stop)(void *data); /* asked again and again: shall it give up? */
    void *data;
};
enum post_end { POST_DONE, POST_AGAIN, POST_REFUSED };
enum post_end post_send(struct post *post, const char *body, size_t len);
bool post_is_built(void);
void post_end(struct post *post);

/* settings.c: where to send, with what headers. 0, or -1 after fail. file: one is written, so an address must be named. */
int settings_read(jianmu_context *ctx, struct post *post, bool file);
bool settings_disabled(void);
double settings_time(jianmu_context *ctx, const char *key, const char *name, const char *other); /* of the environment; or NULL */
size_t settings_count(jianmu_context *ctx, const char *key, const char *name);

#endif
