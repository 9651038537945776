/* SPDX-License-Identifier: Apache-2.0
 * What belongs to one call: its ids, its own timeout, and the flag that cancels it. Cancelling takes no lock, so
 * that it may come from any thread at any time. */
#ifndef JM_CALL_H
#define JM_CALL_H

#include "event/trace.h"
#include "jianmu.h"
#include <stdatomic.h>
#include <stdbool.h>

/* What a caller sets is copied for calls in the background: jm_call_copy. */
struct jianmu_call {
    double timeout_s;                  /* 0: none */
    bool operator_act;                 /* the operator asks for it: nobody else is asked */
    char *confirmation;                /* a token for the next execution; NULL: none */
    char *run_id, *node_name, *tool_call_id;
    bool traced;                       /* by its caller */
    struct jm_trace trace;             /* the caller's span */
    char *trace_state;
    char *session;                     /* NULL: the runner's own */
    atomic_int cancelled;
    atomic_int event_fd;               /* readable once cancelled; -1: nobody asked yet */
    atomic_int timer_fd;               /* readable once cancelled or past a deadline; -1: nobody asked yet */
    atomic_uint word;                  /* JM_WAIT_...: what a caller with a worker waits on; a cancel may outlive that */
};

#define JM_SESSION_LONGEST 255

#define JM_WAIT_DONE 1u
#define JM_WAIT_CANCELLED 2u

/* Descriptors, made on first use, the call's own; -1: cannot be had (errno). */
int jm_call_event_fd(jianmu_call *call);
int jm_call_timer_fd(jianmu_call *call, int64_t deadline);

/* Makes one of what a caller has set; from may be NULL. -1: no memory. */
int jm_call_copy(jianmu_call *to, const jianmu_call *from);
void jm_call_clear(jianmu_call *call);

void jm_futex_wake(atomic_uint *word);
/* Until *word differs from seen, or the deadline (CLOCK_MONOTONIC nanoseconds; 0: none) has come. */
void jm_futex_wait(atomic_uint *word, unsigned seen, int64_t deadline);

#endif
