/* SPDX-License-Identifier: Apache-2.0
 * base/json.h: what is JSON and what is not, with the place where it stops to be, and text that reads back the same. */
#include "config.h"

#include "base/cleanup.h"
#include "base/json.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define TEXT(s) s, sizeof(s) - 1
static const struct {
    const char *text;
    size_t len;
    const char *printed;
} good[] = {
    {TEXT(" [ ] "), "[]"},
    {TEXT("{}"), "{}"},
    {TEXT("\t{\r\n\"a\" : [ 1 , 2 ] , \"b\":{}}"), "{\"a\":[1,2],\"b\":{}}"},
    {TEXT("[0,-0,-1,9223372036854775807,-9223372036854775808]"), "[0,0,-1,9223372036854775807,-9223372036854775808]"},
    {TEXT("[9007199254740993]"), "[9007199254740993]"},
    {TEXT("[0.0,-0.0,1e5,1E+2,1e-05,0.1,123.456e2]"), "[0.0,-0.0,100000.0,100.0,1e-05,0.1,12345.6]"},
    {TEXT("[1e-400]"), "[0.0]"},
    {TEXT("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]"), "[\"\\\"\\\\/\\b\\f\\n\\r\\t\"]"},
    {TEXT("[\"\\u0041\\u00e9\\u6728\\uD83D\\ude00\"]"), "[\"A\xc3\xa9\xe6\x9c\xa8\xf0\x9f\x98\x80\"]"},
    {TEXT("[\"\\u007f\\u0080\\u07ff\\u0800\\uffff\"]"), "[\"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\"]"},
    {TEXT("[\"\\u001b\"]"), "[\"\\u001b\"]"},
    {TEXT("[true,false,null]"), "[true,false,null]"},
    {TEXT("{\"a\":1,\"a\":2}"), "{\"a\":2}"}, /* the last, where it is not refused */
    {TEXT("{\"\":1}"), "{\"\":1}"},
};

static const struct {
    const char *text;
    size_t len;
    int line, column;
    const char *why;
} bad[] = {
    {TEXT(""), 1, 1, "the text ends too early"},
    {TEXT("  \n "), 2, 2, "the text ends too early"},
    {TEXT("5"), 1, 1, "not an object or a list"},
    {TEXT("\"a\""), 1, 1, "not an object or a list"},
    {TEXT("["), 1, 2, "the text ends too early"},
    {TEXT("[1"), 1, 3, "the text ends too early"},
    {TEXT("[1,"), 1, 4, "the text ends too early"},
    {TEXT("[1,]"), 1, 4, "not a value"},
    {TEXT("[,1]"), 1, 2, "not a value"},
    {TEXT("[1 2]"), 1, 4, "\",\" or \"]\" must follow"},
    {TEXT("[1}"), 1, 3, "\",\" or \"]\" must follow"},
    {TEXT("{\"a\"}"), 1, 5, "\":\" must follow"},
    {TEXT("{\"a\":1,}"), 1, 8, "a name in quotes must stand here"},
    {TEXT("{a:1}"), 1, 2, "a name in quotes must stand here"},
    {TEXT("{\"a\":1 \"b\":2}"), 1, 8, "\",\" or \"}\" must follow"},
    {TEXT("[1]x"), 1, 4, "more text behind the value"},
    {TEXT("[1]\0"), 1, 4, "more text behind the value"},
    {TEXT("[\0]"), 1, 2, "not a value"},
    {TEXT("[1] // c"), 1, 5, "more text behind the value"},
    {TEXT("[01]"), 1, 2, "not a number"},
    {TEXT("[1.]"), 1, 2, "not a number"},
    {TEXT("[.5]"), 1, 2, "not a value"},
    {TEXT("[+1]"), 1, 2, "not a value"},
    {TEXT("[1e]"), 1, 2, "not a number"},
    {TEXT("[-]"), 1, 2, "not a number"},
    {TEXT("[0x10]"), 1, 3, "\",\" or \"]\" must follow"},
    {TEXT("[NaN]"), 1, 2, "not a value"},
    {TEXT("[Infinity]"), 1, 2, "not a value"},
    {TEXT("[1e999]"), 1, 2, "a number is too large"},
    {TEXT("[9223372036854775808]"), 1, 2, "a number is too large"},
    {TEXT("[-9223372036854775809]"), 1, 2, "a number is too large"},
    {TEXT("[18446744073709551616]"), 1, 2, "a number is too large"},
    {TEXT("[tru]"), 1, 2, "not a value"},
    {TEXT("[truex]"), 1, 6, "\",\" or \"]\" must follow"},
    {TEXT("['a']"), 1, 2, "not a value"},
    {TEXT("[\"a]"), 1, 5, "a string does not end"},
    {TEXT("[\"a\n\"]"), 1, 4, "a control character in a string"},
    {TEXT("[\"\\x\"]"), 1, 4, "unknown escape in a string"},
    {TEXT("[\"\\"), 1, 4, "unknown escape in a string"},
    {TEXT("[\"\\u12g4\"]"), 1, 5, "\\u must be followed by four hexadecimal digits of a character"},
    {TEXT("[\"\\u12"), 1, 5, "\\u must be followed by four hexadecimal digits of a character"},
    {TEXT("[\"\\ud800\"]"), 1, 9, "\\u must be followed by four hexadecimal digits of a character"},
    {TEXT("[\"\\ud800\\u0041\"]"), 1, 15, "\\u must be followed by four hexadecimal digits of a character"},
    {TEXT("[\"\\udc00\"]"), 1, 9, "\\u must be followed by four hexadecimal digits of a character"},
    {TEXT("[\"\\u0000\"]"), 1, 9, "\\u0000 is not allowed"},
    {TEXT("[\"\xff\"]"), 1, 5, "a string is not valid UTF-8"},
    {TEXT("[\"\xed\xa0\x80\"]"), 1, 5, "a string is not valid UTF-8"},
    {TEXT("\xef\xbb\xbf[]"), 1, 1, "not an object or a list"},
    {TEXT("{\"a\":1,\n \"a\":2}"), 2, 5, "a name stands here twice"},
    {TEXT("{\"a\\u0000b\":1}"), 1, 10, "\\u0000 is not allowed"},
};

static void accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < jm_countof(good); i++) {
        json_error_t why;
        jm_auto_json json_t *value = jm_json_parse(good[i].text, good[i].len, 0, &why);
        if (!value)
            fail_msg("%s: %s", good[i].text, why.text);
        jm_auto_free char *text = jm_json_print(value, 0, NULL);
        assert_string_equal(text, good[i].printed);
    }
    json_error_t why;
    jm_auto_json json_t *nul = jm_json_parse(TEXT("\"a\\u0000b\""), JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    assert_int_equal(json_string_length(nul), 3);
    jm_auto_free char *text = jm_json_print(nul, 0, NULL);
    assert_string_equal(text, "\"a\\u0000b\"");
    jm_auto_json json_t *number = jm_json_parse(TEXT(" 5 "), JSON_DECODE_ANY, &why);
    assert_int_equal(json_integer_value(number), 5);
    assert_null(jm_json_parse(TEXT("{\"a\\u0000b\":1}"), JSON_ALLOW_NUL, &why));
    assert_string_equal(why.text, "a name has a NUL in it");
}

static void refused(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < jm_countof(bad); i++) {
        json_error_t why = {0};
        json_t *value = jm_json_parse(bad[i].text, bad[i].len, JSON_REJECT_DUPLICATES, &why);
        if (value || strcmp(why.text, bad[i].why) || why.line != bad[i].line || why.column != bad[i].column) {
            print_error("%s\nsays  %d:%d: %s\nmust  %d:%d: %s\n", bad[i].text, why.line, why.column, why.text,
                        bad[i].line, bad[i].column, bad[i].why);
            wrong++;
        }
        json_decref(value);
    }
    assert_int_equal(wrong, 0);
    assert_null(jm_json_parse("[", 1, 0, NULL));
    /* nothing behind len is read: the same texts in blocks of just their size */
    for (size_t i = 0; i < jm_countof(bad); i++) {
        json_error_t why;
        jm_auto_free char *exact = malloc(bad[i].len + !bad[i].len);
        memcpy(exact, bad[i].text, bad[i].len);
        assert_null(jm_json_parse(exact, bad[i].len, JSON_REJECT_DUPLICATES, &why));
    }
}

static void copied(void **state)
{
    (void)state;
    jm_auto_json json_t *value = jm_json_parse(TEXT("{\"a\":[1],\"b\":2}"), 0, NULL);
    jm_auto_json json_t *copy = jm_json_copy(value), *list = jm_json_copy(json_object_get(value, "a"));
    assert_true(json_equal(copy, value) && copy != value);
    json_object_del(copy, "a");
    assert_int_equal(json_object_size(value), 2);
    assert_true(json_equal(list, json_object_get(value, "a")));
}

static void printed(void **state)
{
    (void)state;
    static const char text[] = "{\"b\":[0.1,-3,true,null,1e+300,[],{}],\"a\":\"\\\"\\u0001\xe6\x9c\xa8\"}";
    json_error_t why;
    jm_auto_json json_t *value = jm_json_parse(text, strlen(text), 0, &why);
    assert_non_null(value);
    size_t len;
    jm_auto_free char *compact = jm_json_print(value, 0, &len);
    assert_string_equal(compact, text);
    assert_int_equal(len, strlen(text));
    jm_auto_free char *pretty = jm_json_print(json_object_get(value, "b"), 2, NULL);
    assert_string_equal(pretty, "[\n  0.1,\n  -3,\n  true,\n  null,\n  1e+300,\n  [],\n  {}\n]");
    assert_null(jm_json_parse("{\"a\":1,}", 8, 0, &why));

    char words[3001];
    memset(words, 'w', 3000);
    words[3000] = 0;
    jm_auto_json json_t *string = json_string(words);
    jm_auto_free char *quoted = jm_json_print(string, 0, &len);
    assert_int_equal(len, 3002);
    assert_memory_equal(quoted + 1, words, 3000);
}

static json_t *nested(int depth)
{
    json_t *value = json_array();
    for (int i = 1; i < depth; i++)
        value = json_pack("[o]", value);
    return value;
}

static void too_deep(void **state)
{
    (void)state;
    jm_auto_json json_t *fits = nested(2000), *deeper = nested(3000), *cycle = json_array();
    jm_auto_free char *text = jm_json_print(fits, 0, NULL);
    assert_int_equal(strlen(text), 4000);
    assert_null(jm_json_print(deeper, 0, NULL));
    json_error_t why;
    jm_auto_json json_t *again = jm_json_parse(text, 4000, 0, &why);
    assert_true(json_equal(again, fits));
    jm_auto_free char *open = malloc(1000000);
    memset(open, '[', 1000000);
    assert_null(jm_json_parse(open, 1000000, 0, &why));
    assert_string_equal(why.text, "nested too deep");
    assert_int_equal(why.column, JM_JSON_DEEPEST + 1);
    json_t *inner = json_array();
    json_array_append(cycle, inner);
    json_array_append_new(inner, cycle); /* two of each: a walk of all paths would never end */
    json_array_append_new(inner, json_incref(cycle));
    assert_null(jm_json_print(cycle, 0, NULL));
    json_incref(cycle);
    json_incref(cycle);
    json_array_clear(inner);
    json_decref(inner);
    json_decref(cycle);
    json_array_clear(cycle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted), cmocka_unit_test(refused),  cmocka_unit_test(copied),
        cmocka_unit_test(printed),  cmocka_unit_test(too_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
