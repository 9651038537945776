/* SPDX-License-Identifier: Apache-2.0
 * nosys [-e ERROR] NAME[,NAME...] COMMAND [ARG...]: runs the command where these system calls fail, with ENOSYS or
 * the named error. Exits 77 where no filter can be had. "memfd" is memfd_create. */
#include "config.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "no such machine here"
#endif

/* These numbers are the same everywhere; old kernel headers lack some of the names. */
static const struct {
    const char *name;
    unsigned number;
} calls[] = {
    {"pidfd_send_signal", 424},
    {"pidfd_open", 434},
    {"clone3", 435},
    {"close_range", 436},
    {"openat2", 437},
    {"pidfd_getfd", 438},
    {"landlock_create_ruleset", 444},
    {"landlock_add_rule", 445},
    {"landlock_restrict_self", 446},
    {"memfd_create", SYS_memfd_create},
    {"execveat", SYS_execveat},
    {"prlimit64", SYS_prlimit64},
    {"renameat2", SYS_renameat2},
    {"seccomp", SYS_seccomp},
    {"statx", SYS_statx},
};

static const struct {
    const char *name;
    int number;
} errors[] = {{"ENOSYS", ENOSYS}, {"EPERM", EPERM},   {"EACCES", EACCES},
              {"EINVAL", EINVAL}, {"EMFILE", EMFILE}, {"ENOMEM", ENOMEM}};

static int error_number(const char *name)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (!strcmp(errors[i].name, name))
            return errors[i].number;
    fprintf(stderr, "nosys: unknown error %s\n", name);
    exit(2);
}

static unsigned call_number(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i].name, name))
            return calls[i].number;
    fprintf(stderr, "nosys: unknown system call %s\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    struct sock_filter code[128];
    unsigned short n = 0;
    int error = ENOSYS, next = 1;
    if (argc > 2 && !strcmp(argv[1], "-e")) {
        error = error_number(argv[2]);
        next = 3;
    }
    if (argc < next + 2) {
        fprintf(stderr, "usage: nosys [-e ERROR] NAME[,NAME...] COMMAND [ARG...]\n");
        return 2;
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (char *rest, *name = strtok_r(argv[next], ",", &rest); name && n < 120; name = strtok_r(NULL, ",", &rest)) {
        code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call_number(name), 0, 1);
        code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error);
    }
    code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        perror("nosys: no filter");
        return 77;
    }
    execvp(argv[next + 1], argv + next + 1);
    perror(argv[next + 1]);
    return 127;
}
