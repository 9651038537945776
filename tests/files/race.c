/* SPDX-License-Identifier: Apache-2.0
 * A second process exchanges a directory on the way for a link to another's files, and for a directory in which a
 * link leads there, 100 000 times, while files are collected. In the same loop a walk by plain paths, which looks
 * before it opens, shows that the exchanges do what they are made for. */
#include "config.h"
#include "collected.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXCHANGES 100000
#define SECONDS 120

static void control_file(const char *path, int *canaries)
{
    char text[64] = "";
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    if (read(fd, text, sizeof text - 1) > 0 && strcmp(text, CANARY) == 0)
        ++*canaries;
    close(fd);
}

static void control_walk(const char *path, int *canaries)
{
    DIR *dir = opendir(path);
    const struct dirent *e;
    while (dir && (e = readdir(dir))) {
        char below[2 * PATH_MAX];
        struct stat st;
        if (e->d_name[0] == '.')
            continue;
        snprintf(below, sizeof below, "%.4000s/%s", path, e->d_name);
        if (lstat(below, &st) < 0)
            continue;
        if (S_ISDIR(st.st_mode))
            control_walk(below, canaries);
        else if (S_ISREG(st.st_mode))
            control_file(below, canaries);
    }
    if (dir)
        closedir(dir);
}

static void make_dir(int dir, const char *name)
{
    CHECK(mkdirat(dir, name, 0700) == 0);
}

/* a/mid/deep/file is ours; a/link leads to foreign, a/dir/deep to foreign/deep. */
static void plant(const struct scratch *s, int work)
{
    char target[2 * PATH_MAX];
    int foreign = open(s->foreign, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(foreign >= 0);
    make_dir(foreign, "deep");
    write_file(foreign, "deep/file", CANARY);
    write_file(foreign, "file", CANARY);
    close(foreign);
    make_dir(work, "a");
    make_dir(work, "a/mid");
    make_dir(work, "a/mid/deep");
    write_file(work, "a/mid/file", "ours");
    write_file(work, "a/mid/deep/file", "ours");
    CHECK(symlinkat(s->foreign, work, "a/link") == 0);
    make_dir(work, "a/dir");
    snprintf(target, sizeof target, "%s/deep", s->foreign);
    CHECK(symlinkat(target, work, "a/dir/deep") == 0);
    snprintf(target, sizeof target, "%s/file", s->foreign);
    CHECK(symlinkat(target, work, "a/dir/file") == 0);
}

static _Noreturn void exchange(int work, atomic_int *done_so_far)
{
    for (unsigned i = 0;; i++) {
        const char *with = i & 2 ? "a/dir" : "a/link"; /* there and back, then the other */
        if (renameat2(work, "a/mid", work, with, RENAME_EXCHANGE) < 0)
            _exit(1);
        atomic_fetch_add(done_so_far, 1);
    }
}

static void race(const struct scratch *s, int wanted)
{
    atomic_int *exchanges = mmap(NULL, sizeof *exchanges, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(exchanges != MAP_FAILED);
    struct jm_workdir *dir = open_plain(s);
    plant(s, dir->work_fd);
    pid_t pid = fork_off();
    CHECK(pid >= 0);
    if (pid == 0)
        exchange(dir->work_fd, exchanges);
    int canaries = 0, ours = 0, links = 0, rounds = 0;
    time_t end = time(NULL) + SECONDS;
    while ((atomic_load(exchanges) < wanted || !canaries || !ours || !links) && time(NULL) < end) {
        struct jm_artifact_list list = collected(dir, &generous); /* fails on any byte of the canary */
        ours += item_of(&list, "a/mid/deep/file") != NULL;
        links += why_of(&list, "a/mid") != NULL || why_of(&list, "a/mid/deep") != NULL;
        for (size_t i = 0; i < list.count; i++)
            CHECK(list.items[i].size == 4 && memcmp(list.items[i].data, "ours", 4) == 0);
        jm_artifact_list_free(&list);
        control_walk(dir->work, &canaries);
        rounds++;
    }
    int status;
    CHECK(waitpid(pid, &status, WNOHANG) == 0); /* it still exchanges */
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid);
    fprintf(stderr, "# uid %d: %d exchanges, %d rounds: the walk by paths returned %d canaries; ours came %d times\n",
            (int)geteuid(), atomic_load(exchanges), rounds, canaries, ours);
    CHECK(atomic_load(exchanges) >= wanted);
    CHECK(canaries > 0);
    CHECK(ours > 0 && links > 0); /* both sides of the exchange were met */
    munmap(exchanges, sizeof *exchanges);
    CHECK(jm_workdir_close(dir) == 0);
}

static void with_openat2(const struct scratch *s)
{
    race(s, EXCHANGES);
}

static void without_openat2(const struct scratch *s)
{
    forbid(437, ENOSYS);
    race(s, EXCHANGES);
}

BOTH(test_exchanged_directories_return_nothing_foreign, with_openat2, IN_MEMORY)
BOTH(test_the_same_without_openat2, without_openat2, IN_MEMORY)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchanged_directories_return_nothing_foreign),
        cmocka_unit_test(test_the_same_without_openat2),
    };
    return cmocka_run_group_tests_name("files/race", tests, NULL, NULL);
}
