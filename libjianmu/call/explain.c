/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "call/runner.h"
#include <string.h>

/* The call's own timeout into the plan, and what stands against it. */
static int explain_call(const jianmu_runner *r, const struct jm_plan *plan, const jianmu_call *call, json_t *explain)
{
    jianmu_error *why = NULL;
    if (jm_plan_json_timeout(explain, call->timeout_s))
        return -1;
    if (!json_is_null(json_object_get(explain, "refusal")) ||
        !jm_limits_check_timeout(r->backend, plan, call->timeout_s, &why))
        return 0;
    int bad = json_object_set_new(explain, "refusal", json_string(jianmu_error_message(why)));
    jianmu_error_free(why);
    return bad;
}

json_t *jianmu_runner_explain(jianmu_runner *r, const char *name, const jianmu_call *call, jianmu_error **err)
{
    if (jm_runner_check(r, err))
        return NULL;
    const jianmu_tool *tool = NULL;
    if (strcmp(name, "job") && !(tool = jianmu_runner_tool(r, name, err)))
        return NULL;
    if (!tool && jm_runner_prepare_jobs(r, err))
        return NULL;
    bool timed = call && call->timeout_s > 0;
    const struct jm_limits *limits = tool ? &tool->limits : &r->job_limits;
    const struct jm_plan *plan = tool ? tool->plan : r->job_plan;
    jm_auto_json json_t *explain = jm_plan_json(plan);
    if (!explain || json_object_set(explain, "limits", timed ? limits->enforced_timed : limits->enforced) ||
        json_object_set_new(explain, "refusal", limits->refusal ? json_string(limits->refusal) : json_null()) ||
        (timed && explain_call(r, plan, call, explain))) {
        jm_fail_memory(err);
        return NULL;
    }
    json_t *own = jm_json_deep_copy(explain); /* the values are still those of the plan */
    if (!own)
        jm_fail_memory(err);
    return own;
}
