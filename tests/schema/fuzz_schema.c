/* SPDX-License-Identifier: Apache-2.0
 * Any bytes; where they are [schema, value...], a verdict that does not depend on who listens, on how often it was
 * asked for, or on whether the references were written out. */
#include "config.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "schema/formats.h"
#include "schema/schema.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
    if (!good)
        abort();
}

static int verdict(const jianmu_schema *schema, const json_t *value)
{
    jianmu_error *err = NULL;
    json_t *complaints = NULL;
    int rc = jianmu_schema_check(schema, value, &complaints, &err);
    must((rc < 0) == !!err && (rc == 0) == !!complaints);
    must(rc != 0 || (json_array_size(complaints) >= 1 && json_array_size(complaints) <= 5));
    must(rc == jianmu_schema_check(schema, value, NULL, NULL));
    jm_auto_free char *loud = jm_schema_text(complaints, true), *quiet = jm_schema_text(complaints, false);
    must(loud && quiet && (rc != 0 || (*loud && *quiet)));
    json_decref(complaints);
    jianmu_error_free(err);
    return rc;
}

static void with_value(const jianmu_schema *schema, const jianmu_schema *inlined, const json_t *value)
{
    json_t *better = NULL;
    int rc = verdict(schema, value), other = inlined ? verdict(inlined, value) : rc;
    must(rc == other || rc < 0 || other < 0); /* written out it may be too deep */
    must(!jm_schema_repair(schema, value, &better, NULL));
    if (better)
        verdict(schema, better);
    json_decref(better);
}

static void with_tools(const json_t *schema)
{
    static const char *const formats[] = {"jianmu", "mcp", "openai", "openai-responses", "anthropic", "gemini"};
    jm_auto_json json_t *tools = json_pack("[{s:s, s:s, s:O}]", "name", "t", "description", "d", "parameters", schema);
    jm_auto_json json_t *found = jianmu_tools_lint(tools, NULL);
    must(found != NULL);
    for (size_t i = 0; i < jm_countof(formats); i++) {
        jianmu_error *err = NULL;
        jm_auto_json json_t *made = jianmu_tools_render(tools, formats[i], JIANMU_STRICT, NULL, &err);
        must(!made == !!err);
        jianmu_error_free(err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_error_t why;
    jianmu_error *err = NULL;
    jm_auto_json json_t *all = jm_json_parse((const char *)data, size, JSON_ALLOW_NUL, &why);
    const json_t *json = json_array_get(all, 0);
    if (!json)
        return 0;
    with_tools(json);
    jianmu_schema *schema = jianmu_schema_new(json, &err), *inlined = NULL;
    must(!schema == !!err);
    jianmu_error_free(err);
    jm_auto_json json_t *out = schema ? jm_schema_inline(json, NULL) : NULL;
    if (out)
        inlined = jianmu_schema_new(out, NULL);
    for (size_t i = 1; schema && i < json_array_size(all); i++)
        with_value(schema, inlined, json_array_get(all, i));
    jianmu_schema_free(schema);
    jianmu_schema_free(inlined);
    return 0;
}
