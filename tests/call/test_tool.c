/* SPDX-License-Identifier: Apache-2.0
 * Tool calls in the caller's process. */
#include "config.h"
#include "support.h"
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static json_int_t integer(const jianmu_result *r, const char *name)
{
    return json_integer_value(json_object_get(jianmu_result_value(r), name));
}

static void test_no_copy_no_thread(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    world_open(&w, NULL, NULL);
    const jianmu_tool *where = jianmu_runner_tool(w.runner, "where", &err);
    json_t *args = json_object();
    int threads = count_threads();
    assert_int_equal(jianmu_run_tool(w.runner, where, args, NULL, &r, &err), 0);
    assert_int_equal(integer(r, "args"), (json_int_t)(intptr_t)args);
    assert_int_equal(integer(r, "thread"), syscall(SYS_gettid));
    assert_int_equal(integer(r, "pid"), getpid());
    assert_int_equal(count_threads(), threads);
    assert_int_equal(args->refcount, 1);
    /* a cooperating tool with a deadline stays on the caller's thread, too */
    jianmu_call *call = jianmu_call_new();
    assert_int_equal(jianmu_call_set_timeout(call, 5, &err), 0);
    assert_int_equal(jianmu_run_tool(w.runner, where, args, call, &r, &err), 0);
    assert_int_equal(integer(r, "thread"), syscall(SYS_gettid));
    assert_int_equal(integer(r, "args"), (json_int_t)(intptr_t)args);
    assert_int_equal(count_threads(), threads);
    jianmu_call_free(call);
    json_decref(args);
    jianmu_result_free(r);
    world_close(&w);
}

static void test_null_arguments_are_an_empty_object(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, NULL);
    jianmu_result *r = call_tool(&w, "echo_it", NULL, NULL);
    assert_true(json_is_object(jianmu_result_value(r)));
    assert_int_equal(json_object_size(jianmu_result_value(r)), 0);
    assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED);
    assert_int_equal(jianmu_result_exit_code(r), 0);
    assert_string_equal(jianmu_result_message(r), "");
    jianmu_result_free(r);
    world_close(&w);
}

static void test_arguments_must_be_an_object(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, NULL);
    call_refused(&w, "echo_it", "[1]", NULL, JIANMU_INVALID, "arguments of tool 'echo_it' must be a JSON object");
    json_t *end = expect_pair(&w, "execution.failed");
    json_t *payload = json_object_get(end, "payload");
    assert_string_equal(json_string_value(json_object_get(payload, "code")), "invalid");
    assert_non_null(strstr(json_string_value(json_object_get(payload, "error")), "must be a JSON object"));
    world_close(&w);
}

static void test_unknown_tool_suggests_the_nearest(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, NULL);
    call_refused(&w, "ecko_it", NULL, NULL, JIANMU_NOT_FOUND, "echo_it");
    world_close(&w);
}

static void test_only_offered_tools(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    const char *const offered[] = {"where", NULL};
    world_open(&w, NULL, NULL);
    jianmu_runner *r = jianmu_runner_from_constraints(w.constraints, w.config, offered, NULL, NULL, &err);
    assert_non_null(r);
    assert_non_null(jianmu_runner_tool(r, "where", &err));
    assert_null(jianmu_runner_tool(r, "echo_it", &err));
    assert_int_equal(jianmu_error_code(err), JIANMU_NOT_FOUND);
    assert_non_null(strstr(jianmu_error_message(err), "'echo_it' is not among"));
    jianmu_error_free(err);
    jianmu_runner_free(r);
    world_close(&w);
}

static void test_results_are_used_again(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    world_open(&w, NULL, NULL);
    const jianmu_tool *failing = jianmu_runner_tool(w.runner, "failing", &err);
    const jianmu_tool *echo = jianmu_runner_tool(w.runner, "echo_it", &err);
    assert_int_equal(jianmu_run_tool(w.runner, failing, NULL, NULL, &r, &err), 0);
    jianmu_result *first = r;
    assert_string_equal(jianmu_result_message(r), "it went wrong: 7");
    assert_int_equal(jianmu_result_reason(r), JIANMU_TOOL_FAILED);
    assert_int_equal(jianmu_result_exit_code(r), 1);
    assert_int_equal(jianmu_run_tool(w.runner, echo, NULL, NULL, &r, &err), 0);
    assert_ptr_equal(r, first);
    assert_string_equal(jianmu_result_message(r), "");
    assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED);
    assert_int_equal(jianmu_result_exit_code(r), 0);
    jianmu_result_free(r);
    world_close(&w);
}

/* What a failed call leaves in *result is the caller's: empty, to be freed or used again. */
static void test_results_after_a_failure(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL, *fresh = NULL;
    json_t *wrong = json_array(), *right = json_pack("{s:s}", "a", "b");
    world_open(&w, NULL, NULL);
    const jianmu_tool *echo = jianmu_runner_tool(w.runner, "echo_it", &err);
    assert_int_equal(jianmu_run_tool(w.runner, echo, right, NULL, &r, &err), 0);
    assert_non_null(jianmu_result_value(r));
    jianmu_result **const places[] = {&r, &fresh};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(jianmu_run_tool(w.runner, echo, wrong, NULL, places[i], &err), -1);
        assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
        jianmu_error_free(err);
        err = NULL;
        jianmu_result *left = *places[i];
        if (left) {
            assert_null(jianmu_result_value(left));
            assert_string_equal(jianmu_result_message(left), "");
        }
        assert_int_equal(jianmu_run_tool(w.runner, echo, right, NULL, places[i], &err), 0);
        assert_true(!left || left == *places[i]);
        assert_true(json_equal(jianmu_result_value(*places[i]), right));
        assert_int_equal(jianmu_run_tool(w.runner, echo, wrong, NULL, places[i], NULL), -1);
        jianmu_result_free(*places[i]);
    }
    json_decref(wrong);
    json_decref(right);
    world_close(&w);
}

static void test_failures(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, NULL);
    jianmu_result *r = call_tool(&w, "failing", "{\"value\": {\"error\": \"x\"}}", NULL);
    assert_int_equal(jianmu_result_reason(r), JIANMU_TOOL_FAILED);
    assert_string_equal(json_string_value(json_object_get(jianmu_result_value(r), "error")), "x");
    jianmu_result_free(r);
    json_t *payload = json_object_get(expect_pair(&w, "execution.failed"), "payload");
    /* its own words are the caller's alone */
    assert_string_equal(json_string_value(json_object_get(payload, "error")), "Tool 'failing' failed");
    assert_string_equal(json_string_value(json_object_get(payload, "reason")), "tool_failed");
    r = call_tool(&w, "failing", "{\"silent\": true}", NULL);
    assert_int_equal(jianmu_result_reason(r), JIANMU_TOOL_FAILED);
    assert_non_null(strstr(jianmu_result_message(r), "gave no value and no reason"));
    jianmu_result_free(r);
    expect_pair(&w, "execution.failed");
    call_refused(&w, "failing", "{\"code\": 41}", NULL, JIANMU_UNAVAILABLE, "could not: because");
    payload = json_object_get(expect_pair(&w, "execution.failed"), "payload");
    assert_string_equal(json_string_value(json_object_get(payload, "code")), "unavailable");
    world_close(&w);
}

static void test_cooperating_timeout(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, "{\"timeout_s\": \"200ms\"}");
    double before = now_s();
    jianmu_result *r = call_tool(&w, "patient", NULL, NULL);
    assert_true(now_s() - before < 10);
    assert_true(now_s() - before > 0.19);
    assert_int_equal(jianmu_result_reason(r), JIANMU_TIMEOUT);
    assert_string_equal(jianmu_result_message(r), "Tool 'patient' timed out after 0.2s");
    assert_true(json_is_true(json_object_get(jianmu_result_value(r), "told")));
    assert_true(json_is_true(json_object_get(jianmu_result_value(r), "cancelled")));
    assert_false(jianmu_result_abandoned(r));
    jianmu_result_free(r);
    json_t *payload = json_object_get(expect_pair(&w, "execution.failed"), "payload");
    assert_string_equal(json_string_value(json_object_get(payload, "error")), "tool_timeout: timed out after 0.2s");
    assert_true(json_real_value(json_object_get(payload, "timeout_s")) == 0.2);
    /* the call's own goes before the constraints' */
    jianmu_call *call = jianmu_call_new();
    jianmu_error *err = NULL;
    assert_int_equal(jianmu_call_set_timeout(call, 30, &err), 0);
    r = call_tool(&w, "patient", "{\"ms\": 400}", call);
    assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED);
    jianmu_result_free(r);
    jianmu_call_free(call);
    world_close(&w);
}

static void *cancel_soon(void *arg)
{
    usleep(100000);
    jianmu_call_cancel(arg);
    return NULL;
}

static void test_cancel_from_another_thread(void **state)
{
    (void)state;
    struct world w;
    pthread_t thread;
    jianmu_call *call = jianmu_call_new();
    world_open(&w, NULL, NULL);
    for (int with_deadline = 0; with_deadline < 2; with_deadline++) {
        jianmu_call_reset(call);
        if (with_deadline)
            assert_int_equal(jianmu_call_set_timeout(call, 50, NULL), 0);
        pthread_create(&thread, NULL, cancel_soon, call);
        double before = now_s();
        jianmu_result *r = call_tool(&w, "patient", NULL, call);
        pthread_join(thread, NULL);
        assert_true(now_s() - before < 20);
        assert_true(json_is_true(json_object_get(jianmu_result_value(r), "told")));
        jianmu_result_free(r);
    }
    /* cancelled before it began: it does not begin */
    jianmu_result *r = call_tool(&w, "counter", NULL, call);
    assert_int_equal(jianmu_result_reason(r), JIANMU_CANCELLED);
    assert_null(jianmu_result_value(r));
    jianmu_result_free(r);
    jianmu_call_reset(call);
    r = call_tool(&w, "counter", NULL, call);
    assert_int_equal(json_integer_value(jianmu_result_value(r)), 1);
    jianmu_result_free(r);
    jianmu_call_free(call);
    world_close(&w);
}

static void test_instances_belong_to_runners(void **state)
{
    (void)state;
    struct world a, b;
    world_open(&a, NULL, NULL);
    world_open(&b, "execution:\n  max_output: 3\n", NULL);
    jianmu_result_free(call_tool(&a, "counter", NULL, NULL));
    jianmu_result *r = call_tool(&a, "counter", NULL, NULL);
    assert_int_equal(json_integer_value(jianmu_result_value(r)), 2);
    jianmu_result_free(r);
    r = call_tool(&b, "counter", NULL, NULL);
    assert_int_equal(json_integer_value(jianmu_result_value(r)), 1);
    jianmu_result_free(r);
    /* two runners with different configs in one process */
    r = call_tool(&b, "long_text", "{\"n\": 10}", NULL);
    assert_int_equal(json_string_length(jianmu_result_value(r)), 9);
    assert_int_equal(jianmu_result_value_dropped(r), 7);
    jianmu_result_free(r);
    r = call_tool(&a, "long_text", "{\"n\": 10}", NULL);
    assert_int_equal(json_string_length(jianmu_result_value(r)), 30);
    assert_int_equal(jianmu_result_value_dropped(r), 0);
    jianmu_result_free(r);
    world_close(&a);
    world_close(&b);
}

static void test_settings_reach_the_tool(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "tools:\n  settings:\n    colour: red\n", "{\"nofile\": null}");
    jianmu_result *r = call_tool(&w, "settings", "{\"names\": [\"colour\", \"max_output\", \"nosuch\", \"timeout_s\"]}", NULL);
    json_t *v = jianmu_result_value(r);
    assert_string_equal(json_string_value(json_object_get(v, "colour")), "red");
    assert_int_equal(json_integer_value(json_object_get(v, "max_output")), 5000);
    assert_true(json_is_null(json_object_get(v, "nosuch")));
    assert_true(json_is_null(json_object_get(v, "timeout_s")));
    jianmu_result_free(r);
    world_close(&w);
}

static void *many_calls(void *arg)
{
    struct world *w = arg;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    const jianmu_tool *echo = jianmu_runner_tool(w->runner, "echo_it", &err);
    for (int i = 0; echo && i < 500; i++) {
        json_t *args = json_pack("{s:i}", "i", i);
        if (jianmu_run_tool(w->runner, echo, args, NULL, &r, &err) || jianmu_result_value(r) != args)
            return (void *)1;
        json_decref(args);
    }
    jianmu_result_free(r);
    return echo ? NULL : (void *)1;
}

static void nothing(void *data, const jianmu_event *event)
{
    (void)event;
    __atomic_add_fetch((int *)data, 1, __ATOMIC_RELAXED);
}

static void test_many_threads_one_runner(void **state)
{
    (void)state;
    struct world w;
    pthread_t threads[16];
    int events = 0;
    jianmu_error *err = NULL;
    world_open(&w, NULL, NULL);
    jianmu_runner_free(w.runner);
    jianmu_bus *bus = jianmu_bus_new();
    jianmu_bus_subscribe(bus, nothing, &events, &err);
    w.runner = jianmu_runner_from_constraints(w.constraints, w.config, NULL, NULL, bus, &err);
    for (size_t i = 0; i < 16; i++)
        pthread_create(&threads[i], NULL, many_calls, &w);
    for (size_t i = 0; i < 16; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
    assert_int_equal(events, 2 * 16 * 500);
    jianmu_runner_free(w.runner);
    w.runner = NULL;
    jianmu_bus_free(bus);
    world_close(&w);
}

static void test_opened_backend(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    world_open(&w, NULL, NULL);
    jianmu_backend *backend = jianmu_backend_open(w.config, "local", &err);
    assert_non_null(backend);
    jianmu_runner *r = jianmu_runner_take_backend(backend, NULL, NULL, &err);
    assert_non_null(r);
    assert_string_equal(jianmu_runner_mode(r), "local");
    assert_non_null(jianmu_runner_tool(r, "echo_it", &err));
    jianmu_runner_free(r);
    assert_null(jianmu_backend_open(w.config, "nativ", &err));
    assert_int_equal(jianmu_error_code(err), JIANMU_NOT_FOUND);
    jianmu_error_free(err);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_copy_no_thread),
        cmocka_unit_test(test_null_arguments_are_an_empty_object),
        cmocka_unit_test(test_arguments_must_be_an_object),
        cmocka_unit_test(test_unknown_tool_suggests_the_nearest),
        cmocka_unit_test(test_only_offered_tools),
        cmocka_unit_test(test_results_are_used_again),
        cmocka_unit_test(test_results_after_a_failure),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_cooperating_timeout),
        cmocka_unit_test(test_cancel_from_another_thread),
        cmocka_unit_test(test_instances_belong_to_runners),
        cmocka_unit_test(test_settings_reach_the_tool),
        cmocka_unit_test(test_many_threads_one_runner),
        cmocka_unit_test(test_opened_backend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
