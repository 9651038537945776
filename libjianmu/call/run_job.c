/* SPDX-License-Identifier: Apache-2.0
 * Job calls. */
#include "config.h"
#include "base/cleanup.h"
#include "call/runner.h"

static struct jm_plan *known_plan(jianmu_runner *r)
{
    pthread_mutex_lock(&r->lock);
    struct jm_plan *plan = r->job_plan;
    pthread_mutex_unlock(&r->lock);
    return plan;
}

static struct jm_plan *prepare(jianmu_runner *r, jianmu_error **err)
{
    jianmu_backend *backend = jm_runner_place(r, "job", NULL, err);
    struct jm_plan *plan = backend ? jm_plan_new(r->config, r->constraints, backend->mode, "job", NULL, err) : NULL;
    if (!plan)
        return NULL;
    if (jm_limits_check(backend, plan, NULL, &r->job_limits, err)) {
        jm_plan_free(plan);
        return NULL;
    }
    pthread_mutex_lock(&r->lock);
    r->job_backend = backend;
    r->job_plan = plan;
    pthread_mutex_unlock(&r->lock);
    return plan;
}

int jm_runner_prepare_jobs(jianmu_runner *r, jianmu_error **err)
{
    struct jm_plan *plan = known_plan(r);
    if (plan)
        return 0;
    pthread_mutex_lock(&r->making);
    if (!(plan = known_plan(r)))
        plan = prepare(r, err);
    pthread_mutex_unlock(&r->making);
    return plan ? 0 : -1;
}

static void run_job(jm_context *ctx)
{
    const jianmu_backend *b = ctx->backend;
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
    jm_context_init(ctx, r, NULL, NULL, call);
    if (jm_runner_prepare_jobs(r, &ctx->error) == 0) {
        ctx->plan = r->job_plan;
        ctx->backend = r->job_backend;
    }
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
