/* SPDX-License-Identifier: Apache-2.0
 * What a process is given, how it starts, how it ends. */
#include "config.h"
#include "fixture.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <cmocka.h>

static void exits_with_its_code(void **state)
{
    static const int codes[] = {0, 1, 2, 77, 124, 125, 126, 127, 128, 137, 143, 255};
    (void)state;
    for (size_t i = 0; i < jm_countof(codes); i++) {
        char text[8];
        snprintf(text, sizeof text, "%d", codes[i]);
        RUN(o, "exit", text);
        run_well(&o, &spec);
        assert_int_equal(o.r.reason, JIANMU_EXITED);
        assert_int_equal(o.r.exit_code, codes[i]);
        assert_int_equal(o.r.signal, 0);
        assert_false(o.r.survivors);
        done(&o);
    }
}

static void ends_by_a_signal(void **state)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGILL, SIGABRT, SIGKILL, SIGSEGV, SIGPIPE, SIGTERM,
                                  SIGUSR1, 40};
    (void)state;
    for (size_t i = 0; i < jm_countof(signals); i++) {
        char text[8];
        snprintf(text, sizeof text, "%d", signals[i]);
        RUN(o, "signal", text);
        run_well(&o, &spec);
        assert_int_equal(o.r.reason, JIANMU_SIGNALLED);
        assert_int_equal(o.r.exit_code, 128 + signals[i]);
        assert_int_equal(o.r.signal, signals[i]);
        done(&o);
    }
}

/* ---- what it is given ---- */
static void assert_list(const struct jm_stream *out, const char *const *list)
{
    size_t at = 0;
    for (; *list; list++) {
        assert_true(at + strlen(*list) < out->len);
        assert_string_equal(out->data + at, *list);
        at += strlen(*list) + 1;
    }
    assert_int_equal(at, out->len);
}

static void arguments_are_exact(void **state)
{
    (void)state;
    RUN(o, "args", "", "a b", "\n", "\xff\xfe", "'\"\\$x`", "-", "\xe5\xbb\xba\xe6\x9c\xa8");
    run_well(&o, &spec);
    assert_list(&o.r.out, argv_ + 2);
    done(&o);
}

static void environment_is_exact(void **state)
{
    static const char *const env[] = {"B=2", "A=1", "EMPTY=", "ODD=\n\xff=", "no equals sign", NULL};
    static const char *const none[] = {NULL};
    (void)state;
    setenv("JIANMU_TEST_SECRET", "hunter2", 1);
    RUN(o, "env");
    spec.env = env;
    run_well(&o, &spec);
    assert_list(&o.r.out, env);
    done(&o);
    spec.env = none;
    run_well(&o, &spec);
    assert_int_equal(o.r.out.len, 0);
    done(&o);
}

/* Beyond what fits into a message: 1 MB of arguments and 1 MB of environment. */
static void large_lists_are_exact(void **state)
{
    enum { STRINGS = 64, LEN = 15000 };
    const char *argv[STRINGS + 3] = {victim(), "args"}, *env[STRINGS + 1] = {0};
    (void)state;
    for (int i = 0; i < STRINGS; i++) {
        char *text = malloc(LEN + 32);
        assert_non_null(text);
        int n = snprintf(text, 32, "N%d=", i);
        for (int k = n; k < LEN + i % 8; k++)
            text[k] = (char)('a' + (k * (i + 3)) % 26);
        text[LEN + i % 8] = 0;
        argv[i + 2] = env[i] = text;
    }
    struct jm_process_spec spec = {.argv = argv, .env = env, .cwd_fd = -1, .stdin_fd = -1, .cancel_fd = -1,
                                   .scratch_fd = -1, .capture = 4 << 20};
    struct outcome o;
    run_well(&o, &spec);
    assert_int_equal(o.r.exit_code, 0);
    assert_list(&o.r.out, argv + 2);
    done(&o);
    argv[1] = "env";
    argv[2] = NULL;
    run_well(&o, &spec);
    assert_list(&o.r.out, env);
    done(&o);
    for (int i = 0; i < STRINGS; i++)
        free((void *)(uintptr_t)env[i]);
}

static void too_long_an_argument_is_an_error(void **state)
{
    (void)state;
    char *text = malloc(200000);
    assert_non_null(text);
    memset(text, 'x', 199999);
    text[199999] = 0;
    RUN(o, "args", text);
    run(&o, &spec);
    assert_int_equal(jianmu_error_code(o.err), JIANMU_INVALID);
    assert_non_null(strstr(jianmu_error_message(o.err), "Argument list too long"));
    done(&o);
    free(text);
}

static void works_in_its_directory(void **state)
{
    (void)state;
    char line[4200], real[4096];
    assert_non_null(realpath(dir, real));
    jm_auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    RUN(o, "state");
    spec.cwd_fd = fd;
    run_well(&o, &spec);
    snprintf(line, sizeof line, "\ncwd %s\n", real);
    assert_non_null(strstr(o.r.out.data, line));
    done(&o);
    spec.cwd_fd = -1;
    run_well(&o, &spec);
    assert_non_null(strstr(o.r.out.data, "\ncwd /\n"));
    done(&o);
}

static void *assert_default_state(void *data)
{
    RUN(o, "state");
    spec.nofile = 64;
    spec.fsize = 1 << 20;
    o.status = jm_process_run(reapers, &spec, &o.r, &o.err);
    static const char wanted[] = "fds 0 1 2\nblocked\nhandled\numask 022\ncwd /\nsession 1\ngroup 1\ncore 0 0\n"
                                 "nofile 64 64\nfsize 1048576 1048576\n";
    bool same = !o.status && strcmp(o.r.out.data, wanted) == 0;
    if (!same)
        fprintf(stderr, "%s\n", o.status ? jianmu_error_message(o.err) : o.r.out.data);
    *(bool *)data = same;
    jm_process_result_free(&o.r);
    return NULL;
}

static void starts_in_a_default_state(void **state)
{
    bool same = false;
    (void)state;
    assert_default_state(&same);
    assert_true(same);
}

/* Also a reaper that was started by a host which ignores and blocks everything. */
static void starts_in_a_default_state_from_an_odd_host(void **state)
{
    (void)state;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old[65];
    sigset_t all, mask;
    for (int s = 1; s <= 64; s++)
        if (sigaction(s, &ignore, &old[s]))
            old[s].sa_flags = -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    mode_t was = umask(0777);
    struct rlimit core, dump;
    getrlimit(RLIMIT_CORE, &core);
    dump = core;
    dump.rlim_cur = dump.rlim_max;
    setrlimit(RLIMIT_CORE, &dump);
    int leaked = open("/dev/null", O_RDONLY); /* not CLOEXEC */
    struct jm_reapers *kept = reapers;
    reapers = jm_reapers_new(NULL);
    bool same = false;
    if (reapers)
        assert_default_state(&same);
    jm_reapers_free(reapers);
    reapers = kept;
    close(leaked);
    umask(was);
    setrlimit(RLIMIT_CORE, &core);
    for (int s = 1; s <= 64; s++)
        if (old[s].sa_flags != -1)
            sigaction(s, &old[s], NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    assert_true(same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exits_with_its_code),
        cmocka_unit_test(ends_by_a_signal),
        cmocka_unit_test(arguments_are_exact),
        cmocka_unit_test(environment_is_exact),
        cmocka_unit_test(large_lists_are_exact),
        cmocka_unit_test(too_long_an_argument_is_an_error),
        cmocka_unit_test(works_in_its_directory),
        cmocka_unit_test(starts_in_a_default_state),
        cmocka_unit_test(starts_in_a_default_state_from_an_odd_host),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
