/* SPDX-License-Identifier: Apache-2.0
 * Runs one process within limits and kills all of its tree: the only implementation. The host is never forked:
 * a small static program, the reaper, is started once, kept, and does fork, exec, wait and kill. */
#ifndef JM_PROCESS_H
#define JM_PROCESS_H

#include "jianmu.h"
#include <stdbool.h>

/* Kept reapers of one runner; any thread. */
struct jm_reapers;
struct jm_reapers *jm_reapers_new(jianmu_error **err);
/* Starts one ahead, so that the first call need not wait for it; failures show at the first call. */
void jm_reapers_prefetch(struct jm_reapers *reapers);
/* No process may run. In a forked child it frees memory only. */
void jm_reapers_free(struct jm_reapers *reapers);
/* 1 the job cannot signal or trace its reaper (Landlock's signal scope), 0 this kernel lacks it. */
int jm_process_scoped(void);

typedef void (*jm_output)(void *data, int stream, const void *bytes, size_t len);

struct jm_process_spec {
    const char *const *argv;
    const char *const *env;      /* NULL-terminated, the whole environment */
    int cwd_fd;                  /* directory, or -1: / */
    int stdin_fd;                /* given to it as it is, or -1: input below, then end of file */
    const void *input;
    size_t input_len;
    int64_t deadline;            /* CLOCK_MONOTONIC nanoseconds; 0: none */
    int cancel_fd;               /* readable: kill, reason cancelled; -1: none */
    uint64_t capture;            /* bytes kept per stream, head and tail */
    uint64_t output_limit;       /* bytes of both streams together that kill; 0: none */
    uint64_t output_before;      /* bytes that count to it already */
    bool stdout_is_free;         /* standard output does not count to it: it carries what is no output */
    double cpu_time_s;           /* of the whole tree; 0: none */
    uint64_t fsize, nofile;      /* RLIMIT_FSIZE, RLIMIT_NOFILE; 0: leave */
    int scratch_fd;              /* directory that the reaper empties and removes if this process dies; -1: none */
    jm_output output;            /* every byte as it comes, beside the capture; NULL: none */
    void *output_data;
};

/* What was captured of one stream: head, then tail; `dropped` bytes lay between. */
struct jm_stream {
    char *data;                  /* head and tail joined; a NUL stands behind it */
    size_t len;
    size_t head;                 /* where the gap is, if dropped */
    uint64_t dropped;
};

struct jm_process_result {
    jianmu_reason reason;        /* exited, signalled, timeout, cpu_time, output, fsize, cancelled */
    int exit_code, signal;
    struct jm_stream out, err;
    double start_s, wall_s, user_s, system_s; /* start_s: until exec succeeded; wall_s: from there to the end */
    uint64_t peak_memory;
    bool survivors;              /* the kernel did not let all of the tree die in time (uninterruptible) */
};

/* 0: it ran, *result is filled (free it). -1: it could not: JIANMU_NOT_FOUND where the program is missing. */
int jm_process_run(struct jm_reapers *reapers, const struct jm_process_spec *spec, struct jm_process_result *result,
                   jianmu_error **err);
void jm_process_result_free(struct jm_process_result *result);

#endif
