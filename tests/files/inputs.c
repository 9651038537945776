/* SPDX-License-Identifier: Apache-2.0
 * Script and inputs are no artifacts unless the job changed them; files that change while they are read are none. */
#include "config.h"
#include "collected.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct jm_input inputs[] = {
    {"d/kept", "kept", 4},       {"d/rewritten", "before", 6}, {"replaced", "before", 6}, {"removed", "x", 1},
    {"moved", "moved", 5},       {"linked", "x", 1},           {"mode", "x", 1},          {"gone/with/dir", "x", 1},
    {"new\nline", "x", 1},       {"mapped", "before", 6},
};

static struct jm_workdir *open_inputs(const struct scratch *s)
{
    const size_t count = sizeof inputs / sizeof inputs[0];
    struct jm_workdir *dir = jm_workdir_open(s->parent, "main.py", "script", 6, inputs, count, NULL);
    CHECK(dir != NULL);
    return dir;
}

static void rewrite(int dir, const char *name, const char *text)
{
    int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void untouched(const struct scratch *s)
{
    struct jm_workdir *dir = open_inputs(s);
    char text[16];
    int fd = openat(dir->work_fd, "d/kept", O_RDONLY | O_CLOEXEC);
    CHECK(read(fd, text, sizeof text) == 4); /* reading is no change */
    close(fd);
    struct stat st; /* so that a change within one tick shows on kernels with coarse times, too */
    CHECK(fstatat(dir->work_fd, "d/kept", &st, 0) == 0 && st.st_mtim.tv_sec < st.st_ctim.tv_sec);
    struct jm_artifact_caps none = {0, 0, 0, 0};
    struct jm_artifact_list list = collected(dir, &none);
    CHECK(json_array_size(list.modified_inputs) == 0); /* also those below directories that were not looked into */
    jm_artifact_list_free(&list);
    list = collected(dir, &generous);
    CHECK(list.count == 0 && json_array_size(list.skipped) == 0 && json_array_size(list.modified_inputs) == 0);
    done(dir, &list);
}

/* All of it within one tick of the clock, and no size changes. */
static void changed(const struct scratch *s)
{
    struct jm_workdir *dir = open_inputs(s);
    rewrite(dir->work_fd, "d/rewritten", "after ");
    rewrite(dir->work_fd, "main.py", "tpircs");
    write_file(dir->work_fd, "other", "after.");
    CHECK(renameat(dir->work_fd, "other", dir->work_fd, "replaced") == 0);
    CHECK(unlinkat(dir->work_fd, "removed", 0) == 0);
    CHECK(renameat(dir->work_fd, "moved", dir->work_fd, "d/moved") == 0);
    CHECK(unlinkat(dir->work_fd, "linked", 0) == 0 && symlinkat("d/kept", dir->work_fd, "linked") == 0);
    CHECK(fchmodat(dir->work_fd, "mode", 0755, 0) == 0);
    CHECK(unlinkat(dir->work_fd, "gone/with/dir", 0) == 0 && unlinkat(dir->work_fd, "gone/with", AT_REMOVEDIR) == 0);
    CHECK(symlinkat("../d", dir->work_fd, "gone/with") == 0);
    rewrite(dir->work_fd, "new\nline", "y");
    struct jm_artifact_list list = collected(dir, &generous);
    static const char *const modified[] = {"main.py", "d/rewritten", "replaced", "removed", "moved", "linked", "mode",
                                           "gone/with/dir", "new\nline"};
    for (size_t i = 0; i < sizeof modified / sizeof modified[0]; i++) {
        if (!is_modified(&list, modified[i]))
            fprintf(stderr, "# %s\n", modified[i]);
        CHECK(is_modified(&list, modified[i]));
    }
    CHECK(json_array_size(list.modified_inputs) == sizeof modified / sizeof modified[0]);
    CHECK(!item_of(&list, "main.py")); /* only listed */
    CHECK_STR(text_of(&list, "d/rewritten"), "after ");
    CHECK_STR(text_of(&list, "replaced"), "after.");
    CHECK_STR(text_of(&list, "d/moved"), "moved");
    CHECK_STR(text_of(&list, "new\nline"), "y");
    CHECK(item_of(&list, "mode")->mode == 0755);
    CHECK_STR(why_of(&list, "linked"), "symlink");
    CHECK(list.count == 5);
    CHECK(json_array_size(list.skipped) == 2);
    done(dir, &list);
}

/* With times put back as they were the change still shows, for nobody can put ctime back. */
static void times_put_back(const struct scratch *s)
{
    struct jm_workdir *dir = open_inputs(s);
    struct stat st;
    CHECK(fstatat(dir->work_fd, "mapped", &st, 0) == 0);
    nanosleep(&(struct timespec){0, 20000000}, NULL); /* more than a tick */
    rewrite(dir->work_fd, "mapped", "after.");
    CHECK(utimensat(dir->work_fd, "mapped", (struct timespec[]){st.st_atim, st.st_mtim}, 0) == 0);
    struct jm_artifact_list list = collected(dir, &generous);
    CHECK_STR(text_of(&list, "mapped"), "after.");
    CHECK(is_modified(&list, "mapped"));
    done(dir, &list);
}

/* A script of another name below is not the script; main.py deeper down is an artifact like any other. */
static void names_of_scripts(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    CHECK(mkdirat(dir->work_fd, "sub", 0700) == 0);
    write_file(dir->work_fd, "sub/main.py", "below");
    write_file(dir->work_fd, "main.pyc", "x");
    CHECK(unlinkat(dir->work_fd, "main.py", 0) == 0);
    write_file(dir->work_fd, "main.py", "another");
    struct jm_artifact_list list = collected(dir, &generous);
    CHECK(list.count == 2);
    CHECK_STR(text_of(&list, "sub/main.py"), "below");
    CHECK(is_modified(&list, "main.py") && json_array_size(list.modified_inputs) == 1);
    done(dir, &list);
}

static atomic_int stop;
static int grown; /* directory */

/* Grows and shrinks a file; every byte of it is the same, so that a torn read would show. */
static void *grow(void *unused)
{
    (void)unused;
    static char block[16384];
    memset(block, 'g', sizeof block);
    while (!atomic_load(&stop)) {
        int fd = openat(grown, "growing", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        for (int i = 0; fd >= 0 && i < 60 && !atomic_load(&stop); i++) {
            if (write(fd, block, sizeof block) < 0)
                break;
        }
        close(fd);
    }
    return NULL;
}

/* Where something still writes (it should not), a file comes whole as it once was, or not at all. */
static void growth(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    pthread_t thread;
    int seen = 0, taken = 0;
    time_t end = time(NULL) + 60;
    atomic_store(&stop, 0);
    grown = dir->work_fd;
    CHECK(pthread_create(&thread, NULL, grow, NULL) == 0);
    while ((!seen || !taken) && time(NULL) < end) {
        struct jm_artifact_list list = collected(dir, &generous);
        const jianmu_artifact *item = item_of(&list, "growing");
        const char *why = why_of(&list, "growing");
        CHECK(!item || !why);
        for (size_t i = 0; item && i < item->size; i++)
            CHECK(((const char *)item->data)[i] == 'g');
        seen += why && strcmp(why, "changed") == 0;
        taken += item && item->size > 0;
        jm_artifact_list_free(&list);
    }
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    CHECK(seen && taken);
    CHECK(jm_workdir_close(dir) == 0);
}

static _Noreturn void fill(int dir)
{
    for (unsigned i = 0;; i++) {
        char name[32];
        snprintf(name, sizeof name, "file%u", i);
        close(openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        mkdirat(dir, name + 4, 0700);
    }
}

/* Somebody grows or cuts the file between our look at it and our read (the linker puts this in the way). */
static enum { LEAVE, GROW, CUT } meanwhile;

ssize_t __real_read(int fd, void *to, size_t n);
ssize_t __wrap_read(int fd, void *to, size_t n);

ssize_t __wrap_read(int fd, void *to, size_t n)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (meanwhile == GROW) {
        int again = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
        CHECK(again >= 0 && write(again, "!", 1) == 1);
        close(again);
    }
    if (meanwhile == CUT)
        CHECK(truncate(path, 3) == 0);
    meanwhile = LEAVE;
    return __real_read(fd, to, n);
}

static void changed_before_the_read(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    const size_t sizes[] = {10, 100000};
    for (size_t i = 0; i < 2; i++) {
        put(dir->work_fd, "file", sizes[i], 0600);
        for (int what = LEAVE; what <= CUT; what++) {
            struct stat st;
            meanwhile = what;
            struct jm_artifact_list list = collected(dir, &generous);
            CHECK(meanwhile == LEAVE);
            CHECK(list.count == (what == LEAVE));
            CHECK_STR(what == LEAVE ? "changed" : why_of(&list, "file"), "changed");
            jm_artifact_list_free(&list);
            CHECK(fstatat(dir->work_fd, "file", &st, 0) == 0);
            CHECK(st.st_size == (what == LEAVE ? (off_t)sizes[i] : what == GROW ? (off_t)sizes[i] + 1 : 3));
        }
    }
    CHECK(jm_workdir_close(dir) == 0);
}

/* A writer that never stops does not keep a directory from going once it is dead. */
static void removed_under_a_writer(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    pid_t pid = fork_off();
    CHECK(pid >= 0);
    if (pid == 0)
        fill(dir->work_fd);
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    alarm(60);
    jm_remove_below(dir->work_fd); /* whatever it comes to, it ends */
    alarm(0);
    CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
    CHECK(jm_workdir_close(dir) == 0);
}

BOTH(test_untouched_inputs_are_no_artifacts, untouched, ON_DISK)
BOTH(test_changed_inputs_are_listed_and_taken, changed, ON_DISK)
BOTH(test_changed_in_memory, changed, IN_MEMORY)
BOTH(test_times_put_back, times_put_back, ON_DISK)
BOTH(test_names_of_scripts, names_of_scripts, ON_DISK)
BOTH(test_growth_while_reading, growth, IN_MEMORY)
BOTH(test_changed_between_look_and_read, changed_before_the_read, ON_DISK)
BOTH(test_removal_under_a_writer_ends, removed_under_a_writer, IN_MEMORY)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_untouched_inputs_are_no_artifacts),
        cmocka_unit_test(test_changed_inputs_are_listed_and_taken),
        cmocka_unit_test(test_changed_in_memory),
        cmocka_unit_test(test_times_put_back),
        cmocka_unit_test(test_names_of_scripts),
        cmocka_unit_test(test_growth_while_reading),
        cmocka_unit_test(test_changed_between_look_and_read),
        cmocka_unit_test(test_removal_under_a_writer_ends),
    };
    return cmocka_run_group_tests_name("files/inputs", tests, NULL, NULL);
}
