/* SPDX-License-Identifier: Apache-2.0
 * One call on its way through backend and plug-ins. It lives on the stack of the caller, or, where the call may be
 * abandoned, on the heap. Only its first member is public. */
#ifndef JM_CONTEXT_H
#define JM_CONTEXT_H

#include "base/error.h"
#include "call/call.h"
#include "event/bus.h"
#include "event/event.h"
#include "call/job.h"
#include "call/result.h"
#include "files/workdir.h"
#include "jianmu-plugin.h"
#include "plugin/registry.h"
#include "settings/settings.h"
#include <pthread.h>

/* What a backend holds of a plan's limits. */
struct jm_limits {
    json_t *enforced;            /* {limit: "enforced" | "dropped"} */
    json_t *enforced_timed;      /* the same for calls with a timeout of their own */
    char *refusal;               /* a limit was asked for that cannot be had: every call is refused with this */
    bool refused;                /* that, or the plan is above a maximum */
};

/* A tool of one runner: its plan is made once. */
struct jianmu_tool {
    struct jianmu_tool *next;
    jianmu_runner *runner;
    jianmu_backend *backend;     /* where it is placed */
    struct jm_item *item;
    jm_registry *registry;       /* that the item is of */
    const char *name;
    struct jm_plan *plan;
    struct jm_limits limits;
    uint32_t danger;             /* as it is judged: jm_toolset_grade */
    uint64_t flags;
    bool cooperates;
    bool abandoned;              /* a call in it was: its instance is never closed */
    struct jianmu_tool_plugin plugin; /* of a tool that runs in this process; else zero */
    void *instance;
};

/* Freed when the call ends: what services handed out. */
struct jm_garbage {
    struct jm_garbage *next;
    void (*release)(void *);
    void *what;
};

typedef struct jm_context {
    jianmu_context public;
    jianmu_runner *runner;
    const jianmu_backend *backend; /* where it runs; NULL: a job whose plan could not be made */
    const jianmu_tool *tool;     /* NULL: a job, or no call at all (opening) */
    const jianmu_job *job;
    const struct jm_plan *plan;
    const char *subject;         /* the tool's name, or "job" */
    jianmu_call *call;           /* NULL: none given, or abandoned */
    jianmu_result *result;       /* NULL while opening */
    jianmu_error *error;         /* of fail() */
    bool failed;                 /* tool_failed() was called; its text is the result's message */
    bool in_tool;                /* a tool's code runs now: what it says is its own */
    bool quoted;                 /* the sentence is a tool's own, or quotes what a caller gave: not for events */
    bool turn;                   /* one of a limited number is taken */
    bool listening;
    bool background;             /* no caller waits on this thread: a cancel ends even what looks at nothing */
    bool reached;                /* something of the tool or the job may have run: a repeat may do it twice */
    bool transient;              /* transient() was called: nothing was done, a repeat may do better */
    bool died;                   /* its process ended without an answer */
    unsigned attempts;
    jianmu_reason limit;         /* the limit that ended a private process; JIANMU_EXITED: none */
    uint64_t output;             /* bytes that its processes have printed so far */
    uint64_t id;
    double timeout_s;            /* 0: none */
    int64_t started, deadline;   /* CLOCK_MONOTONIC nanoseconds; 0: not measured, none */
    int64_t attempted;           /* when this attempt began; 0: not measured */
    const json_t *args;          /* of a tool, for those who ask in events; NULL: none */
    bool traced;
    struct jm_trace trace;       /* the span of this call */
    unsigned forwarded, dropped; /* events of its processes; dropped: not said yet */
    uint64_t forwarded_bytes;
    struct jm_workdir *workdir;
    int directory_fd[2];         /* workspace, skill; -1: not opened yet */
    struct jm_garbage *garbage;
    json_t *own_timeout;         /* what setting("timeout_s") lends where the call has its own; NULL: not asked yet */
    int own_timer_fd;            /* for poll_fd where there is no call object to ask; -1: none */
    int own_event_fd;            /* for processes of a call that may be abandoned; -1: none */
    pthread_mutex_t lock;        /* recursive: services may be called from several threads of a plug-in */
    pthread_mutex_t *gate;       /* of a call that may be abandoned; guards the next member */
    bool abandoned;              /* the caller has gone: nothing of the call's may be touched */
    bool keeps;                  /* of one that was split: its backend may have kept processes */
    char *own_session, *own_state; /* of one that was split, or NULL: copies of the call's */
} jm_context;

static inline jm_context *jm_context_of(jianmu_context *ctx)
{
    return (jm_context *)ctx;
}

void jm_context_init(jm_context *ctx, jianmu_runner *runner, const jianmu_backend *backend, const struct jm_plan *plan,
                     jianmu_call *call);
/* For a call that goes on in another thread: the same call, with nothing handed out yet. -1: no memory, an error is set. */
int jm_context_split(jm_context *to, const jm_context *from);
/* Readable from now on is what the plug-in polls, and its processes are killed. */
void jm_context_tell_abandoned(jm_context *ctx);
/* A descriptor that becomes readable when the caller has cancelled or gone; -1: cannot be had (errno). */
int jm_context_cancel_fd(jm_context *ctx);
/* The error of one service call into the context's; returns -1. */
int jm_context_fail(jm_context *ctx, jianmu_error *err);
/* Drops all that services handed out; the call may go on. */
void jm_context_clear(jm_context *ctx);
/* The same, and the call is over. */
void jm_context_end(jm_context *ctx);
/* what is released when the context ends; without memory it is released at once and -1 returned. */
int jm_context_keep(jm_context *ctx, void (*release)(void *), void *what);

/* The span of the call, for processes of it; NULL: not traced. */
static inline const struct jm_trace *jm_context_trace(const jm_context *ctx)
{
    return ctx->traced ? &ctx->trace : NULL;
}

static inline bool jm_context_cancelled_by_caller(const jm_context *ctx)
{
    return ctx->call && atomic_load_explicit(&ctx->call->cancelled, memory_order_relaxed);
}

#endif
