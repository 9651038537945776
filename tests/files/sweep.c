/* SPDX-License-Identifier: Apache-2.0
 * What dead owners left is removed, what belongs to the living is not. */
#include "config.h"
#include "scratch.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct owner {
    pid_t pid;
    char base[PATH_MAX];
};

/* A process that owns a work directory with a few things in it and lives until it is killed. */
static struct owner start_owner(const struct scratch *s)
{
    struct owner o = {0};
    int p[2];
    CHECK(pipe(p) == 0);
    fflush(NULL);
    o.pid = fork_off();
    CHECK(o.pid >= 0);
    if (o.pid == 0) {
        struct jm_workdir *dir = open_plain(s);
        CHECK(mkdirat(dir->work_fd, "sub", 0700) == 0);
        write_file(dir->work_fd, "sub/file", "x");
        CHECK(write(p[1], dir->base, strlen(dir->base) + 1) > 0);
        for (;;)
            pause();
    }
    close(p[1]);
    CHECK(read(p[0], o.base, sizeof o.base) > 0);
    close(p[0]);
    CHECK(exists(o.base));
    return o;
}

static void kill_owner(const struct owner *o)
{
    int status;
    CHECK(kill(o->pid, SIGKILL) == 0);
    CHECK(waitpid(o->pid, &status, 0) == o->pid && WIFSIGNALED(status));
}

static bool lists(const json_t *removed, const char *path)
{
    size_t i;
    const json_t *each;
    json_array_foreach (removed, i, each) {
        if (strcmp(json_string_value(each), path) == 0)
            return true;
    }
    return false;
}

static json_t *sweep(const struct scratch *s)
{
    json_t *removed = json_array();
    jianmu_error *err = NULL;
    CHECK(removed != NULL);
    if (jm_workdir_sweep(s->parent, removed, &err) < 0 && strstr(jianmu_error_message(err), s->parent)) {
        fprintf(stderr, "# %s\n", jianmu_error_message(err));
        _exit(1);
    }
    jianmu_error_free(err);
    return removed;
}

static void dead_and_living(const struct scratch *s)
{
    struct owner dead = start_owner(s), odd = start_owner(s), alive = start_owner(s);
    char path[2 * PATH_MAX];
    struct jm_workdir *ours = open_plain(s);
    kill_owner(&dead);
    snprintf(path, sizeof path, "%s/work/sub", odd.base);
    CHECK(chmod(path, 0) == 0 && chmod(odd.base, 0) == 0);
    kill_owner(&odd);
    CHECK(chmod(alive.base, 0) == 0);
    CHECK(exists(dead.base) && exists(odd.base) && exists(alive.base));
    json_t *removed = sweep(s);
    CHECK(!exists(dead.base) && lists(removed, dead.base));
    CHECK(!exists(odd.base) && lists(removed, odd.base));
    struct stat st;
    CHECK(lstat(alive.base, &st) == 0 && (st.st_mode & 07777) == 0);
    CHECK(!lists(removed, alive.base) && !lists(removed, ours->base));
    CHECK(count_entries(ours->work) == 1);
    CHECK(chmod(alive.base, 0700) == 0);
    snprintf(path, sizeof path, "%s/work/sub/file", alive.base);
    CHECK(exists(path));
    json_decref(removed);
    kill_owner(&alive);
    CHECK(jm_workdir_sweep(s->parent, NULL, NULL) == 0 || !exists(alive.base));
    CHECK(!exists(alive.base));
    CHECK(jm_workdir_close(ours) == 0);
}

/* The reaper of a dead host holds the same lock while it still kills and cleans. */
static void lock_inherited(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    int held = dup(dir->base_fd);
    close(dir->base_fd);
    dir->base_fd = -1;
    json_decref(sweep(s));
    CHECK(exists(dir->work));
    close(held);
    json_t *removed = sweep(s);
    CHECK(lists(removed, dir->base) && !exists(dir->base));
    json_decref(removed);
    CHECK(jm_workdir_close(dir) == 0);
}

static void not_ours(const struct scratch *s)
{
    int parent = open(s->parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(symlinkat(s->foreign, parent, "jianmu_local_job_link") == 0);
    write_file(parent, "jianmu_local_job_file", "x");
    CHECK(mkdirat(parent, "jianmu_local_jobs", 0700) == 0);
    CHECK(mkdirat(parent, "jianmu_local_job_other", 0700) == 0);
    if (geteuid() == 0)
        CHECK(fchownat(parent, "jianmu_local_job_other", 12345, 12345, 0) == 0);
    int foreign = open(s->foreign, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    write_file(foreign, "canary", "alive");
    json_decref(sweep(s));
    CHECK(faccessat(foreign, "canary", F_OK, 0) == 0);
    CHECK(faccessat(parent, "jianmu_local_job_link", F_OK, AT_SYMLINK_NOFOLLOW) == 0);
    CHECK(faccessat(parent, "jianmu_local_job_file", F_OK, 0) == 0);
    CHECK(faccessat(parent, "jianmu_local_jobs", F_OK, 0) == 0);
    bool stays = faccessat(parent, "jianmu_local_job_other", F_OK, 0) == 0;
    CHECK(stays == (geteuid() == 0)); /* another user's; our own without an owner is a dead one's */
    CHECK(jm_remove_below(parent) == 0);
    close(parent);
    close(foreign);
}

static void eight_at_once(const struct scratch *s)
{
    enum { DEAD = 12, SWEEPS = 8 };
    struct owner dead[DEAD], alive = start_owner(s);
    for (int i = 0; i < DEAD; i++)
        dead[i] = start_owner(s);
    for (int i = 0; i < DEAD; i++)
        kill_owner(&dead[i]);
    int go[2], counts[2];
    CHECK(pipe(go) == 0 && pipe(counts) == 0);
    pid_t pids[SWEEPS];
    fflush(NULL);
    for (int i = 0; i < SWEEPS; i++) {
        pids[i] = fork_off();
        CHECK(pids[i] >= 0);
        if (pids[i])
            continue;
        char byte, mine = 0;
        CHECK(close(go[1]) == 0 && read(go[0], &byte, 1) == 0);
        json_t *removed = sweep(s);
        for (int j = 0; j < DEAD; j++)
            mine += lists(removed, dead[j].base);
        CHECK(write(counts[1], &mine, 1) == 1);
        json_decref(removed);
        _exit(0);
    }
    close(go[0]);
    close(go[1]);
    close(counts[1]);
    int status, sum = 0;
    for (int i = 0; i < SWEEPS; i++)
        CHECK(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
    char one;
    while (read(counts[0], &one, 1) == 1)
        sum += one;
    close(counts[0]);
    CHECK(sum == DEAD); /* each was removed by exactly one of them */
    for (int i = 0; i < DEAD; i++)
        CHECK(!exists(dead[i].base));
    CHECK(exists(alive.base));
    kill_owner(&alive);
    json_decref(sweep(s));
}

/* Directories are made while others sweep: no owner may find its own gone. */
static void made_under_sweeps(const struct scratch *s)
{
    pid_t pids[2];
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        pids[i] = fork_off();
        CHECK(pids[i] >= 0);
        while (pids[i] == 0)
            json_decref(sweep(s));
    }
    for (int i = 0; i < 4000; i++) {
        struct jm_workdir *dir = open_plain(s);
        struct stat st;
        CHECK(fstatat(dir->work_fd, "main.py", &st, 0) == 0 && st.st_size == 6);
        CHECK(exists(dir->work) && exists(dir->home) && exists(dir->tmp));
        CHECK(jm_workdir_close(dir) == 0);
    }
    for (int i = 0; i < 2; i++) {
        int status;
        CHECK(kill(pids[i], SIGKILL) == 0);
        CHECK(waitpid(pids[i], &status, 0) == pids[i] && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    json_decref(sweep(s));
}

/* Somebody comes between the steps of making a directory (the linker puts these in the way). */
static enum { NOTHING, LOCK, REMOVE, REMOVE_OPENED } between;
static int came, thief = -1;
static char stolen[NAME_MAX + 1];

int __real_mkdirat(int dir, const char *name, mode_t mode);
int __wrap_mkdirat(int dir, const char *name, mode_t mode);
int __real_flock(int fd, int how);
int __wrap_flock(int fd, int how);

int __wrap_mkdirat(int dir, const char *name, mode_t mode)
{
    int r = __real_mkdirat(dir, name, mode);
    if (came || strncmp(name, "jianmu_local_job_", 17) != 0)
        return r;
    snprintf(stolen, sizeof stolen, "%s", name);
    if (between == LOCK) {
        thief = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK(__real_flock(thief, LOCK_EX | LOCK_NB) == 0);
        came++;
    }
    if (between == REMOVE) {
        CHECK(unlinkat(dir, name, AT_REMOVEDIR) == 0);
        came++;
    }
    return r;
}

int __wrap_flock(int fd, int how)
{
    if (between == REMOVE_OPENED && !came) {
        came++;
        CHECK(jm_remove_self(fd) == 0);
    }
    return __real_flock(fd, how);
}

/* A sweep that is quicker is not waited for, even where it never lets go: another name is taken. */
static void others_are_quicker(const struct scratch *s)
{
    for (between = LOCK; between <= REMOVE_OPENED; between++) {
        came = 0;
        alarm(60);
        struct jm_workdir *dir = open_plain(s);
        alarm(0);
        CHECK(came == 1);
        CHECK(!strstr(dir->base, stolen));
        CHECK(count_entries(s->parent) == 1);
        CHECK(exists(dir->work) && count_entries(dir->work) == 1);
        if (thief >= 0)
            close(thief);
        thief = -1;
        CHECK(jm_workdir_close(dir) == 0);
    }
    between = NOTHING;
}

BOTH(test_dead_owners_are_swept_living_ones_not, dead_and_living, ON_DISK)
BOTH(test_the_lock_lives_as_long_as_any_descriptor, lock_inherited, ON_DISK)
BOTH(test_what_is_not_ours_stays, not_ours, ON_DISK)
BOTH(test_eight_sweeps_at_once, eight_at_once, IN_MEMORY)
BOTH(test_directories_made_while_others_sweep, made_under_sweeps, IN_MEMORY)
BOTH(test_a_quicker_sweep_is_not_waited_for, others_are_quicker, ON_DISK)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dead_owners_are_swept_living_ones_not),
        cmocka_unit_test(test_the_lock_lives_as_long_as_any_descriptor),
        cmocka_unit_test(test_what_is_not_ours_stays),
        cmocka_unit_test(test_eight_sweeps_at_once),
        cmocka_unit_test(test_directories_made_while_others_sweep),
        cmocka_unit_test(test_a_quicker_sweep_is_not_waited_for),
    };
    return cmocka_run_group_tests_name("files/sweep", tests, NULL, NULL);
}
