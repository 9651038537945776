/* SPDX-License-Identifier: Apache-2.0
 * The executor: one call from its start event to its end event. A call in the background is the same on another thread. */
#ifndef JM_EXECUTOR_H
#define JM_EXECUTOR_H

#include "call/runner.h"
#include "executor/confirm.h"

struct jianmu_executor {
    jianmu_runner *runner;
    jianmu_confirm confirm;      /* NULL: nobody to ask */
    void *confirm_data;
    struct jm_confirmations confirmations;
};

/* One call on its way. The first group is the caller's to fill in. */
struct jm_execution {
    jianmu_executor *executor;
    const char *name;            /* of the tool; of a job NULL */
    const jianmu_job *job;
    json_t *args;                /* or NULL for {} */
    jianmu_call *call;           /* or NULL */
    bool background;
    jianmu_error *refusal;       /* it cannot even begin; taken */

    jm_context ctx;
    char subject[100];           /* stands in events for a tool that is not there */
    int64_t total;               /* no attempt goes on after this; 0: none */
    double cpu_s;                /* of all attempts, as what follows */
    double run_s;
    uint64_t output;
};

/* Everything between start and end; what jianmu_execute_tool returns. */
int jm_execute(struct jm_execution *x, jianmu_result **result, jianmu_error **err);

/* attempts.c: until it is done, or a repeat is not safe, not allowed or too late. */
void jm_attempts(struct jm_execution *x);
/* The call was cancelled where nothing ran. */
void jm_attempts_cancelled(struct jm_execution *x);

#endif
