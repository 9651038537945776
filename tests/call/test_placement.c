/* SPDX-License-Identifier: Apache-2.0
 * Each tool in the backend its settings name. */
#include "config.h"
#include "support.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Calls a tool; the backend that its events name. */
static const char *backend_of(struct world *w, const char *tool)
{
    jianmu_result_free(call_tool(w, tool, NULL, NULL));
    return json_string_value(json_object_get(json_object_get(expect_pair(w, "execution.completed"), "payload"), "backend"));
}

/* "VALUE SOURCE" of one setting of a tool's plan. */
static const char *explained(struct world *w, const char *subject, const char *name)
{
    static char text[200];
    jianmu_error *err = NULL;
    json_t *plan = jianmu_runner_explain(w->runner, subject, NULL, &err);
    if (!plan)
        fail_msg("%s", jianmu_error_message(err));
    json_t *setting = json_object_get(json_object_get(plan, "settings"), name);
    char *value = json_dumps(json_object_get(setting, "value"), JSON_ENCODE_ANY);
    snprintf(text, sizeof text, "%s %s", value, json_string_value(json_object_get(setting, "source")));
    free(value);
    json_decref(plan);
    return text;
}

static void notice_is(struct world *w, const char *subject, const char *notice)
{
    json_t *plan = jianmu_runner_explain(w->runner, subject, NULL, NULL);
    const char *got = json_string_value(json_object_get(plan, "notice"));
    assert_string_equal(got ? got : "", notice);
    json_decref(plan);
}

static void run_a_job(struct world *w, const char *backend)
{
    jianmu_result *r = run_script(w, "sh", "echo from a process; exit 6");
    assert_int_equal(jianmu_result_exit_code(r), 6);
    jianmu_result_free(r);
    json_t *payload = json_object_get(expect_pair(w, "execution.completed"), "payload");
    assert_string_equal(json_string_value(json_object_get(payload, "backend")), backend);
}

/* What the backend "counted" says of itself. */
static int count(struct world *w, const char *what)
{
    jianmu_result *r = call_tool(w, "deep", NULL, NULL);
    int n = (int)json_integer_value(json_object_get(jianmu_result_value(r), what));
    jianmu_result_free(r);
    expect_pair(w, "execution.completed");
    return n;
}

static const char three[] = "tools:\n  'p*': {mode: Hosted}\n  deep: {mode: counted}\n  job: {mode: hosted}\n";

static void test_each_where_its_rule_says(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, three, NULL);
    assert_string_equal(jianmu_runner_mode(w.runner), "local");
    assert_string_equal(backend_of(&w, "echo_it"), "local");
    assert_string_equal(backend_of(&w, "prints"), "hosted");
    assert_string_equal(backend_of(&w, "deep"), "counted");
    assert_string_equal(backend_of(&w, "echo_it"), "local");
    run_a_job(&w, "hosted");
    assert_string_equal(explained(&w, "echo_it", "mode"), "\"local\" default");
    assert_string_equal(explained(&w, "prints", "mode"), "\"hosted\" test.yaml:2");
    assert_string_equal(explained(&w, "prints", "flavour"), "\"plain\" default"); /* the keys of its own backend */
    assert_string_equal(explained(&w, "deep", "memory"), "1048576 default");
    assert_string_equal(explained(&w, "echo_it", "memory"), "null unset");
    json_t *plan = jianmu_runner_explain(w.runner, "deep", NULL, NULL);
    assert_string_equal(json_string_value(json_object_get(plan, "mode")), "counted");
    assert_string_equal(json_string_value(json_object_get(json_object_get(plan, "limits"), "memory")), "enforced");
    json_decref(plan);
    world_close(&w);
}

/* A tool in a tool host is in another process, whatever the others are. */
static void test_the_process_is_another(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "tools: {where: {mode: hosted}}\n", NULL);
    jianmu_result *r = call_tool(&w, "where", NULL, NULL);
    assert_int_not_equal(json_integer_value(json_object_get(jianmu_result_value(r), "pid")), getpid());
    jianmu_result_free(r);
    world_close(&w);
    world_open(&w, "execution: {tool_runner: hosted}\ntools: {where: {mode: local}}\n", NULL);
    r = call_tool(&w, "where", NULL, NULL);
    assert_int_equal(json_integer_value(json_object_get(jianmu_result_value(r), "pid")), getpid());
    jianmu_result_free(r);
    world_close(&w);
}

static void test_constraints_go_before_rules(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, three, "{\"mode\": \"local\"}");
    assert_string_equal(backend_of(&w, "prints"), "local");
    run_a_job(&w, "local");
    world_close(&w);
    world_open(&w, "execution: {tool_runner: hosted}\ntools: {echo_it: {mode: local}}\n", NULL);
    assert_string_equal(jianmu_runner_mode(w.runner), "hosted");
    assert_string_equal(backend_of(&w, "prints"), "hosted");
    assert_string_equal(backend_of(&w, "echo_it"), "local");
    world_close(&w);
}

static void test_limits_of_one_tool(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "tools:\n  deep:\n    mode: counted\n    memory: 2m\n    docker_image: its-own\n"
                   "  'e*':\n    memory: 3m\n  where:\n    docker_image: none-here\n", NULL);
    assert_string_equal(explained(&w, "deep", "memory"), "2097152 test.yaml:4");
    assert_string_equal(explained(&w, "deep", "docker_image"), "\"its-own\" test.yaml:5");
    count(&w, "opened");
    /* asked for by a rule is asked for */
    call_refused(&w, "echo_it", NULL, NULL, JIANMU_UNSUPPORTED,
                 "backend 'local' cannot enforce memory (asked for: 3145728, by test.yaml:7)");
    expect_pair(&w, "execution.failed");
    notice_is(&w, "where", "docker_image: means nothing in mode \"local\"");
    assert_string_equal(backend_of(&w, "where"), "local");
    world_close(&w);
}

/* Constraints with a mode and a scope: what is out of it is where the file says, and its backend is opened. */
static void test_out_of_scope_the_file_decides(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, "execution: {tool_runner: hosted}\n", "{\"mode\": \"local\", \"scope\": \"tools\"}");
    assert_string_equal(jianmu_runner_mode(w.runner), "hosted");
    assert_string_equal(backend_of(&w, "echo_it"), "local");
    notice_is(&w, "echo_it", "");
    run_a_job(&w, "hosted");
    notice_is(&w, "job", "mode: not heeded, the constraints' scope \"tools\" has no jobs");
    world_close(&w);
    world_open(&w, NULL, "{\"mode\": \"hosted\", \"scope\": \"skill\"}");
    assert_string_equal(backend_of(&w, "echo_it"), "local");
    notice_is(&w, "echo_it", "mode: not heeded, the constraints' scope \"skill\" has no tool calls");
    run_a_job(&w, "hosted");
    world_close(&w);
    world_open(&w, NULL, "{\"mode\": \"hosted\", \"scope\": \"all\"}");
    assert_string_equal(jianmu_runner_mode(w.runner), "hosted");
    run_a_job(&w, "hosted");
    world_close(&w);
}

/* What nothing is placed in is not opened, so that it need not be there. */
static void test_only_what_is_needed_is_opened(void **state)
{
    (void)state;
    struct world w;
    setenv("COUNTED_BROKEN", "1", 1);
    world_open(&w, three, NULL);
    assert_string_equal(backend_of(&w, "echo_it"), "local");
    call_refused(&w, "deep", NULL, NULL, JIANMU_UNAVAILABLE, "backend 'counted' could not be opened: it is broken");
    world_close(&w);
    world_refused("execution: {tool_runner: counted}\n", NULL, JIANMU_UNAVAILABLE, "it is broken");
    world_open(&w, "execution: {tool_runner: counted}\n", "{\"mode\": \"local\", \"scope\": \"tools\"}");
    assert_string_equal(backend_of(&w, "echo_it"), "local");
    assert_int_equal(jianmu_runner_enforces(w.runner, "memory"), 0); /* it cannot be opened */
    unsetenv("COUNTED_BROKEN");
    assert_int_equal(jianmu_runner_enforces(w.runner, "memory"), 1);
    world_close(&w);
    /* a mode that is not there is told when a tool needs it, by place */
    world_open(&w, "tools:\n  deep:\n    mode: nowhere\n", NULL);
    assert_string_equal(backend_of(&w, "echo_it"), "local");
    call_refused(&w, "deep", NULL, NULL, JIANMU_UNAVAILABLE, "deep: test.yaml:3: mode: unknown mode \"nowhere\"; available: ");
    world_close(&w);
}

static void test_one_instance_a_mode(void **state)
{
    (void)state;
    struct world holder, w;
    world_open(&holder, "execution: {tool_runner: counted}\n", NULL); /* so that the file stays loaded */
    world_open(&w, "tools: {deep: {mode: counted}, 'w*': {mode: counted}}\n", NULL);
    int opened = count(&w, "opened"), closed = count(&w, "closed");
    assert_string_equal(backend_of(&w, "where"), "counted");
    assert_string_equal(backend_of(&w, "writes"), "counted");
    assert_int_equal(count(&w, "opened"), opened);
    world_close(&w);
    world_open(&w, "tools: {deep: {mode: counted}}\n", NULL);
    assert_int_equal(count(&w, "opened"), opened + 1);
    assert_int_equal(count(&w, "closed"), closed + 1); /* with its runner */
    world_close(&w);
    world_close(&holder);
}

struct hurry {
    struct world *w;
    const char *name;
};

static void *hurry(void *arg)
{
    struct hurry *h = arg;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    const jianmu_tool *tool = jianmu_runner_tool(h->w->runner, h->name, &err);
    bool good = tool && !jianmu_run_tool(h->w->runner, tool, NULL, NULL, &r, &err) && jianmu_result_value(r);
    jianmu_error_free(err);
    jianmu_result_free(r);
    return good ? NULL : h;
}

/* Many threads want a backend that takes its time; meanwhile others call in the first one. */
static void test_threads_open_it_once(void **state)
{
    (void)state;
    struct world w;
    static const char *const names[] = {"deep", "where", "echo_it", "writes", "deep", "where", "echo_it", "prints"};
    struct hurry all[sizeof names / sizeof *names];
    pthread_t threads[sizeof names / sizeof *names];
    world_open(&w, "tools: {deep: {mode: counted}, 'w*': {mode: counted}, prints: {mode: hosted}}\n", NULL);
    int opened = count(&w, "opened");
    jianmu_runner_free(w.runner); /* the test's own listener is for one thread */
    jianmu_error *err = NULL;
    w.runner = jianmu_runner_from_constraints(w.constraints, w.config, NULL, NULL, NULL, &err);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        all[i] = (struct hurry){&w, names[i]};
        assert_int_equal(pthread_create(&threads[i], NULL, hurry, &all[i]), 0);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
    jianmu_result *r = call_tool(&w, "deep", NULL, NULL);
    assert_int_equal(json_integer_value(json_object_get(jianmu_result_value(r), "opened")), opened + 1);
    jianmu_result_free(r);
    world_close(&w);
}

static void around_one(const char *yaml, const char *constraints, const char *tool, const char *sentence)
{
    struct world w;
    jianmu_error *err = NULL;
    world_open(&w, yaml, constraints);
    jianmu_runner_free(w.runner);
    jianmu_backend *backend = jianmu_backend_open(w.config, "local", &err);
    w.runner = jianmu_runner_take_backend(backend, w.constraints, w.bus, &err);
    assert_non_null(w.runner);
    assert_string_equal(jianmu_runner_mode(w.runner), "local");
    if (sentence)
        call_refused(&w, tool, NULL, NULL, JIANMU_INVALID, sentence);
    else
        assert_string_equal(backend_of(&w, tool), "local");
    world_close(&w);
}

/* A runner around an opened backend has no other. */
static void test_an_opened_backend_is_the_only_one(void **state)
{
    (void)state;
    around_one(three, NULL, "echo_it", NULL);
    around_one(three, NULL, "prints",
               "this runner has one backend, of mode \"local\"; prints is placed in mode \"hosted\" (test.yaml:2)");
    around_one(NULL, "{\"mode\": \"hosted\"}", "echo_it",
               "this runner has one backend, of mode \"local\"; its constraints ask for mode \"hosted\" for echo_it");
    around_one(NULL, "{\"mode\": \"local\", \"scope\": \"skill\"}", "echo_it", NULL);
    around_one("execution: {tool_runner: hosted}\n", "{\"mode\": \"local\", \"scope\": \"skill\"}", "echo_it",
               "and its constraints ask for a mode in scope \"skill\" only; for echo_it the mode is \"hosted\"");
    around_one("execution: {tool_runner: hosted}\n", NULL, "echo_it", NULL); /* the caller has chosen */
}

static const char strict[] = "guard: {profile: strict}\ntools: {deep: {mode: counted}}\n";

/* A default that this host does not have: dropped, and said; under profile strict the call is refused. */
static void test_strict_drops_no_limit(void **state)
{
    (void)state;
    struct world w;
    setenv("COUNTED_WEAK", "1", 1);
    world_open(&w, strict + strlen("guard: {profile: strict}\n"), NULL);
    jianmu_result *r = call_tool(&w, "deep", NULL, NULL);
    json_t *json = jianmu_result_json(r);
    assert_string_equal(json_string_value(json_object_get(json_object_get(json, "enforced"), "memory")), "dropped");
    json_decref(json);
    jianmu_result_free(r);
    world_close(&w);
    world_open(&w, strict, NULL);
    call_refused(&w, "deep", NULL, NULL, JIANMU_UNSUPPORTED,
                 "backend 'counted' cannot enforce memory (1048576 by default), and profile strict drops no limit");
    expect_pair(&w, "execution.failed");
    assert_string_equal(backend_of(&w, "echo_it"), "local"); /* which has no such default */
    unsetenv("COUNTED_WEAK");
    world_close(&w);
    world_open(&w, strict, NULL);
    assert_string_equal(backend_of(&w, "deep"), "counted");
    world_close(&w);
}

static void test_strict_passes_over_nothing(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, strict, "{\"scope\": \"skill\", \"mode\": \"hosted\", \"nofile\": 64, \"capture\": 5}");
    call_refused(&w, "echo_it", NULL, NULL, JIANMU_UNSUPPORTED,
                 "profile strict passes over nothing that was asked for: mode, nofile (by constraints, whose scope "
                 "\"skill\" does not take in echo_it)");
    expect_pair(&w, "execution.failed");
    world_close(&w);
    world_open(&w, strict, "{\"scope\": \"skill\", \"capture\": 5}"); /* no mode, no limit */
    assert_string_equal(backend_of(&w, "echo_it"), "local");
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_where_its_rule_says),
        cmocka_unit_test(test_the_process_is_another),
        cmocka_unit_test(test_constraints_go_before_rules),
        cmocka_unit_test(test_limits_of_one_tool),
        cmocka_unit_test(test_out_of_scope_the_file_decides),
        cmocka_unit_test(test_only_what_is_needed_is_opened),
        cmocka_unit_test(test_one_instance_a_mode),
        cmocka_unit_test(test_threads_open_it_once),
        cmocka_unit_test(test_an_opened_backend_is_the_only_one),
        cmocka_unit_test(test_strict_drops_no_limit),
        cmocka_unit_test(test_strict_passes_over_nothing),
    };
    return cmocka_run_group_tests(tests, use_build_tree, NULL);
}
