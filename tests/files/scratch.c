/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "scratch.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define CANNOT 77

void check_at(bool ok, const char *what, const char *file, int line)
{
    if (ok)
        return;
    fprintf(stderr, "# %s:%d: (uid %d) not so: %s (errno %s)\n", file, line, (int)geteuid(), what,
            strerrorname_np(errno));
    _exit(1);
}

void check_same(const char *got, const char *wanted, const char *file, int line)
{
    if (got && strcmp(got, wanted) == 0)
        return;
    fprintf(stderr, "# %s:%d: got \"%s\", wanted \"%s\"\n", file, line, got ? got : "(null)", wanted);
    _exit(1);
}

void cannot(const char *reason)
{
    fprintf(stderr, "# cannot run as uid %d: %s\n", (int)geteuid(), reason);
    _exit(CANNOT);
}

static void must(bool ok, const char *what)
{
    if (ok)
        return;
    perror(what);
    abort();
}

int count_entries(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return -1;
    int count = -2;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

int count_fds(void)
{
    return count_entries("/proc/self/fd");
}

bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static bool usable(const char *path, enum scratch_user user)
{
    struct stat st;
    return path && path[0] == '/' && access(path, W_OK | X_OK) == 0 && stat(path, &st) == 0 &&
           (user == AS_OURSELVES || (st.st_mode & 001));
}

static void make_scratch(struct scratch *s, char base[PATH_MAX], enum scratch_user user, enum scratch_place place)
{
    const char *dir = place == IN_MEMORY ? "/dev/shm" : getenv("TMPDIR");
    snprintf(base, PATH_MAX, "%s/jianmu-test-XXXXXX", usable(dir, user) ? dir : "/tmp");
    must(mkdtemp(base) != NULL, base);
    must(chmod(base, 0755) == 0, base);
    must(snprintf(s->parent, PATH_MAX, "%s/parent", base) < PATH_MAX, "path");
    must(snprintf(s->foreign, PATH_MAX, "%s/foreign", base) < PATH_MAX, "path");
    must(mkdir(s->parent, 0700) == 0 && mkdir(s->foreign, 0700) == 0, base);
    if (user == AS_ORDINARY)
        must(chown(s->parent, NOBODY, NOBODY) == 0 && chown(s->foreign, NOBODY, NOBODY) == 0, base);
}

static _Noreturn void child(scratch_body body, const struct scratch *s, enum scratch_user user)
{
    if (user == AS_ORDINARY)
        must(setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0, "setuid");
    static const int caught[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS};
    for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
        signal(caught[i], SIG_DFL); /* cmocka's would go on with the next test here */
    int before = count_fds();
    body(s);
    CHECK(count_fds() == before);
    CHECK(count_entries(s->parent) == 0);
    exit(0); /* not _exit: the leak sanitizer looks now */
}

int scratch_run(scratch_body body, enum scratch_user user, enum scratch_place place)
{
    struct scratch s;
    char base[PATH_MAX], command[PATH_MAX + 16];
    make_scratch(&s, base, user, place);
    fflush(NULL);
    pid_t pid = fork();
    must(pid >= 0, "fork");
    if (pid == 0)
        child(body, &s, user);
    int status;
    while (waitpid(pid, &status, 0) < 0)
        must(errno == EINTR, "waitpid");
    bool clean = rmdir(s.parent) == 0;
    snprintf(command, sizeof command, "rm -rf %s", base);
    must(system(command) == 0, command);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT)
        return CANNOT;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_true(clean);
    return 0;
}

void scratch_both(scratch_body body, enum scratch_place place)
{
    int ran = scratch_run(body, AS_OURSELVES, place);
    if (geteuid() == 0 && scratch_run(body, AS_ORDINARY, place) == 0)
        ran = 0;
    if (ran)
        skip();
}

pid_t fork_off(void)
{
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

struct jm_workdir *open_plain(const struct scratch *s)
{
    jianmu_error *err = NULL;
    struct jm_workdir *dir = jm_workdir_open(s->parent, "main.py", "script", 6, NULL, 0, &err);
    if (!dir)
        fprintf(stderr, "# %s\n", jianmu_error_message(err));
    CHECK(dir != NULL);
    return dir;
}

void write_file(int dir, const char *name, const char *text)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

char *read_file(const char *path)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return NULL;
    char *text = calloc(1, 4096);
    CHECK(text != NULL);
    CHECK(fread(text, 1, 4095, f) < 4095);
    fclose(f);
    return text;
}

static void map_ids(uid_t uid, gid_t gid)
{
    const char *const files[] = {"/proc/self/setgroups", "/proc/self/uid_map", "/proc/self/gid_map"};
    char text[3][32] = {"deny"};
    snprintf(text[1], sizeof text[1], "%d %d 1", (int)uid, (int)uid);
    snprintf(text[2], sizeof text[2], "%d %d 1", (int)gid, (int)gid);
    for (int i = 0; i < 3; i++) {
        int fd = open(files[i], O_WRONLY | O_CLOEXEC);
        if (fd < 0 || write(fd, text[i], strlen(text[i])) < 0)
            cannot("a user namespace cannot be set up");
        close(fd);
    }
}

void own_mounts(void)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (unshare(CLONE_NEWNS) < 0) {
        prctl(PR_SET_DUMPABLE, 1); /* or /proc/self is root's since we changed our id */
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
            cannot("no mount namespace can be had");
        map_ids(uid, gid);
    }
    if (mount("none", "/", "", MS_REC | MS_PRIVATE, NULL) < 0)
        cannot("mounts cannot be made private");
}

void forbid(int syscall_number, int errnum)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)syscall_number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)errnum),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        cannot("no seccomp filter can be set");
}
