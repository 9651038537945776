/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "process/reaper.h"
#include "process/sys.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

struct launch {
    struct jm_reaper_job *job;
    int in, cwd, strings;
    char *path, **argv, **env;
    void *mapped[2];
    size_t mapped_len[2];
};

static char *pointers[JM_REAPER_INLINE + 3];
static _Alignas(16) char child_stack[8192];

int jm_reaper_lower_limit(int which, uint64_t soft, uint64_t hard)
{
    struct { uint64_t soft, hard; } limit;
    long error = jm_sys(__NR_prlimit64, 0, which, NULL, &limit);
    if (error)
        return (int)-error;
    limit.hard = hard < limit.hard ? hard : limit.hard;
    limit.soft = soft < limit.hard ? soft : limit.hard;
    return (int)-jm_sys(__NR_prlimit64, 0, which, &limit, NULL);
}

static int lower_limits(const struct jm_reaper_request *request)
{
    int error = 0;
    uint64_t seconds = request->cpu_ns / 1000000000 + 2; /* behind the samples, which see the whole tree */
    if (request->cpu_ns)
        error = jm_reaper_lower_limit(RLIMIT_CPU, seconds, seconds + 1);
    if (!error && request->fsize)
        error = jm_reaper_lower_limit(RLIMIT_FSIZE, request->fsize, request->fsize);
    if (!error && request->nofile)
        error = jm_reaper_lower_limit(RLIMIT_NOFILE, request->nofile, request->nofile);
    return error;
}

static bool failed(struct jm_reaper_job *job, enum jm_reaper_step step, long result)
{
    job->step = (int)step;
    job->error = result < 0 ? (int)-result : 0;
    return result < 0;
}

/* In the child, which shares our memory until it execs. */
static int become_job(void *data)
{
    struct launch *l = data;
    struct jm_reaper_job *job = l->job;
    uint64_t no_signals = 0;
    if (failed(job, JM_STEP_DESCRIPTORS, jm_sys(__NR_dup3, l->in, 0, 0)) ||
        failed(job, JM_STEP_DESCRIPTORS, jm_sys(__NR_dup3, job->out, 1, 0)) ||
        failed(job, JM_STEP_DESCRIPTORS, jm_sys(__NR_dup3, job->err, 2, 0)))
        return 127;
    jm_sys(__NR_setsid);
    jm_sys(__NR_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (failed(job, JM_STEP_LIMITS, -lower_limits(&job->message->request)))
        return 127;
    if (l->cwd >= 0 && failed(job, JM_STEP_CWD, jm_sys(__NR_fchdir, l->cwd)))
        return 127;
    if (job->ruleset >= 0 && !(job->message->request.flags & JM_REAPER_UNSCOPED) &&
        failed(job, JM_STEP_SCOPE, jm_sys(__NR_landlock_restrict_self, job->ruleset, 0)))
        return 127;
    jm_sys(__NR_rt_sigprocmask, SIG_SETMASK, &no_signals, NULL, 8);
    failed(job, JM_STEP_EXEC, jm_sys(__NR_execve, l->path, l->argv, l->env));
    return 127;
}

/* The order of protocol.h. False: not as many as the flags say. */
static bool name_descriptors(struct launch *l)
{
    struct jm_reaper_job *job = l->job;
    uint32_t flags = job->message->request.flags;
    int wanted = 2, at = 2;
    for (uint32_t bit = JM_REAPER_STDIN; bit <= JM_REAPER_STRINGS; bit <<= 1)
        wanted += (flags & bit) != 0;
    if (job->fd_count != wanted)
        return false;
    job->out = job->fds[0];
    job->err = job->fds[1];
    l->in = flags & JM_REAPER_STDIN ? job->fds[at++] : job->null;
    l->cwd = flags & JM_REAPER_CWD ? job->fds[at++] : -1;
    job->scratch = flags & JM_REAPER_SCRATCH ? job->fds[at++] : -1;
    l->strings = flags & JM_REAPER_STRINGS ? job->fds[at] : -1;
    return true;
}

static void *map(struct launch *l, int which, size_t len, int fd)
{
    int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_PRIVATE;
    long p = jm_sys(__NR_mmap, NULL, len, PROT_READ | PROT_WRITE, flags, fd, 0);
    if (p < 0 && p > -4096)
        return NULL;
    l->mapped[which] = (void *)p;
    l->mapped_len[which] = len;
    return (void *)p;
}

/* Points count pointers, and a NULL, at strings; NULL where one has no end. */
static char *split(char *text, const char *end, char **list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (list)
            list[i] = text;
        while (text < end && *text)
            text++;
        if (text++ >= end)
            return NULL;
    }
    if (list)
        list[count] = NULL;
    return text;
}

/* 0 or an errno. */
static int unpack(struct launch *l)
{
    const struct jm_reaper_request *request = &l->job->message->request;
    uint64_t count = (uint64_t)request->argc + request->envc + 2;
    char *text = l->job->message->bytes + sizeof *request, *end;
    if (l->strings < 0) {
        if (l->job->len != sizeof *request + request->bytes || count > JM_REAPER_INLINE + 3)
            return EPROTO;
        l->argv = pointers;
    } else {
        text = map(l, 0, request->bytes, l->strings);
        l->argv = map(l, 1, count * sizeof(char *), -1);
        if (!text || !l->argv)
            return ENOMEM;
    }
    l->path = text;
    l->env = l->argv + request->argc + 1;
    end = text + request->bytes;
    if (!(text = split(text, end, NULL, 1)) || !(text = split(text, end, l->argv, request->argc)) ||
        split(text, end, l->env, request->envc) != end)
        return EPROTO;
    return 0;
}

static int start(struct launch *l)
{
    struct jm_reaper_job *job = l->job;
    const struct jm_reaper_request *request = &job->message->request;
    if (job->len < sizeof *request || request->protocol != JM_REAPER_PROTOCOL || !name_descriptors(l)) {
        failed(job, JM_STEP_REQUEST, -EPROTO);
        return 0;
    }
    if (failed(job, JM_STEP_DESCRIPTORS, l->in < 0 ? l->in : 0) || failed(job, JM_STEP_REQUEST, -unpack(l)))
        return 0;
    job->error = 0;
    long pid = jm_clone(CLONE_VM | CLONE_VFORK | SIGCHLD, child_stack + sizeof child_stack, become_job, l);
    if (pid < 0) {
        failed(job, JM_STEP_FORK, pid);
        return 0;
    }
    if (job->error) {
        jm_sys(__NR_wait4, pid, NULL, __WALL, NULL);
        return 0;
    }
    return (int)pid;
}

int jm_reaper_ruleset(int *ruleset)
{
    struct { uint64_t fs, net, scoped; } scope = {0, 0, 2 /* LANDLOCK_SCOPE_SIGNAL */};
    int made = (int)jm_sys(__NR_landlock_create_ruleset, &scope, sizeof scope, 0);
    *ruleset = made >= 0 ? made : -1;
    return made == -ENOMEM || made == -EMFILE || made == -ENFILE ? made : 0;
}

int jm_reaper_start_job(struct jm_reaper_job *job)
{
    struct launch l = {.job = job, .strings = -1};
    job->out = job->err = job->scratch = -1;
    int pid = start(&l);
    for (int i = 0; i < job->fd_count; i++)
        if (job->fds[i] != job->out && job->fds[i] != job->err && job->fds[i] != job->scratch)
            jm_sys(__NR_close, job->fds[i]);
    for (int i = 0; i < 2; i++)
        if (l.mapped_len[i])
            jm_sys(__NR_munmap, l.mapped[i], l.mapped_len[i]);
    return pid;
}
