/* SPDX-License-Identifier: Apache-2.0
 * Names below held directories: opened without following anything, and made accessible where their owner (a job
 * of our own user) took the permission away. Raw system calls: results are -errno. */
#ifndef JM_AT_H
#define JM_AT_H

#include "process/sys.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif

#define JM_RESOLVE_BELOW (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

static inline long jm_close(long fd)
{
    return jm_sys(__NR_close, fd);
}

static inline long jm_at_openat2(int dir, const char *path, long flags)
{
    struct open_how how = {
        .flags = (uint64_t)(flags | O_NOFOLLOW | O_CLOEXEC),
        .mode = 0,
        .resolve = JM_RESOLVE_BELOW,
    };
    return jm_sys(__NR_openat2, dir, path, &how, sizeof how);
}

/* 1 where this kernel or a filter over us has no openat2. Not remembered: there is no place for it. */
static inline bool jm_at_lacks_openat2(int dir, long result)
{
    if (result != -EPERM)
        return result == -ENOSYS;
    long probe = jm_at_openat2(dir, ".", O_PATH);
    if (probe >= 0)
        jm_close(probe);
    return probe == -EPERM;
}

/* What name is (itself, not where it leads); "" is dir itself. */
static inline long jm_at_stat(int dir, const char *name, struct statx *st)
{
    return jm_sys(__NR_statx, dir, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, st);
}

/* openat2 without openat2: a single name, for which O_NOFOLLOW is as good. Whether it is a mount is asked afterwards;
 * before Linux 5.8 that is not told for a mount of the same file system, and the caller's look at the device must
 * do. */
static inline long jm_at_open_old(int dir, const char *name, long flags)
{
    struct statx st;
    long fd = jm_sys(__NR_openat, dir, name, flags | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0 || jm_at_stat((int)fd, "", &st) < 0 || !(st.stx_attributes & STATX_ATTR_MOUNT_ROOT))
        return fd;
    jm_close(fd);
    return -EXDEV;
}

/* A descriptor of the single name in dir: no link, no other mount. */
static inline long jm_at_open(int dir, const char *name, long flags)
{
    long fd = jm_at_openat2(dir, name, flags);
    return fd < 0 && jm_at_lacks_openat2(dir, fd) ? jm_at_open_old(dir, name, flags) : fd;
}

static inline bool jm_stat_is(const struct statx *st, unsigned type)
{
    return (st->stx_mode & S_IFMT) == type;
}

static inline bool jm_stat_same_device(const struct statx *a, const struct statx *b)
{
    return a->stx_dev_major == b->stx_dev_major && a->stx_dev_minor == b->stx_dev_minor;
}

/* Decimal digits of n and a NUL behind before; text has room for 20 more. */
static inline void jm_number_behind(char *text, unsigned long n)
{
    char digits[20];
    int count = 0;
    do {
        digits[count++] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    while (count)
        *text++ = digits[--count];
    *text = 0;
}

static inline void jm_proc_fd(char text[40], int fd)
{
    static const char prefix[] = "/proc/self/fd/";
    unsigned i = 0;
    for (; i < sizeof prefix - 1; i++)
        text[i] = prefix[i];
    jm_number_behind(text + i, (unsigned long)fd);
}

/* Adds permission bits to a directory, or to a file that has no other name (a second name may be a stranger's
 * file); fd may be O_PATH. *was: before. */
static inline long jm_fd_grant(int fd, unsigned bits, struct statx *was)
{
    long r = jm_at_stat(fd, "", was);
    if (r < 0)
        return r;
    if (!jm_stat_is(was, S_IFDIR) && !(jm_stat_is(was, S_IFREG) && was->stx_nlink == 1))
        return -EPERM;
    unsigned mode = (was->stx_mode & 0777u) | bits;
    r = jm_sys(__NR_fchmodat2, fd, "", mode, AT_EMPTY_PATH);
    if (r == -ENOSYS || r == -EPERM) {
        char path[40];
        jm_proc_fd(path, fd);
        r = jm_sys(__NR_fchmodat, AT_FDCWD, path, mode);
    }
    return r;
}

static inline long jm_at_grant(int dir, const char *name, unsigned bits, struct statx *was)
{
    long fd = jm_at_open(dir, name, O_PATH);
    if (fd < 0)
        return fd;
    long r = jm_fd_grant((int)fd, bits, was);
    jm_close(fd);
    return r;
}

/* The directory name in dir, for reading; its owner's permissions are restored where they are missing. */
static inline long jm_at_open_dir(int dir, const char *name)
{
    long fd = jm_at_open(dir, name, O_RDONLY | O_DIRECTORY);
    struct statx was;
    if (fd == -EACCES && jm_at_grant(dir, name, 0700, &was) == 0)
        fd = jm_at_open(dir, name, O_RDONLY | O_DIRECTORY);
    return fd;
}

/* One entry as getdents64 gives it. */
struct jm_dirent {
    uint64_t ino;
    int64_t offset;
    uint16_t len;
    uint8_t type;
    char name[];
};

static inline bool jm_is_dots(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

#endif
