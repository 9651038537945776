/* SPDX-License-Identifier: Apache-2.0
 * The host dies, leaves or forks. lifetime HOW DIR is such a host: it runs a job with DIR/a (and DIR/b) as scratch
 * directories, and tells on stdout which processes there are. Without arguments the test starts it, and ends it. */
#include "config.h"
#include "support.h"
#include "base/cleanup.h"
#include "files/remove.h"
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SOON (20 * SECOND)

extern char **environ;

/* ---- the host ---- */
static int make_scratch(const char *dir, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    if (mkdir(path, 0700))
        exit(90);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (mkdirat(fd, "deep", 0700) || mkdirat(fd, "deep/er", 0700) || mkdirat(fd, "locked", 0700))
        exit(91);
    close(openat(fd, "deep/er/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    close(openat(fd, "locked/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    fchmodat(fd, "locked", 0, 0);
    return fd;
}

static void pass_on(void *data, int stream, const void *bytes, size_t len)
{
    (void)data;
    if (stream == 1 && write(1, bytes, len) != (ssize_t)len)
        _exit(92);
}

static void run_job(struct jm_reapers *reapers, int scratch, bool stays)
{
    const char *argv[12];
    struct jm_process_spec spec;
    struct jm_process_result r;
    if (stays)
        set_spec(&spec, argv, "evade", "0", "setsid", "double_fork", "hops", "subreaper", NULL);
    else
        set_spec(&spec, argv, "exit", "0", NULL);
    spec.scratch_fd = scratch;
    spec.output = pass_on;
    if (jm_process_run(reapers, &spec, &r, NULL))
        exit(93);
    jm_process_result_free(&r);
}

static _Noreturn void sleep_for_ever(void)
{
    for (;;)
        pause();
}

static void say_ready(void)
{
    if (write(1, "0\n", 2) != 2)
        exit(94);
}

static int be_host(const char *how, const char *dir)
{
    struct jm_reapers *reapers = jm_reapers_new(NULL);
    int a = make_scratch(dir, "a"), b = make_scratch(dir, "b");
    if (!strcmp(how, "forks") && fork() == 0)
        sleep_for_ever(); /* it holds whatever its parent held */
    run_job(reapers, a, false);
    if (!strcmp(how, "forks") || !strcmp(how, "runs"))
        run_job(reapers, b, true);
    run_job(reapers, b, false);
    if (!strcmp(how, "frees"))
        jm_reapers_free(reapers);
    say_ready();
    if (!strcmp(how, "collects"))
        sleep_for_ever();
    _exit(0);
}

/* ---- the test ---- */
struct host {
    pid_t pid;
    int out;
    char dir[64];
    struct watch watch;
};

static void start_host(struct host *h, const char *how)
{
    int fds[2];
    *h = (struct host){.dir = "/tmp/jianmu-lifetime.XXXXXX", .watch = {.signal = -1}};
    if (!mkdtemp(h->dir) || pipe2(fds, O_CLOEXEC))
        exit(99);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
    char *argv[] = {(char *)"lifetime", (char *)(uintptr_t)how, h->dir, NULL};
    posix_spawnattr_t attr;
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP); /* what it forks is found by its group */
    if (posix_spawn(&h->pid, "/proc/self/exe", &actions, &attr, argv, environ))
        exit(99);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    close(fds[1]);
    h->out = fds[0];
}

/* Until so many processes were named, or it says that it is ready. False: it ended before. */
static bool hear(struct host *h, int processes)
{
    char byte, before = '\n';
    while (h->watch.count + h->watch.dead < processes || !processes) {
        if (read(h->out, &byte, 1) != 1)
            return false;
        if (!processes && byte == '\n' && before == '0')
            return true;
        before = byte;
        if (processes)
            watch_output(&h->watch, 1, &byte, 1);
    }
    return true;
}

static bool exists(const struct host *h, const char *name)
{
    char path[128];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", h->dir, name);
    return lstat(path, &st) == 0;
}

static bool vanishes(const struct host *h, const char *name)
{
    for (int64_t end = now_ns() + SOON; exists(h, name); usleep(2000))
        if (now_ns() > end)
            return false;
    return true;
}

static void end_host(struct host *h)
{
    int fd = open(h->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    kill(-h->pid, SIGKILL);
    jm_remove_below(fd);
    close(fd);
    rmdir(h->dir);
    close(h->out);
}

static void kill_host(struct host *h)
{
    kill(h->pid, SIGKILL);
    waitpid(h->pid, NULL, 0);
}

static void killed_while_it_runs(const char *how, const char *title)
{
    struct host h;
    start_host(&h, how);
    bool heard = hear(&h, 5);
    struct seen reaper = {0};
    /* the first that stays is an orphan, and fell to the reaper */
    bool watched = heard && see(parent_of(h.watch.seen[0].pid), &reaper);
    ok(heard && watched && h.watch.count == 5 && exists(&h, "a") && exists(&h, "b"), "%s: five processes and two "
       "directories are there", title);
    int64_t begin = now_ns();
    kill_host(&h);
    bool gone = true;
    for (int i = 0; i < h.watch.count; i++)
        gone = goes_within(&h.watch.seen[i], SOON) && gone;
    ok(gone, "%s: then none of the processes is", title);
    ok(vanishes(&h, "b"), "%s: nor is its directory", title);
    ok(vanishes(&h, "a"), "%s: nor is that of the job before", title);
    ok(watched && goes_within(&reaper, SOON), "%s: nor is the reaper", title);
    printf("# %.3f s after the kill\n", (double)(now_ns() - begin) / 1e9);
    end_host(&h);
}

/* The reaper is idle, and the host has yet to remove the directory. */
static void killed_while_it_collects(void)
{
    struct host h;
    start_host(&h, "collects");
    ok(hear(&h, 0) && exists(&h, "a") && exists(&h, "b"), "killed between two jobs: the directories are there");
    kill_host(&h);
    ok(vanishes(&h, "a") && vanishes(&h, "b"), "killed between two jobs: then they are not");
    end_host(&h);
}

static void leaves(const char *how, bool removed, const char *title)
{
    struct host h;
    int status = -1;
    start_host(&h, how);
    bool heard = hear(&h, 0);
    waitpid(h.pid, &status, 0);
    if (!removed)
        usleep(300000); /* long enough to do it wrong */
    bool right = removed ? vanishes(&h, "a") && vanishes(&h, "b") : exists(&h, "a") && exists(&h, "b");
    ok(heard && status == 0 && right, "%s", title);
    end_host(&h);
}

/* ---- fork ---- */
static int run_exit(struct jm_reapers *reapers, const char *code, jianmu_error **err)
{
    const char *argv[8];
    struct jm_process_spec spec;
    struct jm_process_result r;
    set_spec(&spec, argv, "exit", code, NULL);
    if (jm_process_run(reapers, &spec, &r, err))
        return -1;
    int exit_code = r.exit_code;
    jm_process_result_free(&r);
    return exit_code;
}

static int be_child(struct jm_reapers *reapers)
{
    jianmu_error *err = NULL;
    int fds = count_fds();
    if (run_exit(reapers, "1", &err) != -1 || jianmu_error_code(err) != JIANMU_FORKED)
        return 1;
    if (!strstr(jianmu_error_message(err), "forked"))
        return 2;
    jianmu_error_free(err);
    jm_reapers_prefetch(reapers);
    if (count_fds() != fds)
        return 3;
    jm_reapers_free(reapers);
    if (count_fds() >= fds)
        return 4;
    reapers = jm_reapers_new(NULL); /* its own work as ever */
    if (!reapers || run_exit(reapers, "5", NULL) != 5)
        return 5;
    jm_reapers_free(reapers);
    return 0;
}

struct work {
    struct jm_reapers *reapers;
    int wrong;
};

static void *run_hundred(void *data)
{
    struct work *work = data;
    for (int i = 0; i < 100; i++)
        work->wrong += run_exit(work->reapers, "42", NULL) != 42;
    return NULL;
}

static void forks(void)
{
    struct work work = {jm_reapers_new(NULL), 0};
    pthread_t thread;
    int wrong = 0;
    run_exit(work.reapers, "0", NULL);
    if (pthread_create(&thread, NULL, run_hundred, &work))
        exit(99);
    for (int i = 0; i < 20; i++) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0)
            syscall(SYS_exit_group, be_child(work.reapers)); /* a sanitizer would miss the other thread */
        waitpid(pid, &status, 0);
        wrong += status != 0;
        if (status)
            printf("# child %d: status %#x\n", i, (unsigned)status);
    }
    pthread_join(thread, NULL);
    ok(wrong == 0, "a forked child is told so, and frees what it has");
    ok(work.wrong == 0, "its parent's jobs go on");
    ok(run_exit(work.reapers, "3", NULL) == 3, "and so do later ones");
    jm_reapers_free(work.reapers);
}

/* ---- users: a reaper is only as good as the one who started it ---- */
static bool is_run_as(struct jm_reapers *reapers, int uid, int gid, int groups)
{
    char wanted[64];
    const char *argv[8];
    struct jm_process_spec spec;
    struct jm_process_result r;
    snprintf(wanted, sizeof wanted, "%d %d %d\n", uid, gid, groups);
    set_spec(&spec, argv, "id", NULL);
    if (jm_process_run(reapers, &spec, &r, NULL))
        return false;
    bool same = strcmp(r.out.data, wanted) == 0;
    jm_process_result_free(&r);
    return same;
}

static void changes_user(void)
{
    static const char title[] = "a change of user or groups changes the reaper";
    gid_t groups[64], few[2] = {3, 4};
    int count = getgroups(64, groups), good = 0;
    if (geteuid() != 0 || getegid() != 0 || count < 0 || setgroups((size_t)count, groups)) {
        skip(title, "only the superuser can change users");
        return;
    }
    struct jm_reapers *reapers = jm_reapers_new(NULL);
    good += is_run_as(reapers, 0, 0, count);
    good += setgroups(2, few) == 0 && is_run_as(reapers, 0, 0, 2);
    good += setegid(65534) == 0 && seteuid(65534) == 0 && is_run_as(reapers, 65534, 65534, 2);
    good += seteuid(0) == 0 && setegid(0) == 0 && is_run_as(reapers, 0, 0, 2);
    good += setgroups((size_t)count, groups) == 0 && is_run_as(reapers, 0, 0, count);
    ok(good == 5, "%s", title);
    jm_reapers_free(reapers);
}

/* ---- what does not die: a dead process that is traced stays until its tracer has seen it ---- */
static void trace(void *data, int stream, const void *bytes, size_t len)
{
    struct watch *watch = data;
    int before = watch->count;
    watch_output(watch, stream, bytes, len);
    if (watch->count > before && ptrace(PTRACE_SEIZE, watch->seen[before].pid, NULL, NULL))
        watch->dead = errno;
}

static void does_not_die(void)
{
    static const char title[] = "what does not die is said, in time";
    struct watch watch = {.signal = -1};
    const char *argv[8];
    struct jm_process_spec spec;
    struct jm_process_result r = {0};
    struct jm_reapers *reapers = jm_reapers_new(NULL);
    set_spec(&spec, argv, "evade", "0", "setsid", NULL);
    int64_t begin = now_ns();
    spec.deadline = begin + SECOND;
    spec.output = trace;
    spec.output_data = &watch;
    int status = jm_process_run(reapers, &spec, &r, NULL);
    jm_process_result_free(&r);
    if (!status && watch.dead == EPERM) {
        skip(title, "no process may trace another here");
        jm_reapers_free(reapers);
        return;
    }
    bool in_time = now_ns() - begin < 30 * SECOND;
    ok(!status && r.survivors && r.reason == JIANMU_TIMEOUT && watch.count == 1 && !watch.dead && in_time &&
       watch_left(&watch) == 1, "%s", title);
    ok(run_exit(reapers, "6", NULL) == 6, "the next job has another reaper");
    waitpid(watch.seen[0].pid, NULL, __WALL);
    ok(goes_within(&watch.seen[0], SOON), "the first one goes on waiting for it");
    jm_reapers_free(reapers);
}

int main(int argc, char **argv)
{
    if (argc > 2)
        return be_host(argv[1], argv[2]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    killed_while_it_runs("runs", "host killed");
    killed_while_it_runs("forks", "host killed, a forked child holds its sockets");
    killed_while_it_collects();
    leaves("exits", true, "a host that just exits leaves no directory");
    leaves("frees", false, "one that frees its reapers keeps what it has not removed");
    forks();
    changes_user();
    does_not_die();
    return tap_end();
}
