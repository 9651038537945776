/* SPDX-License-Identifier: Apache-2.0
 * Specifications in the words of others: written out, judged strict or not, looked over. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "schema/formats.h"
#include <string.h>

static json_t *parsed(const char *text)
{
    json_error_t why;
    json_t *json = jm_json_parse(text, strlen(text), JSON_DECODE_ANY, &why);
    if (!json)
        fail_msg("%s: %s", text, why.text);
    return json;
}

static void inlined(void **state)
{
    static const struct { const char *schema, *want; } row[] = {
        {"{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"$id\":\"x\",\"type\":\"object\",\"$comment\":\"c\"}",
         "{\"type\":\"object\"}"},
        {"{\"properties\":{\"$ref\":{\"$ref\":\"#/$defs/a~1b\"}},\"$defs\":{\"a/b\":{\"type\":\"string\",\"title\":\"t\"}}}",
         "{\"properties\":{\"$ref\":{\"type\":\"string\",\"title\":\"t\"}}}"},
        {"{\"items\":{\"$ref\":\"#/$defs/a\",\"description\":\"mine\"},\"$defs\":{\"a\":{\"description\":\"its\",\"type\":\"null\"}}}",
         "{\"items\":{\"description\":\"mine\",\"type\":\"null\"}}"},
        {"{\"items\":{\"$ref\":\"#/$defs/a\",\"maxLength\":2},\"$defs\":{\"a\":{\"maxLength\":3}}}",
         "{\"items\":{\"maxLength\":2,\"allOf\":[{\"maxLength\":3}]}}"},
        {"{\"items\":{\"$ref\":\"#/$defs/a\"},\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},\"b\":false}}", "{\"items\":false}"},
        {"{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"items\":[{\"$ref\":\"#/definitions/a\",\"maxLength\":1}],"
         "\"additionalItems\":false,\"definitions\":{\"a\":{\"type\":\"string\"}},\"dependencies\":{\"a\":[\"b\"],\"c\":{\"type\":"
         "\"object\"}}}",
         "{\"prefixItems\":[{\"type\":\"string\"}],\"items\":false,\"dependentRequired\":{\"a\":[\"b\"]},\"dependentSchemas\":"
         "{\"c\":{\"type\":\"object\"}}}"},
        {"{\"enum\":[{\"$ref\":\"#/x\"}],\"default\":{\"$schema\":1}}", "{\"enum\":[{\"$ref\":\"#/x\"}],\"default\":{\"$schema\":1}}"},
        {"{\"x-mine\":{\"$id\":1},\"additionalItems\":true}", "{\"x-mine\":{\"$id\":1}}"}};
    (void)state;
    for (size_t i = 0; i < jm_countof(row); i++) {
        jianmu_error *err = NULL;
        jm_auto_json json_t *schema = parsed(row[i].schema), *made = jm_schema_inline(schema, &err);
        jm_auto_free char *text = made ? jm_json_print(made, 0, NULL) : strdup(jianmu_error_message(err));
        if (strcmp(text, row[i].want))
            fail_msg("%s: %s", row[i].schema, text);
        jianmu_error_free(err);
    }
}

static void cannot_be_inlined(void **state)
{
    static const struct { const char *schema, *want; } row[] = {
        {"{\"properties\":{\"a\":{\"$ref\":\"#\"}}}", "leads back to itself"}, {"{\"$ref\":\"#/nowhere\"}", "\"#/nowhere\""},
        {"{\"$ref\":\"#anchor\"}", "\"#anchor\""}, {"{\"$ref\":\"https://example.org/x\"}", "cannot be replaced"}};
    (void)state;
    for (size_t i = 0; i < jm_countof(row); i++) {
        jianmu_error *err = NULL;
        jm_auto_json json_t *schema = parsed(row[i].schema);
        assert_null(jm_schema_inline(schema, &err));
        if (!strstr(jianmu_error_message(err), row[i].want))
            fail_msg("%s: %s", row[i].schema, jianmu_error_message(err));
        jianmu_error_free(err);
    }
    struct jm_buffer b = {0};
    jm_buffer_adds(&b, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{\"d30\":{}");
    for (int i = 0; i < 30; i++)
        jm_buffer_addf(&b, ",\"d%d\":{\"allOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]}", i, i + 1, i + 1);
    jm_buffer_adds(&b, "}}");
    jianmu_error *err = NULL;
    jm_auto_json json_t *laughs = parsed(b.data);
    assert_null(jm_schema_inline(laughs, &err));
    assert_non_null(strstr(jianmu_error_message(err), "too large"));
    jianmu_error_free(err);
    jm_buffer_free(&b);
}

static void strict(void **state)
{
    static const struct { const char *schema, *why; } row[] = {
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"],\"additionalProperties\":false}", NULL},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"object\",\"properties\":{},"
         "\"additionalProperties\":false}]}},\"required\":[\"a\"],\"additionalProperties\":false}", NULL},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"additionalProperties\":false}", "\"a\" is not required"},
        {"{\"type\":\"object\",\"properties\":{}}", "additionalProperties is not false"}, {"{\"type\":\"array\"}", "no object"},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":[\"object\",\"null\"]}},\"required\":[\"a\"],"
         "\"additionalProperties\":false}", "/properties/a: additionalProperties is not false"},
        {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}},\"required\":[\"a\"],"
         "\"additionalProperties\":false}", "/properties/a/items: additionalProperties is not false"},
        {"{\"type\":\"object\",\"allOf\":[],\"additionalProperties\":false}", "\"allOf\" is not understood"},
        {"{\"type\":\"object\",\"properties\":{\"a\":{}},\"required\":[\"a\"],\"additionalProperties\":false}", "no type is named"},
        {"{\"type\":\"object\",\"properties\":{\"a\":true},\"required\":[\"a\"],\"additionalProperties\":false}", "/properties/a: true and"}};
    (void)state;
    for (size_t i = 0; i < jm_countof(row); i++) {
        jm_auto_free char *why = NULL;
        jm_auto_json json_t *schema = parsed(row[i].schema);
        bool good = jm_schema_is_strict(schema, &why);
        if (good != !row[i].why || (row[i].why && !strstr(why, row[i].why)))
            fail_msg("%s: %d %s", row[i].schema, good, why);
    }
}

#define TOOL(NAME, PARAMETERS) "{\"name\":\"" NAME "\",\"description\":\"d\",\"parameters\":" PARAMETERS "}"

static void names(void **state)
{
    static const struct { const char *name, *fits; } row[] = {
        {"plain_1", "mcp openai openai-responses anthropic gemini"}, {"1st", "mcp openai openai-responses anthropic"},
        {"a.b", "mcp gemini"}, {"a:b", "gemini"}, {"", ""}, {"a b", ""}, {"\u00e9", ""},
        {"x2345678901234567890123456789012345678901234567890123456789012345", "mcp gemini"}};
    static const char *const formats[] = {"mcp", "openai", "openai-responses", "anthropic", "gemini"};
    (void)state;
    for (size_t i = 0; i < jm_countof(row); i++) {
        struct jm_buffer fits = {0};
        jm_auto_json json_t *tools = json_pack("[{s:s, s:s, s:{}}]", "name", row[i].name, "description", "d", "parameters");
        jm_buffer_adds(&fits, "");
        for (size_t j = 0; j < jm_countof(formats); j++) {
            jianmu_error *err = NULL;
            jm_auto_json json_t *made = jianmu_tools_render(tools, formats[j], 0, NULL, &err);
            if (made)
                jm_buffer_addf(&fits, "%s%s", fits.len ? " " : "", formats[j]);
            assert_true(made || strstr(jianmu_error_message(err), "that is no name of a tool in the format"));
            jianmu_error_free(err);
        }
        if (strcmp(fits.data, row[i].fits))
            fail_msg("%s: %s", row[i].name, fits.data);
        jm_buffer_free(&fits);
    }
}

static void rendered(void **state)
{
    (void)state;
    jianmu_error *err = NULL;
    json_t *warnings = NULL;
    jm_auto_json json_t *tools = parsed(
        "[" TOOL("b", "{\"type\":\"object\"}") ",{\"name\":\"a\",\"title\":\"A\",\"description\":\"d\",\"danger\":\"read\",\"flags\":"
        "[\"read_only\",\"idempotent\"],\"parameters\":{\"$ref\":\"#/$defs/o\",\"$defs\":{\"o\":{\"type\":\"object\"}}},"
        "\"output\":{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\"}}]");
    jm_auto_json json_t *mcp = jianmu_tools_render(tools, "mcp", 0, NULL, &err);
    jm_auto_free char *text = jm_json_print(mcp, 0, NULL);
    assert_string_equal(text, "[{\"name\":\"a\",\"description\":\"d\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{"
                        "\"readOnlyHint\":true,\"destructiveHint\":false,\"idempotentHint\":true,\"openWorldHint\":false},"
                        "\"outputSchema\":{\"type\":\"object\"},\"title\":\"A\"},{\"name\":\"b\",\"description\":\"d\",\"inputSchema\":"
                        "{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":true,\"idempotentHint\":false,"
                        "\"openWorldHint\":false}}]");
    jm_auto_json json_t *gemini = jianmu_tools_render(tools, "gemini", JIANMU_STRICT, &warnings, &err);
    assert_int_equal(json_array_size(warnings), 0); /* it knows no strict */
    json_decref(warnings);
    jm_auto_json json_t *responses = jianmu_tools_render(tools, "openai-responses", JIANMU_STRICT, &warnings, &err);
    assert_int_equal(json_array_size(warnings), 2);
    assert_non_null(gemini);
    assert_true(json_is_false(json_object_get(json_array_get(responses, 0), "strict")));
    json_decref(warnings);
    assert_null(jianmu_tools_render(tools, "xml", 0, NULL, &err));
    assert_non_null(strstr(jianmu_error_message(err), "unknown format 'xml'"));
    jianmu_error_free(err);
    err = NULL;
    jm_auto_json json_t *loop = parsed("[" TOOL("t", "{\"properties\":{\"a\":{\"$ref\":\"#\"}}}") "]");
    assert_null(jianmu_tools_render(loop, "mcp", 0, NULL, &err));
    assert_non_null(strstr(jianmu_error_message(err), "tool \"t\": its $ref leads back"));
    jianmu_error_free(err);
}

static void lint(void **state)
{
    static const struct { const char *tool, *want; } row[] = {
        {TOOL("t", "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"description\":\"d\"}}}"), ""},
        {TOOL("a.b", "{\"type\":\"object\",\"properties\":{}}"), "error||the name of a tool"},
        {"{\"name\":\"t\",\"description\":\"\",\"parameters\":{\"type\":\"object\",\"properties\":{}}}", "error||no \"description\""},
        {"{\"name\":\"t\",\"description\":\"d\"}", "error||its parameters are no object"},
        {TOOL("t", "{\"properties\":{}}"), "error||the top must be of"}, {TOOL("t", "{\"type\":\"object\"}"), "error||\"properties\" is missing"},
        {TOOL("t", "{\"type\":\"object\",\"properties\":{},\"oneOf\":[true]}"), "error||\"oneOf\" at the top"},
        {TOOL("t", "{\"type\":\"object\",\"properties\":{},\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":true}}"), "error||\"$ref\" at the top"},
        {TOOL("t", "{\"type\":\"object\",\"properties\":{},\"$schema\":\"http://json-schema.org/draft-04/schema#\"}"), "error||\"$schema\" is"},
        {TOOL("t", "{\"type\":\"object\",\"properties\":{},\"$schema\":\"http://json-schema.org/draft-07/schema#\"}"), "warning||clients refuse"},
        {TOOL("t", "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"http://x/y\"}}}"), "error||/properties/a: \"$ref\" is"},
        {TOOL("t", "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",\"description\":\"d\",\"items\":{\"$ref\":\"#\"}}}}"), "error||its $ref leads back"},
        {TOOL("t", "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/a\"}},\"$defs\":{\"a\":{\"type\":\"null\"}}}"), "warning|/properties/a|a \"$ref\" is"},
        {TOOL("t", "{\"type\":\"object\",\"properties\":{\"a b\":{\"type\":\"null\",\"description\":\"d\"}}}"), "error|/properties/a b|the name of a property"},
        {TOOL("t", "{\"type\":\"object\",\"properties\":{\"a\":true}}"), "error|/properties/a|true is no schema"},
        {TOOL("t", "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"null\"}}}"), "warning|/properties/a|no \"description\""},
        {TOOL("t", "{\"type\":\"object\",\"properties\":{\"a\":{\"description\":\"d\"}}}"), "warning|/properties/a|no type is named"},
        {TOOL("t", "{\"type\":\"object\",\"properties\":{\"a\":{\"description\":\"d\",\"type\":[\"null\",\"string\"]}}}"), "warning|/properties/a|a list of types"},
        {TOOL("t", "{\"type\":\"object\",\"properties\":{},\"required\":[\"a\"]}"), "error||\"required\" names \"a\""},
        {TOOL("t", "{\"type\":\"object\",\"properties\":{},\"requierd\":[\"a\"]}"), "warning||\"requierd\" is no keyword and has no effect; did you mean \"required\"?"}};
    (void)state;
    for (size_t i = 0; i < jm_countof(row); i++) {
        jm_auto_json json_t *tool = parsed(row[i].tool), *tools = json_pack("[O]", tool);
        jm_auto_json json_t *found = jianmu_tools_lint(tools, NULL);
        struct jm_buffer all = {0};
        size_t j;
        json_t *item;
        jm_buffer_adds(&all, "");
        json_array_foreach(found, j, item)
            jm_buffer_addf(&all, "%s|%s|%s\n", json_string_value(json_object_get(item, "level")),
                           json_string_value(json_object_get(item, "at")), json_string_value(json_object_get(item, "text")));
        if (!*row[i].want ? all.len > 0 : !strstr(all.data, row[i].want))
            fail_msg("%s: %s", row[i].tool, all.data);
        jm_buffer_free(&all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inlined), cmocka_unit_test(cannot_be_inlined), cmocka_unit_test(strict),
        cmocka_unit_test(names), cmocka_unit_test(rendered), cmocka_unit_test(lint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
