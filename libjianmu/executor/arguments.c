/* SPDX-License-Identifier: Apache-2.0
 * Arguments against the schema of their tool. What a model has put into a string by mistake is taken out of it. */
#include "config.h"
#include "executor/executor.h"
#include "base/cleanup.h"
#include "base/json.h"
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

static int check_object(const struct jm_known *known, const char *tool, json_t *args, json_t **repaired,
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

/* Some APIs hand all arguments over as a string of JSON, which a caller may pass on as it came. */
int jm_arguments_check(const struct jm_known *known, const char *tool, json_t *args, json_t **repaired,
                       jianmu_error **err)
{
    json_error_t why;
    jm_auto_json json_t *parsed = NULL;
    if (json_is_object(args))
        return check_object(known, tool, args, repaired, err);
    if (json_is_string(args)) {
        parsed = jm_json_parse(json_string_value(args), json_string_length(args), JSON_REJECT_DUPLICATES, &why);
        if (!parsed && json_error_code(&why) == json_error_out_of_memory)
            return jm_fail_memory(err);
    }
    if (!json_is_object(parsed))
        return jm_fail(err, JIANMU_INVALID, "arguments of tool '%s' must be a JSON object", tool);
    if (check_object(known, tool, parsed, repaired, err))
        return -1;
    if (!*repaired)
        *repaired = jm_steal(parsed);
    return 0;
}
