/* SPDX-License-Identifier: Apache-2.0
 * Tools in a tool host: another process, framed answers, real kills. */
#include "config.h"
#include "support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void open_hosted(struct world *w, const char *constraints)
{
    json_t *json = json_text(constraints ? constraints : "{}");
    json_object_set_new(json, "mode", json_string("hosted"));
    char *text = json_dumps(json, 0);
    world_open(w, "tools:\n  settings:\n    colour: red\n", text);
    assert_string_equal(jianmu_runner_mode(w->runner), "hosted");
    free(text);
    json_decref(json);
}

static void test_another_process(void **state)
{
    (void)state;
    struct world w;
    open_hosted(&w, NULL);
    jianmu_result *r = call_tool(&w, "where", NULL, NULL);
    assert_int_not_equal(json_integer_value(json_object_get(jianmu_result_value(r), "pid")), getpid());
    jianmu_result_free(r);
    r = call_tool(&w, "echo_it", "{\"a\": [1, 2.5, null, \"\\u0000\\ud83d\\ude00\"]}", NULL);
    json_t *expected = json_text("{\"a\": [1, 2.5, null, \"\\u0000\\ud83d\\ude00\"]}");
    assert_true(json_equal(jianmu_result_value(r), expected));
    json_decref(expected);
    assert_true(jianmu_result_peak_memory(r) > 0);
    jianmu_result_free(r);
    r = call_tool(&w, "settings", "{\"names\": [\"colour\", \"max_output\"]}", NULL);
    assert_string_equal(json_string_value(json_object_get(jianmu_result_value(r), "colour")), "red");
    assert_int_equal(json_integer_value(json_object_get(jianmu_result_value(r), "max_output")), 5000);
    jianmu_result_free(r);
    world_close(&w);
}

static void test_noise_cannot_forge(void **state)
{
    (void)state;
    struct world w;
    open_hosted(&w, NULL);
    jianmu_result *r = call_tool(&w, "talker", NULL, NULL);
    assert_string_equal(json_string_value(jianmu_result_value(r)), "real");
    size_t len;
    const void *noise = jianmu_result_raw(r, 2, &len);
    assert_non_null(memmem(noise, len, "noise", 5));
    assert_non_null(memmem(noise, len, "forged", 6)); /* the forgery was printed, to no effect */
    jianmu_result_free(r);
    const char *const names[] = {"execution.started", "execution.log", "execution.progress", "calltools.custom",
                                 "execution.completed"};
    assert_int_equal(json_array_size(w.events), 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(w.events, i), "event")), names[i]);
    expect_pair(&w, "execution.completed");
    world_close(&w);
}

static void test_failures(void **state)
{
    (void)state;
    struct world w;
    open_hosted(&w, NULL);
    jianmu_result *r = call_tool(&w, "failing", "{\"value\": [1]}", NULL);
    assert_int_equal(jianmu_result_reason(r), JIANMU_TOOL_FAILED);
    assert_string_equal(jianmu_result_message(r), "it went wrong: 7");
    assert_int_equal(json_array_size(jianmu_result_value(r)), 1);
    jianmu_result_free(r);
    call_refused(&w, "failing", "{\"code\": 41}", NULL, JIANMU_UNAVAILABLE, "could not: because");
    r = call_tool(&w, "crash", NULL, NULL);
    assert_int_equal(jianmu_result_reason(r), JIANMU_TOOL_FAILED);
    assert_non_null(strstr(jianmu_result_message(r), "signal 11"));
    jianmu_result_free(r);
    r = call_tool(&w, "crash", "{\"exit\": 0}", NULL);
    assert_int_equal(jianmu_result_reason(r), JIANMU_TOOL_FAILED);
    assert_non_null(strstr(jianmu_result_message(r), "status 0"));
    jianmu_result_free(r);
    world_close(&w);
}

static void test_a_late_tool_is_killed(void **state)
{
    (void)state;
    struct world w;
    open_hosted(&w, "{\"timeout_s\": 1}");
    double before = now_s();
    jianmu_result *r = call_tool(&w, "stubborn", "{\"seconds\": 60}", NULL);
    assert_true(now_s() - before < 20);
    assert_int_equal(jianmu_result_reason(r), JIANMU_TIMEOUT);
    assert_false(jianmu_result_abandoned(r));
    assert_string_equal(jianmu_result_message(r), "Tool 'stubborn' timed out after 1.0s");
    jianmu_result_free(r);
    expect_pair(&w, "execution.failed");
    world_close(&w);
}

static void test_what_a_late_tool_says_arrives(void **state)
{
    (void)state;
    struct world w;
    open_hosted(&w, "{\"timeout_s\": 0.5, \"max_output\": 10}");
    jianmu_result *r = call_tool(&w, "patient", NULL, NULL);
    assert_int_equal(jianmu_result_reason(r), JIANMU_TIMEOUT);
    assert_true(json_is_true(json_object_get(jianmu_result_value(r), "told")));
    jianmu_result_free(r);
    r = call_tool(&w, "long_text", "{\"n\": 30}", NULL);
    assert_int_equal(json_string_length(jianmu_result_value(r)), 30);
    assert_int_equal(jianmu_result_value_dropped(r), 20);
    jianmu_result_free(r);
    world_close(&w);
}

static void test_large(void **state)
{
    (void)state;
    struct world w;
    open_hosted(&w, NULL);
    jianmu_result *r = call_tool(&w, "long_text", "{\"n\": 2000000}", NULL);
    assert_int_equal(json_string_length(jianmu_result_value(r)), 6000000);
    jianmu_result_free(r);
    size_t n = 5000000;
    char *args = malloc(n + 16);
    assert_non_null(args);
    memcpy(args, "{\"a\": \"", 7);
    memset(args + 7, 'x', n);
    memcpy(args + 7 + n, "\"}", 3);
    r = call_tool(&w, "echo_it", args, NULL);
    assert_int_equal(json_string_length(json_object_get(jianmu_result_value(r), "a")), n);
    jianmu_result_free(r);
    free(args);
    world_close(&w);
}

static void test_no_entry(void **state)
{
    (void)state;
    struct world w;
    char saved[4096];
    snprintf(saved, sizeof saved, "%s", getenv("JIANMU_TOOL_ENTRY"));
    setenv("JIANMU_TOOL_ENTRY", "/nonexistent/entry", 1);
    open_hosted(&w, NULL);
    call_refused(&w, "echo_it", NULL, NULL, JIANMU_NOT_FOUND, "/nonexistent/entry");
    world_close(&w);
    setenv("JIANMU_TOOL_ENTRY", "/bin/true", 1); /* answers nothing */
    open_hosted(&w, NULL);
    jianmu_result *r = call_tool(&w, "echo_it", NULL, NULL);
    assert_int_equal(jianmu_result_reason(r), JIANMU_TOOL_FAILED);
    assert_non_null(strstr(jianmu_result_message(r), "ended its tool host"));
    jianmu_result_free(r);
    world_close(&w);
    setenv("JIANMU_TOOL_ENTRY", saved, 1);
}

static void test_own_process_and_short_structs(void **state)
{
    (void)state;
    struct world w;
    open_hosted(&w, NULL);
    jianmu_result *r = run_script(&w, "sh", "exit 1");
    assert_int_equal(jianmu_result_exit_code(r), 6);
    assert_string_equal(jianmu_result_text(r, 1, NULL), "from a process\n");
    jianmu_result_free(r);
    world_close(&w);
}

static void test_enforces_is_asked(void **state)
{
    (void)state;
    struct world w;
    open_hosted(&w, "{\"nofile\": 64}");
    call_refused(&w, "echo_it", NULL, NULL, JIANMU_UNSUPPORTED, "cannot enforce nofile");
    assert_int_equal(jianmu_runner_enforces(w.runner, "nofile"), 0);
    assert_int_equal(jianmu_runner_enforces(w.runner, "cpu_time_s"), 1);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_another_process),
        cmocka_unit_test(test_noise_cannot_forge),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_a_late_tool_is_killed),
        cmocka_unit_test(test_what_a_late_tool_says_arrives),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_no_entry),
        cmocka_unit_test(test_own_process_and_short_structs),
        cmocka_unit_test(test_enforces_is_asked),
    };
    return cmocka_run_group_tests(tests, use_build_tree, NULL);
}
