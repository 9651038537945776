/* SPDX-License-Identifier: Apache-2.0
 * What would become of a call: its plan, and the verdict on it. Nothing runs, nothing is used up. */
#include "config.h"
#include "executor/executor.h"
#include "base/cleanup.h"
#include <string.h>

/* What is wrong with the arguments, as a sentence; null: nothing. */
static json_t *complaints(jianmu_executor *executor, const jianmu_tool *tool, json_t *args)
{
    jianmu_error *why = NULL;
    json_t *repaired = NULL;
    struct jm_known *known = jm_known_get(executor, tool, tool->plan, &why);
    if (known)
        jm_arguments_check(known, tool->name, args, &repaired, &why);
    json_decref(repaired);
    json_t *text = why ? json_string(jianmu_error_message(why)) : json_null();
    jianmu_error_free(why);
    return text;
}

json_t *jianmu_executor_explain(jianmu_executor *executor, const char *name, json_t *args, const jianmu_call *call,
                                jianmu_error **err)
{
    jianmu_runner *runner = executor->runner;
    bool job = !strcmp(name, "job");
    jm_auto_json json_t *plan = jianmu_runner_explain(runner, name, call, err);
    const jianmu_tool *tool = plan && !job ? jianmu_runner_tool(runner, name, err) : NULL;
    if (!plan || (!job && !tool))
        return NULL;
    jm_auto_json json_t *given = args ? json_incref(args) : json_object();
    jm_context ctx;
    struct jm_verdict verdict;
    jm_context_init(&ctx, runner, tool ? tool->backend : runner->job_backend, tool ? tool->plan : runner->job_plan,
                    (jianmu_call *)call);
    ctx.tool = tool;
    ctx.subject = tool ? tool->name : "job";
    ctx.timeout_s = call && call->timeout_s > 0 ? call->timeout_s : ctx.plan->timeout_s;
    jm_judge_ask(executor, &ctx, given, true, &verdict);
    jm_context_end(&ctx);
    if (json_object_set_new(plan, "guard", jm_verdict_json(&verdict)) ||
        json_object_set_new(plan, "arguments", job || !args ? json_null() : complaints(executor, tool, args))) {
        jm_fail_memory(err);
        return NULL;
    }
    return jm_steal(plan);
}
