/* SPDX-License-Identifier: Apache-2.0
 * At most so many calls of a runner at once (execution.concurrency): the others wait for their turn. Waiting is not
 * tool time; who waits longer than its own timeout is told that the runner is busy. */
#include "config.h"
#include "base/clock.h"
#include "base/text.h"
#include "call/runner.h"

#define LOOK (JM_SECOND / 20) /* how often one that waits looks whether it was cancelled */

static bool take(jianmu_runner *runner, unsigned most)
{
    unsigned taken = atomic_load(&runner->turns);
    while (taken < most)
        if (atomic_compare_exchange_weak(&runner->turns, &taken, taken + 1))
            return true;
    return false;
}

static bool give_up(jm_context *ctx, int64_t now)
{
    char seconds[32];
    if (jm_context_cancelled_by_caller(ctx)) {
        ctx->failed = true;
        ctx->result->reason = JIANMU_CANCELLED;
        ctx->result->exit_code = 1;
        return true;
    }
    if (!ctx->deadline || now < ctx->deadline)
        return false;
    jm_fail(&ctx->error, JIANMU_BUSY, "no turn for '%s' within %ss: execution.concurrency is %llu", ctx->subject,
            jm_print_seconds(ctx->timeout_s, seconds), (unsigned long long)ctx->plan->concurrency);
    return true;
}

bool jm_turn_take(jm_context *ctx)
{
    jianmu_runner *runner = ctx->runner;
    unsigned most = (unsigned)ctx->plan->concurrency;
    int64_t began = jm_now(), now = began;
    while (!(ctx->turn = take(runner, most))) {
        if (give_up(ctx, now))
            return false;
        jm_futex_wait(&runner->turns, most, now + LOOK);
        now = jm_now();
    }
    if (ctx->deadline)
        ctx->deadline = jm_after(ctx->deadline, (double)(now - began) / 1e9);
    ctx->result->queue_s = (double)(now - began) / 1e9;
    ctx->result->heavy = true;
    return true;
}

void jm_turn_release(jm_context *ctx)
{
    atomic_fetch_sub(&ctx->runner->turns, 1);
    jm_futex_wake(&ctx->runner->turns);
    ctx->turn = false;
}
