/* SPDX-License-Identifier: Apache-2.0
 * A runner in a forked child. */
#include "config.h"
#include "support.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int in_child(struct world *w, const jianmu_tool *tool, const jianmu_job *job)
{
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    if (jianmu_run_tool(w->runner, tool, NULL, NULL, &r, &err) != -1 || jianmu_error_code(err) != JIANMU_FORKED)
        return 1;
    jianmu_error_free(err);
    err = NULL;
    if (jianmu_run_job(w->runner, job, NULL, &r, &err) != -1 || jianmu_error_code(err) != JIANMU_FORKED)
        return 2;
    jianmu_error_free(err);
    err = NULL;
    if (jianmu_runner_tool(w->runner, "where", &err) || jianmu_error_code(err) != JIANMU_FORKED)
        return 3;
    jianmu_error_free(err);
    if (jianmu_runner_tools(w->runner, NULL) || jianmu_runner_enforces(w->runner, "timeout_s"))
        return 6;
    jianmu_runner_free(w->runner);
    w->runner = NULL;
    /* one of its own works */
    err = NULL;
    jianmu_runner *own = jianmu_runner_from_constraints(w->constraints, w->config, NULL, NULL, NULL, &err);
    if (!own || jianmu_run_job(own, job, NULL, &r, &err) || jianmu_result_exit_code(r) != 5)
        return 4;
    /* and no backend of the parent's was closed here */
    const jianmu_tool *placed = jianmu_runner_tool(own, "deep", &err);
    if (!placed || jianmu_run_tool(own, placed, NULL, NULL, &r, &err) ||
        json_integer_value(json_object_get(jianmu_result_value(r), "opened")) != 2 ||
        json_integer_value(json_object_get(jianmu_result_value(r), "closed")) != 0)
        return 5;
    jianmu_result_free(r);
    jianmu_runner_free(own);
    return 0;
}

static void test_forked(void **state)
{
    (void)state;
    struct world w;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    world_open(&w, "tools: {deep: {mode: counted}}\n", "{\"timeout_s\": 60}");
    jianmu_result_free(call_tool(&w, "deep", NULL, NULL)); /* in a second backend */
    jianmu_job *job = jianmu_job_new("#!/bin/sh\nexit 5\n", 17);
    const jianmu_tool *tool = jianmu_runner_tool(w.runner, "stubborn", &err);
    json_t *args = json_pack("{s:i}", "seconds", 0);
    /* with a warm reaper and a parked worker, so that there is something to spoil */
    assert_int_equal(jianmu_run_tool(w.runner, tool, args, NULL, &r, &err), 0);
    assert_int_equal(jianmu_run_job(w.runner, job, NULL, &r, &err), 0);
    assert_int_equal(jianmu_result_exit_code(r), 5);
    pid_t child = fork();
    if (child == 0) {
        /* by exec, so that no leak checker takes what the parent still holds for lost */
        char status[16];
        snprintf(status, sizeof status, "exit %d", in_child(&w, tool, job));
        execl("/bin/sh", "sh", "-c", status, NULL);
        _exit(99);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    /* and the parent's goes on */
    assert_int_equal(jianmu_run_tool(w.runner, tool, args, NULL, &r, &err), 0);
    assert_int_equal(jianmu_run_job(w.runner, job, NULL, &r, &err), 0);
    assert_int_equal(jianmu_result_exit_code(r), 5);
    json_decref(args);
    jianmu_job_free(job);
    jianmu_result_free(r);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
