/* SPDX-License-Identifier: Apache-2.0
 * What plug-ins that serve no call of their own (guards, sinks) are given: their settings, a clock, and a place for the
 * reason why they could not. */
#ifndef JM_PLAIN_H
#define JM_PLAIN_H

#include "jianmu-plugin.h"
#include "jianmu.h"
#include <stdatomic.h>

struct jm_plain_context {
    jianmu_context public; /* first: it is what the plug-in holds */
    const json_t *settings; /* what setting() looks into; borrowed */
    int64_t deadline;       /* CLOCK_MONOTONIC nanoseconds; 0: none */
    atomic_bool abandoned;  /* its caller has gone */
    jianmu_error *error;    /* of fail(); the first stays */
};

/* Zeroes the rest; settings may be NULL. */
void jm_plain_context_init(struct jm_plain_context *ctx, const json_t *settings);

#endif
