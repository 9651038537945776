/* SPDX-License-Identifier: Apache-2.0
 * Trace context (W3C): where a call stands among the spans of whoever asked for it. */
#ifndef JM_TRACE_H
#define JM_TRACE_H

#include <stdbool.h>
#include <stdint.h>

struct jm_trace {
    uint8_t trace_id[16], span_id[8], parent_id[8]; /* parent_id all zero: a root */
    uint8_t flags;                                  /* 1: sampled */
    const char *state;                              /* tracestate; NULL: none */
};

enum { JM_TRACEPARENT = 56, JM_TRACESTATE_MOST = 512 };

/* "00-<32 hex>-<16 hex>-<2 hex>" into trace_id, span_id, flags; false where the standard says to ignore it. */
bool jm_trace_parse(const char *traceparent, struct jm_trace *trace);
/* May that text be passed on as a tracestate? */
bool jm_tracestate_is_valid(const char *text);
/* A child of parent, or with NULL a root; ids from two secrets of the runner and a number that is used once. */
void jm_trace_begin(struct jm_trace *trace, const struct jm_trace *parent, const uint64_t seed[2], uint64_t number);
/* What a child of this span is told. */
void jm_trace_print(const struct jm_trace *trace, char text[JM_TRACEPARENT]);
void jm_hex(char *to, const uint8_t *bytes, int count); /* 2 * count characters, no NUL */

#endif
