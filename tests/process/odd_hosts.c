/* SPDX-License-Identifier: Apache-2.0
 * Hosts that are not as one would wish. Each condition is a process of its own: odd_hosts CONDITION runs 500 jobs
 * and exits with 0 if every status was exact and it has as many descriptors and threads as before. Without an
 * argument it runs them all, and says so in TAP. */
#include "config.h"
#include "support.h"
#include "base/cleanup.h"
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define JOBS 500

extern char **environ;

static void *sleep_for_ever(void *data)
{
    for (;;)
        pause();
    return data;
}

static void start_thread(void *(*fn)(void *), void *data)
{
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 << 10);
    if (pthread_create(&thread, &attr, fn, data))
        exit(90);
    pthread_attr_destroy(&attr);
}

static void plain(void)
{
}

static void many_threads(void)
{
    for (int i = 0; i < 64; i++)
        start_thread(sleep_for_ever, NULL);
}

static void child_signal_ignored(void)
{
    signal(SIGCHLD, SIG_IGN);
}

static void child_signal_blocked(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static atomic_int stolen;

static void *reap_all(void *data)
{
    for (;;) {
        if (waitpid(-1, NULL, __WALL) > 0)
            atomic_fetch_add(&stolen, 1);
        else
            usleep(100);
    }
    return data;
}

/* The control: a child of its own is stolen from it, else the thread proves nothing. */
static void other_reaper(void)
{
    start_thread(reap_all, NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    for (int i = 0; i < 5000 && !atomic_load(&stolen); i++)
        usleep(1000);
    if (!atomic_load(&stolen))
        exit(91);
}

static void streams_closed(void)
{
    close(0);
    close(1);
    close(2);
}

static void large(void)
{
    size_t size = (size_t)1 << 30;
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        exit(92);
    for (size_t i = 0; i < size; i += 4096)
        p[i] = 1;
}

static void all_blocked(void)
{
    sigset_t set;
    sigfillset(&set);
    pthread_sigmask(SIG_SETMASK, &set, NULL);
}

/* A comma for the point, a mask that takes everything away, little room for descriptors. */
static void odd_manners(void)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        setlocale(LC_ALL, "C.UTF-8");
    umask(0777);
    struct rlimit files = {32, 32};
    setrlimit(RLIMIT_NOFILE, &files);
    if (chdir("/proc/self"))
        exit(93);
}

static atomic_int interrupted;

static void count_signal(int signal)
{
    (void)signal;
    atomic_fetch_add(&interrupted, 1);
}

static void *send_signals(void *data)
{
    for (;;) {
        pthread_kill(*(pthread_t *)data, SIGUSR1);
        usleep(300);
    }
    return data;
}

/* Every call of the system may be interrupted. */
static void signals_rain(void)
{
    static pthread_t self;
    struct sigaction action = {.sa_handler = count_signal};
    self = pthread_self();
    sigaction(SIGUSR1, &action, NULL);
    start_thread(send_signals, &self);
}

static const struct {
    const char *name;
    void (*fn)(void);
} conditions[] = {
    {"plain", plain}, {"64 threads", many_threads}, {"SIGCHLD ignored", child_signal_ignored},
    {"SIGCHLD blocked", child_signal_blocked}, {"a thread that reaps all", other_reaper},
    {"descriptors 0 to 2 closed", streams_closed}, {"1 GB resident", large}, {"every signal blocked", all_blocked},
    {"odd umask, locale, directory, limits", odd_manners}, {"signals all the time", signals_rain},
};

/* A status, and a line on each stream whose text depends on it. */
static bool run_one(struct jm_reapers *reapers, int i)
{
    char text[16], wanted[16];
    const char *argv[8];
    struct jm_process_spec spec;
    struct jm_process_result r;
    snprintf(text, sizeof text, "%d", i % 7 ? i % 256 : SIGKILL);
    if (i % 3 == 0 && i % 7)
        set_spec(&spec, argv, "args", text, NULL);
    else
        set_spec(&spec, argv, i % 7 ? "exit" : "signal", text, NULL);
    if (jm_process_run(reapers, &spec, &r, NULL))
        return false;
    int code = i % 7 == 0 ? 128 + SIGKILL : i % 3 == 0 ? 0 : i % 256;
    snprintf(wanted, sizeof wanted, "%s", i % 3 == 0 && i % 7 ? text : "");
    bool good = r.exit_code == code && r.signal == (i % 7 == 0 ? SIGKILL : 0) &&
                r.reason == (i % 7 == 0 ? JIANMU_SIGNALLED : JIANMU_EXITED) && strcmp(r.out.data, wanted) == 0;
    jm_process_result_free(&r);
    return good;
}

static int be_host(const char *name)
{
    for (size_t c = 0; c < jm_countof(conditions); c++) {
        if (strcmp(conditions[c].name, name))
            continue;
        victim();
        conditions[c].fn();
        int fds = count_fds(), threads = count_threads();
        struct jm_reapers *reapers = jm_reapers_new(NULL);
        if (!reapers)
            return 2;
        for (int i = 0; i < JOBS; i++)
            if (!run_one(reapers, i))
                return 3;
        jm_reapers_free(reapers);
        if (conditions[c].fn == signals_rain && !atomic_load(&interrupted))
            return 4;
        return count_fds() != fds ? 5 : count_threads() != threads ? 6 : 0;
    }
    return 7;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return be_host(argv[1]);
    static const char *const why[] = {"", "", "no reapers", "a wrong result", "no signal came", "descriptors leaked",
                                      "threads leaked", "no such condition"};
    for (size_t c = 0; c < jm_countof(conditions); c++) {
        char *args[] = {argv[0], (char *)(uintptr_t)conditions[c].name, NULL};
        pid_t pid;
        int status = -1;
        if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, args, environ) == 0)
            waitpid(pid, &status, 0);
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        ok(status == 0, "%d jobs: %s", JOBS, conditions[c].name);
        if (status)
            printf("# status %#x: %s\n", (unsigned)status, code >= 0 && code < (int)jm_countof(why) ? why[code] : "");
    }
    return tap_end();
}
