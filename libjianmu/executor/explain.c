/* SPDX-License-Identifier: Apache-2.0
 * What would become of a call: its plan, and the verdict on it. Nothing runs, nothing is used up. */
#include "config.h"
#include "executor/executor.h"
#include "base/cleanup.h"
#include <string.h>

/* As jm_judge does: 0 with *given what would be judged; -1 and what is wrong. */
static int look_at_args(jianmu_executor *executor, const jianmu_tool *tool, json_t *args, json_t **given, jianmu_error **why)
{
    json_t *repaired = NULL;
    struct jm_known *known = jm_known_get(executor, tool, tool->plan, why);
    if (!known)
        return -1;
    if (jm_arguments_check(known, tool->name, args, &repaired, why))
        return -1;
    *given = repaired ? repaired : json_incref(args);
    return 0;
}

static json_t *verdict(jianmu_executor *executor, const jianmu_tool *tool, json_t *args, const jianmu_call *call)
{
    jianmu_runner *runner = executor->runner;
    jm_context ctx;
    struct jm_verdict v;
    jm_context_init(&ctx, runner, tool ? tool->backend : runner->job_backend, tool ? tool->plan : runner->job_plan,
                    (jianmu_call *)call);
    ctx.tool = tool;
    ctx.subject = tool ? tool->name : "job";
    ctx.timeout_s = call && call->timeout_s > 0 ? call->timeout_s : ctx.plan->timeout_s;
    jm_judge_ask(executor, &ctx, args, true, &v);
    jm_context_end(&ctx);
    jm_auto_json json_t *json = jm_verdict_json(&v);
    bool own_act = v.verdict == JIANMU_CONFIRM && call && call->operator_act; /* as jm_question */
    return json && own_act && json_object_set_new(json, "confirmed", json_true()) ? NULL : jm_steal(json);
}

json_t *jianmu_executor_explain(jianmu_executor *executor, const char *name, json_t *args, const jianmu_call *call,
                                jianmu_error **err)
{
    bool job = !strcmp(name, "job"), judged = true;
    jm_auto_json json_t *plan = jianmu_runner_explain(executor->runner, name, call, err);
    const jianmu_tool *tool = plan && !job ? jianmu_runner_tool(executor->runner, name, err) : NULL;
    if (!plan || (!job && !tool))
        return NULL;
    jianmu_error *why = NULL;
    jm_auto_json json_t *given = NULL;
    if (tool && args)
        judged = !look_at_args(executor, tool, args, &given, &why);
    else
        given = json_object();
    json_t *complaint = why ? json_string(jianmu_error_message(why)) : json_null();
    jianmu_error_free(why);
    json_t *guard = judged ? verdict(executor, tool, given, call)
                           : json_pack("{s:s, s:s}", "verdict", "none", "message",
                                       "no verdict was reached, since the arguments are refused before");
    int bad = json_object_set_new(plan, "guard", guard);
    if (json_object_set_new(plan, "arguments", complaint) || bad) {
        jm_fail_memory(err);
        return NULL;
    }
    return jm_steal(plan);
}
