/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "base/cleanup.h"
#include "call/runner.h"
#include <string.h>

json_t *jianmu_runner_explain(jianmu_runner *r, const char *name, const jianmu_call *call, jianmu_error **err)
{
    if (jm_runner_check(r, err))
        return NULL;
    const jianmu_tool *tool = NULL;
    if (strcmp(name, "job") && !(tool = jianmu_runner_tool(r, name, err)))
        return NULL;
    if (!tool && jm_runner_prepare_jobs(r, err))
        return NULL;
    jm_auto_json json_t *plan = jm_plan_json(tool ? tool->plan : r->job_plan);
    const char *refusal = tool ? tool->refusal : r->job_refusal;
    int bad = !plan || json_object_set(plan, "limits", tool ? tool->enforced : r->job_enforced) ||
              json_object_set_new(plan, "refusal", refusal ? json_string(refusal) : json_null());
    if (!bad && call && call->timeout_s > 0)
        bad = json_object_set_new(json_object_get(plan, "settings"), "timeout_s",
                                  json_pack("{s:f, s:s, s:s, s:n, s:n}", "value", call->timeout_s, "layer",
                                            jm_layer_name(JM_CALL), "source", jm_layer_name(JM_CALL), "file", "line"));
    if (bad) {
        jm_fail_memory(err);
        return NULL;
    }
    return json_incref(plan);
}
