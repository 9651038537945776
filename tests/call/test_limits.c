/* SPDX-License-Identifier: Apache-2.0
 * Enforced or refused, never weakened. */
#include "config.h"
#include "support.h"
#include "settings/inside.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static void refused_call(const char *constraints, const char *tool, const char *part)
{
    struct world w;
    world_open(&w, NULL, constraints);
    if (tool) {
        call_refused(&w, tool, NULL, NULL, JIANMU_UNSUPPORTED, part);
    } else {
        jianmu_error *err = NULL;
        jianmu_result *r = NULL;
        jianmu_job *job = jianmu_job_new("", 0);
        assert_int_equal(jianmu_run_job(w.runner, job, NULL, &r, &err), -1);
        assert_int_equal(jianmu_error_code(err), JIANMU_UNSUPPORTED);
        if (!strstr(jianmu_error_message(err), part))
            fail_msg("%s", jianmu_error_message(err));
        jianmu_error_free(err);
        jianmu_job_free(job);
        jianmu_result_free(r);
    }
    json_t *payload = json_object_get(expect_pair(&w, "execution.failed"), "payload");
    assert_string_equal(json_string_value(json_object_get(payload, "code")), "unsupported");
    world_close(&w);
}

static void test_what_local_cannot_enforce_is_refused(void **state)
{
    (void)state;
    refused_call("{\"memory\": \"64m\"}", NULL, "cannot enforce memory");
    refused_call("{\"network\": \"none\"}", NULL, "cannot enforce network");
    refused_call("{\"cpus\": 1}", NULL, "cannot enforce cpus");
    refused_call("{\"pids\": 10}", NULL, "cannot enforce pids");
    refused_call("{\"disk\": \"1m\"}", NULL, "cannot enforce disk");
    refused_call("{\"memory\": \"64m\"}", "echo_it", "cannot enforce memory");
}

static void test_in_process_tools_cannot_be_held_by_process_limits(void **state)
{
    (void)state;
    refused_call("{\"cpu_time_s\": 1}", "echo_it", "on a tool that runs in the caller's process");
    refused_call("{\"nofile\": 64}", "echo_it", "on a tool that runs in the caller's process");
    /* a tool whose work is all in processes can be */
    struct world w;
    world_open(&w, NULL, "{\"nofile\": 64}");
    jianmu_result *r = call_tool(&w, "starter", "{\"argv\": [\"sh\", \"-c\", \"ulimit -n\"]}", NULL);
    assert_string_equal(json_string_value(json_object_get(jianmu_result_value(r), "out")), "64\n");
    json_t *json = jianmu_result_json(r);
    assert_string_equal(json_string_value(json_object_get(json_object_get(json, "enforced"), "nofile")), "enforced");
    json_decref(json);
    jianmu_result_free(r);
    world_close(&w);
}

static void test_who_asked_is_named(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    world_open(&w, NULL, "{\"memory\": \"64m\"}");
    json_t *plan = jianmu_runner_explain(w.runner, "job", NULL, &err);
    const char *text = json_string_value(json_object_get(plan, "refusal"));
    assert_non_null(text);
    assert_non_null(strstr(text, "67108864"));
    assert_non_null(strstr(text, "constraints"));
    json_decref(plan);
    assert_int_equal(jianmu_runner_enforces(w.runner, "timeout_s"), 1);
    assert_int_equal(jianmu_runner_enforces(w.runner, "memory"), 0);
    assert_int_equal(jianmu_runner_enforces(w.runner, "nosuch"), -1);
    assert_int_equal(jianmu_runner_enforces(w.runner, "workspace"), -1);
    /* the core holds these, whatever a backend lists */
    assert_int_equal(jianmu_runner_enforces(w.runner, "capture"), 1);
    assert_int_equal(jianmu_runner_enforces(w.runner, "max_output"), 1);
    world_close(&w);
}

/* A runner whose administrator allows ten seconds, and no mode but those. */
static void open_bounded(struct world *w, const char *constraints, const char *mode)
{
    jianmu_error *err = NULL;
    world_open(w, NULL, constraints);
    jianmu_runner_free(w->runner);
    struct jm_bound *bound = jm_append(&w->config->bounds, &w->config->bound_count, sizeof *bound);
    *bound = (struct jm_bound){jm_knob_find("timeout_s"), {json_real(10), JM_POLICY, "policy.yaml", 2}};
    bound = jm_append(&w->config->bounds, &w->config->bound_count, sizeof *bound);
    *bound = (struct jm_bound){jm_knob_find("mode"), {json_pack("[s]", mode), JM_POLICY, "policy.yaml", 3}};
    w->runner = jianmu_runner_from_constraints(w->constraints, w->config, NULL, NULL, w->bus, &err);
    assert_non_null(w->runner);
}

static void denied(struct world *w, jianmu_call *call, const char *sentence)
{
    call_refused(w, "echo_it", NULL, call, JIANMU_DENIED, sentence);
    json_t *payload = json_object_get(expect_pair(w, "execution.failed"), "payload");
    assert_string_equal(json_string_value(json_object_get(payload, "code")), "denied");
    assert_string_equal(json_string_value(json_object_get(payload, "error")), sentence);
    json_t *plan = jianmu_runner_explain(w->runner, "echo_it", call, NULL);
    assert_string_equal(json_string_value(json_object_get(plan, "over_max")), sentence);
    assert_string_equal(json_string_value(json_object_get(plan, "refusal")), sentence);
    json_decref(plan);
}

static void test_above_a_maximum_is_denied(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_call *call = jianmu_call_new();
    jianmu_result *r = NULL;
    open_bounded(&w, "{\"timeout_s\": 11}", "l*");
    denied(&w, NULL, "timeout_s: 11.0 (constraints) is above the maximum 10.0 (policy.yaml:2)");
    assert_int_equal(jianmu_call_set_timeout(call, 12, &err), 0);
    denied(&w, call, "timeout_s: 12.0 (call) is above the maximum 10.0 (policy.yaml:2)");
    assert_int_equal(jianmu_call_set_timeout(call, 10, &err), 0); /* the call's own is what holds */
    jianmu_result_free(call_tool(&w, "echo_it", NULL, call));
    expect_pair(&w, "execution.completed");
    jianmu_job *job = jianmu_job_new("", 0);
    assert_int_equal(jianmu_run_job(w.runner, job, NULL, &r, &err), -1);
    assert_int_equal(jianmu_error_code(err), JIANMU_DENIED);
    jianmu_error_free(err);
    expect_pair(&w, "execution.failed");
    jianmu_job_free(job);
    jianmu_result_free(r);
    world_close(&w);
    open_bounded(&w, NULL, "boxed");
    denied(&w, NULL, "mode: \"local\" (default) is not among \"boxed\" (policy.yaml:3)");
    denied(&w, call, "mode: \"local\" (default) is not among \"boxed\" (policy.yaml:3)");
    world_close(&w);
    jianmu_call_free(call);
}

static void test_max_output_clips_at_characters(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, "{\"max_output\": 300}");
    jianmu_result *r = call_tool(&w, "long_text", "{\"n\": 1000}", NULL);
    assert_int_equal(json_string_length(jianmu_result_value(r)), 900);
    assert_int_equal(jianmu_result_value_dropped(r), 700);
    jianmu_result_free(r);
    world_close(&w);
}

static void test_limits_of_processes_of_tools(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, "{\"timeout_s\": 30, \"cpu_time_s\": 0.5}");
    jianmu_result *r = call_tool(&w, "starter", "{\"argv\": [\"sh\", \"-c\", \"while :; do :; done\"]}", NULL);
    assert_int_equal(json_integer_value(json_object_get(jianmu_result_value(r), "reason")), JIANMU_CPU_TIME);
    jianmu_result_free(r);
    r = call_tool(&w, "starter", "{\"argv\": [\"sleep\", \"60\"], \"own_timeout\": 0.3}", NULL);
    assert_int_equal(json_integer_value(json_object_get(jianmu_result_value(r), "reason")), JIANMU_TIMEOUT);
    assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED); /* the tool's own limit is its own matter */
    jianmu_result_free(r);
    call_refused(&w, "starter", "{\"argv\": [\"/no/such/program\"]}", NULL, JIANMU_NOT_FOUND, "/no/such/program");
    call_refused(&w, "starter", "{\"argv\": []}", NULL, JIANMU_INVALID, "no program");
    world_close(&w);
}

struct one_job {
    struct world *w;
    const char *script;
    jianmu_call *call;
    jianmu_reason reason;
    jianmu_code code;
};

static void *run_one(void *arg)
{
    struct one_job *j = arg;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    jianmu_job *job = jianmu_job_new(j->script, strlen(j->script));
    if (!jianmu_run_job(j->w->runner, job, j->call, &r, &err))
        j->reason = jianmu_result_reason(r);
    j->code = jianmu_error_code(err);
    jianmu_error_free(err);
    jianmu_result_free(r);
    jianmu_job_free(job);
    return NULL;
}

static void ignore_event(void *data, const jianmu_event *event)
{
    (void)data;
    (void)event;
}

static void test_so_many_calls_at_once(void **state)
{
    (void)state;
    struct world w;
    static const char half[] = "#!/bin/sh\nsleep 0.5\n";
    struct one_job jobs[3] = {{&w, half, 0, 0, 0}, {&w, half, 0, 0, 0}, {&w, half, 0, 0, 0}};
    pthread_t threads[3];
    jianmu_error *err = NULL;
    world_open(&w, "execution:\n  concurrency: 1\n", NULL);
    jianmu_runner_free(w.runner); /* the test's own listener is for one thread */
    jianmu_bus *bus = jianmu_bus_new();
    assert_int_equal(jianmu_bus_subscribe(bus, ignore_event, NULL, &err), 0);
    w.runner = jianmu_runner_from_constraints(w.constraints, w.config, NULL, NULL, bus, &err);
    double before = now_s();
    for (size_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, run_one, &jobs[i]);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_true(now_s() - before > 1.45); /* one after the other */
    for (size_t i = 0; i < 3; i++)
        assert_true(jobs[i].reason == JIANMU_EXITED && jobs[i].code == JIANMU_OK);
    /* one that runs, one that is cancelled while it waits, one that does not wait so long */
    jobs[0].script = "#!/bin/sh\nsleep 4\n";
    jobs[1].call = jianmu_call_new();
    jobs[2].call = jianmu_call_new();
    jianmu_call_set_timeout(jobs[2].call, 0.1, &err);
    pthread_create(&threads[0], NULL, run_one, &jobs[0]);
    usleep(500000);
    pthread_create(&threads[1], NULL, run_one, &jobs[1]);
    pthread_create(&threads[2], NULL, run_one, &jobs[2]);
    usleep(100000);
    jianmu_call_cancel(jobs[1].call);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(jobs[0].reason, JIANMU_EXITED);
    assert_int_equal(jobs[1].reason, JIANMU_CANCELLED);
    assert_int_equal(jobs[2].code, JIANMU_BUSY);
    jianmu_call_free(jobs[1].call);
    jianmu_call_free(jobs[2].call);
    jianmu_runner_free(w.runner);
    w.runner = NULL;
    jianmu_bus_free(bus);
    world_close(&w);
}

static void test_unknown_mode(void **state)
{
    (void)state;
    world_refused(NULL, "{\"mode\": \"nativ\"}", JIANMU_NOT_FOUND, "local");
    struct world w;
    world_open(&w, NULL, "{\"mode\": \"  LOCAL \"}");
    assert_string_equal(jianmu_runner_mode(w.runner), "local");
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_local_cannot_enforce_is_refused),
        cmocka_unit_test(test_in_process_tools_cannot_be_held_by_process_limits),
        cmocka_unit_test(test_who_asked_is_named),
        cmocka_unit_test(test_above_a_maximum_is_denied),
        cmocka_unit_test(test_max_output_clips_at_characters),
        cmocka_unit_test(test_limits_of_processes_of_tools),
        cmocka_unit_test(test_so_many_calls_at_once),
        cmocka_unit_test(test_unknown_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
