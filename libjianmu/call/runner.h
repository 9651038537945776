/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JM_RUNNER_H
#define JM_RUNNER_H

#include "call/context.h"
#include "process/process.h"

struct jianmu_backend {
    jianmu_backend *next;          /* of the same runner */
    const jianmu_config *config;
    jianmu_config *own_config;     /* made where the caller gave none */
    struct jm_item *item;          /* NULL: the core's own, which calls tools in process */
    const struct jianmu_backend_plugin *plugin;
    void *instance;
    char *mode;
    uint64_t flags;
    json_t *enforces;              /* array of names; borrowed from the item */
};

struct jm_worker;
struct jm_sessions;

/* Who hears of its calls, and the trace they stand in. */
struct jm_listen {
    struct jm_rules *rules;
    jianmu_bus *own_bus;           /* made where the caller gave none and the config names sinks */
    bool has_parent;               /* in this process's environment */
    struct jm_trace parent;
    char *state;
    uint64_t seed[2];
};

struct jianmu_runner {
    const unsigned char *alive;    /* a page that reads zero in a forked child */
    atomic_uint references;        /* the owner's, and one for each abandoned call */
    char *mode;                    /* where nothing says otherwise; its backend may not be open yet */
    bool only;                     /* made around one opened backend: no other is opened */
    jianmu_config *config;         /* held: an abandoned call may outlast its owner */
    jianmu_constraints *constraints;
    char **offered;                /* patterns of built-in tools; NULL: all */
    jm_registry *custom;           /* the tools of its skill; NULL: it has none */
    char *skill;                   /* its directory without links, for rules; NULL: it has none, or it is not there */
    jianmu_bus *bus;
    struct jm_listen listen;
    atomic_uint_fast64_t spans;
    atomic_uint_fast64_t calls;
    atomic_uint turns;             /* taken now, where the plan limits them */
    pthread_mutex_t making;        /* held while something is opened, which may take long, and over backends */
    jianmu_backend *backends;      /* opened ones, the last one first */
    pthread_mutex_t lock;          /* taken after the other; never held for long; guards what follows */
    struct jianmu_tool *tools;
    struct jm_plan *job_plan;      /* once it is there the next two are, too */
    struct jm_limits job_limits;
    jianmu_backend *job_backend;
    struct jm_reapers *reapers;
    struct jm_sessions *sessions;  /* made on first use */
    struct jm_worker *idle_workers;
    unsigned abandoned;
    bool closing;
};

/* The backend that only calls tools in this process; for the tool host. */
jianmu_backend *jm_backend_in_process(const jianmu_config *config, jianmu_error **err);
int jm_runner_check(const jianmu_runner *runner, jianmu_error **err); /* JIANMU_FORKED in a forked child */
void jm_runner_release(jianmu_runner *runner);
/* The backend of that mode, opened if need be; of that subject (tool NULL: jobs). Both under runner->making. */
jianmu_backend *jm_runner_backend(jianmu_runner *runner, const char *mode, jianmu_error **err);
jianmu_backend *jm_runner_place(jianmu_runner *runner, const char *subject, const struct jm_item *tool,
                                jianmu_error **err);
/* Its rules, the sinks of its config, the trace of its environment. */
int jm_runner_listen(jianmu_runner *runner, jianmu_bus *bus, jianmu_error **err);
void jm_listen_free(struct jm_listen *listen);
/* Has this call a span, and which? */
void jm_call_trace(jm_context *ctx);
/* toolset.c: finds the skill's tools, and checks what is offered. */
int jm_toolset_open(jianmu_runner *runner, jianmu_error **err);
/* The tool of that name, and whose it is. */
struct jm_item *jm_toolset_find(const jianmu_runner *runner, const char *name, jm_registry **from, jianmu_error **err);
/* How dangerous an item of that registry is, and its flags. A skill's is what its note says and no less than `write`;
 * under the name of a built-in one the stricter of both holds. */
void jm_toolset_grade(const jianmu_runner *runner, const struct jm_item *item, const jm_registry *from, uint32_t *danger,
                      uint64_t *flags);
struct jm_reapers *jm_runner_reapers(jianmu_runner *runner, jianmu_error **err);
struct jm_sessions *jm_runner_sessions(jianmu_runner *runner, jianmu_error **err);

/* Which of the plan's limits this backend holds. */
int jm_limits_check(const jianmu_backend *backend, const struct jm_plan *plan, const struct jm_item *tool,
                    struct jm_limits *limits, jianmu_error **err);
void jm_limits_free(struct jm_limits *limits);
/* May this plan be called, with a timeout of the call's own (0: none)? -1: JIANMU_DENIED, something is above a
 * maximum; JIANMU_UNSUPPORTED, the backend does not hold what was asked for. */
int jm_limits_check_call(const jianmu_backend *backend, const struct jm_plan *plan, const struct jm_limits *limits,
                         double own_timeout, jianmu_error **err);
bool jm_limit_enforced(const jianmu_backend *backend, const char *limit);

/* Numbers a call, takes the time, says it started: only where somebody needs it. */
void jm_call_begin(jm_context *ctx);
/* False: a limit that was asked for cannot be had. */
bool jm_call_admit(jm_context *ctx, const struct jm_limits *limits);
/* One more event of a call. */
void jm_call_say(jm_context *ctx, const char *name, json_t *payload);
void jm_call_decided(jm_context *ctx, const struct jm_decision *decision); /* execution.decision */
/* The end of a call: events, message, error; what run_tool and run_job return. */
int jm_call_finish(jm_context *ctx, jianmu_error **err);

/* The same in steps, for what stands above the runner: begin once; attempt and settle once or more; end once. */
void jm_tool_begin(jm_context *ctx, jianmu_runner *runner, const jianmu_tool *tool, const json_t *args, jianmu_call *call,
                   jianmu_result **result);
void jm_job_begin(jm_context *ctx, jianmu_runner *runner, const jianmu_job *job, jianmu_call *call,
                  jianmu_result **result);
/* Counts an attempt, which has its whole time before it; what the one before left is dropped. */
void jm_call_attempt(jm_context *ctx);
void jm_tool_attempt(jm_context *ctx, json_t *args);
void jm_job_attempt(jm_context *ctx);
void jm_call_settle(jm_context *ctx);                    /* what it came to: reason and sentence */
int jm_call_end(jm_context *ctx, jianmu_error **err);    /* event and error */

/* Waits until the plan allows one call more. False: cancelled, or an error was set. */
bool jm_turn_take(jm_context *ctx);
void jm_turn_release(jm_context *ctx);
/* The plan of jobs, made on first use. */
int jm_runner_prepare_jobs(jianmu_runner *runner, jianmu_error **err);

/* worker.c: runs the tool on another thread; NULL and ctx->result->abandoned where it does not come back in time. */
json_t *jm_worker_call(jm_context *ctx, json_t *args);
void jm_workers_stop(jianmu_runner *runner, bool forked);

#endif
