/* SPDX-License-Identifier: Apache-2.0
 * Its limits, and what it used. */
#include "config.h"
#include "fixture.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <cmocka.h>

static void output_beyond_its_limit_kills(void **state)
{
    (void)state;
    RUN(o, "pour", "1000000000000");
    spec.output_limit = 300000;
    spec.deadline = now_ns() + 60 * SECOND;
    run_well(&o, &spec);
    assert_int_equal(o.r.reason, JIANMU_OUTPUT);
    assert_int_equal(o.r.exit_code, 137);
    assert_true(o.r.out.len > 300000);
    done(&o);
}

static void output_up_to_its_limit_does_not(void **state)
{
    (void)state;
    RUN(o, "pour", "300000");
    spec.output_limit = 300000;
    run_well(&o, &spec);
    assert_int_equal(o.r.reason, JIANMU_EXITED);
    assert_int_equal(o.r.out.len, 300000);
    done(&o);
    spec.output_limit = 299999; /* also where it has ended before anybody could kill it */
    run_well(&o, &spec);
    assert_int_equal(o.r.reason, JIANMU_OUTPUT);
    done(&o);
}

static void a_deadline_kills_and_keeps_the_output(void **state)
{
    (void)state;
    RUN(o, "say", "before the end");
    int64_t begin = now_ns();
    spec.deadline = begin + SECOND;
    run_well(&o, &spec);
    assert_int_equal(o.r.reason, JIANMU_TIMEOUT);
    assert_int_equal(o.r.exit_code, 137);
    assert_int_equal(o.r.signal, SIGKILL);
    assert_string_equal(o.r.out.data, "before the end");
    assert_true(now_ns() - begin >= SECOND);
    assert_true(now_ns() - begin < 10 * SECOND);
    assert_true(o.r.wall_s > 0.5 && o.r.wall_s < 10);
    done(&o);
}

static void a_deadline_in_the_past_is_a_timeout(void **state)
{
    (void)state;
    RUN(o, "say", "x");
    spec.deadline = 1;
    run_well(&o, &spec);
    assert_int_equal(o.r.reason, JIANMU_TIMEOUT);
    done(&o);
}

static void *cancel_soon(void *data)
{
    uint64_t one = 1;
    usleep(100000);
    return write(*(int *)data, &one, sizeof one) == sizeof one ? data : NULL;
}

static void another_thread_cancels(void **state)
{
    (void)state;
    jm_auto_fd int fd = eventfd(0, EFD_CLOEXEC);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &fd), 0);
    RUN(o, "say", "x");
    spec.cancel_fd = fd;
    spec.deadline = now_ns() + 60 * SECOND;
    run_well(&o, &spec);
    void *written = NULL;
    pthread_join(thread, &written);
    assert_non_null(written);
    assert_int_equal(o.r.reason, JIANMU_CANCELLED);
    assert_int_equal(o.r.exit_code, 137);
    assert_string_equal(o.r.out.data, "x");
    done(&o);
    run_well(&o, &spec); /* it sticks */
    assert_int_equal(o.r.reason, JIANMU_CANCELLED);
    done(&o);
}

static void assert_cpu_limit(const char *how, const char *processes, bool scan)
{
    RUN(o, how, processes);
    uint32_t flags = reapers->flags;
    reapers->flags |= scan ? JM_REAPER_SCAN : 0;
    spec.cpu_time_s = 0.5;
    spec.deadline = now_ns() + 60 * SECOND;
    run_well(&o, &spec);
    reapers->flags = flags;
    assert_int_equal(o.r.reason, JIANMU_CPU_TIME);
    double used = o.r.user_s + o.r.system_s;
    if (used < 0.4 || used > 5)
        fail_msg("%s used %g s of CPU time", how, used);
    done(&o);
}

static void cpu_time_of_one_process(void **state)
{
    (void)state;
    assert_cpu_limit("spin", "1", false);
}

static void cpu_time_of_many_processes(void **state)
{
    (void)state;
    assert_cpu_limit("spin", "4", false);
    assert_cpu_limit("spin", "4", true);
}

static void cpu_time_of_a_relay(void **state)
{
    (void)state;
    assert_cpu_limit("spin_relay", NULL, false);
}

static void cpu_time_of_one_that_ignores_the_signal(void **state)
{
    (void)state;
    assert_cpu_limit("spin_deaf", "1", false);
}

static void ends_by_the_signal_of_its_cpu_limit(void **state)
{
    (void)state;
    char text[8];
    snprintf(text, sizeof text, "%d", SIGXCPU);
    RUN(o, "signal", text);
    run_well(&o, &spec);
    assert_int_equal(o.r.reason, JIANMU_CPU_TIME);
    assert_int_equal(o.r.exit_code, 128 + SIGXCPU);
    done(&o);
}

static void files_have_a_limit(void **state)
{
    (void)state;
    jm_auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat st;
    RUN(o, "file", "large", "200000");
    spec.cwd_fd = fd;
    spec.fsize = 100000;
    run_well(&o, &spec);
    assert_int_equal(o.r.reason, JIANMU_FSIZE);
    assert_int_equal(o.r.signal, SIGXFSZ);
    assert_int_equal(fstatat(fd, "large", &st, 0), 0);
    assert_int_equal(st.st_size, 100000);
    done(&o);
    spec.fsize = 200000;
    run_well(&o, &spec);
    assert_int_equal(o.r.reason, JIANMU_EXITED);
    assert_int_equal(o.r.exit_code, 0);
    done(&o);
}

/* ---- what it used ---- */
static void the_hosts_memory_is_not_counted(void **state)
{
    (void)state;
    size_t size = 300 << 20;
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    for (size_t i = 0; i < size; i += 4096)
        p[i] = 1;
    struct jm_reapers *kept = reapers; /* one that is started by the large host */
    reapers = jm_reapers_new(NULL);
    assert_non_null(reapers);
    RUN(o, "touch", "33554432");
    run_well(&o, &spec);
    jm_reapers_free(reapers);
    reapers = kept;
    assert_int_equal(o.r.exit_code, 0);
    assert_true(o.r.peak_memory >= 32 << 20);
    assert_true(o.r.peak_memory < 100 << 20);
    munmap(p, size);
    done(&o);
}

static void time_is_measured(void **state)
{
    (void)state;
    RUN(o, "spin", "2");
    spec.deadline = now_ns() + SECOND;
    run_well(&o, &spec);
    double used = o.r.user_s + o.r.system_s;
    assert_true(used > 0.02 && used < 4);
    assert_true(o.r.start_s > 0 && o.r.start_s < 1);
    done(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_beyond_its_limit_kills),
        cmocka_unit_test(output_up_to_its_limit_does_not),
        cmocka_unit_test(a_deadline_kills_and_keeps_the_output),
        cmocka_unit_test(a_deadline_in_the_past_is_a_timeout),
        cmocka_unit_test(another_thread_cancels),
        cmocka_unit_test(cpu_time_of_one_process),
        cmocka_unit_test(cpu_time_of_many_processes),
        cmocka_unit_test(cpu_time_of_a_relay),
        cmocka_unit_test(cpu_time_of_one_that_ignores_the_signal),
        cmocka_unit_test(ends_by_the_signal_of_its_cpu_limit),
        cmocka_unit_test(files_have_a_limit),
        cmocka_unit_test(the_hosts_memory_is_not_counted),
        cmocka_unit_test(time_is_measured),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
