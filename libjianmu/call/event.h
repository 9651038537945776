/* SPDX-License-Identifier: Apache-2.0
 * Events: a struct on the stack of the call, handed to each subscriber; JSON only for those who ask. */
#ifndef JM_EVENT_H
#define JM_EVENT_H

#include "jianmu.h"
#include <stdbool.h>

enum jm_event_kind { JM_EVENT_STARTED, JM_EVENT_COMPLETED, JM_EVENT_FAILED, JM_EVENT_OTHER };

struct jianmu_event {
    enum jm_event_kind kind;
    const char *name;
    const char *backend, *tool;
    uint64_t call;
    const char *run_id, *node_name, *tool_call_id; /* NULL: none */
    int64_t time;                /* CLOCK_MONOTONIC nanoseconds */
    int64_t duration;            /* of the call so far, nanoseconds */
    bool ended_by_error;         /* failed: code holds, else reason */
    jianmu_code code;
    jianmu_reason reason;
    const char *error;           /* failed: the sentence; NULL: none */
    double timeout_s;            /* failed by timeout */
    bool abandoned;
    unsigned attempts;           /* completed, failed: how often it was tried */
    json_t *payload;             /* JM_EVENT_OTHER: the plug-in's; NULL: none */
};

bool jm_bus_listening(const jianmu_bus *bus); /* bus may be NULL */
void jm_bus_emit(const jianmu_bus *bus, const struct jianmu_event *event);

#endif
