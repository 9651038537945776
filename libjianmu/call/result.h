/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JM_RESULT_H
#define JM_RESULT_H

#include "files/artifacts.h"
#include "jianmu.h"
#include "process/process.h"
#include <stdbool.h>

struct jianmu_result {
    jianmu_reason reason;
    int exit_code, signal;
    bool heavy;                  /* something below needs more than the value to be dropped */
    bool abandoned;
    bool transient;              /* the tool said that a repeat is safe and may do better */
    unsigned attempts;           /* 0: it was refused before the first */
    char *message;               /* NULL: nothing to say */
    json_t *value;
    uint64_t value_dropped;
    struct jm_stream stream[2];
    char *text[2];               /* repaired on demand */
    size_t text_len[2];
    struct jm_artifact_list artifacts;
    json_t *enforced;            /* {limit: "enforced" | "dropped"}; shared with the plan */
    double wall_s, user_s, system_s, queue_s, start_s, run_s, collect_s; /* -1: not measured */
    uint64_t peak_memory;
};

/* *result: NULL becomes a new one, another is emptied for use again. */
jianmu_result *jm_result_prepare(jianmu_result **result, jianmu_error **err);
/* Moves output, usage and end of a process into the result. */
void jm_result_take_process(jianmu_result *r, struct jm_process_result *process);

/* Drops all it holds; nothing is measured. A zeroed one is made ready so too. */
void jm_result_empty(jianmu_result *r);
/* Moves what came together in `from` beside its value: sentence, output, artifacts, measures. */
void jm_result_absorb(jianmu_result *to, jianmu_result *from);

#endif
