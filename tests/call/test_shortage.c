/* SPDX-License-Identifier: Apache-2.0
 * The n-th allocation fails, and the n-th descriptor, for every n: over loading a config, a tool call and a job. What
 * fails fails with an error; nothing crashes, nothing leaks, nothing is left on disk; and once there is enough again
 * everything works. */
#include "config.h"
#include "support.h"
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_MALLOC 0
#else
#define OWN_MALLOC 1
#endif

#if OWN_MALLOC
#include "thread_shortage.h"
#endif

static char parent[64], plugin_dir[4096], ask_dir[4096], skill[4096], yaml[400];
static const char script[] = "#!/bin/sh\necho hello; echo text > file\n";

struct things {
    jianmu_config *config;
    jianmu_runner *runner, *placed, *told;
    jianmu_config *telling;
    jianmu_bus *bus;
    jianmu_job *job;
    jianmu_result *result;
    jianmu_call *call;
};

static int load(struct things *t, jianmu_error **err)
{
    t->config = jianmu_config_new();
    if (!t->config)
        return -1;
    if (jianmu_config_add_plugin_dir(t->config, plugin_dir, err) ||
        jianmu_config_add_plugin_dir(t->config, ask_dir, err) ||
        jianmu_config_load_text(t->config, yaml, strlen(yaml), "test.yaml", err))
        return -1;
    t->runner = jianmu_runner_from_constraints(NULL, t->config, NULL, NULL, NULL, err);
    return t->runner ? 0 : -1;
}

static void drop(struct things *t)
{
    jianmu_runner_free(t->told);
    jianmu_bus_free(t->bus);
    jianmu_config_free(t->telling);
    jianmu_runner_free(t->placed);
    jianmu_runner_free(t->runner);
    jianmu_config_free(t->config);
    jianmu_job_free(t->job);
    jianmu_result_free(t->result);
    jianmu_call_free(t->call);
    memset(t, 0, sizeof *t);
}

static int do_tool(struct things *t, jianmu_error **err)
{
    const jianmu_tool *tool = jianmu_runner_tool(t->runner, "settings", err);
    json_t *args = tool ? json_pack("{s:[s]}", "names", "colour") : NULL;
    int status = tool && args ? jianmu_run_tool(t->runner, tool, args, NULL, &t->result, err) : -1;
    json_decref(args);
    return status;
}

static int do_job(struct things *t, jianmu_error **err)
{
    t->job = jianmu_job_new(script, sizeof script - 1);
    if (!t->job || jianmu_job_add_input(t->job, "d/in", "x", 1, err) || jianmu_job_add_arg(t->job, "a", err))
        return -1;
    return jianmu_run_job(t->runner, t->job, NULL, &t->result, err);
}

/* A second runner, with a skill and a set of built-in tools, whose tool runs in a second backend. */
static int do_placed(struct things *t, jianmu_error **err)
{
    static const char *const names[] = {"set*", "where", NULL};
    t->placed = jianmu_runner_from_constraints(NULL, t->config, names, skill, NULL, err);
    json_t *list = t->placed ? jianmu_runner_tools(t->placed, err) : NULL;
    const jianmu_tool *tool = list ? jianmu_runner_tool(t->placed, "skill_only", err) : NULL;
    json_decref(list);
    return tool ? jianmu_run_tool(t->placed, tool, NULL, NULL, &t->result, err) : -1;
}

static void hear(void *data, const jianmu_event *event)
{
    (void)data;
    json_decref(jianmu_event_json(event)); /* NULL where there is no memory for it */
}

/* A call whose events go to sinks of both kinds, with all that can be asked for. */
static int do_told(struct things *t, jianmu_error **err)
{
    static const char text[] = "events:\n  jsonl: {file: /dev/null}\n  otlp: {file: /dev/null}\n"
                               "  include: [arguments, result, error]\n  redact: [a+b, \"[0-9]{9}\"]\n";
    t->telling = jianmu_config_new();
    t->bus = t->telling ? jianmu_bus_new() : NULL;
    t->call = t->bus ? jianmu_call_new() : NULL;
    if (!t->call || jianmu_config_add_plugin_dir(t->telling, plugin_dir, err) ||
        jianmu_config_load_text(t->telling, text, sizeof text - 1, "told.yaml", err) ||
        jianmu_bus_subscribe(t->bus, hear, NULL, err) || jianmu_bus_subscribe_apart(t->bus, hear, NULL, 60, err) ||
        jianmu_call_set_trace(t->call, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=b", err) ||
        !(t->told = jianmu_runner_from_constraints(NULL, t->telling, NULL, NULL, t->bus, err)))
        return -1;
    const jianmu_tool *tool = jianmu_runner_tool(t->told, "echo_it", err);
    json_t *args = tool ? json_pack("{s:s, s:s}", "names", "aaab 123456789", "password", "x") : NULL;
    int status = args ? jianmu_run_tool(t->told, tool, args, t->call, &t->result, err) : -1;
    json_decref(args);
    return status;
}

/* A process that is kept, asked twice. */
static int do_kept(struct things *t, jianmu_error **err)
{
    const jianmu_tool *tool = jianmu_runner_tool(t->runner, "keeper", err);
    json_t *args = tool ? json_pack("{s:s, s:i, s:i}", "question", "say words", "most", 2, "idle_s", 30) : NULL;
    t->call = t->call ? t->call : jianmu_call_new();
    int status = args && t->call ? jianmu_call_set_session(t->call, "a", err) : -1;
    for (int i = 0; i < 2 && !status; i++)
        status = jianmu_run_tool(t->runner, tool, args, t->call, &t->result, err);
    json_decref(args);
    return status;
}

static int count_left(void)
{
    int n = 0;
    DIR *dir = opendir(parent);
    while (dir && readdir(dir))
        n++;
    if (dir)
        closedir(dir);
    return n - 2;
}

typedef int (*step)(struct things *, jianmu_error **);

#if OWN_MALLOC
/* True: it went through with no failure left to come. */
static bool once(step what, bool needs_runner, long n, struct things *t)
{
    jianmu_error *err = NULL;
    if (needs_runner)
        assert_int_equal(load(t, &err), 0);
    fail_at = n;
    int status = what(t, &err);
    bool exhausted = n && !fail_at;
    fail_at = 0;
    if (!n)
        assert_int_equal(status, 0);
    if (!status)
        assert_null(err);
    jianmu_error_free(err);
    drop(t);
    assert_int_equal(count_left(), 0);
    return !exhausted;
}

static void sweep_memory(step what, bool needs_runner)
{
    struct things t = {0};
    counted = pthread_self();
    /* what the C library and the loader keep for good is there after a few runs */
    for (int i = 0; i < 3; i++)
        once(what, needs_runner, 0, &t);
    long before = held, n = 1;
    for (;; n++) {
        bool through = once(what, needs_runner, n, &t);
        if (held > before + 2) /* stdio's and the loader's own growth; ours would add up */
            fail_msg("after failure %ld: %ld allocations are held, %ld before", n, held, before);
        before = held < before ? held : before;
        if (through)
            break;
        assert_true(n < 100000);
    }
    assert_true(n > 5);
    once(what, needs_runner, 0, &t);
}
#else
static void sweep_memory(step what, bool needs_runner)
{
    (void)what;
    (void)needs_runner;
    skip(); /* the sanitizer has malloc for itself */
}
#endif

static void test_memory_config(void **state)
{
    (void)state;
    sweep_memory(load, false);
}

static void test_memory_tool(void **state)
{
    (void)state;
    sweep_memory(do_tool, true);
}

static void test_memory_placed(void **state)
{
    (void)state;
    sweep_memory(do_placed, true);
}

static void test_memory_told(void **state)
{
    (void)state;
    sweep_memory(do_told, false);
}

static void test_memory_job(void **state)
{
    (void)state;
    sweep_memory(do_job, true);
}

static void test_memory_kept(void **state)
{
    (void)state;
    sweep_memory(do_kept, true);
}

static int all(struct things *t, jianmu_error **err)
{
    if (load(t, err) || do_tool(t, err) || do_placed(t, err) || do_kept(t, err))
        return -1;
    return do_job(t, err);
}

static void test_descriptors(void **state)
{
    (void)state;
    struct things t = {0};
    struct rlimit old, few;
    jianmu_error *err = NULL;
    assert_int_equal(all(&t, &err), 0);
    drop(&t);
    int fds = count_fds(), failures = 0, successes = 0, highest = fcntl(0, F_DUPFD_CLOEXEC, 0);
    close(highest);
    getrlimit(RLIMIT_NOFILE, &old);
    for (int n = 0; n < 64; n++) {
        few = (struct rlimit){(rlim_t)(highest + n), old.rlim_max};
        setrlimit(RLIMIT_NOFILE, &few);
        int status = all(&t, &err);
        setrlimit(RLIMIT_NOFILE, &old);
        failures += status != 0;
        successes += status == 0;
        if (status)
            assert_non_null(err);
        if (status && !*jianmu_error_message(err))
            fail_msg("a failure without a sentence");
        jianmu_error_free(err);
        err = NULL;
        drop(&t);
        assert_int_equal(count_fds(), fds);
        assert_int_equal(count_left(), 0);
    }
    assert_true(failures > 3);
    assert_true(successes > 3);
    assert_int_equal(all(&t, &err), 0);
    assert_string_equal(jianmu_result_text(t.result, 1, NULL), "hello\n");
    drop(&t);
}

static int prepare(void **state)
{
    (void)state;
    const char *build = getenv("JIANMU_BUILD");
    snprintf(parent, sizeof parent, "/tmp/jm_test_short_XXXXXX");
    snprintf(plugin_dir, sizeof plugin_dir, "%s/tests/call/dir", build ? build : ".");
    snprintf(ask_dir, sizeof ask_dir, "%s/tests/call/askdir", build ? build : ".");
    snprintf(skill, sizeof skill, "%s/tests/call/skill", build ? build : ".");
    char parrot[4096];
    snprintf(parrot, sizeof parrot, "%s/tests/call/parrot", build ? build : ".");
    if (!mkdtemp(parent) || setenv("PARROT", parrot, 1))
        return -1;
    snprintf(yaml, sizeof yaml, "execution:\n  timeout_s: 30s\n  local:\n    workdir: %s\n    env_allowlist: [PATH, HOME]\n"
             "tools:\n  'set*':\n    colour: red\n  'skill_*': {mode: eager}\n", parent);
    return 0;
}

static int tidy(void **state)
{
    (void)state;
    return rmdir(parent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_config),
        cmocka_unit_test(test_memory_tool),
        cmocka_unit_test(test_memory_placed),
        cmocka_unit_test(test_memory_told),
        cmocka_unit_test(test_memory_job),
        cmocka_unit_test(test_memory_kept),
        cmocka_unit_test(test_descriptors),
    };
    return cmocka_run_group_tests(tests, prepare, tidy);
}
