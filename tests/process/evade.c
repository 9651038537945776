/* SPDX-License-Identifier: Apache-2.0
 * Jobs that want to outlive their end: each a hundred times, with both cores busy. A job names the processes that
 * mean to stay; the host looks at each while it lives, and only then ends the job: by cancelling it, by letting its
 * main process exit, or at a deadline. */
#include "config.h"
#include "support.h"
#include "base/cleanup.h"
#include "process/protocol.h"
#include "process/reapers.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define RUNS 100
#define AT_ONCE 10
#define LONG (60 * SECOND)   /* beyond this a run is stuck */

static struct jm_reapers *reapers;

enum way { CANCEL, LEAVE, DEADLINE };

struct evasion {
    const char *title, *name, *second, *third, *fourth;
    int stayers;             /* processes that say that they stay */
    bool can_leave;          /* its main process can end while the rest stays */
    uint32_t flags;
};

static const struct evasion evasions[] = {
    {"setsid", "setsid", NULL, NULL, NULL, 1, true, 0},
    {"double fork", "double_fork", NULL, NULL, NULL, 1, true, 0},
    {"200 hops", "hops", NULL, NULL, NULL, 1, true, 0},
    {"stops itself", "stop", NULL, NULL, NULL, 1, false, 0},
    {"main thread gone", "main_thread_gone", NULL, NULL, NULL, 1, false, 0},
    {"a reaper of its own", "subreaper", NULL, NULL, NULL, 2, true, 0},
    {"all of it at once", "setsid", "double_fork", "hops", "subreaper", 5, true, 0},
    {"children found in /proc", "setsid", "double_fork", "subreaper", NULL, 4, true, JM_REAPER_SCAN},
};

static const char unseen[] = "not all were seen alive";

/* Why the run was no proof, or NULL. */
static const char *run_once(const struct evasion *e, enum way way, int64_t deadline)
{
    const char *argv[12];
    struct jm_process_spec spec;
    struct jm_process_result r;
    jm_auto_fd int event = eventfd(0, EFD_CLOEXEC);
    int gate[2] = {-1, -1};
    struct watch watch = {.wanted = e->stayers, .signal = event};
    set_spec(&spec, argv, "evade", way == LEAVE ? "1" : "0", e->name, e->second, e->third, e->fourth, NULL);
    int64_t begin = now_ns();
    spec.deadline = begin + deadline;
    spec.output = watch_output;
    spec.output_data = &watch;
    if (way == LEAVE) {
        if (pipe2(gate, O_CLOEXEC))
            return "no pipe";
        spec.stdin_fd = gate[0];
        watch.signal = gate[1];
    } else if (way == CANCEL) {
        spec.cancel_fd = event;
    }
    int status = jm_process_run(reapers, &spec, &r, NULL);
    if (way == LEAVE) {
        close(gate[0]);
        close(gate[1]);
    }
    if (status)
        return "could not run";
    int left = watch_left(&watch), code = r.exit_code;
    jianmu_reason reason = r.reason;
    bool survivors = r.survivors;
    jm_process_result_free(&r);
    if (watch.count != e->stayers || watch.dead)
        return unseen;
    if (survivors || left)
        return "some are alive";
    if (way == LEAVE ? reason != JIANMU_EXITED || code != 7 : code != 137)
        return "wrong status";
    if (way != LEAVE && reason != (way == CANCEL ? JIANMU_CANCELLED : JIANMU_TIMEOUT))
        return "wrong reason";
    return now_ns() - begin < LONG / 2 ? NULL : "the return was late";
}

struct share {
    const struct evasion *evasion;
    int first, good;
};

/* Every so many runs; what a run waits for on busy cores, another can use. */
static void *run_share(void *data)
{
    struct share *share = data;
    const struct evasion *e = share->evasion;
    for (int i = share->first; i < RUNS; i += AT_ONCE) {
        enum way way = i < 3 ? DEADLINE : i % 2 && e->can_leave ? LEAVE : CANCEL;
        int64_t deadline = way == DEADLINE ? SECOND / 4 : LONG;
        const char *why = run_once(e, way, deadline);
        while (why == unseen && deadline < LONG) /* a deadline before they stood proves nothing */
            why = run_once(e, way, deadline *= 2);
        share->good += !why;
        if (why)
            printf("# run %d, way %d: %s\n", i, (int)way, why);
    }
    return NULL;
}

static void run_all(const struct evasion *e)
{
    struct share shares[AT_ONCE];
    pthread_t threads[AT_ONCE];
    int good = 0;
    int64_t begin = now_ns();
    reapers->flags = e->flags;
    for (int i = 0; i < AT_ONCE; i++) {
        shares[i] = (struct share){e, i, 0};
        if (pthread_create(&threads[i], NULL, run_share, &shares[i]))
            exit(99);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        pthread_join(threads[i], NULL);
        good += shares[i].good;
    }
    ok(good == RUNS, "%s: %d of %d, all seen alive and then dead", e->title, good, RUNS);
    printf("# %.1f s\n", (double)(now_ns() - begin) / 1e9);
}

/* Bytes until the last holder of the other end is dead; -1: it lives on. */
static long count_to_end(int fd)
{
    char bytes[4096];
    long count = 0;
    struct pollfd wait = {fd, POLLIN, 0};
    while (poll(&wait, 1, 20000) == 1) {
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n <= 0)
            return count;
        count += n;
    }
    return -1;
}

static void never_stand_still(void)
{
    int good = 0;
    for (int i = 0; i < 20; i++) {
        const char *argv[8];
        struct jm_process_spec spec;
        struct jm_process_result r;
        int life[2];
        if (pipe2(life, O_CLOEXEC))
            continue;
        set_spec(&spec, argv, "storm", "40", NULL);
        spec.stdin_fd = life[1];
        spec.deadline = now_ns() + SECOND / 4;
        int status = jm_process_run(reapers, &spec, &r, NULL);
        close(life[1]);
        good += !status && r.reason == JIANMU_TIMEOUT && !r.survivors && count_to_end(life[0]) >= 40;
        close(life[0]);
        if (!status)
            jm_process_result_free(&r);
    }
    ok(good == 20, "forty that hop for ever: %d of 20, they hopped and then nobody held their pipe", good);
}

/* The job signals its reaper and this process, with the two signals that nobody can refuse. */
static void revolt(void)
{
    const char *name = "it kills and stops its reaper and its host";
    if (!jm_process_scoped()) {
        skip(name, "this kernel has no Landlock signal scope");
        return;
    }
    char self[16];
    snprintf(self, sizeof self, "%d", (int)getpid());
    int good = 0;
    for (int i = 0; i < RUNS; i++) {
        const char *argv[8];
        struct jm_process_spec spec;
        struct jm_process_result r;
        jm_auto_fd int event = eventfd(0, EFD_CLOEXEC);
        struct watch watch = {.wanted = 2, .signal = event};
        set_spec(&spec, argv, "revolt", self, NULL);
        spec.deadline = now_ns() + LONG;
        spec.cancel_fd = event;
        spec.output = watch_output;
        spec.output_data = &watch;
        reapers->flags = 0;
        if (jm_process_run(reapers, &spec, &r, NULL))
            continue;
        good += r.reason == JIANMU_CANCELLED && r.err.len == 1 && r.err.data[0] == '4' && watch.count == 2 &&
                watch_left(&watch) == 0;
        jm_process_result_free(&r);
    }
    ok(good == RUNS, "%s: %d of %d times all four signals were refused, and it died", name, good, RUNS);
}

/* Where the kernel has no such scope a stopped reaper is woken, and still does its work. */
static void stopped_reaper(void)
{
    static const char title[] = "without signal scope a stopped reaper is woken";
    char stop[8];
    int good = 0;
    snprintf(stop, sizeof stop, "%d", SIGSTOP);
    struct jm_reapers *kept = reapers;
    struct jm_reaper first;
    reapers = jm_reapers_new(NULL);
    reapers->flags = JM_REAPER_UNSCOPED;
    bool known = jm_reapers_take(reapers, &first, NULL) == 0 && first.wake;
    jm_reapers_put(reapers, &first);
    if (!known) { /* there a child does not share memory with its parent */
        skip(title, "under valgrind nobody knows its process id");
        jm_reapers_free(reapers);
        reapers = kept;
        return;
    }
    for (int i = 0; i < 5; i++) {
        const char *argv[8];
        struct jm_process_spec spec;
        struct jm_process_result r;
        struct watch watch = {.wanted = 2, .signal = -1};
        set_spec(&spec, argv, "signal_reaper", stop, NULL);
        spec.deadline = now_ns() + SECOND;
        spec.output = watch_output;
        spec.output_data = &watch;
        if (jm_process_run(reapers, &spec, &r, NULL))
            continue;
        good += r.reason == JIANMU_TIMEOUT && watch.count == 2 && watch_left(&watch) == 0;
        jm_process_result_free(&r);
    }
    ok(good == 5, "%s: %d of 5", title, good);
    jm_reapers_free(reapers);
    reapers = kept;
}

static pid_t start_busy_loop(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        setpriority(PRIO_PROCESS, 0, 19);
        for (volatile unsigned long i = 0;; i++)
            if (i % 100000000 == 0 && getppid() == 1)
                _exit(0);
    }
    return pid;
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* under valgrind a reaper's start forks, and flushes once more */
    pid_t busy[2] = {start_busy_loop(), start_busy_loop()};
    reapers = jm_reapers_new(NULL);
    for (size_t i = 0; reapers && i < jm_countof(evasions); i++)
        run_all(&evasions[i]);
    never_stand_still();
    revolt();
    stopped_reaper();
    jm_reapers_free(reapers);
    for (int i = 0; i < 2; i++) {
        if (busy[i] > 0) {
            ok(waitpid(busy[i], NULL, WNOHANG) == 0, "core %d was kept busy all the time", i);
            kill(busy[i], SIGKILL);
            waitpid(busy[i], NULL, 0);
        }
    }
    return tap_end();
}
