/* SPDX-License-Identifier: Apache-2.0
 * The reaper: starts one job after another for the process that holds the other end of descriptor 0, and leaves
 * nothing of any of them alive. Orphans fall to it, and nobody else can reap them, so the process ids it kills
 * are never a stranger's. A static program without libc; the library carries it. */
#include "config.h"
#include "process/reaper.h"
#include "files/remove.h"
#include "process/sys.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define HOST 0                      /* the socket; 1 and 2 are copies of it, so that nothing else lands there */
#define SCRATCH_MOST 64
#define MS 1000000ll
#define SAMPLE_NS (50 * MS)

static struct {
    union jm_reaper_message in;
    int scratch[SCRATCH_MOST], scratch_count;
    int signals, host, null, ruleset;
    int out, err;                   /* the job's, held until the answer: the host need not wake for their end */
    int main_pid;                   /* 0: idle */
    bool main_ended;
    bool survivors;                 /* of a job that was answered; no more jobs */
    int own_scratch;                /* of the job that runs, among the others; -1: none */
    int64_t lease;                  /* when a job that is kept is over; 0: never */
    uint64_t cpu_ns;                /* 0: no limit */
    int64_t sampled;
    struct jm_reaper_answer answer;
} r;

void jm_reaper_main(void);
static _Noreturn void leave(void)
{
    for (;;)
        jm_sys(__NR_exit_group, 0);
}

static void clear_signals(void)
{
    char infos[512];
    jm_sys(__NR_read, r.signals, infos, sizeof infos);
}

static uint64_t microseconds(const struct timeval *tv)
{
    return (uint64_t)tv->tv_sec * 1000000 + (uint64_t)tv->tv_usec;
}

/* How many ended; -1 where no process is left. */
static int reap(void)
{
    for (int count = 0;; count++) {
        int status;
        struct rusage usage;
        long pid = jm_sys(__NR_wait4, -1, &status, WNOHANG | __WALL, &usage);
        if (pid == -ECHILD)
            return -1;
        if (pid <= 0)
            return count;
        r.answer.user_us += microseconds(&usage.ru_utime);
        r.answer.system_us += microseconds(&usage.ru_stime);
        if ((uint64_t)usage.ru_maxrss > r.answer.peak_kb)
            r.answer.peak_kb = (uint64_t)usage.ru_maxrss;
        if (pid == r.main_pid && !r.main_ended) {
            r.main_ended = true;
            r.answer.value = status;
        }
    }
}

/* The children of those killed fall to us and are killed in the next round. False: some do not die. */
static bool kill_tree(void)
{
    int64_t begin = jm_reaper_now(), last_death = begin;
    for (;;) {
        int deaths = reap();
        if (deaths < 0)
            return true;
        int64_t t = jm_reaper_now();
        if (deaths)
            last_death = t;
        if (t - last_death > JM_REAPER_PATIENCE_NS || t - begin > 4 * JM_REAPER_PATIENCE_NS)
            return false;
        jm_tree_kill_children();
        struct pollfd death = {r.signals, POLLIN, 0};
        jm_reaper_wait(&death, 1, 2 * MS);
        if (death.revents)
            clear_signals();
    }
}

/* Signal 9 is pending for all of it by now, but what cannot take it yet may still have children that can. */
static _Noreturn void leave_when_dead(void)
{
    for (int i = 0; i < 30 && !kill_tree(); i++)
        ;
    leave();
}

static void remove_scratch(int fd)
{
    jm_remove_below(fd);
    jm_remove_self(fd);
}

static _Noreturn void host_died(void)
{
    bool dead = !r.main_pid || kill_tree();
    for (int i = 0; i < r.scratch_count; i++)
        remove_scratch(r.scratch[i]);
    if (!dead)
        leave_when_dead();
    leave();
}

static void answer(void)
{
    r.answer.protocol = JM_REAPER_PROTOCOL;
    if (jm_sys(__NR_sendto, HOST, &r.answer, sizeof r.answer, MSG_NOSIGNAL, NULL, 0) != sizeof r.answer)
        host_died();
}

static void answer_failure(enum jm_reaper_step step, int error)
{
    r.answer = (struct jm_reaper_answer){.step = step, .value = error};
    answer();
}

/* Told when it has happened: what the host does next cannot be met by a late signal. */
static void interrupt(void)
{
    struct jm_reaper_answer sent = {.protocol = JM_REAPER_PROTOCOL, .step = JM_STEP_INTERRUPTED};
    jm_sys(__NR_kill, -r.main_pid, SIGINT); /* not reaped yet, so the number is no stranger's */
    if (jm_sys(__NR_sendto, HOST, &sent, sizeof sent, MSG_NOSIGNAL, NULL, 0) != sizeof sent)
        host_died();
}

static void close_output(void)
{
    jm_sys(__NR_close, r.out);
    jm_sys(__NR_close, r.err);
    r.out = r.err = -1;
}

/* Kills what is left of the job, unless that is known to be nothing, and answers. */
static void finish(bool empty)
{
    bool was_alive = !r.main_ended;
    bool dead = empty || kill_tree();
    r.answer.end_ns = jm_reaper_now();
    /* it may have ended by itself after all, before the signal reached it */
    if (was_alive && (!r.main_ended || (WIFSIGNALED(r.answer.value) && WTERMSIG(r.answer.value) == SIGKILL)))
        r.answer.killed = 1;
    else
        r.answer.cpu = 0;
    if (!r.main_ended)
        r.answer.value = SIGKILL;
    r.survivors = !dead;
    r.answer.survivors = !dead;
    answer();
    close_output();
    if (dead)
        r.main_pid = 0;
}

/* Those that the host has removed itself are forgotten. */
static void keep_scratch(int fd)
{
    int kept = 0;
    for (int i = 0; i < r.scratch_count; i++) {
        struct stat st;
        if (jm_sys(__NR_fstat, r.scratch[i], &st) == 0 && st.st_nlink > 0)
            r.scratch[kept++] = r.scratch[i];
        else
            jm_sys(__NR_close, r.scratch[i]);
    }
    r.scratch_count = kept;
    bool room = kept < SCRATCH_MOST;
    if (fd >= 0 && room)
        r.scratch[r.scratch_count++] = fd;
    else if (fd >= 0)
        jm_sys(__NR_close, fd);
    r.own_scratch = room ? fd : -1;
}

static void run(struct jm_reaper_job *job)
{
    r.answer = (struct jm_reaper_answer){0};
    r.main_ended = false;
    job->null = r.null;
    job->ruleset = r.ruleset;
    jm_tree_open(r.in.request.flags & JM_REAPER_SCAN);
    r.main_pid = jm_reaper_start_job(job);
    r.answer.exec_ns = r.sampled = jm_reaper_now();
    r.cpu_ns = r.in.request.cpu_ns;
    r.lease = 0;
    r.out = job->out;
    r.err = job->err;
    keep_scratch(job->scratch);
    if (!r.main_pid) {
        answer_failure((enum jm_reaper_step)job->step, job->error);
        close_output();
    }
}

/* Descriptors of a message into the job. False: some were lost on the way. */
static bool take_descriptors(struct msghdr *m, struct jm_reaper_job *job)
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(m);
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
        int count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int i = 0; i < count && i < JM_REAPER_FDS; i++)
            job->fds[job->fd_count++] = ((const int *)(const void *)CMSG_DATA(c))[i];
    }
    return !(m->msg_flags & (MSG_CTRUNC | MSG_TRUNC));
}

static uint64_t used_ns(void)
{
    return jm_tree_cpu_ns() + (r.answer.user_us + r.answer.system_us) * 1000;
}

static void take_lease(const struct jm_reaper_lease *lease)
{
    r.lease = lease->idle_ns ? jm_reaper_now() + (int64_t)lease->idle_ns : 0;
    if (lease->cpu_ns)
        r.cpu_ns = used_ns() + lease->cpu_ns;
}

/* Nobody asked for it for too long. The host learns of it when it does. */
static void expire(void)
{
    bool dead = kill_tree();
    if (r.own_scratch >= 0)
        remove_scratch(r.own_scratch);
    r.answer.expired = 1;
    finish(dead);
}

static void receive(void)
{
    struct jm_reaper_job job = {.message = &r.in, .scratch = -1};
    struct iovec io = {r.in.bytes, sizeof r.in.bytes};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(JM_REAPER_FDS * sizeof(int))];
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    long n = jm_sys(__NR_recvmsg, HOST, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n == -EAGAIN)
        return;
    if (n < (long)sizeof r.in.request.word)
        host_died();
    bool whole = take_descriptors(&m, &job);
    job.len = (size_t)n;
    uint32_t word = r.in.request.word;
    if (word == JM_REAPER_BYE) {
        if (r.main_pid)
            leave_when_dead();
        leave();
    } else if (word == JM_REAPER_KILL) {
        if (r.main_pid && !r.survivors)
            finish(false);
    } else if (word == JM_REAPER_INTERRUPT) {
        if (r.main_pid && !r.survivors)
            interrupt();
    } else if (word == JM_REAPER_LEASE && n == sizeof r.in.lease) {
        if (r.main_pid && !r.survivors)
            take_lease(&r.in.lease);
    } else if (whole && !r.main_pid) {
        run(&job);
    } else {
        for (int i = 0; i < job.fd_count; i++)
            jm_sys(__NR_close, job.fds[i]);
        answer_failure(JM_STEP_REQUEST, whole ? EBUSY : EMFILE);
    }
}

/* The limit holds for the whole tree: what lives, and what was reaped. */
static void sample(void)
{
    int64_t t = jm_reaper_now();
    if (t - r.sampled < SAMPLE_NS)
        return;
    uint64_t used = used_ns();
    r.sampled = jm_reaper_now();
    if (used >= r.cpu_ns) {
        r.answer.cpu = 1;
        finish(false);
    }
}

/* 0 or -errno. */
static int set_up_signals(void)
{
    uint64_t all = ~0ull, child = 1ull << (SIGCHLD - 1), defaults[4] = {0};
    jm_sys(__NR_rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
    for (int s = 1; s <= 64; s++)
        jm_sys(__NR_rt_sigaction, s, defaults, NULL, 8); /* jobs inherit what their reaper ignores */
    r.signals = (int)jm_sys(__NR_signalfd4, -1, &child, 8, O_CLOEXEC | O_NONBLOCK);
    return r.signals < 0 ? r.signals : 0;
}

/* A copy of our socket in a forked child of the host would hide the host's death. */
static void watch_host(void)
{
    struct ucred host = {0};
    socklen_t len = sizeof host;
    r.host = -1;
    if (jm_sys(__NR_getsockopt, HOST, SOL_SOCKET, SO_PEERCRED, &host, &len) == 0 && host.pid > 0)
        r.host = (int)jm_sys(__NR_pidfd_open, host.pid, 0);
}

static void set_up(void)
{
    jm_tree_close_inherited(); /* from here on all are close-on-exec: jobs get none */
    jm_sys(__NR_setsid);
    jm_sys(__NR_chdir, "/");
    jm_sys(__NR_umask, 022);
    jm_sys(__NR_prctl, PR_SET_NAME, "jianmu-reaper", 0, 0, 0);
    jm_sys(__NR_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
    int error = (int)jm_sys(__NR_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    if (!error) /* a program that changes its user could not be killed */
        error = (int)jm_sys(__NR_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!error)
        error = set_up_signals();
    if (!error)
        error = -jm_reaper_lower_limit(RLIMIT_CORE, 0, 0);
    if (!error)
        error = jm_tree_open(false);
    if (!error)
        error = jm_reaper_ruleset(&r.ruleset);
    if (error) {
        answer_failure(JM_STEP_SETUP, -error);
        leave();
    }
    watch_host();
    r.null = (int)jm_sys(__NR_openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC, 0);
}

/* Something has ended. True: the job has. */
static bool reap_and_finish(void)
{
    int deaths = reap();
    if (deaths >= 0 && !r.main_ended) {
        clear_signals(); /* before the last look: what ends behind it signals again */
        deaths = reap();
    }
    if (deaths >= 0 && !r.main_ended)
        return false;
    finish(deaths < 0);
    clear_signals();
    return true;
}

/* How long nothing need happen; -1: without end. What nobody waits for is looked at less often. */
static int64_t patience(void)
{
    int64_t ns = r.cpu_ns ? r.lease ? 20 * SAMPLE_NS : SAMPLE_NS : -1;
    int64_t left = r.lease ? r.lease - jm_reaper_now() : ns;
    if (left < ns || ns < 0)
        ns = r.lease && left < 0 ? 0 : left;
    return ns;
}

void jm_reaper_main(void)
{
    set_up();
    for (;;) {
        bool busy = r.main_pid && !r.survivors;
        struct pollfd fds[3] = {{HOST, POLLIN, 0}, {r.host, POLLIN, 0}, {busy ? r.signals : -1, POLLIN, 0}};
        jm_reaper_wait(fds, 3, busy ? patience() : -1);
        if (fds[2].revents && reap_and_finish())
            continue;
        if (fds[0].revents)
            receive();
        else if (fds[1].revents)
            host_died();
        else if (busy && r.lease && jm_reaper_now() >= r.lease)
            expire();
        else if (busy && r.cpu_ns)
            sample();
    }
}

#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n xor %ebp, %ebp\n and $-16, %rsp\n call jm_reaper_main\n hlt\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n mov x29, #0\n mov x30, #0\n bl jm_reaper_main\n brk #1\n");
#endif
