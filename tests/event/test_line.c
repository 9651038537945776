/* SPDX-License-Identifier: Apache-2.0
 * Lines of events against jansson's own objects, for random events. */
#include "config.h"
#include "base/pattern.h"
#include "base/text.h"
#include "event/event.h"
#include "event/rules.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static uint64_t seed = 88172645463325252u;

static uint64_t roll(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

/* new: text of the hard kinds: quotes, control characters, good and bad UTF-8. */
static char *random_text(size_t most)
{
    static const char *const parts[] = {"a", "word ", "\"", "\\", "\n", "\r", "\t", "\b", "\f", "\x01", "\x1f", "\x7f",
                                        "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\xa0\x80", "\xed\x9f\xbf",
                                        "\xe0\x80\x80", "\xe0\xa0\x80", "\xf4\x90\x80\x80", "\xf4\x8f\xbf\xbf",
                                        "\xf0\x80\x80\x80", "\xc0\xaf", "\xc1", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\xff",
                                        "\x80", "\xbf", "</script>", "\xe2\x80\xa8"};
    size_t count = roll(most + 1), len = 0;
    char *text = malloc(count * 10 + 1);
    text[0] = 0;
    for (size_t i = 0; i < count; i++)
        len = (size_t)(stpcpy(text + len, parts[roll(sizeof parts / sizeof *parts)]) - text);
    return text;
}

/* new: the text repaired and cut as events are. */
static json_t *shown(const char *text, size_t most)
{
    if (!text)
        return json_null();
    size_t len, end = 0, count = 0;
    char *valid = jm_utf8_repair(text, strlen(text), &len);
    for (; end < len && count < most; count++)
        do
            end++;
        while (((unsigned char)valid[end] & 0xc0) == 0x80);
    json_t *json = json_sprintf("%.*s%s", (int)end, valid, end < len ? "\xe2\x80\xa6" : "");
    free(valid);
    assert_non_null(json);
    return json;
}

static json_t *wall_clock(int64_t real)
{
    char text[64];
    time_t seconds = (time_t)(real / 1000000000);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    size_t n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + n, sizeof text - n, ".%06dZ", (int)(real % 1000000000 / 1000));
    return json_string(text);
}

static json_t *expected(const struct jianmu_event *e)
{
    json_t *payload = json_pack("{s:o, s:o}", "backend", shown(e->backend, 128), "tool", shown(e->tool, 128));
    if (e->kind == JM_EVENT_COMPLETED || e->kind == JM_EVENT_FAILED)
        json_object_update_new(payload, json_pack("{s:f, s:i}", "duration_s", (double)e->duration / 1e9, "attempts",
                                                  (int)e->attempts));
    if (e->kind == JM_EVENT_COMPLETED || (e->kind == JM_EVENT_FAILED && !e->ended_by_error))
        json_object_set_new(payload, "reason", json_string(jianmu_reason_name(e->reason)));
    if (e->kind == JM_EVENT_FAILED && e->ended_by_error)
        json_object_set_new(payload, "code", json_string(jianmu_code_name(e->code)));
    if (e->kind == JM_EVENT_FAILED)
        json_object_set_new(payload, "error", shown(e->error, 4096));
    json_object_update_missing(payload, e->payload);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "event", shown(e->name, 128), "time", wall_clock(e->real), "run_id",
                     shown(e->run_id, 256), "node_name", shown(e->node_name, 256), "tool_call_id",
                     shown(e->tool_call_id, 256), "payload", payload);
}

static json_t *parse_line(const struct jm_line *line)
{
    json_error_t why;
    assert_int_equal(line->data[line->len - 1], '\n');
    assert_null(memchr(line->data, '\n', line->len - 1));
    assert_true(jm_utf8_is_valid(line->data, line->len));
    json_t *json = json_loadb(line->data, line->len, JSON_REJECT_DUPLICATES, &why);
    if (!json)
        fail_msg("%s: %.*s", why.text, (int)line->len, line->data);
    return json;
}

static json_t *random_value(int levels)
{
    switch (roll(levels ? 8 : 6)) {
    case 0: return json_integer((json_int_t)(roll(UINT64_MAX) - INT64_MAX));
    case 1: return json_real((double)roll(1000000) / 1000);
    case 2: return json_true();
    case 3: return json_null();
    case 4: return json_real((double)(int64_t)roll(UINT64_MAX) * 1e-30);
    case 5: {
        char *text = random_text(20);
        json_t *json = shown(text, 30);
        free(text);
        return json;
    }
    case 6: {
        json_t *list = json_array();
        for (uint64_t n = roll(4); n; n--)
            json_array_append_new(list, random_value(levels - 1));
        return list;
    }
    default: {
        json_t *object = json_object();
        for (uint64_t n = roll(4); n; n--) {
            json_t *key = random_value(0);
            json_object_set_new(object, json_is_string(key) ? json_string_value(key) : "k", random_value(levels - 1));
            json_decref(key);
        }
        return object;
    }
    }
}

static char *maybe(char *text)
{
    if (roll(3))
        return text;
    free(text);
    return NULL;
}

static void test_random_events(void **state)
{
    (void)state;
    struct jm_line line;
    jm_line_init(&line);
    for (int i = 0; i < 3000; i++) {
        size_t most = i % 100 ? 60 : 2000;
        char *text[6] = {random_text(20),   random_text(20), maybe(random_text(most)), maybe(random_text(most)),
                         maybe(random_text(most)), random_text(most * 2)};
        struct jianmu_event e = {.kind = (enum jm_event_kind)roll(4), .name = "execution.x", .backend = text[0],
                                 .tool = text[1], .run_id = text[2], .node_name = text[3], .tool_call_id = text[4],
                                 .error = text[5], .real = (int64_t)roll(4102444800000000000u),
                                 .duration = (int64_t)roll(i % 2 ? 5000000 : 8000000000000000u),
                                 .ended_by_error = roll(2), .code = JIANMU_NOT_FOUND, .reason = JIANMU_MEMORY, .attempts = (unsigned)roll(9)};
        while (e.kind == JM_EVENT_OTHER && !json_is_object(e.payload)) {
            json_decref(e.payload);
            e.payload = random_value(3);
        }
        jm_event_print(&e, &line);
        json_t *got = parse_line(&line), *want = expected(&e);
        if (!json_equal(got, want))
            fail_msg("%s\n%s", line.data, json_dumps(want, 0));
        json_decref(got);
        json_decref(want);
        json_decref(e.payload);
        for (size_t t = 0; t < 6; t++)
            free(text[t]);
    }
    jm_line_free(&line);
}

static struct jianmu_event plain(void)
{
    return (struct jianmu_event){.kind = JM_EVENT_FAILED, .name = "execution.failed", .backend = "local", .tool = "t",
                                 .real = 1, .reason = JIANMU_TOOL_FAILED};
}

static void test_a_mebibyte_of_newlines_and_quotes(void **state)
{
    (void)state;
    struct jm_line line;
    jm_line_init(&line);
    char *text = malloc(1048577);
    for (size_t i = 0; i < 1048576; i++)
        text[i] = "\n\"\\{}"[i % 5];
    text[1048576] = 0;
    struct jianmu_event e = plain();
    e.run_id = e.node_name = e.tool_call_id = e.error = e.tool = e.name = text;
    jm_event_print(&e, &line);
    assert_true(line.len < 16384);
    json_t *got = parse_line(&line);
    const char *id = json_string_value(json_object_get(got, "run_id"));
    assert_int_equal(strlen(id), 256 + 3);
    assert_memory_equal(id, text, 256);
    json_decref(got);
    jm_line_free(&line);
    free(text);
}

/* Too large, too deep, cyclic: the line says so and is whole. */
static void test_payloads_without_end(void **state)
{
    (void)state;
    struct jm_line line;
    jm_line_init(&line);
    json_t *cyclic = json_object(), *deep = json_array(), *large = json_object(), *wide = json_array();
    json_t *inner = json_object();
    json_object_set(cyclic, "inner", inner);
    json_object_set_new(inner, "again", json_incref(cyclic));
    for (int i = 0; i < 3000; i++)
        deep = json_pack("[o]", deep);
    char *text = malloc(200001);
    memset(text, 'x', 200000);
    text[200000] = 0;
    json_object_set_new(large, "first", json_true());
    json_object_set_new(large, text, json_integer(1));
    for (int i = 0; i < 100000; i++)
        json_array_append_new(wide, json_true());
    json_t *payloads[] = {cyclic, json_pack("{s:o}", "deep", deep), large, json_pack("{s:s}", "text", text), wide};
    for (size_t i = 0; i < 5; i++) {
        struct jianmu_event e = plain();
        e.kind = JM_EVENT_OTHER;
        e.payload = payloads[i];
        jm_event_print(&e, &line);
        json_t *got = parse_line(&line), *payload = json_object_get(got, "payload");
        assert_true(json_is_true(json_object_get(payload, "cut")));
        assert_int_equal(json_object_size(payload), 3);
        assert_true(line.len < 100000);
        json_decref(got);
    }
    json_object_clear(inner);
    json_decref(inner);
    for (size_t i = 0; i < 5; i++)
        json_decref(payloads[i]);
    free(text);
    jm_line_free(&line);
}

static void test_a_tools_own_words_are_not_repeated(void **state)
{
    (void)state;
    struct jm_line line;
    jm_line_init(&line);
    struct jianmu_event e = plain();
    const char *const want[] = {"Tool 't' failed", "Tool 't' could not run: not_found", "Job could not run: not_found"};
    e.error = "SENTINEL";
    e.quoted = true;
    for (size_t i = 0; i < 3; i++) {
        if (i)
            e.ended_by_error = true, e.code = JIANMU_NOT_FOUND;
        if (i == 2)
            e.tool = "job";
        jm_event_print(&e, &line);
        assert_null(strstr(line.data, "SENTINEL"));
        json_t *got = parse_line(&line);
        assert_string_equal(json_string_value(json_object_get(json_object_get(got, "payload"), "error")), want[i]);
        json_decref(got);
    }
    jm_line_free(&line);
}

static const char *print_plug_in(struct jm_line *line, const struct jm_rules *rules, json_t *payload)
{
    struct jianmu_event e = plain();
    e.kind = JM_EVENT_OTHER;
    e.name = "a.b";
    e.rules = rules;
    e.payload = payload;
    jm_event_print(&e, line);
    json_decref(payload);
    json_decref(parse_line(line));
    return line->data;
}

/* Every reader of lines sees one: no byte of the line but its end ends one in any encoding of Unicode's. */
static void test_other_ends_of_lines(void **state)
{
    (void)state;
    struct jm_line line;
    jm_line_init(&line);
    const char *text = print_plug_in(&line, NULL, json_pack("{s:s}", "t", "a\x7f\xc2\x85 \xc2\x9f\xc2\xa0\xe2\x80\xa7\xe2\x80\xa8"
                                                                       "\xe2\x80\xa9\xe2\x80\xaa\x0b\x0c\x1c\x1d\x1e z"));
    assert_non_null(strstr(text, "\"a\\u007f\\u0085 \\u009f\xc2\xa0\xe2\x80\xa7\\u2028\\u2029\xe2\x80\xaa\\u000b\\f\\u001c\\u001d"
                                 "\\u001e z\""));
    jm_line_free(&line);
}

static void test_secrets_by_their_names(void **state)
{
    (void)state;
    static const char *const hidden[] = {
        "{\"password\": [\"SENTINEL\"]}", "{\"token\": {\"value\": \"SENTINEL\"}}", "{\"api_key\": 12345678}",
        "{\"a\": {\"api_key\": 1234.5678}}", "{\"t\": \"password: SENTINEL\"}", "{\"t\": \"x {\\\"password\\\":\\\"a SENTINEL\\\"}\"}",
        "{\"t\": \"'api_key' : 'a SENTINEL'\"}", "{\"t\": \"Authorization: Basic SENTINEL\"}",
        "{\"t\": \"Cookie: a=b; c=SENTINEL\"}", "{\"t\": \"\\\\\\\"token\\\\\\\": \\\\\\\"a SENTINEL\\\\\\\"\"}",
        "{\"t\": \"{\\\"token\\\": [\\\"a\\\", \\\"SENTINEL\\\"]}\"}", "{\"t\": \"password = \\\"a \\\\\\\" SENTINEL\\\"\"}",
        "{\"t\": \"PASSWORD='a SENTINEL\"}"};
    static const char *const shown[] = {
        "{\"token\": null, \"password\": true, \"t\": \"SENTINEL\"}", "{\"t\": \"password: x\\nSENTINEL\"}",
        "{\"t\": \"{\\\"password\\\":\\\"x\\\",\\\"u\\\":\\\"SENTINEL\\\"}\"}", "{\"t\": \"secret://SENTINEL\"}",
        "{\"t\": \"Authorization: Basic x\\r\\nSENTINEL\"}", "{\"t\": \"{\\\"token\\\": [1, 2], SENTINEL\"}",
        "{\"t\": \"name: SENTINEL\"}", "{\"t\": \"the secret of SENTINEL\"}"};
    struct jm_line line;
    jm_line_init(&line);
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
        const char *text = print_plug_in(&line, NULL, json_loads(hidden[i], 0, NULL));
        if (strstr(text, "SENTINEL") || strstr(text, "1234") || !strstr(text, "[redacted]"))
            fail_msg("%s: %s", hidden[i], text);
    }
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        if (!strstr(print_plug_in(&line, NULL, json_loads(shown[i], 0, NULL)), "SENTINEL"))
            fail_msg("%s: %s", shown[i], line.data);
    jm_line_free(&line);
}

/* new: `count` times the same, and a word behind it. */
static json_t *repeated(const char *part, size_t count, const char *last)
{
    size_t len = strlen(part);
    char *text = malloc(count * len + strlen(last) + 1);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * len, part, len);
    strcpy(text + count * len, last);
    json_t *json = json_string(text);
    free(text);
    return json;
}

/* A pattern that is never found is searched for once, not once for each match of another. */
static void test_the_work_is_bounded(void **state)
{
    (void)state;
    struct jm_pattern *patterns[JM_MOST_PATTERNS];
    struct jm_rules rules = {.trace = -1, .count = JM_MOST_PATTERNS, .patterns = patterns};
    struct jm_line line;
    for (size_t i = 0; i < JM_MOST_PATTERNS; i++)
        patterns[i] = jm_pattern_new(i ? "nowhere[0-9]" : "k[0-9]", i ? 12 : 6, NULL);
    jm_line_init(&line);
    assert_non_null(strstr(print_plug_in(&line, &rules, json_pack("{s:o}", "t", repeated("k1 ", 5000, "END"))), "] END"));
    assert_in_range(line.work, JM_LINE_WORK / 4, JM_LINE_WORK);
    json_t *list = json_array(); /* together they are too much: the rest is not shown */
    for (size_t i = 0; i < 4000; i++)
        json_array_append_new(list, json_string("abc"));
    json_array_append_new(list, json_string("END"));
    assert_null(strstr(print_plug_in(&line, &rules, json_pack("{s:o}", "t", list)), "END"));
    assert_non_null(strstr(line.data, "\"abc\",\"abc\""));
    assert_non_null(strstr(line.data, "\"[redacted]\",\"[redacted]\""));
    assert_true(line.work < 0);
    /* keys are too long before they are looked at */
    json_t *key = repeated("x", 200000, ""), *inner = json_object();
    json_object_set_new(inner, json_string_value(key), json_true());
    assert_non_null(strstr(print_plug_in(&line, NULL, json_pack("{s:o}", "t", inner)), "\"cut\":true"));
    assert_in_range(line.work, JM_LINE_WORK - 10000, JM_LINE_WORK);
    json_decref(key);
    jm_line_free(&line);
    for (size_t i = 0; i < JM_MOST_PATTERNS; i++)
        jm_pattern_free(patterns[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_events),
        cmocka_unit_test(test_a_mebibyte_of_newlines_and_quotes),
        cmocka_unit_test(test_payloads_without_end),
        cmocka_unit_test(test_a_tools_own_words_are_not_repeated),
        cmocka_unit_test(test_other_ends_of_lines),
        cmocka_unit_test(test_secrets_by_their_names),
        cmocka_unit_test(test_the_work_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
