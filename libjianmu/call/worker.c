/* SPDX-License-Identifier: Apache-2.0
 * A tool that does not look at its deadline runs on a worker thread. If it is not back in time the caller goes on
 * without it: the call is abandoned, its plug-in is never unloaded, and everything the tool may still touch belongs
 * to the worker from then on. */
#include "config.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/thread.h"
#include "call/runner.h"
#include "call/services.h"
#include <string.h>

struct jm_worker {
    struct jm_worker *next;
    jianmu_runner *runner;
    pthread_t thread;
    atomic_uint wake;            /* changes when there is work, or the end has come */
    atomic_uint *word;           /* JM_WAIT_...: what the caller waits for; of its call, or the next */
    atomic_uint own_word;
    bool stop;
    jm_context ctx;              /* its own: the caller's stack may be gone */
    jianmu_result scratch;       /* what the tool's context writes to */
    pthread_mutex_t gate;
    json_t *args, *value;
};

static void run_one(struct jm_worker *w)
{
    const jianmu_tool *tool = w->ctx.tool;
    w->value = tool->plugin.run(tool->instance, &w->ctx.public, w->args);
}

static void clear_call(struct jm_worker *w)
{
    jm_context_end(&w->ctx);
    json_decref(w->args);
    json_decref(w->value);
    w->args = w->value = NULL;
    jianmu_error_free(w->ctx.error);
    w->ctx.error = NULL;
    jm_result_empty(&w->scratch);
}

static void free_worker(struct jm_worker *w)
{
    pthread_mutex_destroy(&w->gate);
    free(w);
}

/* True: the caller took the value, and the worker can serve again. */
static bool hand_over(struct jm_worker *w)
{
    pthread_mutex_lock(&w->gate);
    bool abandoned = w->ctx.abandoned;
    if (!abandoned) {
        atomic_uint *word = w->word; /* from DONE on the next call may use the worker */
        atomic_fetch_or(word, JM_WAIT_DONE);
        jm_futex_wake(word);
    }
    pthread_mutex_unlock(&w->gate);
    return !abandoned;
}

static void *serve(void *arg)
{
    struct jm_worker *w = arg;
    unsigned seen = 0;
    for (;;) {
        unsigned now;
        while ((now = atomic_load(&w->wake)) == seen)
            jm_futex_wait(&w->wake, seen, 0);
        seen = now;
        if (w->stop)
            return NULL;
        run_one(w);
        if (!hand_over(w))
            break;
    }
    jianmu_runner *runner = w->runner;
    clear_call(w);
    free_worker(w);
    pthread_mutex_lock(&runner->lock);
    runner->abandoned--;
    pthread_mutex_unlock(&runner->lock);
    jm_runner_release(runner);
    return NULL;
}

static struct jm_worker *get_worker(jianmu_runner *runner, jm_context *ctx)
{
    const struct jm_plan_entry *entry = jm_plan_find(ctx->plan, "max_abandoned");
    unsigned most = entry && entry->setting.value ? (unsigned)json_integer_value(entry->setting.value) : 8;
    pthread_mutex_lock(&runner->lock);
    unsigned abandoned = runner->abandoned;
    struct jm_worker *w = abandoned < most ? runner->idle_workers : NULL;
    if (w)
        runner->idle_workers = w->next;
    pthread_mutex_unlock(&runner->lock);
    if (w)
        return w;
    if (abandoned >= most) {
        jm_fail(&ctx->error, JIANMU_UNAVAILABLE,
                "tool '%s' does not cooperate with deadlines, and %u abandoned calls still run (max_abandoned is %u)",
                ctx->subject, abandoned, most);
        return NULL;
    }
    w = calloc(1, sizeof *w);
    if (!w) {
        jm_fail_memory(&ctx->error);
        return NULL;
    }
    w->runner = runner;
    pthread_mutex_init(&w->gate, NULL);
    if (jm_thread_start(&w->thread, 0, serve, w)) {
        free_worker(w);
        jm_fail(&ctx->error, JIANMU_UNAVAILABLE, "tool '%s': no thread can be started for it", ctx->subject);
        return NULL;
    }
    return w;
}

/* True: done. False: the deadline or a cancel came first. */
static bool wait_for(struct jm_worker *w, jm_context *ctx)
{
    for (;;) {
        unsigned now = atomic_load(w->word);
        if (now & JM_WAIT_DONE)
            return true;
        if (jm_context_cancelled_by_caller(ctx) || jm_service_past(ctx))
            return false;
        if (now & JM_WAIT_CANCELLED) /* meant for an earlier call */
            atomic_fetch_and(w->word, ~JM_WAIT_CANCELLED);
        else
            jm_futex_wait(w->word, now, ctx->deadline);
    }
}

static void abandon_locked(struct jm_worker *w, jm_context *ctx)
{
    jianmu_runner *runner = ctx->runner;
    w->ctx.abandoned = true;
    w->ctx.call = NULL;
    jm_context_tell_abandoned(&w->ctx);
    pthread_detach(w->thread);
    pthread_mutex_lock(&runner->lock);
    runner->abandoned++;
    ((jianmu_tool *)ctx->tool)->abandoned = true;
    pthread_mutex_unlock(&runner->lock);
    atomic_fetch_add(&runner->references, 1);
    jm_item_pin(ctx->tool->registry, ctx->tool->item);
    ctx->result->abandoned = true;
    ctx->result->heavy = true;
}

static json_t *take_back(struct jm_worker *w, jm_context *ctx)
{
    json_t *value = jm_steal(w->value);
    ctx->failed = w->ctx.failed;
    ctx->quoted = w->ctx.quoted;
    ctx->limit = w->ctx.limit;
    ctx->transient = w->ctx.transient;
    ctx->died = w->ctx.died;
    ctx->output += w->ctx.output;
    jm_fail_take(&ctx->error, jm_steal(w->ctx.error));
    jm_result_absorb(ctx->result, &w->scratch);
    clear_call(w);
    jianmu_runner *runner = ctx->runner;
    pthread_mutex_lock(&runner->lock);
    w->next = runner->idle_workers;
    runner->idle_workers = w;
    pthread_mutex_unlock(&runner->lock);
    return value;
}

json_t *jm_worker_call(jm_context *ctx, json_t *args)
{
    struct jm_worker *w = get_worker(ctx->runner, ctx);
    if (!w)
        return NULL;
    /* the caller may be gone before the tool is: it gets a copy */
    w->args = jm_json_deep_copy(args);
    bool split = !jm_context_split(&w->ctx, ctx);
    jm_result_empty(&w->scratch);
    w->ctx.result = &w->scratch;
    w->ctx.gate = &w->gate;
    w->ctx.in_tool = true;
    w->word = ctx->call ? &ctx->call->word : &w->own_word;
    atomic_store(w->word, 0);
    if (!w->args || !split) {
        if (jm_json_can_print(args)) /* split has said the same */
            jm_fail_memory(&w->ctx.error);
        else
            jm_fail(&w->ctx.error, JIANMU_INVALID, "the arguments of tool '%s' are nested too deeply", ctx->subject);
        return take_back(w, ctx);
    }
    atomic_fetch_add(&w->wake, 1);
    jm_futex_wake(&w->wake);
    if (!wait_for(w, ctx)) {
        pthread_mutex_lock(&w->gate);
        bool done = atomic_load(w->word) & JM_WAIT_DONE;
        if (!done)
            abandon_locked(w, ctx);
        pthread_mutex_unlock(&w->gate);
        if (!done)
            return NULL;
    }
    return take_back(w, ctx);
}

void jm_workers_stop(jianmu_runner *runner, bool forked)
{
    while (runner->idle_workers) {
        struct jm_worker *w = runner->idle_workers;
        runner->idle_workers = w->next;
        w->stop = true;
        atomic_fetch_add(&w->wake, 1);
        jm_futex_wake(&w->wake);
        if (!forked)
            pthread_join(w->thread, NULL);
        free_worker(w);
    }
}
