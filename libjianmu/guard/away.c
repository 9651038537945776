/* SPDX-License-Identifier: Apache-2.0
 * Foreign guards are called on a thread of their own. One that is not back in time is left behind: it has a copy of all
 * that it was given, its code stays loaded, and what it may still allow is given back to it. */
#include "config.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/thread.h"
#include "guard/inside.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ABANDONED = 8 };
enum what { DECIDE, AGAIN, SETTLE };

struct away {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool done, abandoned;
    enum what what;
    struct jm_guards *guards;
    struct jm_one_guard *guard;
    struct jm_plain_context ctx;
    struct jianmu_guard_request request;
    struct jianmu_guard_decision decision;
    struct jianmu_guard_usage usage;
    uint64_t ticket;
    char *strings[5];
    int rc;
};

static void free_away(struct away *a)
{
    for (size_t i = 0; i < jm_countof(a->strings); i++)
        free(a->strings[i]);
    json_decref(a->request.args);
    json_decref(a->request.plan);
    jianmu_error_free(a->ctx.error);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

static struct away *new_away(struct jm_guards *guards, struct jm_one_guard *guard, enum what what)
{
    struct away *a = calloc(1, sizeof *a);
    pthread_condattr_t attr;
    if (!a)
        return NULL;
    pthread_mutex_init(&a->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&a->changed, &attr);
    pthread_condattr_destroy(&attr);
    jm_plain_context_init(&a->ctx, guard->settings);
    a->ctx.deadline = jm_after(jm_now(), guards->time_limit);
    a->guards = guards;
    a->guard = guard;
    a->what = what;
    a->rc = -1;
    return a;
}

/* Its caller may be gone before it is. */
static int copy_request(struct away *a, const struct jianmu_guard_request *request)
{
    const char *strings[] = {request->tool, request->mode, request->skill, request->run_id, request->over_max};
    for (size_t i = 0; i < jm_countof(strings); i++)
        if (strings[i] && !(a->strings[i] = strdup(strings[i])))
            return -1;
    a->request = *request;
    a->request.tool = a->strings[0];
    a->request.mode = a->strings[1];
    a->request.skill = a->strings[2];
    a->request.run_id = a->strings[3];
    a->request.over_max = a->strings[4];
    a->request.args = request->args ? jm_json_deep_copy(request->args) : NULL;
    a->request.plan = jm_json_deep_copy(request->plan);
    a->decision.size = sizeof a->decision;
    return a->request.plan && (a->request.args || !request->args) ? 0 : -1;
}

static void call_guard(struct away *a)
{
    const struct jianmu_guard_plugin *plugin = &a->guard->plugin;
    if (a->what == DECIDE)
        a->rc = plugin->decide(a->guard->instance, &a->ctx.public, &a->request, &a->decision);
    else if (a->what == AGAIN)
        a->rc = plugin->again(a->guard->instance, a->ticket);
    else
        plugin->settle(a->guard->instance, a->ticket, &a->usage);
}

/* What it allows too late never runs. */
static void give_back(struct away *a)
{
    const struct jianmu_guard_usage nothing = {.size = sizeof nothing};
    bool taken = a->what == DECIDE && a->rc == 0 && !(a->request.options & JIANMU_GUARD_EXPLAIN) &&
                 (a->decision.verdict == JIANMU_ALLOW || a->decision.verdict == JIANMU_CONFIRM);
    if (taken && a->guard->plugin.settle)
        a->guard->plugin.settle(a->guard->instance, a->decision.ticket, &nothing);
}

static void *serve(void *arg)
{
    struct away *a = arg;
    struct jm_guards *guards = a->guards;
    call_guard(a);
    pthread_mutex_lock(&a->lock);
    bool abandoned = a->abandoned;
    a->done = true;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
    if (abandoned) {
        give_back(a);
        free_away(a);
        atomic_fetch_sub(&guards->abandoned, 1);
        jm_guards_release(guards);
    }
    return NULL;
}

/* 0: it is back, and a is the caller's again; -1: it was left behind, with a. */
static int wait_for(struct away *a)
{
    const struct timespec until = {(time_t)(a->ctx.deadline / JM_SECOND), (long)(a->ctx.deadline % JM_SECOND)};
    struct jm_guards *guards = a->guards;
    struct jm_one_guard *guard = a->guard;
    pthread_mutex_lock(&a->lock);
    while (!a->done)
        if (pthread_cond_timedwait(&a->changed, &a->lock, &until) == ETIMEDOUT)
            break;
    bool done = a->done;
    a->abandoned = !done;
    if (!done) {
        a->ctx.abandoned = true;
        atomic_fetch_add(&guards->references, 1);
        atomic_fetch_add(&guards->abandoned, 1);
        atomic_fetch_add(&guards->lost, 1);
        pthread_detach(a->thread);
        jm_item_pin(jm_config_registry(guards->config), guard->item);
    }
    pthread_t thread = a->thread;
    pthread_mutex_unlock(&a->lock);
    if (done)
        pthread_join(thread, NULL);
    return done ? 0 : -1;
}

/* NULL where all is well, or why there is no answer; a is freed then. */
static const char *send(struct away *a)
{
    if (atomic_load(&a->guards->abandoned) >= MOST_ABANDONED) {
        free_away(a);
        return "too many of its answers are still awaited";
    }
    if (jm_thread_start(&a->thread, 0, serve, a)) {
        free_away(a);
        return "no thread can be started for it";
    }
    return wait_for(a) ? "it did not answer in time" : NULL;
}

int jm_guard_away_decide(struct jm_guards *guards, struct jm_one_guard *guard, const struct jianmu_guard_request *request,
                         struct jianmu_guard_decision *decision, char *reason)
{
    struct away *a = new_away(guards, guard, DECIDE);
    const char *why = NULL;
    if (!a || copy_request(a, request)) {
        if (a)
            free_away(a);
        snprintf(reason, JM_GUARD_REASON, "out of memory");
        return -1;
    }
    why = send(a);
    if (why) {
        snprintf(reason, JM_GUARD_REASON, "%s", why);
        return -1;
    }
    *decision = a->decision;
    int rc = a->rc || a->ctx.error ? -1 : 0;
    if (rc)
        snprintf(reason, JM_GUARD_REASON, "%s", a->ctx.error ? jianmu_error_message(a->ctx.error) : "it gave no reason");
    free_away(a);
    return rc;
}

int jm_guard_away_again(struct jm_guards *guards, struct jm_one_guard *guard, uint64_t ticket)
{
    struct away *a = new_away(guards, guard, AGAIN);
    if (!a)
        return -1;
    a->ticket = ticket;
    if (send(a))
        return -1;
    int rc = a->rc;
    free_away(a);
    return rc;
}

void jm_guard_away_settle(struct jm_guards *guards, struct jm_one_guard *guard, uint64_t ticket,
                          const struct jianmu_guard_usage *usage)
{
    struct away *a = new_away(guards, guard, SETTLE);
    if (!a)
        return;
    a->ticket = ticket;
    a->usage = *usage;
    if (!send(a))
        free_away(a);
}
