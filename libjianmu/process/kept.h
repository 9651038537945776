/* SPDX-License-Identifier: Apache-2.0
 * A process that outlives what it is asked: it stays under its reaper, which kills its tree when the host dies, when
 * its time without a question is over, or when it is told to. Questions go to its standard input, answers come by its
 * standard output, and what it prints to standard error is output. */
#ifndef JM_KEPT_H
#define JM_KEPT_H

#include "process/process.h"

struct jm_kept; /* one thread at a time */

struct jm_exchange {
    const struct iovec *parts;   /* the question */
    int part_count;
    int64_t deadline;            /* CLOCK_MONOTONIC nanoseconds; 0: none */
    int cancel_fd;               /* readable: cancelled; -1: none */
    double interrupt_s;          /* then SIGINT first, and so long for the answer, before it is killed; 0: at once */
    double idle_s;               /* afterwards, how long it may wait for the next; 0: for ever */
    double cpu_time_s;           /* of the tree in this exchange and behind it; 0: no limit */
    uint64_t capture, output_limit, output_before; /* of its output, as for a process */
    /* bytes of standard output: 1 that was the whole answer, 0 more is to come, -1 it is none: the process is killed */
    int (*take)(void *data, const void *bytes, size_t len);
    void *data;
};

struct jm_exchange_end {
    /* exited: it answered, or it ended by itself; timeout and cancelled: it was interrupted, or killed; or a limit */
    jianmu_reason reason;
    bool unasked;                /* it was gone before: nobody got the question */
    bool answered;
    bool gone;                   /* the whole tree is dead */
    bool expired;                /* since it had been idle for too long */
    int exit_code, signal;       /* of one that is gone */
    struct jm_stream out;        /* what came by standard error */
    double wall_s;
    double user_s, system_s;     /* of one that is gone, over all of its life; else -1 */
    uint64_t peak_memory;
};

/* Of spec count argv, env, cwd_fd, scratch_fd, fsize and nofile. That it cannot be executed is told by the first exchange. */
struct jm_kept *jm_kept_start(struct jm_reapers *reapers, const struct jm_process_spec *spec, jianmu_error **err);
/* 0: *end is filled; free end->out.data. -1: it could not be executed, or its reaper died; then it is gone. */
int jm_kept_exchange(struct jm_kept *kept, const struct jm_exchange *exchange, struct jm_exchange_end *end,
                     jianmu_error **err);
/* Tells it to die, without waiting. */
void jm_kept_kill(struct jm_kept *kept);
/* Kills it, waits until its tree is dead, and frees it; NULL is fine. In a forked child it frees memory only. */
void jm_kept_free(struct jm_kept *kept);

#endif
