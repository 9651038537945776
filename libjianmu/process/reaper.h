/* SPDX-License-Identifier: Apache-2.0
 * Parts of the reaper, a static program without libc. */
#ifndef JM_REAPER_H
#define JM_REAPER_H

#include "process/protocol.h"
#include <poll.h>
#include <stddef.h>

/* ---- reaper-base.c: instead of a libc ---- */
int64_t jm_reaper_now(void);
/* ns < 0: without end */
void jm_reaper_wait(struct pollfd *fds, int count, int64_t ns);

/* ---- reaper-tree.c: who is below this process ---- */
/* 0 or -errno. scan: read all of /proc even where the kernel lists children. */
int jm_tree_open(bool scan);
/* Closes what the host had open when it started this process, but 0, 1, 2. */
void jm_tree_close_inherited(void);
/* Sends signal 9 to every child of this process. None of them can be a stranger: only this process reaps them. */
void jm_tree_kill_children(void);
/* CPU time of all that live below this process, with what those have reaped. */
uint64_t jm_tree_cpu_ns(void);

/* ---- reaper-job.c: from a request to a process ---- */
union jm_reaper_message {
    struct jm_reaper_request request;
    struct jm_reaper_lease lease;
    char bytes[sizeof(struct jm_reaper_request) + JM_REAPER_INLINE + 1];
};

struct jm_reaper_job {
    union jm_reaper_message *message;
    size_t len;
    int fds[JM_REAPER_FDS], fd_count; /* received; closed but for those below */
    int null;                         /* /dev/null, or -errno */
    int ruleset;                      /* Landlock's, or -1 where the kernel has no signal scope */
    int out, err, scratch;            /* out: left open for the caller, or -1 */
    volatile int step, error;         /* out: where it failed; also written by the child, which shares this memory */
};

/* The main process, or 0 and step and error. */
int jm_reaper_start_job(struct jm_reaper_job *job);
/* Landlock's signal scope for jobs: 0 or -errno. A kernel without it is no error, and *ruleset then -1. */
int jm_reaper_ruleset(int *ruleset);
int jm_reaper_lower_limit(int which, uint64_t soft, uint64_t hard); /* 0 or errno */

#endif
