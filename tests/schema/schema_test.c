/* SPDX-License-Identifier: Apache-2.0
 * What a complaint says, what is refused at load, what is repaired, and that nothing is without bound. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "schema/schema.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static json_t *parsed(const char *text)
{
    json_error_t why;
    json_t *json = jm_json_parse(text, strlen(text), JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    if (!json)
        fail_msg("%s: %s", text, why.text);
    return json;
}

static jianmu_schema *made(const char *text)
{
    jianmu_error *err = NULL;
    jm_auto_json json_t *json = parsed(text);
    jianmu_schema *schema = jianmu_schema_new(json, &err);
    if (!schema)
        fail_msg("%s: %s", text, jianmu_error_message(err));
    return schema;
}

/* What is said of the value, or "good". new */
static char *said(const char *schema_text, const char *value_text, bool values)
{
    jianmu_error *err = NULL;
    json_t *complaints = NULL;
    jianmu_schema *schema = made(schema_text);
    jm_auto_json json_t *value = parsed(value_text);
    int rc = jianmu_schema_check(schema, value, &complaints, &err);
    char *text = rc < 0 ? strdup(jianmu_error_message(err)) : rc ? strdup("good") : jm_schema_text(complaints, values);
    assert_int_equal(rc, jianmu_schema_check(schema, value, NULL, NULL));
    assert_true(rc == 0 ? complaints != NULL : !complaints);
    json_decref(complaints);
    jianmu_error_free(err);
    jianmu_schema_free(schema);
    return text;
}

static void says(const char *schema, const char *value, const char *want)
{
    jm_auto_free char *text = said(schema, value, true);
    if (strcmp(text, want))
        fail_msg("%s of %s:\nis   %s\nnot  %s", schema, value, text, want);
}

#define WEATHER                                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\",\"minLength\":2},\"unit\":{\"enum\":[\"celsius\","   \
    "\"kelvin\"]},\"days\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":14},\"tags\":{\"type\":\"array\",\"items\":"      \
    "{\"type\":\"string\"},\"maxItems\":2,\"uniqueItems\":true},\"at\":{\"$ref\":\"#/$defs/point\"}},\"required\":[\"city\"]," \
    "\"additionalProperties\":false,\"$defs\":{\"point\":{\"type\":\"object\",\"required\":[\"x/y\"],\"properties\":"         \
    "{\"x/y\":{\"type\":[\"number\",\"null\"]}}}}}"

static void complaints(void **state)
{
    (void)state;
    says(WEATHER, "{\"city\":\"Xi'an\",\"days\":3.0,\"tags\":[\"a\"],\"at\":{\"x/y\":null}}", "good");
    says(WEATHER, "{}", "the property \"city\" is missing");
    says(WEATHER, "[1,2]", "expected an object, found an array of 2 items");
    says(WEATHER, "{\"city\":5}", "/city: expected a string, found the number 5");
    says(WEATHER, "{\"city\":\"\\u5efa\"}", "/city: expected a string of at least 2 characters, found the string \"\u5efa\"");
    says(WEATHER, "{\"city\":\"ab\",\"unit\":\"Celcius\"}",
         "/unit: expected one of \"celsius\", \"kelvin\", found the string \"Celcius\"");
    says(WEATHER, "{\"city\":\"ab\",\"days\":0}", "/days: expected a number of at least 1, found the number 0");
    says(WEATHER, "{\"city\":\"ab\",\"days\":1.5}", "/days: expected an integer, found the number 1.5");
    says(WEATHER, "{\"city\":\"ab\",\"dayz\":1}", "unknown property \"dayz\", did you mean \"days\"?");
    says(WEATHER, "{\"city\":\"ab\",\"zzzzz\":1}", "unknown property \"zzzzz\"; expected no other properties than \"city\", "
         "\"unit\", \"days\", \"tags\", \"at\"");
    says(WEATHER, "{\"city\":\"ab\",\"tags\":[\"a\",1,\"a\"]}", "/tags/1: expected a string, found the number 1; /tags: expected "
         "items that all differ, found items 0 and 2 are the same; /tags: expected an array of at most 2 items, found an array "
         "of 3 items");
    says(WEATHER, "{\"city\":\"ab\",\"at\":{\"x/y\":true}}", "/at/x~1y: expected a number or null, found true");
    says("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "5", "expected a string or null, found the number 5");
    says("{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"object\",\"required\":[\"a\"]}]}", "{}", "the property \"a\" is missing");
    says("{\"oneOf\":[{\"type\":\"object\",\"properties\":{\"k\":{\"const\":\"a\"}}},{\"type\":\"object\",\"properties\":{\"k\":{"
         "\"const\":\"b\"}}}]}", "{\"k\":\"c\"}", "/k: expected \"a\", found the string \"c\"");
    says("{\"oneOf\":[{\"minimum\":1},{\"minimum\":2}]}", "3", "expected a value that fits only one of the alternatives, found "
         "one that fits number 1 and number 2");
    says("{\"anyOf\":[{\"minimum\":5},{\"maximum\":1}]}", "3",
         "expected a number of at least 5 or a number of at most 1, found the number 3");
    says("{\"not\":{\"type\":\"string\"}}", "\"a\"", "expected a value that does not fit what \"not\" forbids, found the "
         "string \"a\"");
    says("{\"propertyNames\":{\"pattern\":\"^a\"}}", "{\"b\":1}", "expected each name of a property to be a string that matches "
         "^a, found the name \"b\"");
    says("{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}", "expected the property \"b\" beside \"a\", found an object without it");
    says("{\"multipleOf\":0.01}", "19.999", "expected a multiple of 0.01, found the number 19.999");
    says("{\"properties\":{\"a\":false}}", "{\"a\":1}", "/a: expected nothing: no value is allowed here, found the number 1");
    says("{\"contains\":{\"const\":1},\"minContains\":2}", "[1]", "expected an array with at least 2 items that fit what "
         "\"contains\" asks for, found an array of 1 item");
    says("{\"items\":{\"type\":\"null\"}}", "[1,2,3,4,5,6,7]", "/0: expected null, found the number 1; /1: expected null, found "
         "the number 2; /2: expected null, found the number 3; /3: expected null, found the number 4; /4: expected null, found "
         "the number 5");
    jm_auto_free char *names = said("{\"properties\":{\"m\":{\"additionalProperties\":{\"items\":{\"type\":\"null\"}},"
                                    "\"patternProperties\":{\"^s\":{\"type\":\"null\"}}}}}",
                                    "{\"m\":{\"s3cret!\":5,\"hunter2\":[5]}}", false);
    assert_string_equal(names, "/m/*: expected null, found a number; /m/*/0: expected null, found a number");
    jm_auto_free char *quiet = said(WEATHER, "{\"city\":\"s3cret!\",\"days\":\"s3cret!\",\"unit\":\"s3cret!\",\"s3cret!\":1}", false);
    assert_string_equal(quiet, "/unit: expected one of \"celsius\", \"kelvin\", found a string; /days: expected an integer, found "
                        "a string; expected no other properties than \"city\", \"unit\", \"days\", \"tags\", \"at\", found another");
    jm_auto_free char *other = said(WEATHER, "{\"city\":12345,\"tags\":{}}", false);
    assert_string_equal(other, "/city: expected a string, found a number; /tags: expected an array, found an object");
}

static void long_things_are_cut(void **state)
{
    (void)state;
    struct jm_buffer schema = {0}, value = {0};
    jm_buffer_adds(&schema, "{\"enum\":[0");
    for (int i = 0; i < 2000; i++)
        jm_buffer_addf(&schema, ",\"value number %d\"", i);
    jm_buffer_adds(&schema, "]}");
    jm_buffer_adds(&value, "\"");
    for (int i = 0; i < 5000; i++)
        jm_buffer_adds(&value, "\u5efa");
    jm_buffer_adds(&value, "\"");
    jm_auto_free char *text = said(schema.data, value.data, true);
    assert_true(strlen(text) < 1000);
    assert_non_null(strstr(text, " more, found the string \"\u5efa"));
    assert_non_null(strstr(text, "\u5efa..."));
    jm_buffer_free(&schema);
    jm_buffer_free(&value);
}

static void numbers(void **state)
{
    static const struct { const char *schema, *value; int good; } row[] = {
        {"{\"type\":\"integer\"}", "1.0", 1}, {"{\"type\":\"integer\"}", "1e300", 1}, {"{\"type\":\"integer\"}", "0.1", 0},
        {"{\"const\":1}", "1.0", 1}, {"{\"const\":1.0}", "1", 1}, {"{\"enum\":[[1]]}", "[1.0]", 1}, {"{\"const\":1}", "true", 0},
        {"{\"const\":{\"a\":1,\"b\":2.0}}", "{\"b\":2,\"a\":1.0}", 1}, {"{\"uniqueItems\":true}", "[1,1.0]", 0},
        {"{\"uniqueItems\":true}", "[1,true,\"1\",[1],{\"a\":1},null,0,false]", 1},
        {"{\"uniqueItems\":true}", "[{\"a\":1,\"b\":[2]},{\"b\":[2.0],\"a\":1}]", 0},
        {"{\"const\":9007199254740993}", "9007199254740992.0", 0}, {"{\"const\":9223372036854775807}", "9223372036854775808.0", 0},
        {"{\"maximum\":9007199254740992.0}", "9007199254740993", 0}, {"{\"minimum\":9223372036854775807}", "9.3e18", 1},
        {"{\"exclusiveMinimum\":-9223372036854775808}", "-9223372036854775808", 0}, {"{\"minimum\":0}", "-0.0", 1},
        {"{\"multipleOf\":0.01}", "19.99", 1}, {"{\"multipleOf\":0.01}", "0.07", 1}, {"{\"multipleOf\":0.01}", "4.35", 1},
        {"{\"multipleOf\":0.0001}", "0.0075", 1}, {"{\"multipleOf\":0.0001}", "0.00751", 0}, {"{\"multipleOf\":0.1}", "-0.3", 1},
        {"{\"multipleOf\":0.5}", "1e308", 1}, {"{\"multipleOf\":7}", "1e300", 0}, {"{\"multipleOf\":3}", "9223372036854775807", 0},
        {"{\"multipleOf\":7}", "9223372036854775807", 1}, {"{\"multipleOf\":1e-8}", "12391239123", 1},
        {"{\"multipleOf\":5e-324}", "1.7e308", 1}, {"{\"multipleOf\":1e300}", "5", 0}, {"{\"multipleOf\":2}", "-9223372036854775808", 1},
        {"{\"multipleOf\":0.3}", "0", 1}, {"{\"maxLength\":1}", "\"\U0001f600\"", 1}, {"{\"minLength\":2}", "\"\U0001f600\"", 0},
        {"{\"minLength\":3}", "\"a\\u0000b\"", 1}, {"{\"maxLength\":2.0}", "\"abc\"", 0}};
    (void)state;
    for (size_t i = 0; i < jm_countof(row); i++) {
        jm_auto_free char *text = said(row[i].schema, row[i].value, true);
        if ((strcmp(text, "good") == 0) != row[i].good)
            fail_msg("%s of %s: %s", row[i].schema, row[i].value, text);
    }
}

static void refused(void **state)
{
    static const struct { const char *schema, *want; } row[] = {
        {"{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}", "\"$schema\" is \"http://json-schema.org/draft-04/schema#\""},
        {"{\"$schema\":\"https://example.org/mine\"}", "and only draft 2020-12"},
        {"{\"properties\":{\"a/b\":{\"$ref\":\"https://example.org/s\"}}}", "/properties/a~1b: \"$ref\" is \"https://example.org/s\""},
        {"{\"$ref\":\"other.json#/a\"}", "nothing is fetched"}, {"{\"$ref\":\"#/$defs/none\"}", "there is no such subschema"},
        {"{\"$ref\":\"#nowhere\"}", "there is no such subschema"}, {"{\"$ref\":\"#/%zz\"}", "there is no such subschema"},
        {"{\"items\":{\"$dynamicRef\":\"#a\"}}", "/items: \"$dynamicRef\" is not supported"},
        {"{\"unevaluatedProperties\":false}", "\"unevaluatedProperties\" is not supported"},
        {"{\"$ref\":\"#\"}", "without end"}, {"{\"$defs\":{\"a\":{\"allOf\":[{\"$ref\":\"#/$defs/b\"}]},\"b\":{\"anyOf\":[true,"
         "{\"$ref\":\"#/$defs/a\"}]}},\"$ref\":\"#/$defs/a\"}", "without end"},
        {"{\"if\":{\"not\":{\"$ref\":\"#\"}},\"then\":true}", "without end"},
        {"{\"type\":\"strng\"}", "\"type\" is no name of a type"}, {"{\"type\":[]}", "\"type\" is an empty list"},
        {"{\"properties\":{\"a\":5}}", "/properties: \"a\" is no schema"}, {"{\"required\":\"a\"}", "\"required\" is no list"},
        {"{\"minimum\":\"1\"}", "\"minimum\" is no number"}, {"{\"multipleOf\":0}", "\"multipleOf\" is not greater than 0"},
        {"{\"maxLength\":-1}", "\"maxLength\" is no whole number"}, {"{\"minItems\":0.5}", "\"minItems\" is no whole number"},
        {"{\"properties\":{\"a\":{\"pattern\":\"(\"}}}", "/properties/a: the pattern \"(\" is no regular expression"},
        {"{\"patternProperties\":{\"[\":true}}", "/patternProperties: the pattern"}, {"{\"anyOf\":[]}", "\"anyOf\" is no list"},
        {"{\"allOf\":[1]}", "\"allOf\" is no list"}, {"{\"not\":[]}", "\"not\" is no schema"}, {"{\"enum\":1}", "\"enum\" is no list"},
        {"{\"$id\":\"a\",\"$defs\":{\"b\":{\"$id\":\"a\"}}}", "a second time"}, {"{\"$id\":5}", "\"$id\" is no URI"},
        {"{\"uniqueItems\":1}", "\"uniqueItems\" is not true or false"}, {"{\"dependentRequired\":{\"a\":[1]}}", "no list of names"},
        {"{\"additionalProperties\":null}", "\"additionalProperties\" is no schema"}, {"[]", "a schema is an object"},
        {"{\"$defs\":{\"a\":{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}},\"$ref\":\"#/$defs/a\"}", "another than that"}};
    (void)state;
    for (size_t i = 0; i < jm_countof(row); i++) {
        jianmu_error *err = NULL;
        jm_auto_json json_t *json = parsed(row[i].schema);
        jianmu_schema *schema = jianmu_schema_new(json, &err);
        if (schema || jianmu_error_code(err) != JIANMU_INVALID || !strstr(jianmu_error_message(err), row[i].want))
            fail_msg("%s: %s", row[i].schema, schema ? "was taken" : jianmu_error_message(err));
        jianmu_error_free(err);
    }
    assert_null(jianmu_schema_new(NULL, NULL));
    jianmu_schema_free(NULL);
}

static void dialects(void **state)
{
    (void)state;
    says("{\"items\":[{\"type\":\"string\"}],\"additionalItems\":false}", "[\"a\",1]", "expected an array of at most 1 item, found an "
         "array of 2 items");
    says("{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"$ref\":\"#/definitions/s\",\"maxLength\":1,\"definitions\":"
         "{\"s\":{\"type\":\"string\"}}}", "\"abc\"", "good"); /* beside $ref draft-07 knows nothing */
    says("{\"$ref\":\"#/definitions/s\",\"maxLength\":1,\"definitions\":{\"s\":{\"type\":\"string\"}}}", "\"abc\"",
         "expected a string of at most 1 character, found the string \"abc\"");
    says("{\"$schema\":\"http://json-schema.org/draft-07/schema\",\"dependencies\":{\"a\":[\"b\"],\"c\":{\"maxProperties\":1}}}",
         "{\"a\":1,\"c\":1}", "expected the property \"b\" beside \"a\", found an object without it; expected an object of at most 1 "
         "property, found an object");
    says("{\"$id\":\"https://example.org/a/b\",\"$ref\":\"../c#n\",\"$defs\":{\"c\":{\"$id\":\"/c\",\"$anchor\":\"n\",\"type\":\"null\"}}}",
         "1", "expected null, found the number 1");
    says("true", "1", "good");
    says("false", "1", "expected nothing: no value is allowed here, found the number 1");
}

/* As deep as a caller can make it, as dear as an author can. */
static void bounds(void **state)
{
    (void)state;
    struct jm_buffer b = {0};
    for (int i = 0; i < 70; i++)
        jm_buffer_adds(&b, "{\"a\":");
    jm_buffer_adds(&b, "1");
    for (int i = 0; i < 70; i++)
        jm_buffer_adds(&b, "}");
    says("{\"properties\":{\"a\":{\"$ref\":\"#\"}}}", b.data, "the value cannot be checked: it is nested too deep");
    says("{\"properties\":{\"b\":{\"$ref\":\"#\"}}}", b.data, "good");
    jm_buffer_free(&b);
    jm_buffer_adds(&b, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (int i = 0; i < 40; i++)
        jm_buffer_addf(&b, "\"d%d\":{\"allOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]},", i, i + 1, i + 1);
    jm_buffer_adds(&b, "\"d40\":{\"type\":\"null\"}}}");
    says(b.data, "null", "the value cannot be checked: that takes too many steps");
    jm_buffer_free(&b);
    jianmu_error *err = NULL;
    jm_auto_json json_t *deep = json_object();
    json_incref(deep);
    for (int i = 0; i < 70; i++)
        deep = json_pack("{s:o}", "not", deep);
    assert_null(jianmu_schema_new(deep, &err));
    assert_non_null(strstr(jianmu_error_message(err), "nested more than 64 deep"));
    jianmu_error_free(err);
    err = NULL;
    jm_auto_json json_t *many = json_object(), *wide = json_pack("{s:O}", "$defs", many);
    for (int i = 0; i < 10001; i++) {
        char name[20];
        snprintf(name, sizeof name, "d%d", i);
        json_object_set_new(many, name, json_object());
    }
    assert_null(jianmu_schema_new(wide, &err));
    assert_non_null(strstr(jianmu_error_message(err), "more than 10000 subschemas"));
    jianmu_error_free(err);
    while (json_object_size(deep)) { /* one by one: it was made too deep for its own destructor's taste */
        json_t *inner = json_incref(json_object_get(deep, "not"));
        json_decref(deep);
        deep = inner;
    }
    json_decref(deep);
}

/* new or NULL, as text */
static char *repaired(const char *schema_text, const char *args_text)
{
    jianmu_schema *schema = made(schema_text);
    jm_auto_json json_t *args = parsed(args_text), *better = NULL;
    assert_int_equal(jm_schema_repair(schema, args, &better, NULL), 0);
    jm_auto_free char *after = jm_json_print(args, 0, NULL), *before = NULL;
    jm_auto_json json_t *again = parsed(args_text);
    before = jm_json_print(again, 0, NULL);
    assert_string_equal(before, after); /* what was given is not touched */
    jianmu_schema_free(schema);
    return better ? jm_json_print(better, 0, NULL) : strdup("-");
}

static void repair(void **state)
{
    static const struct { const char *schema, *args, *want; } row[] = {
        {"{\"type\":\"object\"}", "\"{\\\"a\\\":1}\"", "{\"a\":1}"}, {"{\"type\":\"object\"}", "\"[1]\"", "-"},
        {"{\"type\":\"object\"}", "\"{bad\"", "-"}, {"{\"type\":\"object\"}", "\"  \"", "-"}, {"{\"type\":[\"object\",\"string\"]}", "\"{}\"", "-"},
        {"{}", "\"{}\"", "-"}, {"{\"type\":\"object\"}", "{\"a\":\"{}\"}", "-"}, {"{\"type\":\"integer\"}", "\"5\"", "-"},
        {"{\"properties\":{\"a\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},\"b\":{\"type\":\"string\"}}}",
         "{\"b\":\"[1]\",\"a\":\" [\\\"{}\\\",{}]\"}", "{\"b\":\"[1]\",\"a\":[{},{}]}"},
        {"{\"$ref\":\"#/$defs/o\",\"$defs\":{\"o\":{\"type\":\"object\",\"properties\":{\"n\":{\"$ref\":\"#/$defs/o\"}}}}}",
         "{\"n\":\"{\\\"n\\\":\\\"{}\\\"}\"}", "{\"n\":{\"n\":{}}}"},
        {"{\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"array\"},{\"type\":\"null\"}]}}}", "{\"a\":\"[]\"}", "{\"a\":[]}"},
        {"{\"properties\":{\"a\":{\"anyOf\":[{\"type\":\"array\"},{\"type\":\"string\"}]}}}", "{\"a\":\"[]\"}", "-"},
        {"{\"properties\":{\"a\":{\"type\":\"object\"}}}", "{\"a\":\"{\\\"k\\\":1,\\\"k\\\":2}\"}", "-"},
        {"{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"array\"}}},{\"properties\":{\"b\":{\"type\":\"array\"}}}]}",
         "{\"a\":\"[1]\",\"b\":\"[2]\",\"c\":\"[3]\"}", "{\"a\":[1],\"b\":[2],\"c\":\"[3]\"}"}};
    (void)state;
    for (size_t i = 0; i < jm_countof(row); i++) {
        jm_auto_free char *text = repaired(row[i].schema, row[i].args);
        if (strcmp(text, row[i].want))
            fail_msg("%s of %s: %s", row[i].schema, row[i].args, text);
    }
}

/* All that is done is paid for: here, by a schema that leads to its last part by 2^doublings ways. */
static char *many_ways(int doublings, const char *last)
{
    struct jm_buffer b = {0};
    jm_buffer_addf(&b, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (int i = 0; i < doublings; i++)
        jm_buffer_addf(&b, "\"d%d\":{\"allOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]},", i, i + 1, i + 1);
    jm_buffer_addf(&b, "\"d%d\":%s}}", doublings, last);
    return jm_buffer_take(&b);
}

static void repair_ends(void **state)
{
    (void)state;
    jm_auto_free char *ways = many_ways(30, "{\"type\":\"array\"}"), *few = many_ways(3, "{\"type\":\"array\"}");
    jm_auto_free char *one = repaired(ways, "{\"a\":\"{}\"}"), *two = repaired(ways, "{\"a\":1}"), *three = repaired(few, "\"[1]\"");
    assert_string_equal(one, "-");
    assert_string_equal(two, "-");
    assert_string_equal(three, "[1]");
    jm_auto_free char *nested = repaired("{\"allOf\":[{\"$ref\":\"#/$defs/r\"}],\"$defs\":{\"r\":{\"properties\":{\"b\":{\"type\":\"object\"},"
                                         "\"a\":{\"allOf\":[{\"$ref\":\"#/$defs/r\"},{\"$ref\":\"#/$defs/r\"},{\"$ref\":\"#/$defs/r\"}]}}}}}",
                                         "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":"
                                         "{\"a\":{\"a\":{\"a\":{\"b\":1}}}}}}}}}}}}}}}}}}},\"b\":\"{}\"}");
    assert_string_equal(nested, "-");
    struct jm_buffer text = {0}; /* a string that is parsed in vain again and again */
    jm_buffer_adds(&text, "\"[");
    for (int i = 0; i < 100000; i++)
        jm_buffer_adds(&text, "1,");
    jm_buffer_adds(&text, "x\"");
    jm_auto_free char *vain_ways = many_ways(14, "{\"type\":\"array\"}"), *vain = repaired(vain_ways, text.data);
    assert_string_equal(vain, "-");
    jm_buffer_free(&text);
}

/* n times the text, between two others. new */
static char *times(const char *before, const char *format, int n, const char *after)
{
    struct jm_buffer b = {0};
    jm_buffer_adds(&b, before);
    for (int i = 0; i < n; i++) {
        const char *at = strchr(format, '#');
        jm_buffer_adds(&b, i ? "," : "");
        jm_buffer_addf(&b, "%.*s", at ? (int)(at - format) : (int)strlen(format), format);
        if (at)
            jm_buffer_addf(&b, "%d%s", i, at + 1);
    }
    jm_buffer_adds(&b, after);
    return jm_buffer_take(&b);
}

static void every_work_is_paid_for(void **state)
{
    static const char dear[] = "the value cannot be checked: that takes too many steps";
    (void)state;
    jm_auto_free char *objects = times("[", "{}", 15000, "]"), *asked = times("[", "{\"n0\":1}", 15000, "]");
    jm_auto_free char *named = times("{\"items\":{\"properties\":{", "\"n#\":{}", 1000, "}}}");
    says(named, objects, dear);
    says(named, "[{},{\"n5\":1}]", "good");
    jm_auto_free char *names = times("{\"items\":{\"dependentRequired\":{\"n0\":[", "\"n0\"", 1000, "]}}}");
    says(names, asked, dear);
    jm_auto_free char *required = times("{\"items\":{\"required\":[", "\"n0\"", 1000, "]}}");
    says(required, asked, dear);
    struct jm_buffer text = {0}, list = {0}, member = {0};
    jm_buffer_adds(&text, "\"");
    for (int i = 0; i < 15000; i++)
        jm_buffer_adds(&text, "\u00e4");
    jm_buffer_adds(&text, "\"");
    jm_auto_free char *most = many_ways(14, "{\"maxLength\":20000}");
    says(most, text.data, dear);
    says("{\"maxLength\":15000,\"minLength\":15000}", text.data, "good");
    jm_buffer_addf(&list, "[%s,1]", text.data);
    jm_auto_free char *unique = many_ways(13, "{\"uniqueItems\":true}");
    says(unique, list.data, dear);
    jm_auto_free char *same = NULL;
    jm_buffer_addf(&member, "{\"const\":%s}", text.data);
    same = many_ways(14, member.data);
    says(same, text.data, dear);
    jm_buffer_free(&member);
    jm_buffer_addf(&member, "{%s:1}", text.data);
    jm_auto_free char *keys = many_ways(12, "{\"propertyNames\":{\"type\":\"string\"}}");
    says(keys, member.data, dear);
    jm_buffer_free(&text);
    jm_buffer_free(&list);
    jm_buffer_free(&member);
}

/* A thousand times a long string is the time and the memory of a thousand short ones. */
static void complaints_are_cut_first(void **state)
{
    (void)state;
    struct jm_buffer text = {0};
    jm_auto_free char *any = times("{\"anyOf\":[", "{\"maxLength\":#}", 1000, "]}");
    jm_buffer_adds(&text, "\"");
    for (int i = 0; i < 300000; i++)
        jm_buffer_adds(&text, "\u00e4");
    jm_buffer_adds(&text, "\"");
    jm_auto_free char *text_said = said(any, text.data, true);
    assert_non_null(strstr(text_said, "characters or a string"));
    assert_in_range(strlen(text_said), 2000, 3000);
    assert_non_null(strstr(text_said, "\u00e4..."));
    jm_buffer_free(&text);
    says("{\"enum\":[{\"a\":[1,\"b\",2.5,null]},[[],{}]]}", "1",
         "expected one of {\"a\":[1,\"b\",2.5,null]}, [[],{}], found the number 1");
}

static void *check_often(void *schema)
{
    jm_auto_json json_t *good = parsed("{\"city\":\"abc\",\"tags\":[\"a\",\"b\"]}"), *bad = parsed("{\"city\":1}");
    for (int i = 0; i < 500; i++) {
        json_t *list = NULL;
        if (jianmu_schema_check(schema, good, NULL, NULL) != 1 || jianmu_schema_check(schema, bad, &list, NULL) != 0)
            return schema;
        json_decref(list);
    }
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    jianmu_schema *schema = made(WEATHER);
    pthread_t thread[4];
    for (size_t i = 0; i < jm_countof(thread); i++)
        assert_int_equal(pthread_create(&thread[i], NULL, check_often, schema), 0);
    for (size_t i = 0; i < jm_countof(thread); i++) {
        void *wrong = schema;
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    jianmu_schema_free(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complaints), cmocka_unit_test(long_things_are_cut), cmocka_unit_test(numbers),
        cmocka_unit_test(refused), cmocka_unit_test(dialects), cmocka_unit_test(bounds), cmocka_unit_test(repair),
        cmocka_unit_test(repair_ends), cmocka_unit_test(every_work_is_paid_for),
        cmocka_unit_test(complaints_are_cut_first),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
