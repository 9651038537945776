/* SPDX-License-Identifier: Apache-2.0
 * What is collected of a job's directory, and what is not, and why. */
#include "config.h"
#include "collected.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void plain_files(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    CHECK(mkdirat(dir->work_fd, "sub", 0700) == 0 && mkdirat(dir->work_fd, "sub/empty", 0700) == 0);
    write_file(dir->work_fd, "sub/inner", "in");
    write_file(dir->work_fd, "sub.txt", "beside");
    write_file(dir->work_fd, "empty", "");
    put(dir->work_fd, "big", 300000, 0755);
    struct jm_artifact_list list = collected(dir, &generous);
    CHECK(list.count == 4);
    static const char *const order[] = {"big", "empty", "sub.txt", "sub/inner"};
    for (size_t i = 0; i < 4; i++)
        CHECK_STR(list.items[i].path, order[i]);
    CHECK_STR(text_of(&list, "sub/inner"), "in");
    CHECK_STR(text_of(&list, "sub.txt"), "beside");
    CHECK_STR(text_of(&list, "empty"), "");
    const jianmu_artifact *big = item_of(&list, "big");
    CHECK(big->size == 300000 && big->mode == 0755);
    for (size_t i = 0; i < big->size; i++)
        CHECK(((const char *)big->data)[i] == (char)('a' + i / 1000 % 26));
    CHECK(item_of(&list, "empty")->mode == 0600);
    CHECK(json_array_size(list.skipped) == 0 && json_array_size(list.modified_inputs) == 0);
    done(dir, &list);
}

static void nothing_written(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    struct jm_artifact_list list = collected(dir, &generous);
    CHECK(list.count == 0 && json_array_size(list.skipped) == 0 && json_array_size(list.modified_inputs) == 0);
    done(dir, &list);
}

/* For a process that is no job. */
static void without_script(const struct scratch *s)
{
    struct jm_workdir *dir = jm_workdir_open(s->parent, NULL, NULL, 0, NULL, 0, NULL);
    CHECK(dir != NULL);
    CHECK(count_entries(dir->work) == 0);
    write_file(dir->work_fd, "main.py", "an artifact");
    struct jm_artifact_list list = collected(dir, &generous);
    CHECK(list.count == 1 && json_array_size(list.modified_inputs) == 0);
    CHECK_STR(text_of(&list, "main.py"), "an artifact");
    done(dir, &list);
}

/* Nothing of these is opened for its bytes: they lead to the canary, or would block for ever. */
static void links_and_specials(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    int foreign = open(s->foreign, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char path[2 * PATH_MAX];
    write_file(foreign, "canary", CANARY);
    snprintf(path, sizeof path, "%s/canary", s->foreign);
    CHECK(symlinkat(path, dir->work_fd, "link") == 0);
    CHECK(symlinkat("/proc/self/environ", dir->work_fd, "environ") == 0);
    CHECK(symlinkat(s->foreign, dir->work_fd, "dir") == 0);
    CHECK(symlinkat("/proc/self/cwd", dir->work_fd, "magic") == 0);
    CHECK(symlinkat("main.py", dir->work_fd, "inward") == 0 && symlinkat("loop", dir->work_fd, "loop") == 0);
    CHECK(linkat(foreign, "canary", dir->work_fd, "hard", 0) == 0);
    CHECK(mkfifoat(dir->work_fd, "fifo", 0600) == 0);
    CHECK(mknodat(dir->work_fd, "socket", S_IFSOCK | 0600, 0) == 0);
    bool root = geteuid() == 0;
    if (root) {
        CHECK(mknodat(dir->work_fd, "zero", S_IFCHR | 0600, 0x105) == 0);
        CHECK(mknodat(dir->work_fd, "block", S_IFBLK | 0600, 0x700) == 0);
    }
    write_file(dir->work_fd, "ours", "ours");
    struct jm_artifact_list list = collected(dir, &generous);
    CHECK(list.count == 1);
    CHECK_STR(text_of(&list, "ours"), "ours");
    static const char *const links[] = {"link", "environ", "dir", "magic", "inward", "loop"};
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        CHECK_STR(why_of(&list, links[i]), "symlink");
    CHECK_STR(why_of(&list, "hard"), "hardlink");
    CHECK_STR(why_of(&list, "fifo"), "fifo");
    CHECK_STR(why_of(&list, "socket"), "socket");
    CHECK_STR(root ? why_of(&list, "zero") : "device", "device");
    CHECK_STR(root ? why_of(&list, "block") : "device", "device");
    CHECK(json_array_size(list.skipped) == (root ? 11 : 9));
    close(foreign);
    done(dir, &list);
}

/* Nobody's permissions are changed through a second name. */
static void closed_hard_link(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    int foreign = open(s->foreign, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat st;
    write_file(foreign, "canary", CANARY);
    CHECK(fchmodat(foreign, "canary", 0, 0) == 0);
    CHECK(linkat(foreign, "canary", dir->work_fd, "hard", 0) == 0);
    struct jm_artifact_list list = collected(dir, &generous);
    CHECK(list.count == 0);
    CHECK_STR(why_of(&list, "hard"), "hardlink");
    CHECK(fstatat(foreign, "canary", &st, 0) == 0 && (st.st_mode & 07777) == 0);
    close(foreign);
    done(dir, &list);
}

/* No call takes a path as long as that. */
static void long_paths(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    int at = dup(dir->work_fd);
    char name[201];
    memset(name, 'p', 200);
    name[200] = 0;
    for (int i = 0; i < 50; i++) {
        CHECK(mkdirat(at, name, 0700) == 0);
        int next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK(fchmod(at, i % 3 ? 0700 : 0) == 0);
        close(at);
        CHECK((at = next) >= 0);
    }
    write_file(at, "file", "far away");
    CHECK(symlinkat("/", at, "link") == 0);
    close(at);
    struct jm_artifact_list list = collected(dir, &generous);
    CHECK(list.count == 1 && strlen(list.items[0].path) == 50 * 201 + 4);
    CHECK_STR(text_of(&list, list.items[0].path), "far away");
    CHECK(json_array_size(list.skipped) == 1);
    done(dir, &list);
}

static void odd_names(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    char longest[256];
    memset(longest, 'n', 255);
    longest[255] = 0;
    const char *const names[] = {"new\nline", "\xff\xfe", "\"'\\`$(x)", "-rf", " ", "...", "\xc3\xa9", "e\xcc\x81",
                                 longest, "A", "a", "\x01"};
    size_t count = sizeof names / sizeof names[0];
    for (size_t i = 0; i < count; i++) {
        char link[256];
        write_file(dir->work_fd, names[i], names[i]);
        snprintf(link, sizeof link, "%.250sLINK", names[i]);
        CHECK(symlinkat("x", dir->work_fd, link) == 0);
    }
    struct jm_artifact_list list = collected(dir, &generous);
    CHECK(list.count == count);
    for (size_t i = 0; i < count; i++)
        CHECK_STR(text_of(&list, names[i]), names[i]);
    for (size_t i = 1; i < count; i++)
        CHECK(strcmp(list.items[i - 1].path, list.items[i].path) < 0);
    CHECK(json_array_size(list.skipped) == count);
    json_t *bad = skip_of(&list, "\xef\xbf\xbd\xef\xbf\xbdLINK");
    CHECK(bad != NULL);
    CHECK_STR(json_string_value(json_object_get(bad, "path_hex")), "fffe4c494e4b");
    CHECK(!json_object_get(skip_of(&list, "new\nlineLINK"), "path_hex"));
    char *text = json_dumps(list.skipped, 0);
    CHECK(text != NULL);
    free(text);
    done(dir, &list);
}

static void modes(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    static const mode_t all[] = {0, 0200, 0100, 0444, 0777, 04755, 02755, 01644, 07000};
    char name[64];
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        snprintf(name, sizeof name, "file%04o", all[i]);
        put(dir->work_fd, name, 10, all[i]);
    }
    for (unsigned mode = 0; mode < 01000; mode += 0100) {
        snprintf(name, sizeof name, "dir%03o", mode);
        CHECK(mkdirat(dir->work_fd, name, 0700) == 0);
        int sub = openat(dir->work_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK(mkdirat(sub, "inner", 0700) == 0);
        put(sub, "file", 10, 0);
        put(sub, "inner/file", 10, 0);
        CHECK(fchmodat(sub, "inner", mode, 0) == 0 && fchmod(sub, mode) == 0);
        close(sub);
    }
    CHECK(fchmod(dir->work_fd, 0) == 0);
    struct jm_artifact_list list = collected(dir, &generous);
    CHECK(json_array_size(list.skipped) == 0);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        snprintf(name, sizeof name, "file%04o", all[i]);
        CHECK(item_of(&list, name) && item_of(&list, name)->size == 10);
        CHECK(item_of(&list, name)->mode == (all[i] & 0777));
    }
    for (unsigned mode = 0; mode < 01000; mode += 0100) {
        snprintf(name, sizeof name, "dir%03o/file", mode);
        CHECK(item_of(&list, name) && item_of(&list, name)->mode == 0);
        snprintf(name, sizeof name, "dir%03o/inner/file", mode);
        CHECK(item_of(&list, name) && item_of(&list, name)->mode == 0);
    }
    CHECK(list.count == sizeof all / sizeof all[0] + 16);
    done(dir, &list);
}

/* The job renames its directory and puts a link to another's in its place. */
static void moved_and_planted(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    int foreign = open(s->foreign, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(mkdirat(foreign, "home", 0700) == 0);
    write_file(foreign, "home/.bashrc", CANARY);
    write_file(foreign, "secret", CANARY);
    write_file(dir->work_fd, "ours", "ours");
    CHECK(renameat(dir->base_fd, "work", dir->base_fd, "elsewhere") == 0);
    CHECK(symlinkat(s->foreign, dir->base_fd, "work") == 0);
    char *text = read_file(dir->work), secret[2 * PATH_MAX];
    free(text);
    snprintf(secret, sizeof secret, "%s/secret", dir->work);
    text = read_file(secret);
    CHECK_STR(text, CANARY); /* the path leads there */
    free(text);
    struct jm_artifact_list list = collected(dir, &generous);
    CHECK(list.count == 1);
    CHECK_STR(text_of(&list, "ours"), "ours");
    close(foreign);
    done(dir, &list);
}

static void no_descriptor(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    write_file(dir->work_fd, "file", "x");
    struct rlimit limit, none;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    for (rlim_t more = 1; more < 4; more++) {
        none = limit;
        none.rlim_cur = (rlim_t)dir->work_fd + more;
        CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
        struct jm_artifact_list list = collected(dir, &generous);
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        const char *missing = more == 1 ? "." : more == 2 ? "file" : NULL;
        CHECK(list.count == (missing ? 0 : 1));
        CHECK_STR(missing ? why_of(&list, missing) : "unreadable", "unreadable");
        if (missing)
            CHECK_STR(json_string_value(json_object_get(skip_of(&list, missing), "error")), "EMFILE");
        CHECK(json_array_size(list.modified_inputs) == 0);
        jm_artifact_list_free(&list);
    }
    CHECK(jm_workdir_close(dir) == 0);
}

static void mounts(const struct scratch *s)
{
    char path[2 * PATH_MAX];
    own_mounts();
    struct jm_workdir *dir = open_plain(s);
    int foreign = open(s->foreign, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    write_file(foreign, "canary", CANARY);
    write_file(dir->work_fd, "file", "");
    write_file(dir->work_fd, "proc", "");
    CHECK(mkdirat(dir->work_fd, "dir", 0700) == 0);
    snprintf(path, sizeof path, "%s/dir", dir->work);
    if (mount(s->foreign, path, "", MS_BIND, NULL) < 0)
        cannot("no bind mount can be made");
    char canary[2 * PATH_MAX], file[2 * PATH_MAX], proc[2 * PATH_MAX];
    snprintf(canary, sizeof canary, "%s/canary", s->foreign);
    snprintf(file, sizeof file, "%s/file", dir->work);
    snprintf(proc, sizeof proc, "%s/proc", dir->work);
    CHECK(mount(canary, file, "", MS_BIND, NULL) == 0 && mount("/proc/self/status", proc, "", MS_BIND, NULL) == 0);
    struct jm_artifact_list list = collected(dir, &generous);
    CHECK(list.count == 0);
    CHECK_STR(why_of(&list, "dir"), "mount");
    CHECK_STR(why_of(&list, "file"), "mount");
    CHECK_STR(why_of(&list, "proc"), "mount");
    CHECK(umount(path) == 0 && umount(file) == 0 && umount(proc) == 0);
    close(foreign);
    done(dir, &list);
}

static void mounts_without_openat2(const struct scratch *s)
{
    forbid(437, geteuid() ? EPERM : ENOSYS);
    mounts(s);
}

static void without_openat2(const struct scratch *s)
{
    forbid(437, geteuid() ? EPERM : ENOSYS);
    forbid(452, ENOSYS);
    plain_files(s);
    links_and_specials(s);
    modes(s);
    long_paths(s);
    moved_and_planted(s);
}

BOTH(test_plain_files, plain_files, ON_DISK)
BOTH(test_nothing_written, nothing_written, ON_DISK)
BOTH(test_without_a_script, without_script, ON_DISK)
BOTH(test_links_and_specials_are_skipped, links_and_specials, ON_DISK)
BOTH(test_closed_hard_links_stay_closed, closed_hard_link, ON_DISK)
BOTH(test_paths_beyond_4096_bytes, long_paths, ON_DISK)
BOTH(test_odd_names_are_kept_as_bytes, odd_names, ON_DISK)
BOTH(test_all_modes_are_read_and_masked, modes, ON_DISK)
BOTH(test_work_renamed_and_a_link_planted, moved_and_planted, ON_DISK)
BOTH(test_without_a_descriptor, no_descriptor, ON_DISK)
BOTH(test_mounts_are_skipped, mounts, ON_DISK)
BOTH(test_mounts_without_openat2, mounts_without_openat2, ON_DISK)
BOTH(test_without_openat2, without_openat2, ON_DISK)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_files),
        cmocka_unit_test(test_nothing_written),
        cmocka_unit_test(test_without_a_script),
        cmocka_unit_test(test_links_and_specials_are_skipped),
        cmocka_unit_test(test_closed_hard_links_stay_closed),
        cmocka_unit_test(test_paths_beyond_4096_bytes),
        cmocka_unit_test(test_odd_names_are_kept_as_bytes),
        cmocka_unit_test(test_all_modes_are_read_and_masked),
        cmocka_unit_test(test_work_renamed_and_a_link_planted),
        cmocka_unit_test(test_without_a_descriptor),
        cmocka_unit_test(test_mounts_are_skipped),
        cmocka_unit_test(test_mounts_without_openat2),
        cmocka_unit_test(test_without_openat2),
    };
    return cmocka_run_group_tests_name("files/artifacts", tests, NULL, NULL);
}
