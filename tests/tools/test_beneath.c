/* SPDX-License-Identifier: Apache-2.0
 * Opening below a directory: by openat2, by hand where the kernel lacks it, and under attack. Both say the same. */
#include "config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/cleanup.h"
#include "common/beneath.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int opener(int dir, const char *path, int flags, mode_t mode);

static char top[] = "/tmp/jianmu-test.XXXXXX";
static int inside = -1; /* TOP/in */

static void put(int dir, const char *path, const char *text)
{
    int fd = openat(dir, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(top));
    int at = open(top, O_PATH | O_DIRECTORY);
    assert_return_code(mkdirat(at, "in", 0700), errno);
    assert_return_code(mkdirat(at, "out", 0700), errno);
    put(at, "out/f", "foreign");
    inside = openat(at, "in", O_PATH | O_DIRECTORY);
    assert_return_code(mkdirat(inside, "d", 0700), errno);
    assert_return_code(mkdirat(inside, "d/e", 0700), errno);
    put(inside, "f", "own");
    put(inside, "d/e/f", "deep");
    static const char *const links[][2] = {
        {"f", "to-f"}, {"d/e/", "to-e"}, {"../f", "d/up"}, {"../out/f", "out"}, {"..", "parent"}, {"/f", "absolute"},
        {"loop", "loop"}, {"to-e/../../to-f", "chain"}, {"nothing", "dangling"}, {"d/new", "to-new"}};
    for (size_t i = 0; i < jm_countof(links); i++)
        assert_return_code(symlinkat(links[i][0], inside, links[i][1]), errno);
    close(at);
    return 0;
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    close(inside);
    snprintf(command, sizeof command, "rm -rf %s", top);
    return system(command);
}

/* The text of the file, or "errno N". */
static void look(opener *open_it, const char *path, int flags, char text[32])
{
    memset(text, 0, 32);
    int fd = open_it(inside, path, flags, 0600);
    if (fd < 0) {
        snprintf(text, 32, "errno %d", errno);
        return;
    }
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    struct stat st;
    assert_return_code(fstat(fd, &st), errno);
    if (S_ISDIR(st.st_mode))
        snprintf(text, 32, "directory");
    else if (read(fd, text, 31) < 0)
        snprintf(text, 32, "no file to read");
    close(fd);
}

static void check(opener *open_it)
{
    char cut[512], text[32];
    memset(cut, 'x', 300);
    cut[300] = 0;
    const struct {
        const char *path, *want;
        int err;
    } rows[] = {
        {"f", "own", 0}, {"./f", "own", 0}, {"d//e/f", "deep", 0}, {"d/../f", "own", 0}, {"d/e/../../f", "own", 0},
        {"to-f", "own", 0}, {"to-e/f", "deep", 0}, {"d/up", "own", 0}, {"chain", "own", 0}, {".", "directory", 0},
        {"d/", "directory", 0}, {"to-e", "directory", 0}, {"to-e/.", "directory", 0}, {"d/..", "directory", 0},
        {"to-e/..", "directory", 0}, {"..", NULL, EXDEV}, {"../in/f", NULL, EXDEV}, {"d/../..", NULL, EXDEV},
        {"d/../../in/f", NULL, EXDEV}, {"out", NULL, EXDEV}, {"parent", NULL, EXDEV}, {"parent/in/f", NULL, EXDEV},
        {"absolute", NULL, EXDEV}, {"/f", NULL, EXDEV}, {"/", NULL, EXDEV}, {"loop", NULL, ELOOP},
        {"loop/x", NULL, ELOOP}, {"dangling", NULL, ENOENT}, {"none", NULL, ENOENT}, {"none/x", NULL, ENOENT},
        {"", NULL, ENOENT}, {"f/", NULL, ENOTDIR}, {"f/x", NULL, ENOTDIR}, {"to-f/", NULL, ENOTDIR},
        {cut, NULL, ENAMETOOLONG},
    };
    for (size_t i = 0; i < jm_countof(rows); i++) {
        char want[32];
        look(open_it, rows[i].path, O_RDONLY, text);
        snprintf(want, sizeof want, "errno %d", rows[i].err);
        if (rows[i].want)
            snprintf(want, sizeof want, "%s", rows[i].want);
        if (strcmp(text, want))
            fail_msg("'%s': got %s, want %s", rows[i].path, text, want);
    }
    look(open_it, "to-f", O_RDONLY | O_NOFOLLOW, text);
    assert_int_equal(atoi(text + 6), ELOOP);
    look(open_it, "to-e/f", O_RDONLY | O_NOFOLLOW, text);
    assert_string_equal(text, "deep");
    look(open_it, "out", O_RDWR | O_CREAT, text);
    assert_int_equal(atoi(text + 6), EXDEV);
    look(open_it, "f", O_RDWR | O_CREAT | O_EXCL, text);
    assert_int_equal(atoi(text + 6), EEXIST);
    look(open_it, "to-f", O_RDWR | O_CREAT | O_EXCL, text);
    assert_int_equal(atoi(text + 6), EEXIST);
    look(open_it, "x/", O_RDWR | O_CREAT, text);
    assert_int_equal(atoi(text + 6), EISDIR);
    look(open_it, "to-new", O_RDWR | O_CREAT, text);
    assert_string_equal(text, "");
    assert_return_code(unlinkat(inside, "d/new", 0), errno);
}

static int plain(int dir, const char *path, int flags, mode_t mode)
{
    return openat(dir, path, flags | O_CLOEXEC, mode);
}

static void test_kernel(void **state)
{
    (void)state;
    check(tool_open_beneath);
}

static void test_by_hand(void **state)
{
    (void)state;
    check(tool_walk_beneath);
}

/* A filter that answers openat2 as an old kernel, or an old filter, does. */
static int without_openat2(int err)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)err),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {jm_countof(code), code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void test_old_kernel(void **state)
{
    (void)state;
    static const int answers[] = {ENOSYS, EPERM};
    for (size_t i = 0; i < jm_countof(answers); i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            char text[32];
            if (without_openat2(answers[i]))
                _exit(77);
            if (syscall(SYS_openat2, inside, "f", NULL, 0) != -1 || errno != answers[i])
                _exit(3);
            look(tool_open_beneath, "chain", O_RDONLY, text);
            if (strcmp(text, "own"))
                _exit(4);
            look(tool_open_beneath, "out", O_RDONLY, text);
            _exit(atoi(text + 6) == EXDEV ? 0 : 5);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            skip(); /* no seccomp here */
        assert_int_equal(status, 0);
    }
}

/* ---- an intermediate directory is exchanged with a link to the outside, again and again ---- */

static atomic_bool stop;

static void *exchange(void *unused)
{
    while (!atomic_load(&stop))
        syscall(SYS_renameat2, inside, "race", inside, "race-link", 2 /* RENAME_EXCHANGE */);
    return unused;
}

/* How often the foreign file was read in that many opens; *own: the right one. */
static int race(opener *open_it, int times, int *own)
{
    int foreign = 0;
    *own = 0;
    for (int i = 0; i < times; i++) {
        char text[32];
        look(open_it, "race/f", O_RDONLY, text);
        foreign += !strcmp(text, "foreign");
        *own += !strcmp(text, "mine");
    }
    return foreign;
}

static void test_race(void **state)
{
    pthread_t thread;
    int own;
    (void)state;
    assert_return_code(mkdirat(inside, "race", 0700), errno);
    put(inside, "race/f", "mine");
    assert_return_code(symlinkat("../out", inside, "race-link"), errno);
    if (syscall(SYS_renameat2, inside, "race", inside, "race-link", 2))
        skip(); /* this file system cannot exchange */
    assert_int_equal(pthread_create(&thread, NULL, exchange, NULL), 0);
    int lured = 0;
    for (int i = 0; i < 100 && !lured; i++)
        lured = race(plain, 1000, &own);
    /* on a busy machine the threads may keep step for long: until the right file was read at least once */
    int by_kernel = 0, by_hand = 0, own_by_kernel = 0;
    for (int i = 0; i < 50 && !own_by_kernel; i++)
        by_kernel += race(tool_open_beneath, 20000, &own_by_kernel);
    own = 0;
    for (int i = 0; i < 50 && !own; i++)
        by_hand += race(tool_walk_beneath, 20000, &own);
    atomic_store(&stop, true);
    pthread_join(thread, NULL);
    assert_true(lured > 0); /* control: the attack works on plain opens */
    assert_int_equal(by_kernel, 0);
    assert_int_equal(by_hand, 0);
    assert_true(own_by_kernel > 0);
    assert_true(own > 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernel), cmocka_unit_test(test_by_hand),
                                              cmocka_unit_test(test_old_kernel), cmocka_unit_test(test_race)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
