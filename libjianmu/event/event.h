/* SPDX-License-Identifier: Apache-2.0
 * Events: a struct on the stack of the call, handed to each subscriber; text only for those who ask. */
#ifndef JM_EVENT_H
#define JM_EVENT_H

#include "event/line.h"
#include "event/rules.h"
#include "event/trace.h"
#include "jianmu.h"
#include <stdbool.h>

enum jm_event_kind { JM_EVENT_STARTED, JM_EVENT_COMPLETED, JM_EVENT_FAILED, JM_EVENT_OTHER };

/* What was decided of a call; names of rules and places, all of them the configuration's own. */
struct jm_decision {
    const char *verdict, *rule, *source, *guard; /* NULL: none, but of verdict */
    const char *code;            /* of what is not allowed; NULL: it is */
    double retry_after_s;        /* 0: not known */
    int confirmed;               /* -1: nobody had to */
};

struct jianmu_event {
    enum jm_event_kind kind;
    const char *name;
    const char *backend, *tool;
    uint64_t call;
    const char *run_id, *node_name, *tool_call_id; /* NULL: none */
    int64_t time;                /* CLOCK_MONOTONIC nanoseconds */
    int64_t real;                /* the same instant since 1970, once somebody asked (jm_event_real); 0: nobody has */
    int64_t duration;            /* of the call so far, nanoseconds */
    bool ended_by_error;         /* failed: code holds, else reason */
    bool quoted;                 /* the sentence is a tool's own or quotes what a caller gave: only for those who ask */
    bool abandoned;
    jianmu_code code;
    jianmu_reason reason;
    const char *error;           /* failed: the sentence; NULL: none */
    double timeout_s;            /* failed by timeout */
    unsigned attempts;           /* completed, failed: how often it was tried */
    json_t *payload;             /* JM_EVENT_OTHER: the plug-in's; NULL: none */
    const struct jm_decision *decision; /* of execution.decision; NULL: none */
    const json_t *arguments, *result; /* for those who ask; NULL: none */
    const struct jm_trace *trace; /* NULL: none */
    const struct jm_rules *rules; /* of the runner; NULL: nothing is asked for */
    const char *text;            /* as one line of JSON with its newline, once somebody asked */
    size_t text_len;
    struct jm_line *line;        /* where it is printed */
};

/* Nanoseconds since 1970. */
int64_t jm_event_real(const struct jianmu_event *event);
/* The event as one line of JSON with its newline; in an emptied line. Never fails: without memory, long parts are left
 * out. */
void jm_event_print(const struct jianmu_event *event, struct jm_line *line);
/* The same, printed on first use and kept while the event lives; borrowed. */
const char *jm_event_text(const struct jianmu_event *event, size_t *len);

#endif
