/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JM_PUMP_H
#define JM_PUMP_H

#include "process/capture.h"
#include "process/process.h"
#include "process/protocol.h"
#include <sys/types.h>

/* One running job as the host sees it. */
struct jm_pump {
    const struct jm_process_spec *spec;
    int socket;                      /* of its reaper */
    pid_t wake;                      /* the reaper, where a job can stop it; else 0 */
    int fds[2];                      /* where stdout and stderr are read, not blocking; borrowed */
    struct jm_capture captures[2];
    uint64_t seen[2];                /* bytes that came */
    bool grown[2];                   /* that pipe was made larger */
    char *spare;                     /* buffer for what the capture does not keep; allocated when needed */
    bool no_memory;
    jianmu_reason stop;              /* why the tree was told to die; JIANMU_EXITED: it was not */
    int64_t stopped;                 /* when */
    struct jm_reaper_answer answer;
};

/* Feeds on output until the reaper has answered, then takes what is left in the pipes. -1: the reaper is dead. */
int jm_pump_run(struct jm_pump *pump, jianmu_error **err);
/* 1 the answer is there, 0 not yet, -1 there will be none. */
int jm_answer_take(int socket, struct jm_reaper_answer *answer);
bool jm_pump_over_limit(const struct jm_pump *pump); /* of output */
void jm_pump_free(struct jm_pump *pump);

#endif
