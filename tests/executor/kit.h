/* SPDX-License-Identifier: Apache-2.0
 * A world of call/support.h with an executor in it. */
#ifndef EXECUTOR_KIT_H
#define EXECUTOR_KIT_H

#include "call/support.h"

struct kit {
    struct world w;
    jianmu_executor *executor;
    char file[64];               /* a byte for each time a tool has run */
};

extern const char *kit_guard;    /* what stands behind guard: */
/* yaml: what stands below execution:, or NULL. */
void kit_open(struct kit *k, const char *yaml, const char *constraints);
void kit_close(struct kit *k);
/* args: JSON text without the outer braces, or NULL; "file" is added. Result or error, whatever comes. */
jianmu_result *kit_call(struct kit *k, const char *tool, const char *args, jianmu_call *call, jianmu_error **err);
json_t *kit_args(struct kit *k, const char *args); /* new */
int kit_runs(struct kit *k);     /* how often a tool has run, since the last question */
/* The events since the last question: one start, `repeats` attempts, one end of that name, in this order; the payload
 * of the end, borrowed. */
json_t *kit_events(struct kit *k, size_t repeats, const char *end);
const char *kit_text(const json_t *object, const char *name);

#endif
