/* SPDX-License-Identifier: Apache-2.0
 * Depth costs neither descriptors nor stack because it is taken away first: what a subdirectory of the top
 * holds is unlinked, and directories in it that are not empty are renamed up into the top under numbers, where
 * they wait for their turn. The numbers are the queue, so there is no memory to allocate either. */
#include "config.h"
#include "files/remove.h"
#include "files/at.h"
#include <linux/fs.h>

/* A living process may put entries in as fast as they are taken out. */
#define PASSES 16
#define DT_DIRECTORY 4

struct tree {
    int top;
    struct statx st;
    unsigned long queued, done;
};

static long unlink_at(int dir, const char *name, long flag)
{
    return jm_sys(__NR_unlinkat, dir, name, flag);
}

static long own(int dir)
{
    return jm_sys(__NR_fchmod, dir, 0700);
}

/* Takes chattr's +i and +a away. 1 where there was one. */
static bool thaw(int fd)
{
    long flags = 0;
    if (jm_sys(__NR_ioctl, fd, FS_IOC_GETFLAGS, &flags) < 0 || !(flags & (FS_IMMUTABLE_FL | FS_APPEND_FL)))
        return false;
    flags &= ~(long)(FS_IMMUTABLE_FL | FS_APPEND_FL);
    return jm_sys(__NR_ioctl, fd, FS_IOC_SETFLAGS, &flags) == 0;
}

static bool thaw_both(int dir, const char *name)
{
    bool thawed = thaw(dir);
    struct statx st;
    if (jm_at_stat(dir, name, &st) < 0 || !(st.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) ||
        !(jm_stat_is(&st, S_IFDIR) || (jm_stat_is(&st, S_IFREG) && st.stx_nlink == 1)))
        return thawed;
    long fd = jm_at_open(dir, name, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return thawed;
    thawed |= thaw((int)fd);
    jm_close(fd);
    return thawed;
}

static long drop(int dir, const char *name, long flag)
{
    long r = unlink_at(dir, name, flag);
    if (r == -EACCES && own(dir) == 0)
        r = unlink_at(dir, name, flag);
    if (r == -EPERM && thaw_both(dir, name))
        r = unlink_at(dir, name, flag);
    return r == -ENOENT ? 0 : r;
}

/* Removes a file, or a directory that is empty. */
static long drop_entry(int dir, const struct jm_dirent *e)
{
    long r = -EISDIR;
    if (e->type != DT_DIRECTORY)
        r = drop(dir, e->name, 0);
    return r == -EISDIR ? drop(dir, e->name, AT_REMOVEDIR) : r;
}

static bool is_full(long r)
{
    return r == -ENOTEMPTY || r == -EEXIST;
}

static void queue_name(char name[32], unsigned long number)
{
    name[0] = '.';
    name[1] = 'j';
    name[2] = 'm';
    name[3] = '-';
    jm_number_behind(name + 4, number);
}

static long rename_up(const struct tree *t, int from, const char *name)
{
    char to[32];
    queue_name(to, t->queued);
    return jm_sys(__NR_renameat2, from, name, t->top, to, 0);
}

/* The new call needs no descriptor, where there may be no other. */
static long own_dir_at(int dir, const char *name)
{
    struct statx was;
    long r = jm_sys(__NR_fchmodat2, dir, name, 0700, AT_SYMLINK_NOFOLLOW);
    return r == 0 ? 0 : jm_at_grant(dir, name, 0700, &was);
}

/* A directory can only get another parent where its owner may write to it: its ".." changes. */
static long hoist(struct tree *t, int from, const char *name)
{
    bool mended = false;
    for (;;) {
        long r = rename_up(t, from, name);
        if (!mended && (r == -EACCES || r == -EPERM)) {
            mended = true;
            if (r == -EPERM && !thaw_both(from, name) && !thaw(t->top))
                return r;
            if (r == -EACCES && (own(from) < 0 || own(t->top) < 0 || own_dir_at(from, name) < 0))
                return r;
            continue;
        }
        /* The job used that name itself: it is in the top and will be met there. */
        if (is_full(r) || r == -ENOTDIR) {
            t->queued++;
            continue;
        }
        if (r == 0)
            t->queued++;
        return r == -ENOENT ? 0 : r;
    }
}

/* Empties the directory fd once. The first error, or 0; *progress where anything went. */
static long empty_once(struct tree *t, int fd, bool *progress)
{
    union {
        struct jm_dirent first; /* for its alignment */
        char bytes[4096];
    } buffer;
    long n, error = 0;
    jm_sys(__NR_lseek, fd, 0, 0);
    while ((n = jm_sys(__NR_getdents64, fd, buffer.bytes, sizeof buffer.bytes)) > 0) {
        for (long at = 0; at < n;) {
            const struct jm_dirent *e = (const void *)(buffer.bytes + at);
            at += e->len;
            if (jm_is_dots(e->name))
                continue;
            long r = drop_entry(fd, e);
            if (is_full(r))
                r = hoist(t, fd, e->name);
            if (r == 0)
                *progress = true;
            else if (!error)
                error = r;
        }
    }
    return n < 0 ? n : error;
}

/* Removes the directory name of the top with all its files; its directories go up into the top. */
static long flatten(struct tree *t, const char *name)
{
    struct statx st;
    long fd = jm_at_open_dir(t->top, name);
    if (fd < 0)
        return fd == -ENOENT || fd == -ENOTDIR ? 0 : fd;
    long r = jm_at_stat((int)fd, "", &st);
    if (r == 0 && !jm_stat_same_device(&st, &t->st))
        r = -EXDEV;
    if (r == 0) {
        for (int pass = 0; pass < PASSES; pass++) {
            bool progress = false;
            long error = empty_once(t, (int)fd, &progress);
            r = drop(t->top, name, AT_REMOVEDIR);
            if (is_full(r) && error)
                r = error;
            if (r == 0 || !progress)
                break;
        }
    }
    jm_close(fd);
    return r;
}

static long remove_entry(struct tree *t, const struct jm_dirent *e)
{
    long r = drop_entry(t->top, e);
    if (is_full(r))
        r = flatten(t, e->name);
    while (t->done < t->queued) {
        char name[32];
        queue_name(name, t->done++);
        long stays = flatten(t, name);
        if (stays < 0 && r == 0)
            r = stays;
    }
    return r;
}

/* One look at everything in the top: the first error of what stays, or 0. */
static long remove_pass(struct tree *t, bool *seen, bool *progress)
{
    union {
        struct jm_dirent first;
        char bytes[4096];
    } buffer;
    long n, error = 0;
    *seen = *progress = false;
    jm_sys(__NR_lseek, t->top, 0, 0);
    while ((n = jm_sys(__NR_getdents64, t->top, buffer.bytes, sizeof buffer.bytes)) > 0) {
        for (long at = 0; at < n;) {
            const struct jm_dirent *e = (const void *)(buffer.bytes + at);
            at += e->len;
            if (jm_is_dots(e->name))
                continue;
            long r = remove_entry(t, e);
            *seen = true;
            if (r == 0)
                *progress = true;
            else if (error == 0)
                error = r;
        }
    }
    return n < 0 && n != -ENOENT ? n : error;
}

int jm_remove_below(int dir_fd)
{
    struct tree t;
    t.top = dir_fd;
    t.queued = t.done = 0;
    long error = jm_at_stat(dir_fd, "", &t.st);
    if (error < 0)
        return (int)error;
    for (int pass = 0; pass < PASSES; pass++) {
        bool seen, progress;
        error = remove_pass(&t, &seen, &progress);
        if (!seen || !progress)
            break;
        if (error == 0)
            error = -ENOTEMPTY; /* until the next pass has seen nothing */
    }
    return (int)error;
}

static bool is_this(int at, const char *path, const struct statx *st)
{
    struct statx found;
    return jm_at_stat(at, path, &found) == 0 && found.stx_ino == st->stx_ino && jm_stat_same_device(&found, st);
}

/* By the path that the kernel knows, which takes no descriptor; -ENOENT where that leads nowhere. */
static long remove_by_path(int dir_fd, const struct statx *st)
{
    char link[40], path[4096];
    jm_proc_fd(link, dir_fd);
    long n = jm_sys(__NR_readlinkat, AT_FDCWD, link, path, sizeof path);
    if (n <= 0 || n >= (long)sizeof path)
        return -ENOENT;
    path[n] = 0;
    return is_this(AT_FDCWD, path, st) ? unlink_at(AT_FDCWD, path, AT_REMOVEDIR) : -ENOENT;
}

/* By its number in the directory above, where there is no /proc or the path is too long or closed to us. */
static long remove_by_inode(int dir_fd, const struct statx *st)
{
    union {
        struct jm_dirent first;
        char bytes[4096];
    } buffer;
    long fd = jm_sys(__NR_openat, dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    long n, r = -ENOENT;
    while (r == -ENOENT && (n = jm_sys(__NR_getdents64, fd, buffer.bytes, sizeof buffer.bytes)) > 0) {
        for (long at = 0; r == -ENOENT && at < n;) {
            const struct jm_dirent *e = (const void *)(buffer.bytes + at);
            at += e->len;
            if (e->ino == st->stx_ino && !jm_is_dots(e->name) && is_this((int)fd, e->name, st))
                r = unlink_at((int)fd, e->name, AT_REMOVEDIR);
        }
    }
    jm_close(fd);
    return r;
}

static long remove_named(int dir_fd, const struct statx *st)
{
    long r = remove_by_path(dir_fd, st);
    if (r == -ENOENT || r == -EACCES) {
        long other = remove_by_inode(dir_fd, st);
        r = other == -ENOENT ? r : other;
    }
    return r;
}

int jm_remove_self(int dir_fd)
{
    struct statx st;
    long r = jm_at_stat(dir_fd, "", &st);
    if (r < 0 || st.stx_nlink == 0)
        return (int)r;
    r = remove_named(dir_fd, &st);
    if (r == -EACCES && own(dir_fd) == 0) /* ".." is looked up in it */
        r = remove_named(dir_fd, &st);
    if (r == -EPERM && thaw(dir_fd))
        r = remove_named(dir_fd, &st);
    if (r == -ENOENT && jm_at_stat(dir_fd, "", &st) == 0 && st.stx_nlink == 0)
        r = 0; /* somebody else was quicker */
    return (int)r;
}
