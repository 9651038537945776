/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "support.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *text(json_t *event, const char *name)
{
    return json_string_value(json_object_get(event, name));
}

static void test_shape(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_call *call = jianmu_call_new();
    world_open(&w, NULL, NULL);
    assert_int_equal(jianmu_call_set_ids(call, "run-1", "node\n\"x\"", NULL, &err), 0);
    jianmu_result_free(call_tool(&w, "echo_it", NULL, call));
    json_t *started = json_array_get(w.events, 0);
    assert_string_equal(text(started, "event"), "execution.started");
    assert_string_equal(text(started, "run_id"), "run-1");
    assert_string_equal(text(started, "node_name"), "node\n\"x\"");
    assert_true(json_is_null(json_object_get(started, "tool_call_id")));
    assert_int_equal(strlen(text(started, "time")), strlen("2026-01-01T00:00:00.000000Z"));
    json_t *payload = json_object_get(started, "payload");
    assert_string_equal(text(payload, "backend"), "local");
    assert_string_equal(text(payload, "tool"), "echo_it");
    assert_int_equal(json_object_size(started), 6);
    payload = json_object_get(expect_pair(&w, "execution.completed"), "payload");
    assert_string_equal(text(payload, "reason"), "exited");
    assert_true(json_is_real(json_object_get(payload, "duration_s")));
    /* the same object serves the next call; ids stay until they are changed */
    assert_int_equal(jianmu_call_set_ids(call, NULL, NULL, "tc", &err), 0);
    jianmu_result_free(call_tool(&w, "echo_it", NULL, call));
    json_t *end = expect_pair(&w, "execution.completed");
    assert_true(json_is_null(json_object_get(end, "run_id")));
    assert_string_equal(text(end, "tool_call_id"), "tc");
    jianmu_call_free(call);
    world_close(&w);
}

/* What the tool prints in this process is the process's own; it must not get into the test's own stream. */
static void call_talker(struct world *w)
{
    fflush(stdout);
    int saved = dup(1), null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, 1);
    jianmu_result_free(call_tool(w, "talker", NULL, NULL));
    fflush(stdout);
    dup2(saved, 1);
    close(saved);
    close(null);
}

static void test_events_of_plugins(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, NULL);
    call_talker(&w);
    assert_int_equal(json_array_size(w.events), 5);
    const char *const names[] = {"execution.started", "execution.log", "execution.progress", "calltools.custom",
                                 "execution.completed"};
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(text(json_array_get(w.events, i), "event"), names[i]);
    assert_string_equal(text(json_object_get(json_array_get(w.events, 1), "payload"), "text"), "said this");
    json_t *custom = json_object_get(json_array_get(w.events, 3), "payload");
    assert_int_equal(json_integer_value(json_object_get(custom, "n")), 3);
    assert_string_equal(text(custom, "tool"), "talker");
    expect_pair(&w, "execution.completed"); /* the forged one did not count */
    world_close(&w);
}

static void test_jobs(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, NULL);
    jianmu_result_free(run_script(&w, "sh", "exit 3"));
    json_t *payload = json_object_get(expect_pair(&w, "execution.completed"), "payload");
    assert_string_equal(text(payload, "tool"), "job");
    jianmu_result_free(run_script(&w, "sh", "kill -9 $$"));
    payload = json_object_get(expect_pair(&w, "execution.completed"), "payload");
    assert_string_equal(text(payload, "reason"), "signalled");
    world_close(&w);
    world_open(&w, NULL, "{\"timeout_s\": 0.2}");
    jianmu_result_free(run_script(&w, "sh", "sleep 60"));
    payload = json_object_get(expect_pair(&w, "execution.failed"), "payload");
    assert_string_equal(text(payload, "error"), "tool_timeout: timed out after 0.2s");
    world_close(&w);
}

static void test_nobody_listens(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    world_open(&w, NULL, NULL);
    jianmu_runner_free(w.runner);
    jianmu_bus *bus = jianmu_bus_new();
    w.runner = jianmu_runner_from_constraints(w.constraints, w.config, NULL, NULL, bus, &err);
    call_talker(&w);
    jianmu_result_free(run_script(&w, "sh", ":"));
    assert_int_equal(json_array_size(w.events), 0);
    jianmu_runner_free(w.runner);
    w.runner = NULL;
    jianmu_bus_free(bus);
    assert_int_equal(jianmu_bus_subscribe(NULL, NULL, NULL, &err), -1);
    jianmu_error_free(err);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_events_of_plugins),
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_nobody_listens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
