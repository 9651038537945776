/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "call/context.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "call/runner.h"
#include "call/services.h"
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

void jm_context_init(jm_context *ctx, jianmu_runner *runner, const jianmu_backend *backend, const struct jm_plan *plan,
                     jianmu_call *call)
{
    *ctx = (jm_context){.public = {&jm_services},
                        .runner = runner,
                        .backend = backend,
                        .plan = plan,
                        .call = call,
                        .directory_fd = {-1, -1},
                        .own_timer_fd = -1,
                        .own_event_fd = -1,
                        .lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
}

int jm_context_split(jm_context *to, const jm_context *from)
{
    jm_context_init(to, from->runner, from->backend, from->plan, from->call);
    to->tool = from->tool;
    to->job = from->job;
    to->subject = from->subject;
    to->listening = from->listening;
    to->background = from->background;
    to->id = from->id;
    to->timeout_s = from->timeout_s;
    to->started = from->started;
    to->attempted = from->attempted;
    to->deadline = from->deadline;
    to->traced = from->traced;
    to->trace = from->trace;
    to->keeps = from->backend && from->backend->item;
    /* the caller frees its call object as soon as it has been told that the call was abandoned */
    const char *session = from->call ? from->call->session : NULL, *state = from->trace.state;
    to->own_session = session ? strdup(session) : NULL;
    to->trace.state = to->own_state = from->traced && state ? strdup(state) : NULL;
    if ((!session || to->own_session) && (!from->traced || !state || to->own_state))
        return 0;
    return jm_fail_memory(&to->error);
}

void jm_context_tell_abandoned(jm_context *ctx)
{
    struct itimerspec now = {.it_value = {0, 1}};
    pthread_mutex_lock(&ctx->lock);
    if (ctx->own_timer_fd >= 0)
        timerfd_settime(ctx->own_timer_fd, 0, &now, NULL);
    if (ctx->own_event_fd >= 0)
        eventfd_write(ctx->own_event_fd, 1);
    pthread_mutex_unlock(&ctx->lock);
}

int jm_context_cancel_fd(jm_context *ctx)
{
    if (!ctx->gate)
        return jm_call_event_fd(ctx->call);
    /* the descriptors of a call object may be closed once its caller has gone */
    pthread_mutex_lock(ctx->gate);
    pthread_mutex_lock(&ctx->lock);
    if (ctx->own_event_fd < 0)
        ctx->own_event_fd = eventfd(ctx->abandoned, EFD_CLOEXEC | EFD_NONBLOCK);
    int fd = ctx->own_event_fd;
    pthread_mutex_unlock(&ctx->lock);
    pthread_mutex_unlock(ctx->gate);
    return fd;
}

int jm_context_fail(jm_context *ctx, jianmu_error *err)
{
    pthread_mutex_lock(&ctx->lock);
    jm_fail_take(&ctx->error, err);
    pthread_mutex_unlock(&ctx->lock);
    return -1;
}

void jm_context_clear(jm_context *ctx)
{
    if (ctx->workdir)
        jm_workdir_close(jm_steal(ctx->workdir));
    while (ctx->garbage) {
        struct jm_garbage *g = ctx->garbage;
        ctx->garbage = g->next;
        g->release(g->what);
        free(g);
    }
    for (int i = 0; i < 2; i++)
        if (ctx->directory_fd[i] >= 0)
            close(jm_steal_fd(ctx->directory_fd[i]));
    if (ctx->own_timer_fd >= 0)
        close(jm_steal_fd(ctx->own_timer_fd));
    if (ctx->own_event_fd >= 0)
        close(jm_steal_fd(ctx->own_event_fd));
    json_decref(jm_steal(ctx->own_timeout));
}

void jm_context_end(jm_context *ctx)
{
    jm_context_clear(ctx);
    free(jm_steal(ctx->own_session));
    free(jm_steal(ctx->own_state));
    pthread_mutex_destroy(&ctx->lock);
}

int jm_context_keep(jm_context *ctx, void (*release)(void *), void *what)
{
    struct jm_garbage *g = malloc(sizeof *g);
    pthread_mutex_lock(&ctx->lock);
    if (g) {
        *g = (struct jm_garbage){ctx->garbage, release, what};
        ctx->garbage = g;
    } else {
        release(what);
        jm_fail_memory(&ctx->error);
    }
    pthread_mutex_unlock(&ctx->lock);
    return g ? 0 : -1;
}
