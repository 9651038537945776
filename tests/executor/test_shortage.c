/* SPDX-License-Identifier: Apache-2.0
 * The n-th allocation fails, for every n: each call through the executor still has one start and one end, an error or a
 * result, and nothing leaks. And where nothing fails, thousands of calls hold no more memory than one. */
#include "config.h"
#include "kit.h"
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
int main(void)
{
    puts("1..0 # SKIP the sanitizer has malloc for itself");
    return 0;
}
#else
#include "call/thread_shortage.h"

static int starts, ends;

static void count(void *data, const jianmu_event *event)
{
    (void)data;
    const char *name = jianmu_event_name(event);
    starts += !strcmp(name, "execution.started");
    ends += !strcmp(name, "execution.completed") || !strcmp(name, "execution.failed");
}

static int yes(void *data, const json_t *question)
{
    (void)data;
    (void)question;
    return 1;
}

static jianmu_config *config;
static jianmu_bus *bus;

struct kind {
    const char *tool, *args;
    bool ask, background;
};
static const struct kind kinds[] = {
    {"echoes", "{\"a\": [1, {\"b\": \"c\"}]}", false, false},
    {"strict", "{\"n\": 1, \"list\": \"[1, 2]\"}", false, false},
    {"strict", "{\"n\": \"x\"}", false, false},
    {"dangerous", "{\"a\": 1}", false, false},
    {"dangerous", "{\"a\": 1}", true, false},
    {"echoes", "{\"verdict\": \"rate\"}", false, false},
    {"fails", "{\"times\": 9, \"how\": \"transient\"}", false, false},
    {"nowhere", NULL, false, false},
    {"echoes", "{\"a\": 1}", false, true},
};

static int one_call(jianmu_executor *executor, const struct kind *kind, json_t *args, jianmu_error **err)
{
    jianmu_result *result = NULL;
    jianmu_executor_set_confirm(executor, kind->ask ? yes : NULL, NULL);
    int status = -1;
    if (kind->background) {
        jianmu_handle *h = jianmu_start_tool(executor, kind->tool, args, NULL, err);
        status = h ? jianmu_handle_wait(h, -1, &result, err) : -1;
        jianmu_handle_free(h);
    } else {
        status = jianmu_execute_tool(executor, kind->tool, args, NULL, &result, err);
    }
    jianmu_result_free(result);
    return status;
}

/* True: it went through with no failure left to come. */
static bool once(const struct kind *kind, long n)
{
    jianmu_error *err = NULL;
    jianmu_runner *runner = jianmu_runner_from_constraints(NULL, config, NULL, NULL, bus, &err);
    jianmu_executor *executor = jianmu_executor_new(runner, &err);
    json_t *args = kind->args ? json_text(kind->args) : NULL;
    assert_non_null(executor);
    starts = ends = 0;
    fail_at = n;
    int status = one_call(executor, kind, args, &err);
    bool through = !n || fail_at;
    fail_at = 0;
    if ((status != 0) != (err != NULL) || starts != 1 || ends != 1)
        fail_msg("%s, failure %ld: status %d, %s, %d starts, %d ends", kind->tool, n, status,
                 err ? jianmu_error_message(err) : "no error", starts, ends);
    jianmu_error_free(err);
    json_decref(args);
    jianmu_executor_free(executor);
    jianmu_runner_free(runner);
    return through;
}

static void test_every_allocation_fails(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        /* what the C library and the loader keep for good is there after a few runs */
        for (int k = 0; k < 3; k++)
            once(&kinds[i], 0);
        long before = held, n = 1;
        while (!once(&kinds[i], n)) {
            if (held > before + 2) /* stdio's and the loader's own growth; ours would add up */
                fail_msg("%s, failure %ld: %ld allocations are held, %ld before", kinds[i].tool, n, held, before);
            before = held < before ? held : before;
            assert_true(++n < 100000);
        }
        assert_true(n > 1);
    }
}

static void test_memory_is_flat(void **state)
{
    (void)state;
    jianmu_error *err = NULL;
    jianmu_runner *runner = jianmu_runner_from_constraints(NULL, config, NULL, NULL, bus, &err);
    jianmu_executor *executor = jianmu_executor_new(runner, &err);
    json_t *args[sizeof kinds / sizeof kinds[0]];
    size_t count = sizeof kinds / sizeof kinds[0];
    for (size_t i = 0; i < count; i++)
        args[i] = kinds[i].args ? json_text(kinds[i].args) : NULL;
    size_t before = 0;
    for (int round = 0; round < 3000; round++) {
        if (round == 1500) /* by then the table of confirmations has its full size */
            before = mallinfo2().uordblks;
        for (size_t i = 0; i < count; i++) {
            if (kinds[i].background || !strcmp(kinds[i].tool, "fails"))
                continue; /* they wait */
            one_call(executor, &kinds[i], args[i], &err);
            jianmu_error_free(err);
            err = NULL;
        }
    }
    size_t after = mallinfo2().uordblks;
    if (after > before + 4096)
        fail_msg("%zu bytes are held after 1500 rounds more, %zu before", after, before);
    for (size_t i = 0; i < count; i++)
        json_decref(args[i]);
    jianmu_executor_free(executor);
    jianmu_runner_free(runner);
}

static int prepare(void **state)
{
    static const char yaml[] = "execution: {retry_backoff: 0, max_retries: 1}\nguard: {use: [asks]}\n";
    char dir[4096];
    jianmu_error *err = NULL;
    const char *build = getenv("JIANMU_BUILD");
    (void)state;
    counted = pthread_self();
    snprintf(dir, sizeof dir, "%s/tests/executor/dir", build ? build : ".");
    config = jianmu_config_new();
    bus = jianmu_bus_new();
    return jianmu_config_add_plugin_dir(config, dir, &err) ||
           jianmu_config_load_text(config, yaml, sizeof yaml - 1, "test.yaml", &err) ||
           jianmu_bus_subscribe(bus, count, NULL, &err);
}

static int tidy(void **state)
{
    (void)state;
    jianmu_bus_free(bus);
    jianmu_config_free(config);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_fails),
        cmocka_unit_test(test_memory_is_flat),
    };
    return cmocka_run_group_tests(tests, prepare, tidy);
}
#endif
