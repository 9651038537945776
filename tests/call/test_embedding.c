/* SPDX-License-Identifier: Apache-2.0
 * What a host may rely on: calls of every kind leave its signals alone and raise no SIGPIPE; what a runner is given
 * besides its constraints counts. */
#include "config.h"
#include "support.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct signals {
    struct sigaction actions[65];
    sigset_t mask;
};

static struct signals signals_now(void)
{
    struct signals now;
    memset(&now, 0, sizeof now);
    for (int i = 1; i < 65; i++)
        sigaction(i, NULL, &now.actions[i]);
    pthread_sigmask(SIG_BLOCK, NULL, &now.mask);
    return now;
}

static void expect_same(const struct signals *before)
{
    struct signals now = signals_now();
    for (int i = 1; i < 65; i++) {
        assert_ptr_equal(now.actions[i].sa_handler, before->actions[i].sa_handler);
        assert_int_equal(now.actions[i].sa_flags, before->actions[i].sa_flags);
        assert_int_equal(sigismember(&now.mask, i), sigismember(&before->mask, i));
    }
}

/* With the default action a SIGPIPE would end this program. */
static void test_signals_stay_the_hosts(void **state)
{
    (void)state;
    static char much[1 << 20];
    struct world w;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    struct sigaction plain = {.sa_handler = SIG_DFL};
    sigaction(SIGPIPE, &plain, NULL);
    world_open(&w, NULL, "{\"timeout_s\": 0.5}");
    struct signals before = signals_now();
    jianmu_result_free(call_tool(&w, "echo_it", NULL, NULL));
    r = call_tool(&w, "stubborn", "{\"seconds\": 2}", NULL);
    assert_true(jianmu_result_abandoned(r)); /* its thread still runs */
    jianmu_result_free(r);
    r = NULL;
    jianmu_result_free(run_script(&w, "sh", "kill -PIPE $$"));
    const char script[] = "exec <&-; printf closed";
    jianmu_job *job = jianmu_job_new(script, strlen(script));
    assert_int_equal(jianmu_job_set_language(job, "sh", &err), 0);
    assert_int_equal(jianmu_job_set_stdin(job, much, sizeof much, &err), 0);
    assert_int_equal(jianmu_run_job(w.runner, job, NULL, &r, &err), 0);
    assert_string_equal(jianmu_result_text(r, 1, NULL), "closed");
    jianmu_result_free(r);
    jianmu_job_free(job);
    expect_same(&before);
    world_close(&w);
    expect_same(&before);
}

static void test_the_skill_of_a_runner(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    world_open(&w, NULL, NULL);
    jianmu_runner *runner = jianmu_runner_from_constraints(NULL, w.config, NULL, "/usr", NULL, &err);
    assert_non_null(runner);
    json_t *plan = jianmu_runner_explain(runner, "job", NULL, &err);
    json_t *skill = json_object_get(json_object_get(plan, "settings"), "skill");
    assert_string_equal(json_string_value(json_object_get(skill, "value")), "/usr");
    json_decref(plan);
    const char script[] = "printf %s \"$JIANMU_SKILL\"";
    jianmu_job *job = jianmu_job_new(script, strlen(script));
    assert_int_equal(jianmu_job_set_language(job, "sh", &err), 0);
    assert_int_equal(jianmu_run_job(runner, job, NULL, &r, &err), 0);
    assert_string_equal(jianmu_result_text(r, 1, NULL), "/usr");
    jianmu_result_free(r);
    jianmu_job_free(job);
    jianmu_runner_free(runner);
    world_close(&w);
}

static void expect_timeout(const char *yaml, const char *constraints, double own, const char *sentence)
{
    struct world w;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    world_open(&w, yaml, constraints);
    const char script[] = "sleep 300";
    jianmu_job *job = jianmu_job_new(script, strlen(script));
    jianmu_call *call = jianmu_call_new();
    assert_int_equal(jianmu_job_set_language(job, "sh", &err), 0);
    if (own > 0)
        assert_int_equal(jianmu_call_set_timeout(call, own, &err), 0);
    assert_int_equal(jianmu_run_job(w.runner, job, call, &r, &err), 0);
    assert_int_equal(jianmu_result_reason(r), JIANMU_TIMEOUT);
    assert_string_equal(jianmu_result_message(r), sentence);
    jianmu_result_free(r);
    jianmu_call_free(call);
    jianmu_job_free(job);
    world_close(&w);
}

static void test_every_layers_timeout_holds_for_jobs(void **state)
{
    (void)state;
    expect_timeout("execution: {timeout_s: 250ms}", NULL, 0, "Job timed out after 0.25s");
    expect_timeout("execution: {timeout_s: 250}", "{\"timeout_s\": \"300ms\"}", 0, "Job timed out after 0.3s");
    expect_timeout("execution: {timeout_s: 250}", "{\"timeout_s\": \"300s\"}", 0.35, "Job timed out after 0.35s");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signals_stay_the_hosts),
        cmocka_unit_test(test_the_skill_of_a_runner),
        cmocka_unit_test(test_every_layers_timeout_holds_for_jobs),
    };
    return cmocka_run_group_tests(tests, use_build_tree, NULL);
}
