/* SPDX-License-Identifier: Apache-2.0
 * Confirmation: of a token that came with the call, or of a function that asks somebody. Either way it holds for the
 * call that was asked about and for no other, once. */
#include "config.h"
#include "executor/executor.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include <string.h>

static json_t *job_arguments(const jianmu_job *job)
{
    size_t len;
    jm_auto_free char *script = jm_utf8_repair(job->script, job->script_len, &len);
    jm_auto_json json_t *args = json_array(), *inputs = json_array();
    for (size_t i = 0; i < job->arg_count; i++) {
        size_t n;
        jm_auto_free char *text = jm_utf8_repair(job->args[i], strlen(job->args[i]), &n);
        if (!text || json_array_append_new(args, json_string(text)))
            return NULL;
    }
    for (size_t i = 0; i < job->input_count; i++) {
        size_t n;
        jm_auto_free char *text = jm_utf8_repair(job->inputs[i].path, strlen(job->inputs[i].path), &n);
        if (!text || json_array_append_new(inputs, json_string(text)))
            return NULL;
    }
    return script ? json_pack("{s:s%, s:s?, s:O, s:O}", "script", script, len, "language", job->language, "arguments",
                              args, "inputs", inputs)
                  : NULL;
}

static const char *danger_name(const jm_context *ctx)
{
    uint32_t danger = ctx->tool ? ctx->tool->danger : JIANMU_DANGER_DANGEROUS;
    return danger == JIANMU_DANGER_READ ? "read" : danger == JIANMU_DANGER_WRITE ? "write" : "dangerous";
}

static json_t *make_question(const struct jm_execution *x, double expires_s)
{
    const jm_context *ctx = &x->ctx;
    json_t *arguments = x->job ? job_arguments(x->job) : jm_json_deep_copy(x->args);
    return arguments ? json_pack("{s:s, s:o, s:s, s:s, s:s?, s:s?, s:s, s:f}", "tool", ctx->subject, "arguments",
                                 arguments, "mode", ctx->backend->mode, "danger", danger_name(ctx), "rule",
                                 x->verdict.rule, "source", x->verdict.source, "message", x->verdict.message,
                                 "expires_s", expires_s)
                     : NULL;
}

/* A sentence, the rule, and where it can be: a token with which the host may come again. */
static int needs_one(struct jm_execution *x, const char *sentence, const uint8_t *digest, double expires_s)
{
    jianmu_error *err = NULL;
    char token[JM_CONFIRM_TOKEN], *copy = NULL;
    jm_fail(&err, JIANMU_NEEDS_CONFIRMATION, "%s", sentence);
    jm_error_detail(err, "rule", x->verdict.rule ? json_string(x->verdict.rule) : NULL);
    jm_error_detail(err, "source", x->verdict.source ? json_string(x->verdict.source) : NULL);
    if (!jm_confirm_issue(&x->executor->confirmations, digest, expires_s, token, NULL))
        copy = strdup(token);
    if (copy)
        jm_error_take_confirmation(err, copy);
    return jm_fail_take(&x->ctx.error, err);
}

/* Asks, and takes the answer for the call as it is now: what changed while somebody thought is not what he said yes to. */
static int ask(struct jm_execution *x, const uint8_t *digest, double expires_s)
{
    jm_context *ctx = &x->ctx;
    struct jm_confirmations *table = &x->executor->confirmations;
    uint8_t now[JM_CONFIRM_DIGEST];
    char token[JM_CONFIRM_TOKEN];
    jm_auto_json json_t *question = make_question(x, expires_s);
    if (!question)
        return jm_fail_memory(&ctx->error);
    if (jm_confirm_issue(table, digest, expires_s, token, &ctx->error))
        return -1;
    int answer = x->executor->confirm(x->executor->confirm_data, question);
    bool same = !jm_confirm_digest(ctx, x->args, now) && jm_confirm_redeem(table, token, now);
    if (!same)
        jm_confirm_redeem(table, token, digest);
    if (answer == 1)
        return same ? 0
                    : jm_fail(&ctx->error, JIANMU_NEEDS_CONFIRMATION,
                              "the confirmation of '%s' came too late, or for another call than this has become",
                              ctx->subject);
    if (answer < 0)
        return needs_one(x, x->verdict.message, digest, expires_s);
    return jm_fail(&ctx->error, JIANMU_DENIED, "the call of '%s' was not confirmed", ctx->subject);
}

int jm_question(struct jm_execution *x)
{
    jm_context *ctx = &x->ctx;
    uint8_t digest[JM_CONFIRM_DIGEST];
    double expires_s = jm_config_confirm_expires(ctx->runner->config);
    jm_auto_free char *token = NULL;
    if (ctx->call && ctx->call->operator_act)
        return 0;
    if (ctx->call)
        token = jm_steal(ctx->call->confirmation);
    if (jm_confirm_digest(ctx, x->args, digest)) {
        if (x->args && !jm_json_can_print(x->args))
            return jm_fail(&ctx->error, JIANMU_INVALID, "the arguments of tool '%s' are nested too deeply", ctx->subject);
        return jm_fail_memory(&ctx->error);
    }
    if (token && jm_confirm_redeem(&x->executor->confirmations, token, digest))
        return 0;
    if (token)
        return needs_one(x, "the confirmation that came with the call is void: it was for another call, was used, or is "
                            "past its time", digest, expires_s);
    return x->executor->confirm ? ask(x, digest, expires_s) : needs_one(x, x->verdict.message, digest, expires_s);
}
