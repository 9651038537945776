/* SPDX-License-Identifier: Apache-2.0
 * One start and exactly one end, whatever becomes of a call. */
#include "config.h"
#include "kit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refused(struct kit *k, const char *tool, const char *args, jianmu_code code, const char *part)
{
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    json_t *json = args ? json_text(args) : NULL;
    assert_int_equal(jianmu_execute_tool(k->executor, tool, json, NULL, &r, &err), -1);
    if (jianmu_error_code(err) != code || !strstr(jianmu_error_message(err), part))
        fail_msg("%s: %s", jianmu_code_name(jianmu_error_code(err)), jianmu_error_message(err));
    json_t *end = kit_events(k, 0, "execution.failed");
    assert_string_equal(kit_text(end, "code"), jianmu_code_name(code));
    assert_string_equal(kit_text(end, "error"), jianmu_error_message(err));
    json_t *object = jianmu_error_json(err);
    assert_string_equal(kit_text(object, "message"), jianmu_error_message(err));
    json_decref(object);
    json_decref(json);
    jianmu_result_free(r);
    jianmu_error_free(err);
}

static void test_refused(void **state)
{
    (void)state;
    struct kit k;
    kit_open(&k, NULL, NULL);
    refused(&k, "echos", NULL, JIANMU_NOT_FOUND, "echoes");
    refused(&k, NULL, NULL, JIANMU_INVALID, "no tool was named");
    refused(&k, "echoes", "[1]", JIANMU_INVALID, "object");
    refused(&k, "", NULL, JIANMU_NOT_FOUND, "");
    kit_close(&k);
    kit_open(&k, NULL, "{\"memory\": \"64m\"}");
    refused(&k, "echoes", NULL, JIANMU_UNSUPPORTED, "memory");
    kit_close(&k);
}

/* A name that a model made up: short in the event, and no line of its own. */
static void test_odd_names(void **state)
{
    (void)state;
    struct kit k;
    kit_open(&k, NULL, NULL);
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    char *longest = malloc(1 << 20);
    memset(longest, 'x', (1 << 20) - 1);
    longest[(1 << 20) - 1] = 0;
    const char *const names[] = {longest, "a\nb", "\xff\xfe", "{\"event\": \"x\"}", "a\tb\x1b[31m"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(jianmu_execute_tool(k.executor, names[i], NULL, NULL, &r, &err), -1);
        jianmu_error_free(err);
        err = NULL;
        const char *said = kit_text(kit_events(&k, 0, "execution.failed"), "tool");
        assert_true(strlen(said) > 0 && strlen(said) < 140);
        for (const char *p = said; *p; p++)
            assert_true(*p > ' ' && *p < 0x7f && *p != '"');
    }
    free(longest);
    jianmu_result_free(r);
    kit_close(&k);
}

static void test_ids_are_bounded(void **state)
{
    (void)state;
    jianmu_error *err = NULL;
    jianmu_call *call = jianmu_call_new();
    char id[1026];
    memset(id, 'i', sizeof id);
    id[1025] = 0;
    assert_int_equal(jianmu_call_set_ids(call, NULL, id, NULL, &err), -1);
    assert_string_equal(jianmu_error_message(err), "node_name: 1025 bytes; at most 1024");
    jianmu_error_free(err);
    err = NULL;
    id[1024] = 0;
    assert_int_equal(jianmu_call_set_ids(call, NULL, id, NULL, &err), 0);
    jianmu_call_free(call);
}

static void test_cancelled_before(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_call *call = jianmu_call_new();
    kit_open(&k, NULL, NULL);
    jianmu_call_cancel(call);
    jianmu_result *r = kit_call(&k, "echoes", NULL, call, &err);
    assert_non_null(r);
    assert_int_equal(jianmu_result_reason(r), JIANMU_CANCELLED);
    assert_int_equal(jianmu_result_attempts(r), 0);
    assert_int_equal(kit_runs(&k), 0);
    kit_events(&k, 0, "execution.failed");
    jianmu_job *job = jianmu_job_new("exit 0", 6);
    assert_int_equal(jianmu_execute_job(k.executor, job, call, &r, &err), 0);
    assert_int_equal(jianmu_result_reason(r), JIANMU_CANCELLED);
    assert_int_equal(jianmu_result_exit_code(r), 1);
    kit_events(&k, 0, "execution.failed");
    jianmu_job_free(job);
    jianmu_result_free(r);
    jianmu_call_free(call);
    kit_close(&k);
}

static void ends(struct kit *k, const char *tool, const char *args, const char *name, const char *reason)
{
    jianmu_error *err = NULL;
    jianmu_result *r = kit_call(k, tool, args, NULL, &err);
    if (!r)
        fail_msg("%s: %s", tool, jianmu_error_message(err));
    assert_string_equal(kit_text(kit_events(k, 0, name), "reason"), reason);
    jianmu_result_free(r);
}

static void test_ends(void **state)
{
    (void)state;
    struct kit k;
    kit_open(&k, NULL, "{\"timeout_s\": 0.1}");
    ends(&k, "echoes", NULL, "execution.completed", "exited");
    ends(&k, "fails", "\"times\": 9", "execution.failed", "tool_failed");
    ends(&k, "hangs", "\"times\": 9", "execution.failed", "timeout");
    ends(&k, "deaf", "\"seconds\": 30", "execution.failed", "timeout"); /* abandoned */
    kit_close(&k);
    kit_open(&k, NULL, "{\"mode\": \"hosted\"}");
    ends(&k, "dies", "\"times\": 1", "execution.failed", "tool_failed"); /* its process died */
    kit_close(&k);
}

static void test_jobs(void **state)
{
    (void)state;
    static const char script[] = "#!/bin/sh\necho out; exit 3\n";
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    kit_open(&k, NULL, NULL);
    jianmu_job *job = jianmu_job_new(script, sizeof script - 1);
    jianmu_call *call = jianmu_call_new();
    jianmu_call_set_operator(call, 1);
    assert_int_equal(jianmu_execute_job(k.executor, job, call, &r, &err), 0);
    assert_int_equal(jianmu_result_exit_code(r), 3);
    assert_string_equal(jianmu_result_text(r, 1, NULL), "out\n");
    assert_string_equal(kit_text(kit_events(&k, 0, "execution.completed"), "tool"), "job");
    jianmu_job_free(job);
    static const char none[] = "#!/no/such/interpreter\n";
    job = jianmu_job_new(none, sizeof none - 1);
    assert_int_equal(jianmu_execute_job(k.executor, job, call, &r, &err), -1);
    jianmu_call_free(call);
    jianmu_error_free(err);
    kit_events(&k, 0, "execution.failed");
    jianmu_job_free(job);
    jianmu_result_free(r);
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_odd_names),
        cmocka_unit_test(test_ids_are_bounded),
        cmocka_unit_test(test_cancelled_before),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_jobs),
    };
    return cmocka_run_group_tests(tests, use_build_tree, NULL);
}
