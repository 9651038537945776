/* SPDX-License-Identifier: Apache-2.0
 * Tools that do not look at their deadline. */
#include "config.h"
#include "support.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool readable(int fd, int ms)
{
    struct pollfd p = {fd, POLLIN, 0};
    return poll(&p, 1, ms) == 1;
}

static char read_one(int fd)
{
    char c = 0;
    return read(fd, &c, 1) == 1 ? c : 0;
}

static void test_sleeps_a_minute(void **state)
{
    (void)state;
    struct world w;
    int pipe_fd[2];
    char args[80];
    double took = 60;
    jianmu_result *r = NULL;
    /* a machine that is busy elsewhere may be late once, not every time */
    for (int i = 0; i < 5 && took >= 1.2; i++) {
        if (r) {
            jianmu_result_free(r);
            world_close(&w);
        }
        assert_int_equal(pipe2(pipe_fd, O_CLOEXEC), 0);
        world_open(&w, NULL, "{\"timeout_s\": 1}");
        snprintf(args, sizeof args, "{\"seconds\": 60, \"fd\": %d}", pipe_fd[1]);
        double before = now_s();
        r = call_tool(&w, "stubborn", args, NULL);
        took = now_s() - before;
        assert_true(took >= 0.99);
    }
    assert_true(took < 1.2);
    assert_int_equal(read_one(pipe_fd[0]), 'b'); /* it had begun, and has not ended */
    assert_false(readable(pipe_fd[0], 0));
    assert_int_equal(jianmu_result_reason(r), JIANMU_TIMEOUT);
    assert_true(jianmu_result_abandoned(r));
    assert_null(jianmu_result_value(r));
    assert_string_equal(jianmu_result_message(r), "Tool 'stubborn' timed out after 1.0s");
    jianmu_result_free(r);
    json_t *payload = json_object_get(expect_pair(&w, "execution.failed"), "payload");
    assert_true(json_is_true(json_object_get(payload, "abandoned")));
    assert_string_equal(json_string_value(json_object_get(payload, "error")), "tool_timeout: timed out after 1.0s");
    world_close(&w); /* runner, bus and config go while the tool still sleeps */
}

static void test_wakes_up_after_everything_is_gone(void **state)
{
    (void)state;
    struct world w;
    int pipe_fd[2], threads = count_threads();
    char args[80];
    assert_int_equal(pipe2(pipe_fd, O_CLOEXEC), 0);
    world_open(&w, NULL, "{\"timeout_s\": 0.2}");
    snprintf(args, sizeof args, "{\"seconds\": 1.5, \"fd\": %d}", pipe_fd[1]);
    jianmu_result *r = call_tool(&w, "stubborn", args, NULL);
    assert_true(jianmu_result_abandoned(r));
    jianmu_result_free(r);
    assert_int_equal(read_one(pipe_fd[0]), 'b');
    world_close(&w);
    /* its code is still mapped: it logs, reports progress, writes to the pipe and returns */
    assert_true(readable(pipe_fd[0], 20000));
    assert_int_equal(read_one(pipe_fd[0]), 'e');
    for (int i = 0; i < 200 && count_threads() > threads; i++)
        usleep(50000);
    assert_int_equal(count_threads(), threads);
    close(pipe_fd[0]);
    close(pipe_fd[1]);
}

static void test_beyond_the_maximum_the_next_is_refused(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "execution:\n  local:\n    max_abandoned: 2\n", "{\"timeout_s\": 0.1}");
    for (int i = 0; i < 2; i++) {
        jianmu_result *r = call_tool(&w, "stubborn", "{\"seconds\": 2}", NULL);
        assert_true(jianmu_result_abandoned(r));
        jianmu_result_free(r);
        expect_pair(&w, "execution.failed");
    }
    call_refused(&w, "stubborn", "{\"seconds\": 0}", NULL, JIANMU_UNAVAILABLE, "max_abandoned is 2");
    expect_pair(&w, "execution.failed");
    /* others are not touched by that */
    jianmu_result_free(call_tool(&w, "echo_it", NULL, NULL));
    expect_pair(&w, "execution.completed");
    /* and once they are back there is room again */
    jianmu_result *r = NULL;
    for (int i = 0; i < 100; i++) {
        jianmu_error *err = NULL;
        const jianmu_tool *t = jianmu_runner_tool(w.runner, "stubborn", &err);
        json_t *args = json_pack("{s:i}", "seconds", 0);
        int status = jianmu_run_tool(w.runner, t, args, NULL, &r, &err);
        json_decref(args);
        jianmu_error_free(err);
        if (!status)
            break;
        usleep(100000);
    }
    assert_string_equal(json_string_value(jianmu_result_value(r)), "slept");
    jianmu_result_free(r);
    world_close(&w);
}

static void test_in_time_on_a_worker(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, "{\"timeout_s\": 20}");
    jianmu_result_free(call_tool(&w, "stubborn", "{\"seconds\": 0}", NULL));
    int threads = count_threads(), fds = count_fds();
    for (int i = 0; i < 50; i++) {
        jianmu_result *r = call_tool(&w, "stubborn", "{\"seconds\": 0}", NULL);
        assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED);
        assert_string_equal(json_string_value(jianmu_result_value(r)), "slept");
        jianmu_result_free(r);
    }
    assert_int_equal(count_threads(), threads); /* one worker serves them all */
    assert_int_equal(count_fds(), fds);
    world_close(&w);
    assert_int_equal(count_threads(), threads - 1);
}

static void *cancel_soon(void *arg)
{
    usleep(100000);
    jianmu_call_cancel(arg);
    return NULL;
}

static void test_cancelled_on_a_worker(void **state)
{
    (void)state;
    struct world w;
    pthread_t thread;
    jianmu_call *call = jianmu_call_new();
    world_open(&w, NULL, "{\"timeout_s\": 50}");
    pthread_create(&thread, NULL, cancel_soon, call);
    double before = now_s();
    jianmu_result *r = call_tool(&w, "stubborn", "{\"seconds\": 8}", call);
    assert_true(now_s() - before < 7);
    pthread_join(thread, NULL);
    assert_int_equal(jianmu_result_reason(r), JIANMU_CANCELLED);
    assert_true(jianmu_result_abandoned(r));
    jianmu_result_free(r);
    jianmu_call_free(call); /* the abandoned tool never looks at it again */
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_time_on_a_worker),
        cmocka_unit_test(test_wakes_up_after_everything_is_gone),
        cmocka_unit_test(test_beyond_the_maximum_the_next_is_refused),
        cmocka_unit_test(test_cancelled_on_a_worker),
        cmocka_unit_test(test_sleeps_a_minute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
