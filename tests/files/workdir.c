/* SPDX-License-Identifier: Apache-2.0
 * Making work directories: what is in them, and every way in which they cannot be made. */
#include "config.h"
#include "scratch.h"
#include "files/written.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void has_mode(const char *dir, const char *name, unsigned mode)
{
    char path[2 * PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    CHECK(lstat(path, &st) == 0);
    CHECK(st.st_mode == mode);
}

static void holds(const char *dir, const char *name, const char *wanted)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    char *text = read_file(path);
    CHECK_STR(text, wanted);
    free(text);
}

static const struct jm_input three[] = {{"b/c/d", "deep", 4}, {"b/c-x", "beside", 6}, {"a", "", 0}};

static void check_layout(const struct scratch *s)
{
    jianmu_error *err = NULL;
    struct jm_workdir *dir = jm_workdir_open(s->parent, "main.py", "script", 6, three, 3, &err);
    CHECK_STR(jianmu_error_message(err), "");
    CHECK(strncmp(dir->base, s->parent, strlen(s->parent)) == 0);
    CHECK(strncmp(dir->base + strlen(s->parent), "/jianmu_local_job_", 18) == 0);
    CHECK(count_entries(dir->base) == 3);
    static const char *const dirs[] = {"", "work", "home", "tmp", "work/b", "work/b/c"};
    for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++)
        has_mode(dir->base, dirs[i], S_IFDIR | 0700);
    static const char *const files[] = {"main.py", "a", "b/c-x", "b/c/d"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        has_mode(dir->work, files[i], S_IFREG | 0600);
    holds(dir->work, "main.py", "script");
    holds(dir->work, "b/c/d", "deep");
    holds(dir->work, "b/c-x", "beside");
    holds(dir->work, "a", "");
    CHECK(exists(dir->home) && exists(dir->tmp) && exists(dir->work));
    int other = open(dir->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(other >= 0);
    CHECK(flock(other, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK);
    close(other);
    CHECK(fcntl(dir->base_fd, F_GETFD) == FD_CLOEXEC);
    CHECK(fcntl(dir->work_fd, F_GETFD) == FD_CLOEXEC);
    CHECK(fcntl(dir->parent_fd, F_GETFD) == FD_CLOEXEC);
    CHECK(jm_workdir_close(dir) == 0);
}

static void layout_under_any_umask(const struct scratch *s)
{
    const mode_t masks[] = {022, 0, 0777, 0200, 0100, 0400};
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        umask(masks[i]);
        check_layout(s);
    }
    CHECK(jm_workdir_close(NULL) == 0);
}

static void refused(const struct jm_input *inputs, size_t count, const char *one, const char *other,
                    const struct scratch *s)
{
    jianmu_error *err = NULL;
    CHECK(!jm_workdir_open(s->parent, "main.py", "", 0, inputs, count, &err));
    CHECK(jianmu_error_code(err) == JIANMU_INVALID);
    CHECK(strstr(jianmu_error_message(err), one) && strstr(jianmu_error_message(err), other));
    jianmu_error_free(err);
    CHECK(count_entries(s->parent) == 0);
}

static void clashes(const struct scratch *s)
{
    struct jm_input pairs[][3] = {
        {{"dir", "", 0}, {"dir-2", "", 0}, {"dir/x", "", 0}},
        {{"a/b/c/d", "", 0}, {"z", "", 0}, {"a/b", "", 0}},
        {{"same", "1", 1}, {"other", "", 0}, {"same", "2", 1}},
        {{"main.py", "", 0}, {"b", "", 0}, {"c", "", 0}},
        {{"a", "", 0}, {"main.py/x", "", 0}, {"b", "", 0}},
    };
    refused(pairs[0], 3, "\"dir\"", "\"dir/x\"", s);
    refused(pairs[1], 3, "\"a/b\"", "\"a/b/c/d\"", s);
    refused(pairs[2], 3, "\"same\"", "twice", s);
    refused(pairs[3], 3, "\"main.py\"", "script", s);
    refused(pairs[4], 3, "\"main.py\"", "\"main.py/x\"", s);
    struct jm_input twins[] = {{"MAIN.PY", "big", 3}, {"main.pyx", "", 0}, {"\xc3\xa9", "1", 1}, {"e\xcc\x81", "2", 1}};
    struct jm_workdir *dir = jm_workdir_open(s->parent, "main.py", "script", 6, twins, 4, NULL);
    CHECK(dir != NULL);
    holds(dir->work, "main.py", "script");
    holds(dir->work, "MAIN.PY", "big");
    CHECK(count_entries(dir->work) == 5);
    CHECK(jm_workdir_close(dir) == 0);
}

static void no_place(const char *parent, jianmu_code code, const char *why)
{
    jianmu_error *err = NULL;
    CHECK(!jm_workdir_open(parent, "main.py", "", 0, NULL, 0, &err));
    const char *text = jianmu_error_message(err);
    if (jianmu_error_code(err) != code || !strstr(text, why) || !strstr(text, parent)) {
        fprintf(stderr, "# got %s: %s; wanted %s\n", jianmu_code_name(jianmu_error_code(err)), text, why);
        _exit(1);
    }
    jianmu_error_free(err);
}

static void places_that_are_none(const struct scratch *s)
{
    char path[2 * PATH_MAX], deep[PATH_MAX];
    snprintf(path, sizeof path, "%s/missing", s->foreign);
    no_place(path, JIANMU_INVALID, "No such file");
    snprintf(path, sizeof path, "%s/file", s->foreign);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    close(fd);
    no_place(path, JIANMU_INVALID, "Not a directory");
    no_place("relative/dir", JIANMU_INVALID, "absolute");
    snprintf(path, sizeof path, "%s/open", s->foreign);
    CHECK(mkdir(path, 0700) == 0 && chmod(path, 0777) == 0);
    no_place(path, JIANMU_INVALID, "not sticky");
    if (geteuid() != 0) {
        CHECK(chmod(path, 0500) == 0);
        no_place(path, JIANMU_UNAVAILABLE, "Permission denied");
    }
    snprintf(deep, sizeof deep, "%s", s->foreign);
    for (size_t len = strlen(deep); len < 3800; len = strlen(deep)) {
        snprintf(deep + len, sizeof deep - len, "/%0100d", 0);
        CHECK(mkdir(deep, 0700) == 0);
    }
    struct jm_workdir *dir = jm_workdir_open(deep, "main.py", "", 0, NULL, 0, NULL);
    CHECK(dir != NULL);
    CHECK(jm_workdir_close(dir) == 0);
    size_t len = strlen(deep), more = 4050 - len - 1;
    snprintf(deep + len, sizeof deep - len, "/%0*d", (int)(more > 200 ? 200 : more), 0);
    while (strlen(deep) < 4050) {
        CHECK(mkdir(deep, 0700) == 0);
        len = strlen(deep);
        more = 4050 - len - 1 ? 4050 - len - 1 : 1;
        snprintf(deep + len, sizeof deep - len, "/%0*d", (int)(more > 200 ? 200 : more), 0);
    }
    CHECK(mkdir(deep, 0700) == 0);
    no_place(deep, JIANMU_INVALID, "File name too long");
}

/* What a usual place is taken from depends on the machine; that it works and is not the bad one does not. */
static void usual_places(const struct scratch *s)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s///", s->parent);
    unsetenv("HOME");
    setenv("TMPDIR", path, 1);
    struct jm_workdir *dir = jm_workdir_open(NULL, "main.py", "", 0, NULL, 0, NULL);
    CHECK(dir != NULL);
    CHECK(strncmp(dir->base, s->parent, strlen(s->parent)) == 0 && !strstr(dir->base, "//"));
    CHECK(jm_workdir_close(dir) == 0);
    snprintf(path, sizeof path, "%s/missing", s->foreign);
    const char *const bad[] = {path, "relative", "", NULL, "/proc"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (bad[i])
            setenv("TMPDIR", bad[i], 1);
        else
            unsetenv("TMPDIR");
        dir = jm_workdir_open(NULL, "main.py", "", 0, NULL, 0, NULL);
        if (!dir)
            cannot("neither /dev/shm nor /tmp can be written to");
        CHECK(strncmp(dir->base, "/dev/shm/", 9) == 0 || strncmp(dir->base, "/tmp/", 5) == 0);
        char *base = strdup(dir->base);
        CHECK(jm_workdir_close(dir) == 0);
        CHECK(!exists(base));
        free(base);
    }
}

/* The limit of the host on the size of files would end it by a signal. */
static void file_size_limit(const struct scratch *s)
{
    CHECK(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, 1000}) == 0);
    char text[2000] = "";
    struct jm_input in = {"in", text, sizeof text};
    jianmu_error *err = NULL;
    CHECK(!jm_workdir_open(s->parent, "main.py", text, sizeof text, NULL, 0, &err));
    CHECK(strstr(jianmu_error_message(err), "\"main.py\"") && strstr(jianmu_error_message(err), "large"));
    jianmu_error_free(err);
    CHECK(!jm_workdir_open(s->parent, "main.py", text, 1000, &in, 1, NULL));
    struct jm_workdir *dir = jm_workdir_open(s->parent, "main.py", text, 1000, NULL, 0, NULL);
    CHECK(dir != NULL);
    CHECK(jm_workdir_close(dir) == 0);
}

/* Somebody of our own user is quicker and puts links where inputs go. */
static void planted_links(const struct scratch *s)
{
    char target[2 * PATH_MAX];
    snprintf(target, sizeof target, "%s/canary", s->foreign);
    struct jm_workdir *dir = open_plain(s);
    int foreign = open(s->foreign, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    write_file(foreign, "canary", "alive");
    CHECK(symlinkat(target, dir->work_fd, "file") == 0);
    CHECK(symlinkat(s->foreign, dir->work_fd, "dir") == 0);
    CHECK(symlinkat("nowhere", dir->work_fd, "dangling") == 0);
    static const char *const names[] = {"file", "dir/new", "dangling", "dir/sub/new", "main.py"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct jm_workdir other = {.work_fd = dir->work_fd};
        struct jm_input in = {names[i], "overwritten", 11};
        jianmu_error *err = NULL;
        CHECK(jm_written_make(&other, &in, 1, "main", &err) < 0);
        CHECK(strstr(jianmu_error_message(err), names[i]) != NULL);
        jianmu_error_free(err);
        free(other.written);
    }
    holds(s->foreign, "canary", "alive");
    holds(dir->work, "main.py", "script");
    CHECK(count_entries(s->foreign) == 1);
    close(foreign);
    CHECK(jm_workdir_close(dir) == 0);
}

static void every_descriptor(const struct scratch *s)
{
    int worked = 0, failed = 0;
    int used = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(used);
    for (int n = used; n < used + 12; n++) {
        struct rlimit limit;
        CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
        rlim_t before = limit.rlim_cur;
        limit.rlim_cur = (rlim_t)n;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        jianmu_error *err = NULL;
        struct jm_workdir *dir = jm_workdir_open(s->parent, "main.py", "script", 6, three, 3, &err);
        worked += dir != NULL;
        failed += dir == NULL;
        CHECK(jm_workdir_close(dir) == 0); /* with no more descriptors than made it */
        limit.rlim_cur = before;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        if (!dir) {
            CHECK(jianmu_error_code(err) == JIANMU_INTERNAL);
            CHECK(strstr(jianmu_error_message(err), "Too many open files") != NULL);
        }
        jianmu_error_free(err);
        CHECK(count_entries(s->parent) == 0);
    }
    CHECK(failed >= 4 && worked >= 4);
}

static void mount_tmpfs(const struct scratch *s, unsigned long flags, const char *options)
{
    if (mount("none", s->parent, "tmpfs", flags, options) < 0)
        cannot("no tmpfs can be mounted");
}

static void not_made(const struct scratch *s, size_t script_len, size_t inputs, jianmu_code code, const char *why)
{
    struct jm_input in[64];
    char names[64][32];
    char *script = calloc(1, script_len);
    for (size_t i = 0; i < inputs; i++) {
        snprintf(names[i], sizeof names[i], "in%zu", i);
        in[i] = (struct jm_input){names[i], "x", 1};
    }
    jianmu_error *err = NULL;
    CHECK(script && !jm_workdir_open(s->parent, "main.py", script, script_len, in, inputs, &err));
    CHECK(jianmu_error_code(err) == code);
    CHECK(strstr(jianmu_error_message(err), why) && strstr(jianmu_error_message(err), s->parent));
    CHECK(count_entries(s->parent) == 0);
    jianmu_error_free(err);
    free(script);
}

static void odd_disks(const struct scratch *s)
{
    own_mounts();
    mount_tmpfs(s, 0, "size=64k,nr_inodes=16,mode=700");
    not_made(s, 100000, 0, JIANMU_INTERNAL, "No space left");
    not_made(s, 10, 40, JIANMU_INTERNAL, "No space left");
    CHECK(umount(s->parent) == 0);
    int made = 0, failed = 0;
    for (int inodes = 2; inodes < 16; inodes++) { /* each file and directory is once the first without room */
        char options[64];
        snprintf(options, sizeof options, "nr_inodes=%d,mode=700", inodes);
        mount_tmpfs(s, 0, options);
        jianmu_error *err = NULL;
        struct jm_workdir *dir = jm_workdir_open(s->parent, "main.py", "script", 6, three, 3, &err);
        made += dir != NULL;
        failed += dir == NULL;
        CHECK(jm_workdir_close(dir) == 0);
        CHECK(dir || (jianmu_error_code(err) == JIANMU_INTERNAL && strstr(jianmu_error_message(err), "No space left")));
        jianmu_error_free(err);
        CHECK(count_entries(s->parent) == 0);
        CHECK(umount(s->parent) == 0);
    }
    CHECK(failed >= 9 && made >= 2);
    mount_tmpfs(s, MS_RDONLY, "mode=700");
    not_made(s, 10, 0, JIANMU_UNAVAILABLE, "Read-only file system");
    CHECK(umount(s->parent) == 0);
    mount_tmpfs(s, MS_NOEXEC | MS_NOSUID | MS_NODEV, "mode=700"); /* interpreters read their scripts */
    check_layout(s);
    CHECK(umount(s->parent) == 0);
}

static void closed_in_a_fork(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    fflush(NULL);
    pid_t pid = fork_off();
    CHECK(pid >= 0);
    if (pid == 0)
        _exit(jm_workdir_close(dir) == 0 ? 0 : 1);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    holds(dir->work, "main.py", "script");
    CHECK(jm_workdir_close(dir) == 0);
}

BOTH(test_layout_and_modes_under_any_umask, layout_under_any_umask, ON_DISK)
BOTH(test_inputs_that_want_one_place_are_refused, clashes, ON_DISK)
BOTH(test_places_that_are_none_are_named, places_that_are_none, ON_DISK)
BOTH(test_bad_tmpdir_is_passed_over, usual_places, ON_DISK)
BOTH(test_file_size_limit_is_an_error_not_a_signal, file_size_limit, ON_DISK)
BOTH(test_planted_links_are_not_written_through, planted_links, ON_DISK)
BOTH(test_each_descriptor_may_be_the_last, every_descriptor, ON_DISK)
BOTH(test_full_and_read_only_and_noexec_disks, odd_disks, ON_DISK)
BOTH(test_a_forked_child_removes_nothing, closed_in_a_fork, ON_DISK)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout_and_modes_under_any_umask),
        cmocka_unit_test(test_inputs_that_want_one_place_are_refused),
        cmocka_unit_test(test_places_that_are_none_are_named),
        cmocka_unit_test(test_bad_tmpdir_is_passed_over),
        cmocka_unit_test(test_file_size_limit_is_an_error_not_a_signal),
        cmocka_unit_test(test_planted_links_are_not_written_through),
        cmocka_unit_test(test_each_descriptor_may_be_the_last),
        cmocka_unit_test(test_full_and_read_only_and_noexec_disks),
        cmocka_unit_test(test_a_forked_child_removes_nothing),
    };
    return cmocka_run_group_tests_name("files/workdir", tests, NULL, NULL);
}
