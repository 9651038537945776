/* SPDX-License-Identifier: Apache-2.0
 * May this call run: arguments, guards, what the backend holds, and whoever has to confirm. What is refused here has
 * used up nothing. */
#include "config.h"
#include "executor/executor.h"
#include "base/cleanup.h"
#include <stdio.h>

static const struct jm_limits *limits_of(const jm_context *ctx)
{
    return ctx->tool ? &ctx->tool->limits : &ctx->runner->job_limits;
}

/* A timeout that the call has of its own; 0: none. */
static double own_timeout(const jm_context *ctx)
{
    return ctx->timeout_s != ctx->plan->timeout_s ? ctx->timeout_s : 0;
}

static void decide(jianmu_executor *executor, const jm_context *ctx, const struct jm_known *known, json_t *args,
                   bool explain, struct jm_verdict *v)
{
    jianmu_error *over = NULL;
    double own = own_timeout(ctx);
    jm_plan_check_max(ctx->plan, own, &over);
    struct jm_guard_call what = {
        .tool = ctx->subject,
        .danger = ctx->tool ? ctx->tool->danger : JIANMU_DANGER_DANGEROUS,
        .flags = ctx->tool ? ctx->tool->flags : 0,
        .mode = ctx->backend->mode,
        .run_id = ctx->call ? ctx->call->run_id : NULL,
        .args = ctx->tool ? args : NULL,
        .plan = known->values,
        .timeout_s = own,
        .over_max = over ? jianmu_error_message(over) : NULL,
        .explain = explain,
        .operator = ctx->call && ctx->call->operator_act,
    };
    jm_guards_decide(executor->guards, &what, v);
    jianmu_error_free(over);
}

void jm_judge_ask(jianmu_executor *executor, const jm_context *ctx, json_t *args, bool explain, struct jm_verdict *v)
{
    jianmu_error *why = NULL;
    struct jm_known *known = jm_known_get(executor, ctx->tool, ctx->plan, &why);
    if (known) {
        decide(executor, ctx, known, args, explain, v);
        return;
    }
    *v = (struct jm_verdict){.verdict = JIANMU_DENY, .code = JIANMU_DENIED}; /* what cannot be judged is denied */
    snprintf(v->message, sizeof v->message, "%s", jianmu_error_message(why));
    jianmu_error_free(why);
}

static const char *verdict_name(unsigned verdict)
{
    return verdict == JIANMU_ALLOW ? "allow" : verdict == JIANMU_CONFIRM ? "confirm" : "deny";
}

static int set_text(json_t *object, const char *name, const char *text)
{
    return text && *text ? json_object_set_new(object, name, json_string(text)) : 0;
}

json_t *jm_verdict_json(const struct jm_verdict *v)
{
    jm_auto_json json_t *object = json_pack("{s:s}", "verdict", verdict_name(v->verdict));
    if (!object || set_text(object, "rule", v->rule) || set_text(object, "source", v->source) ||
        set_text(object, "guard", v->guard) || set_text(object, "message", v->message) ||
        (v->verdict != JIANMU_ALLOW && set_text(object, "code", jianmu_code_name(v->code))) ||
        (v->retry_after_s > 0 && json_object_set_new(object, "retry_after_s", json_real(v->retry_after_s))))
        return NULL;
    return jm_steal(object);
}

/* Every decision is an event, and says whether somebody confirmed what had to be. */
static void say(struct jm_execution *x, bool confirmed)
{
    const struct jm_verdict *v = &x->verdict;
    const struct jm_decision decision = {.verdict = verdict_name(v->verdict),
                                         .rule = v->rule,
                                         .source = v->source,
                                         .guard = v->guard,
                                         .code = v->verdict == JIANMU_ALLOW ? NULL : jianmu_code_name(v->code),
                                         .retry_after_s = v->retry_after_s,
                                         .confirmed = v->verdict == JIANMU_CONFIRM ? confirmed : -1};
    if (x->ctx.listening)
        jm_call_decided(&x->ctx, &decision);
}

static int refuse(struct jm_execution *x)
{
    const struct jm_verdict *v = &x->verdict;
    jianmu_error *err = NULL;
    jm_fail(&err, v->code, "%s", v->message);
    jm_error_detail(err, "rule", v->rule ? json_string(v->rule) : NULL);
    jm_error_detail(err, "source", v->source ? json_string(v->source) : NULL);
    if (v->retry_after_s > 0)
        jm_error_detail(err, "retry_after_s", json_real(v->retry_after_s));
    return jm_fail_take(&x->ctx.error, err);
}

/* What the backend does not hold would be refused by the attempt: here nothing is charged for it. */
static int check_limits(struct jm_execution *x)
{
    jm_context *ctx = &x->ctx;
    const struct jm_limits *limits = limits_of(ctx);
    double own = own_timeout(ctx);
    if (!limits->refused && own <= 0)
        return 0;
    return jm_limits_check_call(ctx->backend, ctx->plan, limits, own, &ctx->error);
}

static int check_args(struct jm_execution *x, const struct jm_known *known)
{
    if (x->job)
        return 0;
    if (!x->args && !(x->args = x->own_args = json_object()))
        return jm_fail_memory(&x->ctx.error);
    json_t *repaired = NULL;
    if (jm_arguments_check(known, x->ctx.subject, x->args, &repaired, &x->ctx.error))
        return -1;
    if (repaired) {
        json_decref(x->own_args);
        x->args = x->own_args = repaired;
    }
    return 0;
}

int jm_judge(struct jm_execution *x)
{
    jm_context *ctx = &x->ctx;
    struct jm_known *known = jm_known_get(x->executor, ctx->tool, ctx->plan, &ctx->error);
    if (!known || check_args(x, known))
        return -1;
    decide(x->executor, ctx, known, x->args, false, &x->verdict);
    x->judged = true;
    int status = x->verdict.verdict == JIANMU_DENY ? refuse(x) : check_limits(x);
    if (!status && x->verdict.verdict == JIANMU_CONFIRM)
        status = jm_question(x);
    say(x, !status);
    return status;
}

void jm_judge_settle(struct jm_execution *x)
{
    const struct jianmu_guard_usage usage = {.size = sizeof usage,
                                             .attempts = x->ctx.attempts,
                                             .wall_s = x->run_s,
                                             .cpu_s = x->cpu_s,
                                             .output = x->output};
    if (x->judged)
        jm_guards_settle(x->executor->guards, &x->verdict, &usage);
}
