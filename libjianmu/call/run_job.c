/* SPDX-License-Identifier: Apache-2.0
 * Job calls. */
#include "config.h"
#include "base/cleanup.h"
#include "call/runner.h"

int jm_runner_prepare_jobs(jianmu_runner *r, jianmu_error **err)
{
    pthread_mutex_lock(&r->lock);
    struct jm_plan *plan = r->job_plan;
    if (!plan) {
        plan = jm_plan_new(r->config, r->constraints, r->backend->mode, "job", NULL, err);
        if (plan && jm_limits_check(r->backend, plan, NULL, &r->job_limits, err)) {
            jm_plan_free(plan);
            plan = NULL;
        }
        r->job_plan = plan;
    }
    pthread_mutex_unlock(&r->lock);
    return plan ? 0 : -1;
}

static void run_job(jm_context *ctx)
{
    jianmu_backend *b = ctx->runner->backend;
    struct jm_reapers *reapers = jm_runner_reapers(ctx->runner, &ctx->error);
    if (!reapers)
        return;
    jm_reapers_prefetch(reapers);
    if (!b->plugin->run_job)
        jm_fail(&ctx->error, JIANMU_UNSUPPORTED, "backend '%s' runs no jobs", b->mode);
    else if (b->plugin->run_job(b->instance, &ctx->public) && !ctx->error)
        jm_fail(&ctx->error, JIANMU_INTERNAL, "backend '%s' failed and gave no reason", b->mode);
}

static void run_admitted(jm_context *ctx)
{
    ctx->result->heavy = true;
    if (jm_context_cancelled_by_caller(ctx)) {
        ctx->result->reason = JIANMU_CANCELLED;
        ctx->result->exit_code = 1; /* it did not succeed */
    } else if (jm_call_admit(ctx, &ctx->runner->job_limits)) {
        run_job(ctx);
    }
}

void jm_job_begin(jm_context *ctx, jianmu_runner *r, const jianmu_job *job, jianmu_call *call, jianmu_result **result)
{
    jm_context_init(ctx, r, NULL, call);
    if (jm_runner_prepare_jobs(r, &ctx->error) == 0)
        ctx->plan = r->job_plan;
    ctx->job = job;
    ctx->subject = "job";
    ctx->result = jm_result_prepare(result, &ctx->error);
    ctx->timeout_s = call && call->timeout_s > 0 ? call->timeout_s : ctx->plan ? ctx->plan->timeout_s : 0;
    jm_call_begin(ctx);
}

void jm_job_attempt(jm_context *ctx)
{
    if (!ctx->error)
        run_admitted(ctx);
    if (ctx->workdir) /* gone before the call is said to be over */
        jm_workdir_close(jm_steal(ctx->workdir));
}

int jianmu_run_job(jianmu_runner *r, const jianmu_job *job, jianmu_call *call, jianmu_result **result,
                   jianmu_error **err)
{
    jm_context ctx;
    if (jm_runner_check(r, err))
        return -1;
    jm_job_begin(&ctx, r, job, call, result);
    ctx.attempts = 1;
    jm_job_attempt(&ctx);
    int status = jm_call_finish(&ctx, err);
    jm_context_end(&ctx);
    return status;
}
