/* SPDX-License-Identifier: Apache-2.0
 * Kept processes as plug-ins see them: whose they are, how many there may be, and from many threads. */
#include "config.h"
#include "support.h"
#include "jianmu-plugin.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static jianmu_call *call_of(const char *session)
{
    jianmu_call *call = jianmu_call_new();
    assert_non_null(call);
    assert_int_equal(jianmu_call_set_session(call, session, NULL), 0);
    return call;
}

/* The value of a call, new. */
static json_t *ask(struct world *w, const char *tool, const char *session, const char *args)
{
    jianmu_call *call = call_of(session);
    jianmu_result *result = call_tool(w, tool, args, call);
    json_t *value = json_incref(jianmu_result_value(result));
    if (!value)
        fail_msg("%s: no value: %s", args, jianmu_result_message(result));
    jianmu_result_free(result);
    jianmu_call_free(call);
    return value;
}

static void expect(struct world *w, const char *tool, const char *session, const char *args, const char *answer,
                   uint64_t flags)
{
    json_t *value = ask(w, tool, session, args);
    const char *got = json_string_value(json_object_get(value, "answer"));
    uint64_t got_flags = (uint64_t)json_integer_value(json_object_get(value, "flags"));
    if (strcmp(got, answer) || got_flags != flags)
        fail_msg("%s %s: answer '%s' flags %#lx, not '%s' %#lx", session ? session : "-", args, got, (long)got_flags, answer,
                 (long)flags);
    json_decref(value);
}

#define ANSWERED JIANMU_KEPT_ANSWERED
#define FIRST (JIANMU_KEPT_ANSWERED | JIANMU_KEPT_STARTED)
#define TRACE "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
#define LOST (JIANMU_KEPT_GONE | JIANMU_KEPT_UNASKED)

static void test_whose_it_is(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, NULL);
    expect(&w, "keeper", NULL, "{\"question\": \"\"}", "1", FIRST);
    expect(&w, "keeper", NULL, "{\"question\": \"\"}", "2", ANSWERED);
    expect(&w, "keeper", "a", "{\"question\": \"\"}", "1", FIRST);
    expect(&w, "keeper2", "a", "{\"question\": \"\"}", "1", FIRST);
    expect(&w, "keeper", "a", "{\"question\": \"\"}", "2", ANSWERED);
    expect(&w, "keeper", "a", "{\"question\": \"\", \"key\": \"a\"}", "1", FIRST);
    expect(&w, "keeper", "b", "{\"question\": \"\", \"key\": \"a\"}", "2", ANSWERED);
    expect(&w, "keeper2", "b", "{\"question\": \"\", \"key\": \"a\"}", "1", FIRST); /* another tool, other limits */
    expect(&w, "keeper", "b", "{\"question\": \"\", \"key\": \"a\", \"argument\": \"x\"}", "1", FIRST);
    expect(&w, "keeper", "b", "{\"question\": \"\", \"key\": \"a\"}", "3", ANSWERED);
    expect(&w, "keeper", "a", "{\"question\": \"\", \"flags\": 1}", "1", FIRST);
    expect(&w, "keeper", "a", "{\"flags\": 1}", "", 0);
    expect(&w, "keeper", "a", "{\"question\": \"\"}", "1", FIRST);
    expect(&w, "stray_keeper", "a", "{\"question\": \"\"}", "1", FIRST);
    jianmu_call *call = call_of("a"); /* on another thread */
    jianmu_call_set_timeout(call, 60, NULL);
    jianmu_result *r = call_tool(&w, "stray_keeper", "{\"question\": \"\"}", call);
    assert_string_equal(json_string_value(json_object_get(jianmu_result_value(r), "answer")), "2");
    jianmu_result_free(r);
    jianmu_call_free(call);
    world_close(&w);
}

static void test_only_its_answer_counts(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, NULL);
    expect(&w, "keeper", NULL, "{\"question\": \"other\"}", "1", FIRST);
    expect(&w, "keeper", NULL, "{\"question\": \"\"}", "2", ANSWERED);
    json_array_clear(w.events);
    expect(&w, "keeper", NULL, "{\"question\": \"event\"}", "3", ANSWERED);
    assert_int_equal(json_array_size(w.events), 3); /* its own beginning and end, and the one that it may say */
    json_t *event = json_array_get(w.events, 1);
    assert_string_equal(json_string_value(json_object_get(event, "event")), "parrot.sang");
    json_t *value = ask(&w, "keeper", NULL, "{\"question\": \"say words\"}");
    assert_string_equal(json_string_value(json_object_get(value, "out")), "words");
    json_decref(value);
    world_close(&w);
}

static json_t *payload_at(struct world *w, size_t i)
{
    return json_object_get(json_array_get(w->events, i), "payload");
}

static void test_a_flood_of_events(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, NULL);
    expect(&w, "keeper", NULL, "{\"question\": \"flood\"}", "1", FIRST);
    assert_int_equal(json_array_size(w.events), 1 + 999 + 1 + 1); /* the third was none */
    json_t *log = payload_at(&w, 1), *progress = payload_at(&w, 2);
    assert_string_equal(json_string_value(json_object_get(log, "text")), "said");
    assert_null(json_object_get(log, "code"));
    assert_true(json_is_null(json_object_get(progress, "fraction")));
    assert_null(json_object_get(progress, "reason"));
    assert_int_equal(json_integer_value(json_object_get(payload_at(&w, 1000), "dropped")), 503);
    json_array_clear(w.events);
    expect(&w, "keeper", NULL, "{\"question\": \"event\"}", "2", ANSWERED); /* the next call has its own share */
    assert_int_equal(json_array_size(w.events), 3);
    world_close(&w);
}

static void test_a_loss_is_told_once(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, NULL);
    expect(&w, "keeper", "a", "{\"question\": \"\", \"most\": 2}", "1", FIRST);
    expect(&w, "keeper", "b", "{\"question\": \"\", \"most\": 2}", "1", FIRST);
    expect(&w, "keeper", "a", "{\"question\": \"\", \"most\": 2}", "2", ANSWERED);
    expect(&w, "keeper", "c", "{\"question\": \"\", \"most\": 2}", "1", FIRST);
    expect(&w, "keeper", "b", "{\"question\": \"\", \"most\": 2}", "", LOST | JIANMU_KEPT_PUSHED_OUT);
    expect(&w, "keeper", "a", "{\"question\": \"\", \"most\": 2}", "3", ANSWERED); /* telling it cost nobody his place */
    expect(&w, "keeper", "b", "{\"question\": \"\", \"most\": 3}", "1", FIRST);
    expect(&w, "keeper", "c", "{\"question\": \"\", \"most\": 3}", "2", ANSWERED);
    expect(&w, "keeper", "d", "{\"question\": \"\", \"most\": 3}", "1", FIRST); /* in the place of a */
    expect(&w, "keeper", "a", "{\"question\": \"\", \"most\": 3, \"flags\": 1}", "1", FIRST); /* a reset is a new start */
    expect(&w, "keeper", "e", "{\"question\": \"exit 3\"}", "", JIANMU_KEPT_STARTED | JIANMU_KEPT_GONE);
    expect(&w, "keeper", "e", "{\"question\": \"\"}", "1", FIRST);
    world_close(&w);
}

static void test_bad_requests(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    world_open(&w, NULL, NULL);
    call_refused(&w, "keeper", "{\"question\": \"\", \"flags\": 2}", NULL, JIANMU_UNSUPPORTED, "unknown flags 0x2");
    call_refused(&w, "keeper", "{\"question\": \"\", \"size\": 16}", NULL, JIANMU_INVALID, "too small");
    call_refused(&w, "keeper", "{\"question\": \"\", \"idle_s\": -1}", NULL, JIANMU_INVALID, "a time that is none");
    json_t *value = ask(&w, "keeper", NULL, "{\"question\": \"\", \"short_end\": true}");
    assert_string_equal(json_string_value(json_object_get(value, "answer")), "untouched");
    json_decref(value);
    jianmu_call *call = jianmu_call_new();
    const char *const bad[] = {"", "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(jianmu_call_set_session(call, bad[i], &err), -1);
        assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
        jianmu_error_free(err);
        err = NULL;
    }
    jianmu_call_free(call);
    world_close(&w);
}

static void test_a_background_call_has_its_session(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_result *result = NULL;
    world_open(&w, NULL, NULL);
    expect(&w, "keeper", "a", "{\"question\": \"\"}", "1", FIRST);
    jianmu_executor *executor = jianmu_executor_new(w.runner, &err);
    jianmu_call *call = call_of("a");
    json_t *args = json_text("{\"question\": \"\"}");
    jianmu_handle *handle = executor ? jianmu_start_tool(executor, "keeper", args, call, &err) : NULL;
    jianmu_call_free(call); /* copied */
    if (!handle || jianmu_handle_wait(handle, 60, &result, &err) != 0)
        fail_msg("%s", jianmu_error_message(err));
    assert_string_equal(json_string_value(json_object_get(jianmu_result_value(result), "answer")), "2");
    jianmu_result_free(result);
    jianmu_handle_free(handle);
    jianmu_executor_free(executor);
    json_decref(args);
    world_close(&w);
}

static void test_its_environment_has_no_trace(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, NULL);
    jianmu_call *call = call_of("traced");
    assert_int_equal(jianmu_call_set_trace(call, TRACE, "vendor=state", NULL), 0);
    jianmu_result_free(call_tool(&w, "keeper", "{\"question\": \"\"}", call));
    expect(&w, "keeper", "traced", "{\"question\": \"env TRACEPARENT\"}", "unset", ANSWERED);
    expect(&w, "keeper", "traced", "{\"question\": \"env TRACESTATE\"}", "unset", ANSWERED);
    expect(&w, "keeper", "traced", "{\"question\": \"env LANG\"}", "C.UTF-8", ANSWERED);
    jianmu_call_free(call);
    world_close(&w);
}

static void one_abandoned_call(bool runner_lives)
{
    struct world w;
    int pipe_fd[2];
    char args[80], said = 0;
    assert_int_equal(pipe2(pipe_fd, O_CLOEXEC), 0);
    world_open(&w, NULL, "{\"timeout_s\": 0.2}");
    jianmu_call *call = call_of("alice");
    assert_int_equal(jianmu_call_set_trace(call, TRACE, "vendor=state", NULL), 0);
    snprintf(args, sizeof args, "{\"question\": \"event\", \"seconds\": 1, \"fd\": %d}", pipe_fd[1]);
    jianmu_result *r = call_tool(&w, "late_keeper", args, call);
    assert_true(jianmu_result_abandoned(r));
    jianmu_result_free(r);
    jianmu_call_free(call);
    if (!runner_lives)
        world_close(&w);
    assert_int_equal(read(pipe_fd[0], &said, 1), 1);
    assert_int_equal(said, 'f');
    if (runner_lives) {
        assert_int_equal(json_array_size(w.events), 2); /* nothing behind the terminal event */
        world_close(&w);
    }
    close(pipe_fd[0]);
    close(pipe_fd[1]);
}

static void test_what_is_abandoned_asks_nobody(void **state)
{
    (void)state;
    int threads = count_threads();
    one_abandoned_call(true);
    one_abandoned_call(false);
    for (int i = 0; i < 400 && count_threads() > threads; i++)
        usleep(50000);
    assert_int_equal(count_threads(), threads);
}

#define THREADS 6
#define CALLS 40
#define SESSIONS 9

static void *hammer(void *data)
{
    struct world *w = data;
    for (int i = 0; i < CALLS; i++) {
        char session[8];
        snprintf(session, sizeof session, "s%d", (int)(((uintptr_t)&session / 64 + (unsigned)i * 7) % SESSIONS));
        jianmu_error *err = NULL;
        jianmu_result *result = NULL;
        jianmu_call *call = jianmu_call_new();
        jianmu_call_set_session(call, session, NULL);
        json_t *args = json_loads("{\"question\": \"\", \"most\": 3, \"idle_s\": 30}", 0, NULL);
        const jianmu_tool *tool = jianmu_runner_tool(w->runner, "keeper", &err);
        if (!tool || jianmu_run_tool(w->runner, tool, args, call, &result, &err))
            return (void *)1;
        json_int_t flags = json_integer_value(json_object_get(jianmu_result_value(result), "flags"));
        if (!(flags & ANSWERED) && flags != (json_int_t)(LOST | JIANMU_KEPT_PUSHED_OUT))
            return (void *)1;
        json_decref(args);
        jianmu_result_free(result);
        jianmu_call_free(call);
    }
    return NULL;
}

static void test_many_threads(void **state)
{
    (void)state;
    struct world w;
    int fds = count_fds();
    world_open(&w, NULL, NULL);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, &w), 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    json_t *value = ask(&w, "keeper", "last", "{\"question\": \"pid\", \"most\": 3}");
    int pid = atoi(json_string_value(json_object_get(value, "answer")));
    json_decref(value);
    assert_int_equal(kill(pid, 0), 0);
    world_close(&w);
    assert_true(process_gone(pid));
    assert_int_equal(count_fds(), fds);
}

int main(void)
{
    char path[4096];
    const char *build = getenv("JIANMU_BUILD");
    snprintf(path, sizeof path, "%s/tests/call/parrot", build ? build : ".");
    setenv("PARROT", path, 1);
    world_dir = "tests/call/askdir";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whose_it_is), cmocka_unit_test(test_only_its_answer_counts),
        cmocka_unit_test(test_a_flood_of_events),
        cmocka_unit_test(test_a_loss_is_told_once), cmocka_unit_test(test_bad_requests),
        cmocka_unit_test(test_a_background_call_has_its_session), cmocka_unit_test(test_many_threads),
        cmocka_unit_test(test_what_is_abandoned_asks_nobody), cmocka_unit_test(test_its_environment_has_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
