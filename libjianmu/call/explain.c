/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "call/runner.h"
#include <string.h>

/* What stands against a call: a maximum, a limit that cannot be had. */
static int set_refusal(const jianmu_backend *backend, const struct jm_plan *plan, const struct jm_limits *limits,
                       double own_timeout, json_t *explain)
{
    jianmu_error *why = NULL;
    int bad = own_timeout > 0 && jm_plan_json_timeout(plan, explain, own_timeout);
    if (!bad)
        bad = json_object_set_new(explain, "refusal",
                                  jm_limits_check_call(backend, plan, limits, own_timeout, &why)
                                      ? json_string(jianmu_error_message(why))
                                      : json_null());
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
    double seconds = call && call->timeout_s > 0 ? call->timeout_s : 0;
    const struct jm_limits *limits = tool ? &tool->limits : &r->job_limits;
    const struct jm_plan *plan = tool ? tool->plan : r->job_plan;
    jm_auto_json json_t *explain = jm_plan_json(plan);
    if (!explain || json_object_set(explain, "limits", seconds > 0 ? limits->enforced_timed : limits->enforced) ||
        set_refusal(tool ? tool->backend : r->job_backend, plan, limits, seconds, explain)) {
        jm_fail_memory(err);
        return NULL;
    }
    json_t *own = jm_json_deep_copy(explain); /* the values are still those of the plan */
    if (!own)
        jm_fail_memory(err);
    return own;
}
