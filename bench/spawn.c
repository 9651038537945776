/* SPDX-License-Identifier: Apache-2.0
 * What a process costs through the process service, against posix_spawn with two pipes and a wait, which neither
 * kills a tree nor counts what it used. Rows are interleaved, so that drift of the machine hits all alike. */
#include "config.h"
#include "process/process.h"
#include "base/cleanup.h"
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#define MOST 2000

extern char **environ;

static double now_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

struct row {
    const char *name;
    double us[MOST];
};

static void print_rows(const char *title, struct row *rows, int count, int n)
{
    double median = 0, least = 0;
    printf("%s (n = %d)\n", title, n);
    for (int i = 0; i < count; i++) {
        qsort(rows[i].us, (size_t)n, sizeof(double), by_value);
        if (!i) {
            median = rows[i].us[n / 2];
            least = rows[i].us[0];
        }
        const double *us = rows[i].us;
        printf("  %-44s median %9.1f us  min %9.1f us   x %.2f / %.2f\n", rows[i].name, us[n / 2], us[0],
               us[n / 2] / median, us[0] / least);
    }
    fflush(stdout);
}

/* ---- the two ways ---- */
struct sink {
    uint64_t bytes;
    char *keep;      /* as many bytes as will come, or NULL: into one small buffer */
};

static void with_posix_spawn(const char *program, struct sink *sink)
{
    static char buffer[65536];
    int out[2], errors[2];
    if (pipe2(out, O_CLOEXEC) || pipe2(errors, O_CLOEXEC))
        die("pipe2");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, errors[1], 2);
    char *argv[] = {(char *)program, (char *)"x", NULL};
    pid_t pid;
    if (posix_spawn(&pid, program, &actions, NULL, argv, environ))
        die(program);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(errors[1]);
    struct pollfd fds[2] = {{out[0], POLLIN, 0}, {errors[0], POLLIN, 0}};
    for (int open = 2; open;) {
        poll(fds, 2, -1);
        for (int i = 0; i < 2; i++) {
            if (!fds[i].revents)
                continue;
            ssize_t n = read(fds[i].fd, sink && sink->keep ? sink->keep + sink->bytes : buffer, sizeof buffer);
            if (n <= 0) {
                fds[i].fd = -1;
                open--;
            } else if (sink) {
                sink->bytes += (uint64_t)n;
            }
        }
    }
    int status;
    if (waitpid(pid, &status, 0) < 0 || status)
        die("waitpid");
    close(out[0]);
    close(errors[0]);
}

static void with_jianmu(struct jm_reapers *reapers, const char *program, uint64_t capture, uint64_t *bytes)
{
    const char *argv[] = {program, "x", NULL};
    struct jm_process_spec spec = {.argv = argv, .env = (const char *const *)environ, .cwd_fd = -1, .stdin_fd = -1,
                                   .cancel_fd = -1, .scratch_fd = -1, .capture = capture};
    struct jm_process_result result;
    jianmu_error *err = NULL;
    if (jm_process_run(reapers, &spec, &result, &err)) {
        fprintf(stderr, "%s\n", jianmu_error_message(err));
        exit(1);
    }
    if (result.exit_code)
        die("exit code");
    if (bytes)
        *bytes += result.out.len;
    jm_process_result_free(&result);
}

static struct jm_reapers *new_reapers(void)
{
    jianmu_error *err = NULL;
    struct jm_reapers *reapers = jm_reapers_new(&err);
    if (!reapers)
        die("jm_reapers_new");
    return reapers;
}

/* ---- sections ---- */
static void warm(const char *program, int n)
{
    static struct row rows[2] = {{.name = "posix_spawn, two pipes, wait"},
                                 {.name = "process service, from the second call on"}};
    struct jm_reapers *reapers = new_reapers();
    with_jianmu(reapers, program, 1 << 20, NULL);
    for (int i = 0; i < n; i++) {
        double t0 = now_us();
        with_posix_spawn(program, NULL);
        double t1 = now_us();
        with_jianmu(reapers, program, 1 << 20, NULL);
        rows[0].us[i] = t1 - t0;
        rows[1].us[i] = now_us() - t1;
    }
    jm_reapers_free(reapers);
    print_rows(program, rows, 2, n);
}

/* A runner makes its reaper when it is opened; the work directory and the rest of its opening come in between. */
static void first(const char *program, int n)
{
    static struct row rows[3] = {{.name = "posix_spawn, two pipes, wait"},
                                 {.name = "first call, reaper started 1 ms before"},
                                 {.name = "first call, and starting the reaper in it"}};
    for (int i = 0; i < n; i++) {
        double t = now_us();
        with_posix_spawn(program, NULL);
        rows[0].us[i] = now_us() - t;
        struct jm_reapers *reapers = new_reapers();
        jm_reapers_prefetch(reapers);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
        t = now_us();
        with_jianmu(reapers, program, 1 << 20, NULL);
        rows[1].us[i] = now_us() - t;
        jm_reapers_free(reapers);
        t = now_us();
        reapers = new_reapers();
        with_jianmu(reapers, program, 1 << 20, NULL);
        rows[2].us[i] = now_us() - t;
        jm_reapers_free(reapers);
    }
    char title[300];
    snprintf(title, sizeof title, "first call of a runner: %s", program);
    print_rows(title, rows, 3, n);
}

static void *sleep_for_ever(void *data)
{
    for (;;)
        pause();
    return data;
}

static void become_large(void)
{
    size_t size = (size_t)1 << 30;
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        die("mmap");
    madvise(p, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < size; i += 4096)
        p[i] = 1;
    for (int i = 0; i < 64; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, sleep_for_ever, NULL))
            die("pthread_create");
    }
}

/* The large host is a process of its own that takes turns with this one. */
static void large(const char *program, int n)
{
    static struct row rows[2] = {{.name = "from a small host"}, {.name = "from a host of 1 GB and 64 threads"}};
    int turn[2], took[2];
    if (pipe2(turn, O_CLOEXEC) || pipe2(took, O_CLOEXEC))
        die("pipe2");
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        char byte;
        close(turn[1]);
        become_large();
        struct jm_reapers *reapers = new_reapers();
        with_jianmu(reapers, program, 1 << 20, NULL);
        while (read(turn[0], &byte, 1) == 1) {
            double us = now_us();
            with_jianmu(reapers, program, 1 << 20, NULL);
            us = now_us() - us;
            if (write(took[1], &us, sizeof us) != sizeof us)
                _exit(1);
        }
        jm_reapers_free(reapers);
        _exit(0);
    }
    struct jm_reapers *reapers = new_reapers();
    with_jianmu(reapers, program, 1 << 20, NULL);
    for (int i = 0; i < n; i++) {
        double t = now_us();
        with_jianmu(reapers, program, 1 << 20, NULL);
        rows[0].us[i] = now_us() - t;
        if (write(turn[1], "x", 1) != 1 || read(took[0], &rows[1].us[i], sizeof(double)) != sizeof(double))
            die("turn");
    }
    close(turn[1]);
    close(turn[0]);
    waitpid(pid, NULL, 0);
    jm_reapers_free(reapers);
    char title[300];
    snprintf(title, sizeof title, "size of the host: %s", program);
    print_rows(title, rows, 2, n);
}

static void capture(const char *self, uint64_t bytes, uint64_t limit, int n)
{
    static struct row rows[3] = {{.name = "both pipes read into one 64 KB buffer"},
                                 {.name = "both pipes read into fresh memory"},
                                 {.name = "process service with capture"}};
    struct jm_reapers *reapers = new_reapers();
    char number[32], title[100];
    snprintf(number, sizeof number, "%llu", (unsigned long long)bytes);
    setenv("SPAWN_BENCH_BYTES", number, 1);
    for (int i = 0; i < n; i++) {
        struct sink raw = {0}, fresh = {0};
        uint64_t kept = 0;
        double t0 = now_us();
        with_posix_spawn(self, &raw);
        double t1 = now_us();
        if (!(fresh.keep = malloc(bytes + 65536)))
            die("malloc");
        with_posix_spawn(self, &fresh);
        free(fresh.keep);
        double t2 = now_us();
        with_jianmu(reapers, self, limit, &kept);
        rows[0].us[i] = t1 - t0;
        rows[1].us[i] = t2 - t1;
        rows[2].us[i] = now_us() - t2;
        if (raw.bytes != bytes || fresh.bytes != bytes || kept != (bytes < limit ? bytes : limit))
            die("bytes were lost");
    }
    unsetenv("SPAWN_BENCH_BYTES");
    jm_reapers_free(reapers);
    snprintf(title, sizeof title, "output of %.1f MB, capture limit %.1f MB", (double)bytes / 1e6, (double)limit / 1e6);
    print_rows(title, rows, 3, n);
}

static int write_bytes(uint64_t bytes)
{
    static char buffer[65536];
    memset(buffer, 'x', sizeof buffer);
    while (bytes) {
        ssize_t n = write(1, buffer, bytes < sizeof buffer ? (size_t)bytes : sizeof buffer);
        if (n < 0)
            return 1;
        bytes -= (uint64_t)n;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *bytes = getenv("SPAWN_BENCH_BYTES");
    if (bytes)
        return write_bytes(strtoull(bytes, NULL, 10));
    char noop[PATH_MAX], self[PATH_MAX];
    if (!realpath(argc > 1 ? argv[1] : "bench/noop", noop) || !realpath("/proc/self/exe", self))
        die("bench/noop");
    int n = argc > 2 ? atoi(argv[2]) : 300;
    if (n < 10 || n > MOST)
        n = 300;
    warm(noop, n);
    warm("/bin/true", n);
    first("/bin/true", n / 3);
    large(noop, n);
    large("/bin/true", n);
    capture(self, 1 << 20, 1 << 20, n / 5);
    capture(self, 64 << 20, 64 << 20, 10);
    capture(self, 256 << 20, 1 << 20, 5);
    return 0;
}
