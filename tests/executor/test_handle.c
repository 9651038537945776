/* SPDX-License-Identifier: Apache-2.0
 * Calls in the background. */
#include "config.h"
#include "kit.h"
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static jianmu_handle *start_tool(struct kit *k, const char *tool, const char *args, const jianmu_call *call)
{
    jianmu_error *err = NULL;
    json_t *json = kit_args(k, args);
    jianmu_handle *h = jianmu_start_tool(k->executor, tool, json, call, &err);
    json_object_clear(json); /* it is the caller's again */
    json_decref(json);
    if (!h)
        fail_msg("%s: %s", tool, jianmu_error_message(err));
    return h;
}

static jianmu_reason end_of(jianmu_handle *h)
{
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    if (jianmu_handle_wait(h, -1, &r, &err))
        fail_msg("%s", jianmu_error_message(err));
    jianmu_reason reason = jianmu_result_reason(r);
    jianmu_result_free(r);
    jianmu_handle_free(h);
    return reason;
}

static bool readable(int fd, int ms)
{
    struct pollfd p = {fd, POLLIN, 0};
    return poll(&p, 1, ms) == 1;
}

static void test_result_and_error(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    kit_open(&k, NULL, NULL);
    jianmu_handle *h = start_tool(&k, "echoes", "\"n\": 7", NULL);
    assert_int_equal(jianmu_handle_wait(h, 60, &r, &err), 0);
    assert_int_equal(jianmu_handle_poll(h), 1);
    assert_int_equal(json_integer_value(json_object_get(jianmu_result_value(r), "n")), 7);
    jianmu_result_free(r);
    kit_events(&k, 0, "execution.completed");
    assert_int_equal(jianmu_handle_wait(h, 0, &r, &err), -1); /* handed over once */
    assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
    jianmu_error_free(err);
    jianmu_handle_free(h);
    err = NULL;
    h = start_tool(&k, "nowhere", NULL, NULL);
    assert_int_equal(jianmu_handle_wait(h, 60, &r, &err), -1);
    assert_int_equal(jianmu_error_code(err), JIANMU_NOT_FOUND);
    jianmu_error_free(err);
    jianmu_handle_free(h);
    kit_events(&k, 0, "execution.failed");
    /* the same repeats */
    h = start_tool(&k, "fails", "\"times\": 3, \"how\": \"transient\"", NULL);
    assert_int_equal(end_of(h), JIANMU_EXITED);
    kit_events(&k, 2, "execution.completed");
    jianmu_handle_free(NULL);
    kit_close(&k);
}

static void test_deadline_poll_cancel(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    kit_open(&k, NULL, NULL);
    jianmu_handle *h = start_tool(&k, "hangs", "\"times\": 9", NULL);
    double before = now_s();
    assert_int_equal(jianmu_handle_wait(h, 0.05, &r, &err), 1);
    assert_true(now_s() - before >= 0.049);
    assert_int_equal(jianmu_handle_wait(h, 0, &r, &err), 1);
    assert_int_equal(jianmu_handle_poll(h), 0);
    int fd = jianmu_handle_fd(h, &err);
    assert_true(fd >= 0);
    assert_false(readable(fd, 0));
    jianmu_handle_cancel(h);
    assert_true(readable(fd, 60000));
    assert_int_equal(jianmu_handle_poll(h), 1);
    assert_int_equal(end_of(h), JIANMU_CANCELLED);
    kit_events(&k, 0, "execution.failed");
    /* freed while it runs: cancelled, and waited for */
    h = start_tool(&k, "hangs", "\"times\": 9", NULL);
    jianmu_handle_free(h);
    kit_events(&k, 0, "execution.failed");
    kit_close(&k);
}

/* What looks at nothing cannot hold up who cancels. */
static void test_deaf_tools_are_left(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    kit_open(&k, NULL, NULL);
    jianmu_handle *h = start_tool(&k, "deaf", "\"seconds\": 3", NULL);
    assert_int_equal(jianmu_handle_wait(h, 0.1, &r, &err), 1);
    jianmu_handle_cancel(h);
    assert_int_equal(jianmu_handle_wait(h, 60, &r, &err), 0);
    assert_int_equal(jianmu_result_reason(r), JIANMU_CANCELLED);
    assert_true(jianmu_result_abandoned(r));
    jianmu_result_free(r);
    jianmu_handle_free(h);
    kit_events(&k, 0, "execution.failed");
    kit_close(&k);
}

/* What a call object says is copied; it may go, and its cancel is not the handle's. */
static void test_the_call_is_copied(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    kit_open(&k, NULL, NULL);
    jianmu_call *call = jianmu_call_new();
    assert_int_equal(jianmu_call_set_ids(call, "run", "node", "id", &err), 0);
    assert_int_equal(jianmu_call_set_timeout(call, 0.2, &err), 0);
    jianmu_handle *h = start_tool(&k, "hangs", "\"times\": 9", call);
    jianmu_call_cancel(call);
    jianmu_call_free(call);
    assert_int_equal(end_of(h), JIANMU_TIMEOUT);
    json_t *started = json_incref(json_array_get(k.w.events, 0));
    assert_string_equal(kit_text(started, "run_id"), "run");
    assert_string_equal(kit_text(started, "tool_call_id"), "id");
    json_decref(started);
    kit_events(&k, 0, "execution.failed");
    kit_close(&k);
}

static jianmu_handle *start_script(struct kit *k, jianmu_job **job, const char *script)
{
    jianmu_error *err = NULL;
    *job = jianmu_job_new(script, strlen(script));
    assert_int_equal(jianmu_job_set_language(*job, "sh", &err), 0);
    jianmu_call *call = jianmu_call_new();
    jianmu_call_set_operator(call, 1);
    jianmu_handle *h = jianmu_start_job(k->executor, *job, call, &err);
    jianmu_call_free(call);
    if (!h)
        fail_msg("%s", jianmu_error_message(err));
    return h;
}

static void read_line(jianmu_handle *h, int fd, int stream, const char *want)
{
    char text[100];
    size_t n = 0;
    while (n < strlen(want)) {
        assert_true(readable(fd, 60000));
        bool ended = jianmu_handle_poll(h);
        size_t before = n;
        n += jianmu_handle_read(h, stream, text + n, sizeof text - 1 - n, NULL);
        assert_true(n > before || !ended);
    }
    text[n] = 0;
    assert_string_equal(text, want);
}

static void test_output_as_it_comes(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_job *job;
    char fifo[80], then[80], script[600], byte;
    kit_open(&k, NULL, NULL);
    snprintf(fifo, sizeof fifo, "%s.fifo", k.file);
    snprintf(then, sizeof then, "%s.then", k.file);
    snprintf(script, sizeof script, "mkfifo %s %s; echo one; read x < %s; echo two >&2; read x < %s; echo three\n", fifo,
             then, fifo, then);
    jianmu_handle *h = start_script(&k, &job, script);
    int fd = jianmu_handle_fd(h, &err);
    read_line(h, fd, 1, "one\n");
    assert_false(readable(fd, 0));
    assert_int_equal(jianmu_handle_read(h, 1, &byte, 1, NULL), 0);
    FILE *f = fopen(fifo, "w");
    fputs("go\n", f);
    fclose(f);
    read_line(h, fd, 2, "two\n");
    assert_int_equal(jianmu_handle_poll(h), 0);
    f = fopen(then, "w");
    fputs("go\n", f);
    fclose(f);
    read_line(h, fd, 1, "three\n");
    jianmu_result *r = NULL;
    assert_int_equal(jianmu_handle_wait(h, 60, &r, &err), 0);
    assert_true(readable(fd, 0)); /* the end stays */
    assert_string_equal(jianmu_result_text(r, 1, NULL), "one\nthree\n");
    jianmu_result_free(r);
    jianmu_handle_free(h);
    jianmu_job_free(job);
    unlink(fifo);
    unlink(then);
    kit_events(&k, 0, "execution.completed");
    kit_close(&k);
}

/* Nobody reads: the job goes on, the last 32 KiB wait, what went is counted. */
static void test_output_that_nobody_reads(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_job *job;
    jianmu_result *r = NULL;
    static char bytes[100000];
    uint64_t dropped;
    kit_open(&k, NULL, NULL);
    jianmu_handle *h = start_script(&k, &job, "i=0; while [ $i -lt 1000 ]; do printf '%0100d' $i; i=$((i+1)); done");
    assert_int_equal(jianmu_handle_wait(h, -1, &r, &err), 0);
    size_t n = jianmu_handle_read(h, 1, bytes, sizeof bytes, &dropped);
    assert_int_equal(n, 32768);
    assert_int_equal(n + dropped, 100000);
    assert_memory_equal(bytes + n - 3, "999", 3);
    assert_memory_equal(bytes, (const char *)jianmu_result_raw(r, 1, NULL) + 100000 - 32768, n);
    assert_int_equal(jianmu_handle_read(h, 1, bytes, sizeof bytes, NULL), 0);
    jianmu_result_free(r);
    jianmu_handle_free(h);
    jianmu_job_free(job);
    kit_close(&k);
}

static long resident(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

#define MANY 1000
static void test_a_thousand(void **state)
{
    (void)state;
    static jianmu_handle *h[MANY];
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    struct rlimit files;
    bool descriptors = !getrlimit(RLIMIT_NOFILE, &files) && files.rlim_max >= 3 * MANY;
    if (descriptors && files.rlim_cur < 3 * MANY) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    kit_open(&k, NULL, NULL);
    long before = resident();
    for (int i = 0; i < MANY; i++) {
        h[i] = jianmu_start_tool(k.executor, "hangs", NULL, NULL, &err);
        if (!h[i])
            fail_msg("handle %d: %s", i, jianmu_error_message(err));
        if (descriptors)
            assert_true(jianmu_handle_fd(h[i], &err) >= 0);
    }
    usleep(300000);
    long each = (resident() - before) / MANY;
    print_message("# %ld bytes resident each\n", each);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(each < 100 * 1024 || getenv("JIANMU_UNDER_VALGRIND"));
#endif
    for (int i = 0; i < MANY; i++)
        jianmu_handle_cancel(h[i]);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(jianmu_handle_wait(h[i], -1, &r, &err), 0);
        jianmu_result_free(r);
        jianmu_handle_free(h[i]);
    }
    assert_int_equal(json_array_size(k.w.events), 3 * MANY);
    kit_close(&k);
}

/* A limit on threads: the call that cannot begin has its two events. */
static void test_no_thread(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    struct rlimit old, none;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip();
#endif
    kit_open(&k, NULL, NULL);
    getrlimit(RLIMIT_AS, &old);
    none = old;
    none.rlim_cur = 1; /* nothing more can be mapped */
    setrlimit(RLIMIT_AS, &none);
    jianmu_handle *h = jianmu_start_tool(k.executor, "echoes", NULL, NULL, &err);
    setrlimit(RLIMIT_AS, &old);
    if (h) { /* a stack of an earlier thread was used again */
        jianmu_handle_free(h);
        kit_close(&k);
        skip();
    }
    assert_non_null(err);
    kit_events(&k, 0, "execution.failed");
    jianmu_error_free(err);
    kit_close(&k);
}

static void test_forked(void **state)
{
    (void)state;
    struct kit k;
    kit_open(&k, NULL, NULL);
    jianmu_handle *h = start_tool(&k, "hangs", "\"times\": 9", NULL);
    usleep(50000);
    pid_t child = fork();
    if (!child) {
        jianmu_error *err = NULL;
        alarm(60);
        bool refused = !jianmu_start_tool(k.executor, "echoes", NULL, NULL, &err) &&
                       jianmu_error_code(err) == JIANMU_FORKED;
        jianmu_handle_free(h); /* must not wait for a thread that is not there */
        _exit(refused ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(jianmu_handle_poll(h), 0);
    jianmu_handle_free(h);
    kit_close(&k);
}

static jianmu_handle *shared;

static void *wait_for_it(void *won)
{
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    *(int *)won = !jianmu_handle_wait(shared, -1, &r, &err);
    jianmu_result_free(r);
    jianmu_error_free(err);
    return NULL;
}

static void test_many_wait_one_has_it(void **state)
{
    (void)state;
    struct kit k;
    pthread_t threads[4];
    int won[4], sum = 0;
    kit_open(&k, NULL, NULL);
    shared = start_tool(&k, "hangs", "\"times\": 9, \"ms\": 50", NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, wait_for_it, &won[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        sum += won[i];
    }
    assert_int_equal(sum, 1);
    jianmu_handle_free(shared);
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_thread),
        cmocka_unit_test(test_result_and_error),
        cmocka_unit_test(test_deadline_poll_cancel),
        cmocka_unit_test(test_deaf_tools_are_left),
        cmocka_unit_test(test_the_call_is_copied),
        cmocka_unit_test(test_output_as_it_comes),
        cmocka_unit_test(test_output_that_nobody_reads),
        cmocka_unit_test(test_many_wait_one_has_it),
        cmocka_unit_test(test_forked),
        cmocka_unit_test(test_a_thousand),
    };
    return cmocka_run_group_tests(tests, use_build_tree, NULL);
}
