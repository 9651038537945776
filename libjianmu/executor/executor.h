/* SPDX-License-Identifier: Apache-2.0
 * The executor: one call from its start event to its end event. A call in the background is the same on another thread. */
#ifndef JM_EXECUTOR_H
#define JM_EXECUTOR_H

#include "call/runner.h"
#include "executor/confirm.h"
#include "guard/guard.h"

/* What is made once for a tool, or for jobs, and used for all their calls. */
struct jm_known {
    struct jm_known *next;
    const jianmu_tool *tool;     /* NULL: jobs */
    json_t *values;              /* of its plan, for guards */
    jianmu_schema *schema;       /* of its arguments; jobs: NULL */
};

struct jianmu_executor {
    jianmu_runner *runner;
    jianmu_confirm confirm;      /* NULL: nobody to ask */
    void *confirm_data;
    struct jm_guards *guards;
    struct jm_confirmations confirmations;
    pthread_mutex_t lock;        /* guards what follows; entries stay until the end */
    struct jm_known *known;
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
    bool judged;                 /* the verdict must be settled */
    struct jm_verdict verdict;
    json_t *own_args;            /* in the place of args; NULL: none needed */
    int64_t total;               /* no attempt goes on after this; 0: none */
    double cpu_s;                /* of all attempts, as what follows */
    double run_s;
    uint64_t output;
};

/* Everything between start and end; what jianmu_execute_tool returns. */
int jm_execute(struct jm_execution *x, jianmu_result **result, jianmu_error **err);

/* known.c: NULL with an error. */
struct jm_known *jm_known_get(jianmu_executor *executor, const jianmu_tool *tool, const struct jm_plan *plan,
                              jianmu_error **err);
void jm_known_free(jianmu_executor *executor);

/* arguments.c: are these what the tool wants? 0; -1 with an error that holds the complaints. *repaired: new, to be used
 * instead of args; or NULL. */
int jm_arguments_check(const struct jm_known *known, const char *tool, json_t *args, json_t **repaired,
                       jianmu_error **err);

/* judge.c: may it run? 0, or -1 and ctx->error. */
int jm_judge(struct jm_execution *x);
void jm_judge_settle(struct jm_execution *x);
/* The verdict on a call that will not be made. */
void jm_judge_ask(jianmu_executor *executor, const jm_context *ctx, json_t *args, bool explain, struct jm_verdict *v);
/* {"verdict", "code", "rule", "source", "guard", "message", "retry_after_s"}, what there is of it; new. */
json_t *jm_verdict_json(const struct jm_verdict *v);

/* question.c: has somebody said yes to this very call? 0, or -1 and ctx->error. */
int jm_question(struct jm_execution *x);

/* attempts.c: until it is done, or a repeat is not safe, not allowed or too late. */
void jm_attempts(struct jm_execution *x);
/* The call was cancelled where nothing ran. */
void jm_attempts_cancelled(struct jm_execution *x);

#endif
