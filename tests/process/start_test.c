/* SPDX-License-Identifier: Apache-2.0
 * What cannot be started, and the reapers that start it. */
#include "config.h"
#include "fixture.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <cmocka.h>

static void assert_refused(const char *program, jianmu_code code, const char *why)
{
    static const char *const env[] = {"PATH=/nonexistent::relative:/usr/bin:/bin", NULL};
    const char *argv[] = {program, NULL};
    struct jm_process_spec spec = {.argv = argv, .env = env, .cwd_fd = -1, .stdin_fd = -1, .cancel_fd = -1,
                                   .scratch_fd = -1};
    struct outcome o;
    run(&o, &spec);
    assert_int_equal(o.status, -1);
    assert_int_equal(jianmu_error_code(o.err), code);
    if (!strstr(jianmu_error_message(o.err), why) || (*program && !strstr(jianmu_error_message(o.err), program)))
        fail_msg("%s", jianmu_error_message(o.err));
    done(&o);
}

static void missing_programs_are_named(void **state)
{
    (void)state;
    assert_refused("no-such-program", JIANMU_NOT_FOUND, "PATH");
    assert_refused("/no/such/program", JIANMU_NOT_FOUND, "does not exist");
    assert_refused("./no-such-program", JIANMU_NOT_FOUND, "does not exist");
    assert_refused("", JIANMU_INVALID, "no name");
    assert_refused("/dev/null/x", JIANMU_NOT_FOUND, "Not a directory");
    assert_refused(put_file("plain", "text", 0644), JIANMU_UNAVAILABLE, "Permission denied");
    assert_refused(dir, JIANMU_UNAVAILABLE, "Permission denied");
    assert_refused(put_file("script", "#!/no/such/interpreter\n", 0755), JIANMU_NOT_FOUND, "interpreter");
    assert_refused(put_file("garbage", "text", 0755), JIANMU_UNAVAILABLE, "Exec format error");
}

static void programs_are_looked_up(void **state)
{
    (void)state;
    char path[200];
    snprintf(path, sizeof path, "PATH=/nonexistent:%s:/usr/bin:/bin", dir);
    put_file("tool", "#!/bin/sh\necho found\n", 0755);
    const char *argv[] = {"tool", NULL}, *env[] = {"X=1", path, NULL};
    jm_auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct jm_process_spec spec = {.argv = argv, .env = env, .cwd_fd = -1, .stdin_fd = -1, .cancel_fd = -1,
                                   .scratch_fd = -1, .capture = 100};
    struct outcome o;
    run_well(&o, &spec);
    assert_string_equal(o.r.out.data, "found\n");
    done(&o);
    argv[0] = "./tool";
    spec.cwd_fd = fd;
    run_well(&o, &spec);
    assert_string_equal(o.r.out.data, "found\n");
    done(&o);
    put_file("notexec", "x", 0644);
    argv[0] = "notexec";
    run(&o, &spec);
    assert_int_equal(jianmu_error_code(o.err), JIANMU_UNAVAILABLE);
    done(&o);
}

static void without_a_reaper_it_is_an_error(void **state)
{
    (void)state;
    struct jm_reapers *kept = reapers, *broken = jm_reapers_new(NULL);
    assert_non_null(broken);
    if (broken->image >= 0)
        close(broken->image);
    broken->image = -1;
    broken->file = "/nonexistent/reaper";
    reapers = broken;
    RUN(o, "exit", "0");
    run(&o, &spec);
    reapers = kept;
    assert_int_equal(jianmu_error_code(o.err), JIANMU_UNAVAILABLE);
    assert_non_null(strstr(jianmu_error_message(o.err), "/nonexistent/reaper: No such file"));
    done(&o);
    jm_reapers_free(broken);
}

/* Where memory files may not be executed the installed one is. */
static void the_installed_reaper_will_do(void **state)
{
    (void)state;
    char path[4096];
    const char *build = getenv("JIANMU_BUILD");
    snprintf(path, sizeof path, "%s/libjianmu/process/jianmu-reaper", build ? build : ".");
    struct jm_reapers *kept = reapers, *filed = jm_reapers_new(NULL);
    assert_non_null(filed);
    if (filed->image >= 0)
        close(filed->image);
    filed->image = -1;
    filed->file = path;
    reapers = filed;
    RUN(o, "exit", "9");
    run_well(&o, &spec);
    reapers = kept;
    assert_int_equal(o.r.exit_code, 9);
    done(&o);
    jm_reapers_free(filed);
}

/* ---- reapers ---- */
static void a_dead_idle_reaper_is_replaced(void **state)
{
    (void)state;
    RUN(o, "exit", "3");
    run_well(&o, &spec);
    done(&o);
    assert_true(reapers->count >= 1);
    for (int i = 0; i < reapers->count; i++)
        shutdown(reapers->kept[i].socket, SHUT_WR);
    usleep(50000);
    run_well(&o, &spec);
    assert_int_equal(o.r.exit_code, 3);
    done(&o);
}

static void *run_fifty(void *data)
{
    int *wrong = data;
    for (int i = 0; i < 50; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        RUN(o, "exit", text);
        o.status = jm_process_run(reapers, &spec, &o.r, &o.err);
        *wrong += o.status || o.r.exit_code != i;
        if (o.status)
            jianmu_error_free(o.err);
        else
            jm_process_result_free(&o.r);
    }
    return NULL;
}

static void many_threads_share_the_reapers(void **state)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};
    (void)state;
    int before = count_fds() - reapers->count;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_fifty, &wrong[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
    assert_true(reapers->count >= 1 && reapers->count <= JM_REAPERS_KEPT);
    assert_int_equal(count_fds() - reapers->count, before);
}

/* Without the scope a job can kill its reaper: the call returns, says so, and the main process died with it. */
static void a_killed_reaper_is_an_error(void **state)
{
    char text[8];
    struct jm_reapers *kept = reapers, *open = jm_reapers_new(NULL);
    struct watch watch = {.signal = -1};
    (void)state;
    assert_non_null(open);
    open->flags |= JM_REAPER_UNSCOPED;
    snprintf(text, sizeof text, "%d", SIGKILL);
    RUN(o, "signal_reaper", text);
    spec.deadline = now_ns() + 60 * SECOND;
    spec.output = watch_output;
    spec.output_data = &watch;
    reapers = open;
    run(&o, &spec);
    reapers = kept;
    assert_int_equal(o.status, -1);
    assert_int_equal(jianmu_error_code(o.err), JIANMU_SANDBOX_DEAD);
    assert_int_equal(open->count, 0);
    done(&o);
    for (int i = 0; i < watch.count; i++) /* the orphan is nobody's; the test is to leave nothing either */
        kill(watch.seen[i].pid, SIGKILL);
    jm_reapers_free(open);
}

/* Every number of descriptors that is too small: an error, and nothing leaks. */
static void too_few_descriptors_are_an_error(void **state)
{
    struct rlimit old, few;
    bool ran = false;
    int fds = count_fds(), errors = 0;
    (void)state;
    getrlimit(RLIMIT_NOFILE, &old);
    for (rlim_t n = (rlim_t)fds; n < (rlim_t)fds + 40 && !ran; n++) {
        RUN(o, "exit", "0");
        few = (struct rlimit){n, old.rlim_max};
        setrlimit(RLIMIT_NOFILE, &few);
        struct jm_reapers *kept = reapers;
        jianmu_error *err = NULL;
        reapers = jm_reapers_new(&err);
        if (reapers)
            run(&o, &spec);
        jm_reapers_free(reapers);
        reapers = kept;
        setrlimit(RLIMIT_NOFILE, &old);
        ran = !err && !o.status;
        errors += !ran;
        assert_int_equal(count_fds(), fds);
        jianmu_error_free(err);
        done(&o);
    }
    assert_true(ran);
    assert_true(errors > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_programs_are_named),
        cmocka_unit_test(programs_are_looked_up),
        cmocka_unit_test(without_a_reaper_it_is_an_error),
        cmocka_unit_test(the_installed_reaper_will_do),
        cmocka_unit_test(a_dead_idle_reaper_is_replaced),
        cmocka_unit_test(many_threads_share_the_reapers),
        cmocka_unit_test(a_killed_reaper_is_an_error),
        cmocka_unit_test(too_few_descriptors_are_an_error),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
