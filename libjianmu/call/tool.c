/* SPDX-License-Identifier: Apache-2.0
 * Tool calls: a tool is prepared once for a runner; a call of it is as short as it can be. */
#include "config.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "call/runner.h"
#include "call/services.h"
#include <string.h>

static int open_tool(jianmu_tool *tool, jianmu_error **err)
{
    if (!(tool->backend->flags & JIANMU_IN_PROCESS))
        return 0; /* loaded where it runs */
    if (jm_item_load(tool->registry, tool->item, err))
        return -1;
    tool->plugin = tool->item->plugin.tool;
    if (!tool->plugin.open)
        return 0;
    jm_context ctx;
    jm_context_init(&ctx, tool->runner, tool->backend, tool->plan, NULL);
    ctx.subject = tool->name;
    int failed = tool->plugin.open(&ctx.public, &tool->instance);
    if (failed && !ctx.error)
        jm_fail(&ctx.error, JIANMU_UNAVAILABLE, "it gave no reason");
    jm_context_end(&ctx);
    if (!failed) {
        jianmu_error_free(ctx.error);
        return 0;
    }
    jm_wrap(&ctx.error, "tool '%s' could not be opened", tool->name);
    return jm_fail_take(err, ctx.error);
}

static jianmu_tool *prepare(jianmu_runner *r, const char *name, jianmu_error **err)
{
    jm_registry *registry;
    struct jm_item *item = jm_toolset_find(r, name, &registry, err);
    if (!item)
        return NULL;
    jianmu_tool *tool = calloc(1, sizeof *tool);
    if (!tool)
        return jm_fail_memory(err), NULL;
    tool->runner = r;
    tool->item = item;
    tool->registry = registry;
    tool->name = item->name;
    jm_toolset_grade(r, item, registry, &tool->danger, &tool->flags);
    tool->cooperates = item->flags & JIANMU_COOPERATES;
    tool->backend = jm_runner_place(r, name, item, err);
    tool->plan = tool->backend ? jm_plan_new(r->config, r->constraints, tool->backend->mode, name, item, err) : NULL;
    if (tool->plan && !jm_limits_check(tool->backend, tool->plan, item, &tool->limits, err) &&
        !open_tool(tool, err))
        return tool;
    jm_plan_free(tool->plan);
    jm_limits_free(&tool->limits);
    free(tool);
    return NULL;
}

static jianmu_tool *find(jianmu_runner *r, const char *name)
{
    pthread_mutex_lock(&r->lock);
    jianmu_tool *tool = r->tools;
    while (tool && strcmp(tool->name, name))
        tool = tool->next;
    pthread_mutex_unlock(&r->lock);
    return tool;
}

const jianmu_tool *jianmu_runner_tool(jianmu_runner *r, const char *name, jianmu_error **err)
{
    if (jm_runner_check(r, err))
        return NULL;
    jianmu_tool *tool = find(r, name);
    if (tool)
        return tool;
    pthread_mutex_lock(&r->making); /* one that is known does not wait for one that is being opened */
    if (!(tool = find(r, name)) && (tool = prepare(r, name, err))) {
        pthread_mutex_lock(&r->lock);
        tool->next = r->tools;
        r->tools = tool;
        pthread_mutex_unlock(&r->lock);
    }
    pthread_mutex_unlock(&r->making);
    return tool;
}

json_t *jm_service_call_tool(jianmu_context *public, json_t *args)
{
    jm_context *ctx = jm_context_of(public);
    const jianmu_tool *tool = ctx->tool;
    if (__builtin_expect(!tool || !tool->plugin.run, 0)) {
        jm_fail(&ctx->error, JIANMU_INTERNAL, "call_tool: there is no tool in this process");
        return NULL;
    }
    json_t *value;
    ctx->reached = true;
    if ((ctx->deadline || ctx->background) && !tool->cooperates) {
        value = jm_worker_call(ctx, args);
    } else {
        ctx->in_tool = true;
        value = tool->plugin.run(tool->instance, public, args);
        ctx->in_tool = false;
    }
    ctx->quoted |= ctx->error != NULL; /* a service may have named what the tool gave it, and that an argument */
    return value;
}

static inline void begin(jm_context *ctx, jianmu_runner *r, const jianmu_tool *tool, jianmu_call *call,
                         jianmu_result **result)
{
    jm_context_init(ctx, r, tool->backend, tool->plan, call);
    ctx->tool = tool;
    ctx->subject = tool->name;
    ctx->result = jm_result_prepare(result, &ctx->error);
    ctx->timeout_s = call && call->timeout_s > 0 ? call->timeout_s : tool->plan->timeout_s;
}

static inline void attempt(jm_context *ctx, const jianmu_tool *tool, json_t *args)
{
    const jianmu_backend *b = ctx->backend;
    json_t *own = NULL;
    if (!args)
        args = own = json_object();
    if (__builtin_expect(!args || !ctx->result, 0))
        jm_fail_memory(&ctx->error);
    else if (__builtin_expect(!json_is_object(args), 0))
        jm_fail(&ctx->error, JIANMU_INVALID, "arguments of tool '%s' must be a JSON object", tool->name);
    else if (jm_context_cancelled_by_caller(ctx))
        ctx->failed = true;
    else if (jm_call_admit(ctx, &tool->limits))
        ctx->result->value = b->plugin->run_tool
                                 ? b->plugin->run_tool(b->instance, &ctx->public, args)
                                 : (jm_fail(&ctx->error, JIANMU_UNSUPPORTED, "backend '%s' runs no tools", b->mode), NULL);
    json_decref(own);
}

void jm_tool_begin(jm_context *ctx, jianmu_runner *r, const jianmu_tool *tool, const json_t *args, jianmu_call *call,
                   jianmu_result **result)
{
    begin(ctx, r, tool, call, result);
    ctx->args = args;
    jm_call_begin(ctx);
}

void jm_tool_attempt(jm_context *ctx, json_t *args)
{
    attempt(ctx, ctx->tool, args);
}

int jianmu_run_tool(jianmu_runner *r, const jianmu_tool *tool, json_t *args, jianmu_call *call, jianmu_result **result,
                    jianmu_error **err)
{
    if (jm_runner_check(r, err))
        return -1;
    jm_context ctx;
    begin(&ctx, r, tool, call, result);
    ctx.args = args;
    if (ctx.timeout_s > 0 || r->bus || !tool->plugin.run)
        jm_call_begin(&ctx);
    ctx.attempts = 1;
    attempt(&ctx, tool, args);
    int status = jm_call_finish(&ctx, err);
    jm_context_end(&ctx);
    return status;
}
