/* SPDX-License-Identifier: Apache-2.0
 * What seldom happens to a call: its end and a cancel at once, owners that go early, odd text. */
#include "config.h"
#include "support.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char read_soon(int fd)
{
    struct pollfd p = {fd, POLLIN, 0};
    char c = 0;
    assert_int_equal(poll(&p, 1, 20000), 1);
    return read(fd, &c, 1) == 1 ? c : 0;
}

static void wait_for_threads(int most)
{
    for (int i = 0; i < 200 && count_threads() > most; i++)
        usleep(50000);
    assert_true(count_threads() <= most); /* one of an earlier test may have ended meanwhile */
}

static void test_an_abandoned_call_keeps_what_it_reads(void **state)
{
    (void)state;
    struct world w;
    int ends[2], threads = count_threads();
    char args[80];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    world_open(&w, NULL, "{\"timeout_s\": 0.2, \"workspace\": \"/\"}");
    snprintf(args, sizeof args, "{\"seconds\": 1, \"fd\": %d}", ends[1]);
    jianmu_result *r = call_tool(&w, "late_reader", args, NULL);
    assert_true(jianmu_result_abandoned(r));
    jianmu_result_free(r);
    world_close(&w); /* runner, bus and config: the tool reads its settings after that */
    assert_int_equal(read_soon(ends[0]), 'g');
    wait_for_threads(threads);
    close(ends[0]);
    close(ends[1]);
}

static void *cancel_soon(void *arg)
{
    usleep(100000);
    jianmu_call_cancel(arg);
    return NULL;
}

static void test_a_cancelled_worker_is_told(void **state)
{
    (void)state;
    struct world w;
    pthread_t thread;
    int ends[2], threads = count_threads();
    char args[80];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    jianmu_call *call = jianmu_call_new();
    world_open(&w, NULL, "{\"timeout_s\": 600}");
    snprintf(args, sizeof args, "{\"poll\": true, \"fd\": %d}", ends[1]);
    pthread_create(&thread, NULL, cancel_soon, call);
    jianmu_result *r = call_tool(&w, "late_reader", args, call);
    assert_int_equal(jianmu_result_reason(r), JIANMU_CANCELLED);
    pthread_join(thread, NULL);
    jianmu_call_free(call);
    jianmu_result_free(r);
    assert_int_equal(read_soon(ends[0]), 't');
    world_close(&w);
    wait_for_threads(threads);
    close(ends[0]);
    close(ends[1]);
}

static void test_processes_of_an_abandoned_call_die(void **state)
{
    (void)state;
    struct world w;
    pthread_t thread;
    int threads = count_threads();
    jianmu_call *call = jianmu_call_new();
    world_open(&w, NULL, "{\"timeout_s\": 600}");
    pthread_create(&thread, NULL, cancel_soon, call);
    jianmu_result *r = call_tool(&w, "loud_starter", "{\"script\": \"sleep 500\", \"times\": 1}", call);
    assert_int_equal(jianmu_result_reason(r), JIANMU_CANCELLED);
    pthread_join(thread, NULL);
    jianmu_call_free(call);
    jianmu_result_free(r);
    world_close(&w);
    wait_for_threads(threads); /* the tool waits for its process, so that has ended */
}

struct canceller {
    jianmu_call *call;
    atomic_int go, stop;
};

static void *cancel_often(void *arg)
{
    struct canceller *c = arg;
    while (!atomic_load(&c->stop))
        if (atomic_exchange(&c->go, 0))
            jianmu_call_cancel(c->call);
    return NULL;
}

/* The runner, with all its workers, goes while a cancel may still be under way. */
static void test_cancel_at_any_moment(void **state)
{
    (void)state;
    struct canceller c = {.call = jianmu_call_new()};
    pthread_t thread;
    pthread_create(&thread, NULL, cancel_often, &c);
    for (int i = 0; i < 40; i++) {
        struct world w;
        world_open(&w, NULL, "{\"timeout_s\": 60}");
        jianmu_call_reset(c.call);
        atomic_store(&c.go, 1);
        jianmu_result *r = call_tool(&w, "uncooperative", NULL, c.call);
        jianmu_reason reason = jianmu_result_reason(r);
        assert_true(reason == JIANMU_EXITED || reason == JIANMU_CANCELLED);
        expect_pair(&w, reason == JIANMU_EXITED ? "execution.completed" : "execution.failed");
        jianmu_result_free(r);
        world_close(&w);
    }
    atomic_store(&c.stop, 1);
    pthread_join(thread, NULL);
    jianmu_call_free(c.call);
}

static void test_a_worker_hands_over_all(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, "{\"timeout_s\": 60}");
    jianmu_result *r = call_tool(&w, "loud_starter", "{\"script\": \"echo out; echo err >&2\", \"times\": 1}", NULL);
    assert_string_equal(jianmu_result_text(r, 1, NULL), "out\n");
    assert_string_equal(jianmu_result_text(r, 2, NULL), "err\n");
    assert_true(jianmu_result_seconds(r, "run") >= 0);
    assert_true(jianmu_result_peak_memory(r) > 0);
    jianmu_result_free(r);
    r = call_tool(&w, "late_reader", NULL, NULL); /* collects, and closes its directory twice */
    assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED);
    jianmu_result_free(r);
    world_close(&w);
}

static void test_a_backend_that_asks_before_the_tool(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_call *call = jianmu_call_new();
    int fds = count_fds();
    world_open(&w, NULL, "{\"mode\": \"eager\", \"workspace\": \"/\"}");
    assert_int_equal(jianmu_call_set_timeout(call, 60, &err), 0);
    for (int i = 0; i < 3; i++) {
        jianmu_result *r = call_tool(&w, "late_reader", NULL, call);
        assert_string_equal(json_string_value(jianmu_result_value(r)), "grey");
        jianmu_result_free(r);
    }
    /* its job writes to a pipe that nobody reads */
    jianmu_job *job = jianmu_job_new("", 0);
    jianmu_result *r = NULL;
    assert_int_equal(jianmu_run_job(w.runner, job, NULL, &r, &err), -1);
    assert_non_null(strstr(jianmu_error_message(err), "Broken pipe"));
    jianmu_error_free(err);
    jianmu_result_free(r);
    jianmu_job_free(job);
    jianmu_call_free(call);
    world_close(&w);
    assert_true(count_fds() <= fds);
}

static void test_threads_of_a_plugin(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_call *call = jianmu_call_new();
    world_open(&w, NULL, "{\"workspace\": \"/\"}");
    /* with a subscriber that is no more than a counter, as these come from several threads */
    jianmu_runner_free(w.runner);
    w.runner = jianmu_runner_from_constraints(w.constraints, w.config, NULL, NULL, NULL, &err);
    assert_non_null(w.runner);
    assert_int_equal(jianmu_call_set_timeout(call, 600, &err), 0);
    int fds = count_fds();
    jianmu_result *r = call_tool(&w, "threaded", NULL, call);
    assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED);
    assert_true(jianmu_result_seconds(r, "run") > 0);
    jianmu_result_free(r);
    jianmu_call_free(call);
    jianmu_runner_free(w.runner);
    w.runner = NULL;
    assert_true(count_fds() <= fds);
    world_close(&w);
}

static void expect_repaired(struct world *w, const char *mode)
{
    world_open(w, NULL, mode);
    jianmu_result *r = call_tool(w, "bad_text", NULL, NULL);
    assert_string_equal(jianmu_result_message(r), "bad \xef\xbf\xbd");
    json_t *json = jianmu_result_json(r);
    assert_non_null(json);
    json_decref(json);
    jianmu_result_free(r);
    assert_int_equal(json_array_size(w->events), 4);
    json_t *log = json_object_get(json_array_get(w->events, 1), "payload");
    assert_string_equal(json_string_value(json_object_get(log, "text")), "log \xef\xbf\xbd");
    expect_pair(w, "execution.failed");
    call_refused(w, "bad_text", "{\"error\": 41}", NULL, JIANMU_UNAVAILABLE, "bad \xef\xbf\xbd");
    call_refused(w, "bad_text", "{\"error\": 0}", NULL, JIANMU_INTERNAL, "bad");
    call_refused(w, "bad_text", "{\"error\": 12345}", NULL, JIANMU_INTERNAL, "bad");
    world_close(w);
}

static void test_what_is_no_text(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    expect_repaired(&w, NULL);
    expect_repaired(&w, "{\"mode\": \"hosted\"}");
    jianmu_call *call = jianmu_call_new();
    assert_int_equal(jianmu_call_set_ids(call, "good", "\xff", NULL, &err), -1);
    assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
    assert_non_null(strstr(jianmu_error_message(err), "node_name"));
    jianmu_error_free(err);
    jianmu_call_free(call);
}

static void test_events_where_the_plan_cannot_be_made(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    jianmu_job *job = jianmu_job_new("", 0);
    world_open(&w, NULL, "{\"mode\": \"nowhere\", \"scope\": \"skill\"}");
    assert_int_equal(jianmu_run_job(w.runner, job, NULL, &r, &err), -1);
    json_t *payload = json_object_get(expect_pair(&w, "execution.failed"), "payload");
    assert_string_equal(json_string_value(json_object_get(payload, "error")), jianmu_error_message(err));
    assert_string_equal(json_string_value(json_object_get(payload, "code")), "unavailable");
    assert_string_equal(json_string_value(json_object_get(payload, "backend")), "local");
    jianmu_error_free(err);
    jianmu_result_free(r);
    jianmu_job_free(job);
    world_close(&w);
}

static void test_the_timeout_of_a_call_is_held_or_refused(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_call *call = jianmu_call_new();
    assert_int_equal(jianmu_call_set_timeout(call, 60, &err), 0);
    world_open(&w, NULL, NULL);
    jianmu_result *r = call_tool(&w, "echo_it", NULL, call);
    json_t *json = jianmu_result_json(r);
    json_t *enforced = json_object_get(json, "enforced");
    assert_string_equal(json_string_value(json_object_get(enforced, "timeout_s")), "enforced");
    json_object_clear(enforced); /* the caller's own, not the runner's */
    json_decref(json);
    json = jianmu_result_json(r);
    assert_int_equal(json_object_size(json_object_get(json, "enforced")), 1);
    json_decref(json);
    jianmu_result_free(r);
    json = jianmu_runner_explain(w.runner, "echo_it", call, &err);
    assert_string_equal(json_string_value(json_object_get(json_object_get(json, "limits"), "timeout_s")), "enforced");
    json_decref(json);
    world_close(&w);
    setenv("EAGER_UNTIMED", "1", 1);
    world_open(&w, NULL, "{\"mode\": \"eager\"}");
    call_refused(&w, "echo_it", NULL, call, JIANMU_UNSUPPORTED, "cannot enforce timeout_s");
    expect_pair(&w, "execution.failed");
    json = jianmu_runner_explain(w.runner, "echo_it", call, &err);
    assert_true(json_is_string(json_object_get(json, "refusal")));
    json_decref(json);
    jianmu_result_free(call_tool(&w, "echo_it", NULL, NULL));
    world_close(&w);
    unsetenv("EAGER_UNTIMED");
    jianmu_call_free(call);
}

static void test_a_config_that_was_not_loaded(void **state)
{
    (void)state;
    jianmu_error *err = NULL;
    jianmu_config *config = jianmu_config_new();
    assert_null(jianmu_backend_open(config, "local", &err));
    assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
    jianmu_error_free(err);
    err = NULL;
    assert_int_equal(jianmu_gc(config, NULL, &err), 0);
    jianmu_config_free(config);
}

static void test_a_job_cancelled_before_it_starts(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    jianmu_call *call = jianmu_call_new();
    jianmu_job *job = jianmu_job_new("", 0);
    world_open(&w, NULL, NULL);
    jianmu_call_cancel(call);
    assert_int_equal(jianmu_run_job(w.runner, job, call, &r, &err), 0);
    assert_int_equal(jianmu_result_reason(r), JIANMU_CANCELLED);
    assert_int_not_equal(jianmu_result_exit_code(r), 0);
    expect_pair(&w, "execution.failed");
    jianmu_job_free(job);
    jianmu_call_free(call);
    jianmu_result_free(r);
    world_close(&w);
}

static void test_the_last_standard_input_counts(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    jianmu_job *job = jianmu_job_new("cat", 3);
    world_open(&w, NULL, NULL);
    assert_int_equal(jianmu_job_set_language(job, "sh", &err), 0);
    assert_int_equal(jianmu_job_set_stdin_fd(job, null, &err), 0);
    assert_int_equal(jianmu_job_set_stdin(job, "bytes", 5, &err), 0);
    assert_int_equal(jianmu_run_job(w.runner, job, NULL, &r, &err), 0);
    assert_string_equal(jianmu_result_text(r, 1, NULL), "bytes");
    jianmu_job_free(job);
    jianmu_result_free(r);
    close(null);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_worker_hands_over_all),
        cmocka_unit_test(test_a_backend_that_asks_before_the_tool),
        cmocka_unit_test(test_threads_of_a_plugin),
        cmocka_unit_test(test_cancel_at_any_moment),
        cmocka_unit_test(test_an_abandoned_call_keeps_what_it_reads),
        cmocka_unit_test(test_a_cancelled_worker_is_told),
        cmocka_unit_test(test_processes_of_an_abandoned_call_die),
        cmocka_unit_test(test_what_is_no_text),
        cmocka_unit_test(test_events_where_the_plan_cannot_be_made),
        cmocka_unit_test(test_the_timeout_of_a_call_is_held_or_refused),
        cmocka_unit_test(test_a_config_that_was_not_loaded),
        cmocka_unit_test(test_a_job_cancelled_before_it_starts),
        cmocka_unit_test(test_the_last_standard_input_counts),
    };
    return cmocka_run_group_tests(tests, use_build_tree, NULL);
}
