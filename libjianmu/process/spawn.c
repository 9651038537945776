/* SPDX-License-Identifier: Apache-2.0
 * The reaper must not be a child of the host: a host's wait() would find it, or wait for it for ever. So an
 * intermediate process without exit signal starts it and ends. Neither copies the host: both borrow its memory,
 * one after the other, while the calling thread stands still with all signals blocked. In there is only raw
 * system calls: no errno, no allocation, no sanitizer. */
#include "config.h"
#include "process/spawn.h"
#include "process/descriptor.h"
#include "process/protocol.h"
#include "process/sys.h"
#include "base/cleanup.h"
#include "base/error.h"
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define JM_RAW __attribute__((noinline, no_sanitize("address", "thread", "undefined")))
#define STACK 8192

struct spawn {
    int socket, image;
    const char *file;
    char image_name[32];
    char *stack_top;      /* of the second child */
    volatile int pid;     /* shared memory, but not under valgrind */
};

static char *const reaper_argv[] = {(char *)"jianmu-reaper", NULL};
static char *const reaper_env[] = {NULL};

JM_RAW static void tell(int fd, enum jm_reaper_step step, long error)
{
    struct jm_reaper_answer answer;
    for (unsigned i = 0; i < sizeof answer; i++)
        ((volatile char *)&answer)[i] = 0;
    answer.protocol = JM_REAPER_PROTOCOL;
    answer.step = step;
    answer.value = (int32_t)-error;
    jm_sys(__NR_sendto, fd, &answer, sizeof answer, MSG_NOSIGNAL, NULL, 0);
}

JM_RAW static int become_reaper(void *data)
{
    struct spawn *s = data;
    long error = 0;
    for (int fd = 0; fd <= 2 && error >= 0; fd++)
        error = jm_sys(__NR_dup3, s->socket, fd, 0);
    if (error < 0) {
        tell(s->socket, JM_STEP_DESCRIPTORS, error);
        return 127;
    }
    if (s->image >= 0)
        error = jm_sys(__NR_execveat, s->image, "", reaper_argv, reaper_env, AT_EMPTY_PATH);
    if (s->image >= 0 && error) /* valgrind knows only names */
        jm_sys(__NR_execve, s->image_name, reaper_argv, reaper_env);
    long file_error = jm_sys(__NR_execve, s->file, reaper_argv, reaper_env);
    tell(0, JM_STEP_REAPER_EXEC, s->image >= 0 ? error : file_error);
    return 127;
}

JM_RAW static int be_parent(void *data)
{
    struct spawn *s = data;
    long pid = jm_clone(CLONE_VM | CLONE_VFORK | SIGCHLD, s->stack_top, become_reaper, s);
    if (pid < 0)
        tell(s->socket, JM_STEP_FORK, pid);
    else
        s->pid = (int)pid;
    return 0;
}

JM_RAW static long start_detached(struct spawn *s)
{
    _Alignas(16) char stacks[2][STACK];
    uint64_t all = ~0ull, old;
    s->stack_top = stacks[1];
    jm_sys(__NR_rt_sigprocmask, SIG_SETMASK, &all, &old, 8);
    long pid = jm_clone(CLONE_VM | CLONE_VFORK, stacks[1] + STACK, be_parent, s);
    if (pid > 0)
        while (jm_sys(__NR_wait4, pid, NULL, __WALL, NULL) == -EINTR)
            ;
    jm_sys(__NR_rt_sigprocmask, SIG_SETMASK, &old, NULL, 8);
    return pid;
}

int jm_reaper_image(void)
{
    struct iovec whole = {(void *)(uintptr_t)jm_reaper_program, jm_reaper_program_size};
    return jm_memfd("jianmu-reaper", true, &whole, 1);
}

int jm_reaper_start(int image_fd, const char *file, struct jm_reaper *reaper, jianmu_error **err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return jm_fail_errno(err, JIANMU_INTERNAL, errno, "cannot make a socket for the reaper");
    jm_auto_fd int ours = jm_fd_high(ends[0]);
    jm_auto_fd int theirs = jm_fd_high(ends[1]);
    if (ours < 0 || theirs < 0)
        return jm_fail_errno(err, JIANMU_INTERNAL, errno, "cannot make a socket for the reaper");
    struct spawn s = {.socket = theirs, .image = image_fd, .file = file};
    snprintf(s.image_name, sizeof s.image_name, "/proc/self/fd/%d", image_fd);
    long pid = start_detached(&s);
    if (pid < 0)
        return jm_fail_errno(err, JIANMU_UNAVAILABLE, (int)-pid, "cannot start a process for the reaper");
    *reaper = (struct jm_reaper){.socket = jm_steal_fd(ours), .wake = s.pid};
    return 0;
}
