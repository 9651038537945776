/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "executor/executor.h"
#include "base/cleanup.h"
#include <string.h>

jianmu_executor *jianmu_executor_new(jianmu_runner *runner, jianmu_error **err)
{
    jianmu_executor *executor = calloc(1, sizeof *executor);
    if (!executor)
        return jm_fail_memory(err), NULL;
    executor->runner = runner;
    jm_confirmations_init(&executor->confirmations);
    pthread_mutex_init(&executor->lock, NULL);
    if (!jm_runner_check(runner, err) && (executor->guards = jm_guards_new(runner->config, err)))
        return executor;
    jianmu_executor_free(executor);
    return NULL;
}

void jianmu_executor_free(jianmu_executor *executor)
{
    if (!executor)
        return;
    if (executor->guards)
        jm_guards_free(executor->guards);
    jm_known_free(executor);
    jm_confirmations_end(&executor->confirmations);
    pthread_mutex_destroy(&executor->lock);
    free(executor);
}

void jianmu_executor_set_confirm(jianmu_executor *executor, jianmu_confirm fn, void *data)
{
    executor->confirm = fn;
    executor->confirm_data = data;
}

/* A name that somebody made up goes into events: short, and of characters that are harmless everywhere. */
static const char *clean_name(const char *name, char *text, size_t size)
{
    size_t n = 0;
    for (; name && name[n] && n < size - 4; n++)
        text[n] = name[n] > 0x20 && name[n] < 0x7f && name[n] != '"' && name[n] != '\\' ? name[n] : '?';
    strcpy(text + n, name && name[n] ? "..." : "");
    return text;
}

/* The call begins although there is nothing to call: it has its two events. */
static void begin_refused(struct jm_execution *x, jianmu_error *why)
{
    jm_context_init(&x->ctx, x->executor->runner, NULL, NULL, x->call);
    x->ctx.args = x->args;
    x->ctx.subject = x->job ? "job" : clean_name(x->name, x->subject, sizeof x->subject);
    jm_call_begin(&x->ctx);
    jm_fail_take(&x->ctx.error, why);
}

static void begin(struct jm_execution *x, jianmu_result **result)
{
    jianmu_runner *runner = x->executor->runner;
    jianmu_error *why = jm_steal(x->refusal);
    const jianmu_tool *tool = NULL;
    if (!why && !x->job && !x->name)
        jm_fail(&why, JIANMU_INVALID, "no tool was named");
    if (!why && !x->job)
        tool = jianmu_runner_tool(runner, x->name, &why);
    if (why)
        begin_refused(x, why);
    else if (x->job)
        jm_job_begin(&x->ctx, runner, x->job, x->call, result);
    else
        jm_tool_begin(&x->ctx, runner, tool, x->args, x->call, result);
    x->ctx.background = x->background;
}

int jm_execute(struct jm_execution *x, jianmu_result **result, jianmu_error **err)
{
    if (jm_runner_check(x->executor->runner, err)) {
        jianmu_error_free(jm_steal(x->refusal));
        return -1;
    }
    begin(x, result);
    bool cancelled = !x->ctx.error && jm_context_cancelled_by_caller(&x->ctx);
    bool may_run = !x->ctx.error && !cancelled && !jm_judge(x) && !x->ctx.error; /* asked once, since a cancel can be taken back */
    if (may_run && !jm_context_cancelled_by_caller(&x->ctx))
        jm_attempts(x);
    else if (!x->ctx.error) /* before, or while somebody was asked */
        jm_attempts_cancelled(x);
    jm_judge_settle(x);
    int status = jm_call_end(&x->ctx, err);
    jm_context_end(&x->ctx);
    json_decref(x->own_args);
    return status;
}

int jianmu_execute_tool(jianmu_executor *executor, const char *name, json_t *args, jianmu_call *call,
                        jianmu_result **result, jianmu_error **err)
{
    struct jm_execution x = {.executor = executor, .name = name, .args = args, .call = call};
    return jm_execute(&x, result, err);
}

int jianmu_execute_job(jianmu_executor *executor, const jianmu_job *job, jianmu_call *call, jianmu_result **result,
                       jianmu_error **err)
{
    struct jm_execution x = {.executor = executor, .job = job, .call = call};
    return jm_execute(&x, result, err);
}
