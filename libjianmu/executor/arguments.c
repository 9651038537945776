/* SPDX-License-Identifier: Apache-2.0
 * Arguments against the schema of their tool. What a model has put into a string by mistake is taken out of it. */
#include "config.h"
#include "executor/executor.h"
#include "base/cleanup.h"
#include "schema/schema.h"

/* A sentence without the values, which may be secrets, for events; the complaints have them, for the caller. */
static int refuse(const char *tool, const json_t *complaints, jianmu_error **err)
{
    jianmu_error *made = NULL;
    jm_auto_free char *text = jm_schema_text(complaints, false);
    if (!text)
        return jm_fail_memory(err);
    jm_fail(&made, JIANMU_INVALID, "arguments of tool '%s': %s", tool, text);
    jm_error_detail(made, "complaints", json_incref((json_t *)complaints));
    return jm_fail_take(err, made);
}

int jm_arguments_check(const struct jm_known *known, const char *tool, json_t *args, json_t **repaired,
                       jianmu_error **err)
{
    jm_auto_json json_t *complaints = NULL, *better = NULL;
    int valid = jianmu_schema_check(known->schema, args, &complaints, err);
    if (valid)
        return valid == 1 ? 0 : -1;
    if (jm_schema_repair(known->schema, args, &better, err))
        return -1;
    if (better) {
        json_decref(jm_steal(complaints));
        valid = jianmu_schema_check(known->schema, better, &complaints, err);
        if (valid == 1)
            *repaired = jm_steal(better);
        if (valid)
            return valid == 1 ? 0 : -1;
    }
    return refuse(tool, complaints, err);
}
