/* SPDX-License-Identifier: Apache-2.0
 * The n-th allocation fails, and from the n-th on all fail, for every n. Each time the answer is "out of memory", or the
 * same as ever; and nothing is left behind. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/json.h"
#include "schema/formats.h"
#include "schema/schema.h"
#include "../shortage.h"
#include <stdio.h>
#include <string.h>

/* ---- what is done each time ---- */
static json_t *schema_json, *value_json, *tools_json; /* made before */
static char sentence[512];

static json_t *parsed(const char *text)
{
    json_error_t why;
    json_t *json = jm_json_parse(text, strlen(text), 0, &why);
    if (!json)
        fail_msg("%s: %s", text, why.text);
    return json;
}

static int prepare(void **state)
{
    (void)state;
    schema_json = parsed(
        "{\"$id\":\"https://example.org/a\",\"type\":\"object\",\"required\":[\"r\"],\"properties\":{\"s\":{\"type\":\"string\","
        "\"pattern\":\"^[a-z]+$\",\"minLength\":2},\"e\":{\"enum\":[1,\"x\"]},\"c\":{\"const\":{\"k\":[1]}},\"l\":{\"type\":\"array\","
        "\"items\":{\"$ref\":\"b#n\"},\"uniqueItems\":true,\"contains\":{\"type\":\"null\"}},\"o\":{\"anyOf\":[{\"type\":\"null\"},{"
        "\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"integer\"}}}]},\"j\":{\"type\":\"array\"}},\"patternProperties\":{\"^x\":"
        "{\"multipleOf\":0.5}},\"additionalProperties\":false,\"propertyNames\":{\"maxLength\":3},\"dependentRequired\":{\"s\":[\"t\"]},"
        "\"allOf\":[{\"not\":{\"required\":[\"never\"]}},{\"if\":true,\"then\":{\"maxProperties\":9}}],\"$defs\":{\"d\":{\"$id\":\"b\","
        "\"$anchor\":\"n\",\"type\":[\"integer\",\"null\"]}}}");
    value_json = parsed("{\"s\":\"A\",\"e\":2,\"c\":{\"k\":[1.0]},\"l\":[1,1],\"o\":{\"q\":\"no\"},\"x\":0.25,\"long\":1,\"j\":\"[1]\"}");
    tools_json = parsed(
        "[{\"name\":\"b\",\"description\":\"d\",\"parameters\":{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/a\"},"
        "\"b\":{\"type\":\"string\"}},\"$defs\":{\"a\":{\"items\":[true],\"dependencies\":{\"a\":[\"b\"],\"c\":true}}}},"
        "\"output\":{\"type\":\"null\"}},{\"name\":\"a\",\"title\":\"A\",\"description\":\"d\",\"parameters\":{\"type\":\"object\"}}]");
    return 0;
}

static int finish(void **state)
{
    (void)state;
    json_decref(schema_json);
    json_decref(value_json);
    json_decref(tools_json);
    return 0;
}

/* All that the folder does, as one text; NULL with an error. */
static char *everything(jianmu_error **err)
{
    static const char *const formats[] = {"jianmu", "mcp", "openai", "openai-responses", "anthropic", "gemini"};
    jm_auto_json json_t *all = json_array(), *complaints = NULL, *repaired = NULL;
    jianmu_schema *schema = all ? jianmu_schema_new(schema_json, err) : NULL;
    int rc = schema ? jianmu_schema_check(schema, value_json, &complaints, err) : -1;
    int bad = rc < 0 || jm_schema_repair(schema, value_json, &repaired, err);
    jianmu_schema_free(schema);
    jm_auto_free char *text = bad ? NULL : jm_schema_text(complaints, true);
    bad = !text || json_array_append_new(all, json_string(text)) || json_array_append(all, repaired);
    for (size_t i = 0; i < jm_countof(formats) && !bad; i++) {
        jm_auto_json json_t *warnings = NULL;
        jm_auto_json json_t *made = jianmu_tools_render(tools_json, formats[i], JIANMU_STRICT, &warnings, err);
        bad = !made || json_array_append(all, made) || json_array_append(all, warnings);
    }
    bad = bad || json_array_append_new(all, jianmu_tools_lint(tools_json, err));
    return bad ? NULL : jm_json_print(all, 0, NULL);
}

static void not_under_valgrind(void)
{
    const char *preload = getenv("LD_PRELOAD");
    if (preload && strstr(preload, "vgpreload"))
        skip();
}

static int attempt(const char *reference, long n)
{
    jianmu_error *err = NULL;
    char *text = everything(&err);
    fail_at = 0;
    snprintf(sentence, sizeof sentence, "%s: %s", jianmu_code_name(jianmu_error_code(err)), jianmu_error_message(err));
    size_t same = 0;
    while (text && text[same] && text[same] == reference[same])
        same++;
    if (text && (err || text[same] != reference[same]))
        fail_msg("allocation %ld: another answer than ever: %s: %.80s, not %.80s", n, sentence,
                 text + (same > 30 ? same - 30 : 0), reference + (same > 30 ? same - 30 : 0));
    int rc = text != NULL;
    free(text);
    jianmu_error_free(err);
    return rc;
}

static void allocations(bool all_that_follow, long step)
{
    not_under_valgrind();
    jm_auto_free char *reference = everything(NULL);
    long n = 1 - step, refused = 0;
    assert_non_null(reference);
    assert_non_null(strstr(reference, "/l: expected"));
    for (failed = 1; failed > 0;) { /* until there are fewer than n */
        long before = live;
        failed = 0;
        fail_on = all_that_follow;
        fail_at = n += step;
        int answered = attempt(reference, n);
        if (!answered && strcmp(sentence, "internal: out of memory") && strcmp(sentence, "ok: "))
            fail_msg("allocation %ld: %s", n, sentence);
        if (COUNTED && live != before)
            fail_msg("allocation %ld: %ld blocks are left (%s)", n, live - before, sentence);
        refused += !answered;
    }
    print_message("# %ld allocations, %ld refusals\n", n - 1, refused);
    assert_true(refused * step > 500);
}

static void one_allocation(void **state)
{
    (void)state;
    allocations(false, 1);
}

static void all_allocations(void **state)
{
    (void)state;
    allocations(true, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_allocation), cmocka_unit_test(all_allocations)};
    return cmocka_run_group_tests(tests, prepare, finish);
}
