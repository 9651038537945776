/* SPDX-License-Identifier: Apache-2.0
 * What is repeated, what never is, and how often. */
#include "config.h"
#include "kit.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOSTED "{\"mode\": \"hosted\"}"

/* A call that comes to a result, after so many runs of the tool. */
static void expect_result(struct kit *k, const char *tool, const char *args, jianmu_reason reason, unsigned runs)
{
    jianmu_error *err = NULL;
    jianmu_result *r = kit_call(k, tool, args, NULL, &err);
    if (!r)
        fail_msg("%s: %s", tool, jianmu_error_message(err));
    assert_string_equal(jianmu_reason_name(jianmu_result_reason(r)), jianmu_reason_name(reason));
    assert_int_equal(jianmu_result_attempts(r), runs);
    assert_int_equal(kit_runs(k), runs);
    json_t *end = kit_events(k, runs - 1, reason == JIANMU_EXITED ? "execution.completed" : "execution.failed");
    assert_int_equal(json_integer_value(json_object_get(end, "attempts")), runs);
    json_t *json = jianmu_result_json(r);
    assert_int_equal(json_integer_value(json_object_get(json, "attempts")), runs);
    json_decref(json);
    jianmu_result_free(r);
}

static void expect_error(struct kit *k, const char *tool, const char *args, jianmu_code code, unsigned attempts, int runs)
{
    jianmu_error *err = NULL;
    jianmu_result *r = kit_call(k, tool, args, NULL, &err);
    assert_null(r);
    assert_string_equal(jianmu_code_name(jianmu_error_code(err)), jianmu_code_name(code));
    jianmu_error_free(err);
    assert_int_equal(kit_runs(k), runs);
    json_t *end = kit_events(k, attempts ? attempts - 1 : 0, "execution.failed");
    assert_int_equal(json_integer_value(json_object_get(end, "attempts")), attempts);
}

static void test_transient(void **state)
{
    (void)state;
    struct kit k;
    for (int hosted = 0; hosted < 2; hosted++) {
        kit_open(&k, NULL, hosted ? HOSTED : NULL);
        expect_result(&k, "fails", "\"times\": 2, \"how\": \"transient\"", JIANMU_EXITED, 3);
        expect_result(&k, "fails", "\"times\": 9, \"how\": \"transient\"", JIANMU_TOOL_FAILED, 4); /* max_retries is 3 */
        expect_result(&k, "fails", "\"times\": 1, \"code\": 41, \"how\": \"transient\"", JIANMU_EXITED, 2);
        expect_error(&k, "fails", "\"times\": 9, \"code\": 70, \"how\": \"transient\"", JIANMU_INTERNAL, 4, 4);
        kit_close(&k);
    }
}

/* What a tool has answered is an answer, also where twice is as once. */
static void test_an_answer_is_not_repeated(void **state)
{
    (void)state;
    struct kit k;
    kit_open(&k, NULL, NULL);
    expect_result(&k, "fails", "\"times\": 9", JIANMU_TOOL_FAILED, 1);
    expect_result(&k, "fails_idempotent", "\"times\": 9", JIANMU_TOOL_FAILED, 1);
    expect_result(&k, "echoes", NULL, JIANMU_EXITED, 1);
    kit_close(&k);
}

static void test_it_may_have_run(void **state)
{
    (void)state;
    struct kit k;
    kit_open(&k, NULL, NULL);
    static const jianmu_code passing[] = {JIANMU_BUSY, JIANMU_UNAVAILABLE, JIANMU_SANDBOX_DEAD};
    for (size_t i = 0; i < 3; i++) {
        char args[40];
        snprintf(args, sizeof args, "\"times\": 1, \"code\": %d", (int)passing[i]);
        expect_error(&k, "fails", args, passing[i], 1, 1);
        expect_result(&k, "fails_idempotent", args, JIANMU_EXITED, 2);
        expect_result(&k, "fails_reading", args, JIANMU_EXITED, 2);
    }
    kit_close(&k);
}

static void test_never_again(void **state)
{
    (void)state;
    struct kit k;
    kit_open(&k, NULL, NULL);
    static const jianmu_code final[] = {JIANMU_INVALID, JIANMU_NOT_FOUND, JIANMU_DENIED, JIANMU_NEEDS_CONFIRMATION,
                                        JIANMU_RATE_LIMITED, JIANMU_OVER_BUDGET, JIANMU_UNSUPPORTED, JIANMU_FORKED};
    for (size_t i = 0; i < sizeof final / sizeof final[0]; i++) {
        char args[60];
        snprintf(args, sizeof args, "\"times\": 9, \"code\": %d, \"how\": \"transient\"", (int)final[i]);
        expect_error(&k, "fails_idempotent", args, final[i], 1, 1);
    }
    kit_close(&k);
}

static void test_killed_between_effect_and_answer(void **state)
{
    (void)state;
    struct kit k;
    kit_open(&k, NULL, HOSTED);
    expect_result(&k, "dies", "\"times\": 1", JIANMU_TOOL_FAILED, 1);
    expect_result(&k, "dies_idempotent", "\"times\": 1", JIANMU_EXITED, 2);
    expect_result(&k, "dies_idempotent", "\"times\": 9", JIANMU_TOOL_FAILED, 4);
    kit_close(&k);
}

static void test_timeouts(void **state)
{
    (void)state;
    struct kit k;
    kit_open(&k, "max_retries: 2", "{\"timeout_s\": 0.05}");
    expect_result(&k, "hangs_idempotent", "\"times\": 9", JIANMU_TIMEOUT, 1); /* its timeout is all the time it has */
    kit_close(&k);
    kit_open(&k, "max_retries: 2, retry_deadline: 60", "{\"timeout_s\": 0.05}");
    expect_result(&k, "hangs", "\"times\": 9", JIANMU_TIMEOUT, 1);
    expect_result(&k, "hangs_idempotent", "\"times\": 9", JIANMU_TIMEOUT, 3);
    kit_close(&k);
    /* each attempt has its whole time */
    kit_open(&k, "retry_deadline: 60", "{\"timeout_s\": 1}");
    double before = now_s();
    expect_result(&k, "hangs_idempotent", "\"times\": 1, \"ms\": 5000", JIANMU_EXITED, 2);
    assert_true(now_s() - before >= 0.99);
    kit_close(&k);
}

static void test_it_never_started(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    setenv("MOODY_TIMES", "2", 1);
    kit_open(&k, NULL, "{\"mode\": \"moody\"}");
    r = kit_call(&k, "fails", NULL, NULL, &err);
    assert_non_null(r);
    assert_int_equal(jianmu_result_attempts(r), 3);
    assert_int_equal(kit_runs(&k), 1);
    json_t *attempt = json_object_get(json_array_get(k.w.events, 2), "payload");
    assert_string_equal(kit_text(attempt, "why"), "not_started");
    assert_string_equal(kit_text(attempt, "after"), "unavailable");
    assert_int_equal(json_integer_value(json_object_get(attempt, "of")), 4);
    kit_events(&k, 2, "execution.completed");
    jianmu_result_free(r);
    kit_close(&k);
    /* jobs too */
    r = NULL;
    kit_open(&k, NULL, "{\"mode\": \"moody\"}");
    jianmu_job *job = jianmu_job_new(":", 1);
    jianmu_call *call = jianmu_call_new();
    jianmu_call_set_operator(call, 1);
    assert_int_equal(jianmu_execute_job(k.executor, job, call, &r, &err), 0);
    jianmu_call_free(call);
    assert_int_equal(jianmu_result_attempts(r), 3);
    kit_events(&k, 2, "execution.completed");
    jianmu_result_free(r);
    jianmu_job_free(job);
    kit_close(&k);
    /* a dead sandbox may have begun: only where twice is as once */
    setenv("MOODY_CODE", "60", 1);
    kit_open(&k, NULL, "{\"mode\": \"moody\"}");
    expect_error(&k, "fails", NULL, JIANMU_SANDBOX_DEAD, 1, 0);
    kit_close(&k);
    unsetenv("MOODY_CODE");
    unsetenv("MOODY_TIMES");
}

static void test_bounds(void **state)
{
    (void)state;
    struct kit k;
    kit_open(&k, "max_retries: 0", NULL);
    expect_result(&k, "fails", "\"times\": 9, \"how\": \"transient\"", JIANMU_TOOL_FAILED, 1);
    kit_close(&k);
    kit_open(&k, "max_retries: 20", NULL);
    expect_result(&k, "fails", "\"times\": 9, \"how\": \"transient\"", JIANMU_EXITED, 10);
    kit_close(&k);
    world_refused("execution: {max_retries: 2147483648}\n", NULL, JIANMU_INVALID, "execution.max_retries");
    world_refused("execution: {retry_backoff: .nan}\n", NULL, JIANMU_INVALID, "execution.retry_backoff");
}

static void test_total_deadline(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    /* the wait would end after it */
    kit_open(&k, "retry_deadline: 0.000001", NULL);
    expect_result(&k, "fails", "\"times\": 9, \"how\": \"transient\"", JIANMU_TOOL_FAILED, 1);
    kit_close(&k);
    /* a repeat has what is left of it, where nothing else limits it */
    kit_open(&k, "retry_deadline: 0.5", NULL);
    double before = now_s();
    jianmu_result *r = kit_call(&k, "fails_then_hangs", NULL, NULL, &err);
    assert_non_null(r);
    assert_int_equal(jianmu_result_reason(r), JIANMU_TIMEOUT);
    assert_int_equal(jianmu_result_attempts(r), 2);
    assert_true(now_s() - before < 30);
    kit_events(&k, 1, "execution.failed");
    jianmu_result_free(r);
    kit_close(&k);
}

static void *cancel_soon(void *call)
{
    usleep(100000);
    jianmu_call_cancel(call);
    return NULL;
}

static void test_cancelled_while_it_waits(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    pthread_t thread;
    jianmu_call *call = jianmu_call_new();
    kit_open(&k, "max_retries: 1000", NULL);
    pthread_create(&thread, NULL, cancel_soon, call);
    /* by then it waits up to ten seconds each time */
    jianmu_result *r = kit_call(&k, "fails", "\"times\": 99999, \"how\": \"transient\"", call, &err);
    pthread_join(thread, NULL);
    assert_non_null(r);
    assert_int_equal(jianmu_result_reason(r), JIANMU_CANCELLED);
    assert_string_equal(jianmu_result_message(r), "cancelled by the caller");
    kit_events(&k, jianmu_result_attempts(r) - 1, "execution.failed");
    jianmu_result_free(r);
    jianmu_call_free(call);
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transient),
        cmocka_unit_test(test_an_answer_is_not_repeated),
        cmocka_unit_test(test_it_may_have_run),
        cmocka_unit_test(test_never_again),
        cmocka_unit_test(test_killed_between_effect_and_answer),
        cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_it_never_started),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_total_deadline),
        cmocka_unit_test(test_cancelled_while_it_waits),
    };
    return cmocka_run_group_tests(tests, use_build_tree, NULL);
}
