/* SPDX-License-Identifier: Apache-2.0
 * Whatever a job made of its directory, closing it leaves nothing and touches nothing else. */
#include "config.h"
#include "scratch.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int enter(int dir, const char *name)
{
    CHECK(mkdirat(dir, name, 0700) == 0);
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

static void deep(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    int at = dup(dir->work_fd);
    for (int i = 0; i < 5000; i++) {
        int next = enter(at, "d");
        if (i % 100 == 0) {
            write_file(at, "file", "x");
            CHECK(mkdirat(at, "empty", 0) == 0);
            int side = enter(at, "side");
            write_file(side, "file", "x");
            CHECK(fchmod(side, 0) == 0);
            close(side);
        }
        if (i % 50 == 7)
            CHECK(fchmod(at, 0) == 0);
        close(at);
        at = next;
    }
    write_file(at, "bottom", "x");
    close(at);
    struct rlimit limit, none;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
    none = limit;
    none.rlim_cur = (rlim_t)dir->work_fd + 2; /* one more than that which closing the parent sets free */
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK(jm_workdir_close(dir) == 0);
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

static void flood(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    for (int i = 0; i < 100000; i++) {
        char name[32];
        snprintf(name, sizeof name, "file%d", i);
        int fd = openat(dir->work_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        CHECK(fd >= 0);
        close(fd);
    }
    CHECK(jm_workdir_close(dir) == 0);
}

static void all_modes(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    for (unsigned mode = 0; mode < 01000; mode += 0100) {
        char name[32];
        snprintf(name, sizeof name, "dir%o", mode);
        int one = enter(dir->work_fd, name);
        int two = enter(one, "inner");
        int three = enter(two, "innermost");
        write_file(one, "file", "x");
        write_file(three, "file", "x");
        CHECK(fchmodat(three, "file", 0, 0) == 0);
        CHECK(fchmod(three, mode) == 0 && fchmod(two, mode) == 0 && fchmod(one, mode) == 0);
        close(three);
        close(two);
        close(one);
    }
    int cache = openat(dir->base_fd, "home", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int lib = enter(cache, ".cache");
    write_file(lib, "x", "x");
    CHECK(fchmod(lib, 0) == 0 && fchmod(cache, 0) == 0);
    close(lib);
    close(cache);
    CHECK(chmod(dir->tmp, 0) == 0);
    CHECK(fchmod(dir->work_fd, 0) == 0);
    CHECK(fchmod(dir->base_fd, 0) == 0);
    CHECK(jm_workdir_close(dir) == 0);
}

/* The numbers under which directories wait in the top are a job's to use as well. */
static void queue_names(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    for (int i = 0; i < 40; i++) {
        char name[32];
        snprintf(name, sizeof name, ".jm-%d", i);
        switch (i % 4) {
        case 0: write_file(dir->work_fd, name, "x"); break;
        case 1: CHECK(mkdirat(dir->work_fd, name, 0) == 0); break;
        case 2: CHECK(symlinkat("..", dir->work_fd, name) == 0); break;
        default: {
            int one = enter(dir->work_fd, name);
            int two = enter(one, name);
            int three = enter(two, ".jm-0");
            write_file(two, ".jm-7", "x");
            write_file(three, ".jm-3", "x");
            close(three);
            close(two);
            close(one);
        }
        }
    }
    CHECK(jm_workdir_close(dir) == 0);
}

static void odd_entries(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    int foreign = open(s->foreign, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int kept = enter(foreign, "kept");
    write_file(kept, "canary", "alive");
    char longest[256], path[2 * PATH_MAX];
    memset(longest, 'n', 255);
    longest[255] = 0;
    const char *const names[] = {"new\nline", "\xff\xfe", "\"'\\`$(x)", "-rf", " ", "...", "é", "e\xcc\x81", longest,
                                 "*"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        write_file(dir->work_fd, names[i], "x");
        int sub = openat(dir->base_fd, "tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int inner = enter(sub, names[i]);
        close(enter(inner, names[i]));
        close(inner);
        close(sub);
    }
    snprintf(path, sizeof path, "%s/kept", s->foreign);
    CHECK(symlinkat(path, dir->work_fd, "to-dir") == 0);
    snprintf(path, sizeof path, "%s/kept/canary", s->foreign);
    CHECK(symlinkat(path, dir->work_fd, "to-file") == 0);
    CHECK(symlinkat("/", dir->work_fd, "to-root") == 0 && symlinkat(".", dir->work_fd, "loop") == 0);
    CHECK(linkat(kept, "canary", dir->work_fd, "hard", 0) == 0);
    CHECK(mkfifoat(dir->work_fd, "fifo", 0600) == 0);
    if (geteuid() == 0)
        CHECK(mknodat(dir->work_fd, "null", S_IFCHR | 0600, 0x103) == 0);
    CHECK(mknodat(dir->work_fd, "socket", S_IFSOCK | 0600, 0) == 0);
    CHECK(jm_workdir_close(dir) == 0);
    char *text = read_file(path);
    CHECK_STR(text, "alive");
    free(text);
    CHECK(count_entries(s->foreign) == 1);
    close(kept);
    close(foreign);
}

static void moved_base(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    char moved[2 * PATH_MAX], canary[2 * PATH_MAX], base[PATH_MAX];
    snprintf(moved, sizeof moved, "%s/moved\n(deleted)", s->foreign);
    snprintf(canary, sizeof canary, "%s/canary", s->foreign);
    snprintf(base, sizeof base, "%s", dir->base);
    int foreign = open(s->foreign, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    write_file(foreign, "canary", "alive");
    CHECK(rename(base, moved) == 0);
    CHECK(symlink(s->foreign, base) == 0);
    CHECK(jm_workdir_close(dir) == 0);
    CHECK(!exists(moved) && exists(canary) && exists(base));
    CHECK(unlink(base) == 0);
    CHECK(count_entries(s->foreign) == 1);
    close(foreign);
}

/* work is found under any name, in a place whose path is longer than paths may be. */
static void moved_work(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    int at = open(s->foreign, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char name[201];
    memset(name, 'p', 200);
    name[200] = 0;
    for (int i = 0; i < 25; i++) {
        int next = enter(at, name);
        close(at);
        at = next;
    }
    CHECK(renameat(dir->base_fd, "work", at, "stolen") == 0);
    CHECK(symlinkat(s->foreign, dir->base_fd, "work") == 0);
    write_file(dir->work_fd, "more", "x");
    CHECK(jm_workdir_close(dir) == 0);
    CHECK(faccessat(at, "stolen", F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT);
    CHECK(jm_remove_below(at) == 0);
    close(at);
    CHECK(count_entries(s->foreign) == 1);
}

static void work_in_a_closed_place(const struct scratch *s)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/closed", s->foreign);
    CHECK(mkdir(path, 0700) == 0);
    struct jm_workdir *dir = open_plain(s);
    int closed = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(renameat(dir->base_fd, "work", closed, "stolen") == 0);
    CHECK(fchmod(closed, 0) == 0);
    int r = jm_workdir_close(dir);
    if (geteuid() != 0)
        CHECK(r == -1 && errno == EACCES); /* another's directory is not opened by force: it is said */
    else
        CHECK(r == 0);
    CHECK(fchmod(closed, 0700) == 0);
    CHECK(jm_remove_below(closed) == 0);
    close(closed);
}

static bool freeze(int dir, const char *name, int flag)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC), flags = 0;
    CHECK(fd >= 0);
    bool done = ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;
    flags |= flag;
    done = done && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
    close(fd);
    return done;
}

static void frozen(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    write_file(dir->work_fd, "file", "x");
    bool can = freeze(dir->work_fd, "file", FS_IMMUTABLE_FL);
    int one = enter(dir->work_fd, "one"), two = enter(one, "two"), three = enter(two, "three");
    write_file(three, "file", "x");
    if (can) {
        CHECK(freeze(three, "file", FS_APPEND_FL));
        CHECK(freeze(three, ".", FS_IMMUTABLE_FL) && freeze(two, ".", FS_APPEND_FL));
        CHECK(freeze(one, ".", FS_IMMUTABLE_FL));
        CHECK(freeze(dir->work_fd, ".", FS_APPEND_FL) && freeze(dir->base_fd, ".", FS_IMMUTABLE_FL));
        CHECK(unlinkat(dir->work_fd, "file", 0) < 0 && errno == EPERM);
    }
    close(three);
    close(two);
    close(one);
    CHECK(jm_workdir_close(dir) == 0);
    if (!can)
        cannot("chattr +i is not ours to use here");
}

static void mounts_stay(const struct scratch *s)
{
    char path[2 * PATH_MAX], foreign[2 * PATH_MAX];
    own_mounts();
    struct jm_workdir *dir = open_plain(s);
    snprintf(foreign, sizeof foreign, "%s/kept", s->foreign);
    CHECK(mkdir(foreign, 0700) == 0);
    int kept = open(foreign, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    write_file(kept, "canary", "alive");
    int one = enter(dir->work_fd, "one"), two = enter(one, "two");
    write_file(one, "file", "x");
    snprintf(path, sizeof path, "%s/one/two", dir->work);
    if (mount(foreign, path, "", MS_BIND, NULL) < 0)
        cannot("no bind mount can be made");
    int base = dup(dir->base_fd);
    CHECK(jm_workdir_close(dir) == -1 && errno == EBUSY);
    CHECK(faccessat(kept, "canary", F_OK, 0) == 0);
    CHECK(faccessat(one, "file", F_OK, 0) < 0);
    CHECK(count_entries(s->parent) == 1);
    char link[64], now[2 * PATH_MAX] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", two); /* it has gone up in the tree */
    CHECK(readlink(link, now, sizeof now - 1) > 0);
    CHECK(umount(now) == 0);
    CHECK(jm_remove_below(base) == 0 && jm_remove_self(base) == 0);
    CHECK(unlinkat(kept, "canary", 0) == 0);
    close(base);
    close(one);
    close(two);
    close(kept);
}

static void without_new_calls(const struct scratch *s)
{
    static const int errors[] = {ENOSYS, EPERM};
    forbid(437, errors[geteuid() != 0]); /* openat2: old kernels, and filters made for them */
    forbid(452, ENOSYS);                 /* fchmodat2 */
    all_modes(s);
    odd_entries(s);
}

BOTH(test_5000_deep_with_two_descriptors, deep, IN_MEMORY)
BOTH(test_100000_files, flood, IN_MEMORY)
BOTH(test_all_modes, all_modes, ON_DISK)
BOTH(test_names_of_the_queue, queue_names, ON_DISK)
BOTH(test_odd_names_links_and_devices, odd_entries, ON_DISK)
BOTH(test_base_renamed_and_a_link_planted, moved_base, ON_DISK)
BOTH(test_work_moved_out_of_base, moved_work, ON_DISK)
BOTH(test_work_moved_into_a_closed_directory, work_in_a_closed_place, ON_DISK)
BOTH(test_mounts_stay_and_the_rest_goes, mounts_stay, ON_DISK)
BOTH(test_without_openat2_and_fchmodat2, without_new_calls, ON_DISK)

static void test_immutable_and_append_only(void **state)
{
    (void)state;
    int disk = scratch_run(frozen, AS_OURSELVES, ON_DISK);
    int memory = scratch_run(frozen, AS_OURSELVES, IN_MEMORY);
    if (disk && memory)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_5000_deep_with_two_descriptors),
        cmocka_unit_test(test_100000_files),
        cmocka_unit_test(test_all_modes),
        cmocka_unit_test(test_names_of_the_queue),
        cmocka_unit_test(test_odd_names_links_and_devices),
        cmocka_unit_test(test_base_renamed_and_a_link_planted),
        cmocka_unit_test(test_work_moved_out_of_base),
        cmocka_unit_test(test_work_moved_into_a_closed_directory),
        cmocka_unit_test(test_immutable_and_append_only),
        cmocka_unit_test(test_mounts_stay_and_the_rest_goes),
        cmocka_unit_test(test_without_openat2_and_fchmodat2),
    };
    return cmocka_run_group_tests_name("files/remove", tests, NULL, NULL);
}
