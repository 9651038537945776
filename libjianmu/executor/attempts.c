/* SPDX-License-Identifier: Apache-2.0
 * Attempts, and the repeats between them. A repeat is safe where nothing ran, where twice is as once, or where the tool
 * has said so. What a tool has answered is no failure to repeat, and a limit that was passed will be passed again. */
#include "config.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "executor/executor.h"
#include <string.h>
#include <sys/random.h>

#define LONGEST_WAIT 10.0 /* seconds */

static bool twice_is_as_once(const jm_context *ctx)
{
    return ctx->tool && (ctx->tool->flags & (JIANMU_IDEMPOTENT | JIANMU_READ_ONLY));
}

static const char *repeat_error(const jm_context *ctx)
{
    jianmu_code code = jianmu_error_code(ctx->error);
    bool passing = code == JIANMU_UNAVAILABLE || code == JIANMU_BUSY || code == JIANMU_SANDBOX_DEAD;
    if (ctx->transient && (passing || code == JIANMU_INTERNAL))
        return "transient";
    if (passing && !ctx->reached && code != JIANMU_SANDBOX_DEAD) /* a dead sandbox may have begun what nobody saw */
        return "not_started";
    return passing && twice_is_as_once(ctx) ? "idempotent" : NULL;
}

static double setting(const jm_context *ctx, const char *name)
{
    const struct jm_plan_entry *entry = jm_plan_find(ctx->plan, name);
    return entry ? json_number_value(entry->setting.value) : 0;
}

/* Why a repeat is safe and may help; NULL: it is not, or cannot. */
static const char *repeat_reason(const jm_context *ctx)
{
    const jianmu_result *r = ctx->result;
    if (!r || r->abandoned || jm_context_cancelled_by_caller(ctx))
        return NULL;
    if (ctx->error)
        return repeat_error(ctx);
    if (r->reason == JIANMU_TOOL_FAILED && ctx->transient)
        return "transient";
    /* more time than its timeout is for a call that has a total one */
    bool late = r->reason == JIANMU_TIMEOUT && setting(ctx, "retry_deadline") > 0;
    bool lost = late || r->reason == JIANMU_SIGNALLED || (r->reason == JIANMU_TOOL_FAILED && ctx->died);
    return lost && twice_is_as_once(ctx) ? "idempotent" : NULL;
}

/* From nothing up to backoff, doubled for each attempt: many that failed together do not come back together. */
static double jitter(double backoff, unsigned attempts)
{
    uint32_t random;
    for (unsigned i = 1; i < attempts && backoff < LONGEST_WAIT; i++)
        backoff *= 2;
    if (backoff > LONGEST_WAIT)
        backoff = LONGEST_WAIT;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
        random = (uint32_t)jm_now();
    return backoff * (random / 4294967296.0);
}

/* False: the caller has cancelled. */
static bool sleep_until(jianmu_call *call, int64_t until)
{
    atomic_uint none = 0;
    atomic_uint *word = call ? &call->word : &none;
    while (!call || !atomic_load(&call->cancelled)) {
        if (jm_now() >= until)
            return true;
        unsigned seen = atomic_load(word);
        if (seen & JM_WAIT_CANCELLED) /* meant for an earlier call, or for this one and seen above */
            atomic_fetch_and(word, ~JM_WAIT_CANCELLED);
        else
            jm_futex_wait(word, seen, until);
    }
    return false;
}

static void say_repeat(jm_context *ctx, const char *why, const char *after, unsigned most, double wait)
{
    if (!ctx->listening)
        return;
    json_t *payload = json_pack("{s:i, s:i, s:f, s:s, s:s}", "attempt", (int)ctx->attempts, "of", (int)most, "wait_s",
                                wait, "why", why, "after", after);
    jm_call_say(ctx, "execution.attempt", payload);
    json_decref(payload);
}

/* What is left of the total time is the most that a repeat may take. */
static void cut_timeout(struct jm_execution *x)
{
    double left = (double)((x->total - jm_now()) / 1000000) / 1000; /* whole milliseconds: it stands in sentences */
    if (x->total && (x->ctx.timeout_s <= 0 || left < x->ctx.timeout_s))
        x->ctx.timeout_s = left > 0.001 ? left : 0.001;
}

/* True: another attempt has begun. */
static bool repeat(struct jm_execution *x)
{
    jm_context *ctx = &x->ctx;
    const char *why = repeat_reason(ctx);
    if (!why)
        return false;
    unsigned most = (unsigned)setting(ctx, "max_retries") + 1;
    if (ctx->attempts >= most)
        return false;
    double wait = jitter(setting(ctx, "retry_backoff"), ctx->attempts);
    int64_t until = jm_after(jm_now(), wait);
    if (x->total && until >= x->total)
        return false;
    const char *after = ctx->error ? jianmu_code_name(jianmu_error_code(ctx->error))
                                   : jianmu_reason_name(ctx->result->reason);
    if (jm_guards_again(x->executor->guards, &x->verdict)) /* each attempt is charged */
        return false;
    if (!sleep_until(ctx->call, until)) {
        jm_attempts_cancelled(x);
        return false;
    }
    cut_timeout(x);
    jm_call_attempt(ctx);
    say_repeat(ctx, why, after, most, wait);
    return true;
}

static void add_usage(struct jm_execution *x)
{
    const jianmu_result *r = x->ctx.result;
    x->run_s += (double)(jm_now() - x->ctx.attempted) / 1e9;
    x->output += x->ctx.output;
    if (r && r->user_s > 0)
        x->cpu_s += r->user_s;
    if (r && r->system_s > 0)
        x->cpu_s += r->system_s;
}

void jm_attempts_cancelled(struct jm_execution *x)
{
    jm_context *ctx = &x->ctx;
    jianmu_error_free(jm_steal(ctx->error));
    if (!jm_result_prepare(&ctx->result, &ctx->error))
        return;
    ctx->failed = true;
    ctx->result->reason = JIANMU_CANCELLED;
    ctx->result->exit_code = 1;
    jm_call_settle(ctx);
}

void jm_attempts(struct jm_execution *x)
{
    jm_context *ctx = &x->ctx;
    jm_call_attempt(ctx);
    double most = setting(ctx, "retry_deadline");
    x->total = most > 0 ? jm_after(ctx->attempted, most) : 0;
    do {
        if (ctx->job)
            jm_job_attempt(ctx);
        else
            jm_tool_attempt(ctx, x->args);
        jm_call_settle(ctx);
        add_usage(x);
    } while (repeat(x));
}
