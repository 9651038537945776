/* SPDX-License-Identifier: Apache-2.0
 * What the kernel gives: each call is made. */
#include "config.h"
#include "doctor.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The same on every machine; the C library's headers may be older than the kernel. */
#define NR_CLOSE_RANGE 436
#define NR_OPENAT2 437
#define NR_LANDLOCK_CREATE_RULESET 444
#define RESOLVE_BENEATH_BIT 0x08u
#define CLOSE_ON_EXEC_BIT 4u
#define MEMFD_MAY_EXEC 0x10u

static bool said(const jianmu_result *result, const char *word)
{
    size_t len;
    const char *text = result ? jianmu_result_raw(result, 1, &len) : NULL;
    return text && memmem(text, len, word, strlen(word));
}

/* The job is told to kill the process that watches over it. */
static void check_scope(struct doctor *d)
{
    static const char what[] = "signal scope";
    static const char advice[] = "a job can end its watcher and leave processes behind; Linux 6.12 or later with "
                                 "Landlock (CONFIG_SECURITY_LANDLOCK, \"landlock\" in lsm=) prevents it";
    const struct probe probe = {.script = "kill -9 $PPID 2>/dev/null && echo killed || echo refused\n",
                                .language = "sh",
                                .stdin_fd = -1};
    jianmu_error *err = NULL;
    long abi = syscall(NR_LANDLOCK_CREATE_RULESET, NULL, 0, 1u);
    const char *why = abi < 0 ? strerror(errno) : "";
    if (!d->runner) {
        doctor_no_job(d, what, false, "", NULL);
        return;
    }
    jianmu_result *result = doctor_job(d, &probe, &err);
    if (said(result, "refused"))
        doctor_line(d, what, false, DOCTOR_OK, "", "a job's kill -9 of its watcher was refused (Landlock ABI %ld)",
                    abi);
    else if (abi < 0)
        doctor_line(d, what, false, DOCTOR_LIMITED, advice,
                    "a job's kill -9 of its watcher was not refused (Landlock: %s)",
                    why);
    else
        doctor_line(d, what, false, DOCTOR_LIMITED, advice,
                    "a job's kill -9 of its watcher was not refused (Landlock ABI %ld; it takes 6)", abi);
    jianmu_result_free(result);
    jianmu_error_free(err);
}

static void check_children(struct doctor *d)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)syscall(SYS_gettid));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int error = errno;
    if (fd >= 0) {
        doctor_line(d, "children in /proc", false, DOCTOR_OK, "", "%s can be read", path);
        close(fd);
    } else if (access("/proc/self/stat", R_OK)) {
        doctor_line(d, "children in /proc", false, DOCTOR_MISSING, "mount proc on /proc",
                    "/proc is not mounted (%s: %s)",
                    path, strerror(error));
    } else {
        doctor_line(d, "children in /proc", false, DOCTOR_LIMITED,
                    "a kernel with CONFIG_PROC_CHILDREN ends large trees faster",
                    "%s: %s; all of /proc is looked through instead", path, strerror(error));
    }
}

static int copy_into(int from, int to)
{
    char bytes[1 << 15];
    ssize_t n;
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        if (write_all(to, bytes, (size_t)n))
            return -1;
    return n < 0 ? -1 : 0;
}

static int run_quietly(const char *path)
{
    static char name[] = "jianmu", option[] = "--version";
    pid_t pid;
    int status = 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    int error = posix_spawn(&pid, path, &actions, NULL, (char *[]){name, option, NULL}, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (!error && (waitpid(pid, &status, 0) < 0 || status))
        error = ENOEXEC;
    return error;
}

/* Runs our own program from memory, as the library does with its small ones: 0, or an errno. */
static int run_from_memory(const char **step)
{
    *step = "memfd_create";
    int error = 0, fd = (int)syscall(SYS_memfd_create, "jianmu-doctor", MFD_CLOEXEC | MEMFD_MAY_EXEC);
    if (fd < 0 && errno == EINVAL) /* a kernel before 6.3 does not know the flag */
        fd = (int)syscall(SYS_memfd_create, "jianmu-doctor", MFD_CLOEXEC);
    if (fd < 0)
        return errno;
    char path[64];
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), ready = -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    *step = "a copy of this program";
    /* it is busy for as long as it is open for writing */
    if (self < 0 || copy_into(self, fd) || (ready = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        error = errno;
    close(fd);
    if (!error) {
        *step = "running a program from memory";
        snprintf(path, sizeof path, "/proc/self/fd/%d", ready);
        error = run_quietly(path);
    }
    if (self >= 0)
        close(self);
    if (ready >= 0)
        close(ready);
    return error;
}

static void check_memfd(struct doctor *d)
{
    const char *step;
    char setting[16] = "";
    int error = run_from_memory(&step), fd = open("/proc/sys/vm/memfd_noexec", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n = read(fd, setting, sizeof setting - 1);
        setting[n > 0 ? n : 0] = 0;
        setting[strcspn(setting, "\n")] = 0;
        close(fd);
    }
    const char *name = *setting ? "; vm.memfd_noexec is " : "";
    if (!error)
        doctor_line(d, "programs in memory", false, DOCTOR_OK, "", "this program ran from a memfd%s%s", name, setting);
    else
        doctor_line(d, "programs in memory", false, DOCTOR_LIMITED,
                    "set vm.memfd_noexec to 0 or 1 and allow memfd_create; until then installed files are used",
                    "%s: %s%s%s", step, strerror(error), name, setting);
}

static void check_openat2(struct doctor *d)
{
    struct {
        uint64_t flags, mode, resolve;
    } how = {O_PATH | O_CLOEXEC | O_DIRECTORY, 0, RESOLVE_BENEATH_BIT};
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    long inside = syscall(NR_OPENAT2, root, ".", &how, sizeof how);
    int error = errno;
    long outside = inside < 0 ? -1 : syscall(NR_OPENAT2, root, "/", &how, sizeof how);
    if (inside >= 0 && outside < 0 && errno == EXDEV)
        doctor_line(d, "openat2", false, DOCTOR_OK, "", "a path that leaves its directory was refused");
    else
        doctor_line(d, "openat2", false, DOCTOR_LIMITED,
                    "Linux 5.6 or later, and a container profile that allows openat2, make it one call",
                    "%s; paths are opened part by part", inside < 0 ? strerror(error) : "a path left its directory");
    if (inside >= 0)
        close((int)inside);
    if (outside >= 0)
        close((int)outside);
    if (root >= 0)
        close(root);
}

/* Marks them all as the watcher does, so that a job inherits none. */
static void check_close_range(struct doctor *d)
{
    int fd = open("/", O_PATH | O_DIRECTORY);
    long bad = fd < 0 ? -1 : syscall(NR_CLOSE_RANGE, fd, fd, CLOSE_ON_EXEC_BIT);
    int error = errno;
    if (!bad && fcntl(fd, F_GETFD) == FD_CLOEXEC)
        doctor_line(d, "close_range", true, DOCTOR_OK, "", "kept a descriptor from being inherited");
    else
        doctor_line(d, "close_range", true, DOCTOR_LIMITED,
                    "Linux 5.11 or later, and a container profile that allows close_range",
                    "%s; the descriptors a job must not have are closed one by one", strerror(error));
    if (fd >= 0)
        close(fd);
}

void doctor_kernel(struct doctor *d)
{
    check_scope(d);
    check_children(d);
    check_memfd(d);
    check_openat2(d);
    check_close_range(d);
}
