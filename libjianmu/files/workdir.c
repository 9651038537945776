/* SPDX-License-Identifier: Apache-2.0
 * The lock on BASE says that its owner lives; it goes with the last descriptor, so no death can leave it behind.
 * A sweep may meet a directory between its mkdir and its lock: then one of the two is first, and the other sees
 * a lock it cannot have, or a directory that is gone, and leaves it alone.
 *
 * What a job of our own user moved out of its place stays ours as far as a descriptor reaches: BASE and work are
 * found under any name and in any place of their file system. What it moved out of BASE/home, BASE/tmp or work
 * itself, or wrote elsewhere to begin with, is beyond anybody's knowledge. */
#include "config.h"
#include "files/workdir.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "files/at.h"
#include "files/parent.h"
#include "files/remove.h"
#include "files/written.h"
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>

#define TRIES 100

static int random_name(char name[sizeof JM_WORKDIR_PREFIX + 16])
{
    static const char letters[33] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned char bytes[16];
    ssize_t n;
    do
        n = getrandom(bytes, sizeof bytes, 0);
    while (n < 0 && errno == EINTR);
    if (n < (ssize_t)sizeof bytes)
        return n < 0 ? -errno : -EIO;
    char *at = stpcpy(name, JM_WORKDIR_PREFIX);
    for (size_t i = 0; i < sizeof bytes; i++)
        *at++ = letters[bytes[i] & 31];
    *at = 0;
    return 0;
}

/* Opens and locks the new directory; -EAGAIN where a sweep was quicker. *odd: umask or the parent's default
 * permissions left another mode than was asked for. */
static int claim(int parent, const char *name, bool *odd)
{
    struct stat st;
    int fd = (int)jm_at_open(parent, name, O_RDONLY | O_DIRECTORY);
    *odd = fd == -EACCES;
    if (*odd)
        fd = (int)jm_at_open_dir(parent, name);
    if (fd < 0)
        return fd == -ENOENT ? -EAGAIN : fd;
    int r = 0;
    while (r == 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
        r = errno == EWOULDBLOCK ? -EAGAIN : errno == EINTR ? 0 : -errno;
    if (r == 0 && fstat(fd, &st) < 0)
        r = -errno;
    if (r == 0 && st.st_nlink == 0)
        r = -EAGAIN;
    if (r == 0) {
        *odd = *odd || (st.st_mode & 07777) != 0700;
        return fd;
    }
    close(fd);
    return r;
}

/* A new locked BASE in parent. */
static int make_base(int parent, char name[sizeof JM_WORKDIR_PREFIX + 16], bool *odd)
{
    for (int i = 0; i < TRIES; i++) {
        int r = random_name(name);
        if (r < 0)
            return r;
        if (mkdirat(parent, name, 0700) < 0) {
            if (errno == EEXIST)
                continue;
            return -errno;
        }
        r = claim(parent, name, odd);
        if (r >= 0)
            return r;
        unlinkat(parent, name, AT_REMOVEDIR);
        if (r != -EAGAIN)
            return r;
    }
    return -EEXIST;
}

static int furnish(struct jm_workdir *dir, bool odd)
{
    static const char *const names[] = {"work", "home", "tmp"};
    if (odd && fchmod(dir->base_fd, 0700) < 0)
        return -errno;
    for (size_t i = 0; i < jm_countof(names); i++) {
        struct statx was;
        if (mkdirat(dir->base_fd, names[i], 0700) < 0)
            return -errno;
        long r = odd ? jm_at_grant(dir->base_fd, names[i], 0700, &was) : 0;
        if (r < 0)
            return (int)r;
    }
    int fd = (int)jm_at_open(dir->base_fd, "work", O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fd;
    dir->work_fd = fd;
    return 0;
}

/* Room for the four paths, in one block; the work directory's name is always of the same length. */
static int alloc_paths(struct jm_workdir *dir, const char *parent, const char *script)
{
    size_t room = strlen(parent) + sizeof "/" JM_WORKDIR_PREFIX + 16 + sizeof "/work";
    if (room + strlen(script) >= PATH_MAX)
        return -ENAMETOOLONG;
    free(dir->base);
    dir->base = malloc(4 * room);
    if (!dir->base)
        return -ENOMEM;
    dir->work = dir->base + room;
    dir->home = dir->work + room;
    dir->tmp = dir->home + room;
    return 0;
}

static void set_paths(struct jm_workdir *dir, const char *parent, const char *name)
{
    size_t len = strlen(parent);
    while (len && parent[len - 1] == '/')
        len--;
    char *end = mempcpy(dir->base, parent, len);
    *end++ = '/';
    strcpy(end, name);
    strcpy(stpcpy(dir->work, dir->base), "/work");
    strcpy(stpcpy(dir->home, dir->base), "/home");
    strcpy(stpcpy(dir->tmp, dir->base), "/tmp");
}

/* Removes whatever there is of it and closes it; -errno of the first thing that stays. */
static int dismantle(struct jm_workdir *dir)
{
    int r = 0, first = 0;
    if (dir->parent_fd >= 0)
        close(dir->parent_fd); /* first: removing takes a descriptor, which may be the last there is */
    dir->parent_fd = -1;
    if (dir->work_fd >= 0)
        first = jm_remove_below(dir->work_fd);
    if (dir->base_fd >= 0) {
        r = jm_remove_below(dir->base_fd);
        first = first ? first : r;
        if (dir->work_fd >= 0) {
            r = jm_remove_self(dir->work_fd); /* does nothing where it lay in BASE */
            first = first ? first : r;
        }
        r = jm_remove_self(dir->base_fd);
        first = first ? first : r;
    }
    if (dir->work_fd >= 0)
        close(dir->work_fd);
    if (dir->base_fd >= 0)
        close(dir->base_fd);
    dir->work_fd = dir->base_fd = -1;
    return first;
}

/* One place. 0, or -1 with what is wrong with it. */
static int try_parent(struct jm_workdir *dir, const struct jm_parent *parent, uint64_t bytes, const char *script,
                      const char **why, int *errnum)
{
    char name[sizeof JM_WORKDIR_PREFIX + 16];
    bool odd = false;
    dir->parent_fd = jm_parent_open(parent, bytes, why, errnum);
    if (dir->parent_fd < 0)
        return -1;
    int r = alloc_paths(dir, parent->path, script);
    if (r == 0)
        r = make_base(dir->parent_fd, name, &odd);
    if (r >= 0) {
        set_paths(dir, parent->path, name);
        dir->base_fd = r;
        r = furnish(dir, odd);
    }
    if (r == 0)
        return 0;
    dismantle(dir);
    *errnum = -r;
    return -1;
}

/* Not this place's fault, so another would not be better. */
static bool is_ours(int errnum)
{
    return errnum == EMFILE || errnum == ENFILE || errnum == ENOMEM;
}

static jianmu_code code_of(int errnum)
{
    switch (errnum) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG: return JIANMU_INVALID;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
    case EDQUOT: return JIANMU_INTERNAL;
    default: return JIANMU_UNAVAILABLE;
    }
}

/* The best place that takes one; each that did not, and why, stands in the error. */
static int place(struct jm_workdir *dir, const char *chosen, uint64_t bytes, const char *script, jianmu_error **err)
{
    struct jm_buffer said = {0};
    struct jm_parent parent;
    jianmu_code code = JIANMU_UNAVAILABLE;
    for (size_t i = 0; jm_parent_nth(chosen, false, i, &parent); i++) {
        const char *why;
        int errnum;
        if (try_parent(dir, &parent, bytes, script, &why, &errnum) == 0) {
            jm_buffer_free(&said);
            return 0;
        }
        if (errnum)
            why = strerrordesc_np(errnum);
        jm_buffer_addf(&said, "%s%s: %s", said.len ? "; " : "", parent.path, why ? why : "unknown error");
        if (chosen || is_ours(errnum))
            code = errnum ? code_of(errnum) : JIANMU_INVALID;
        if (is_ours(errnum))
            break;
    }
    jm_auto_free char *text = jm_buffer_take(&said);
    if (!text)
        return jm_fail_memory(err);
    size_t len;
    jm_auto_free char *shown = jm_utf8_repair(text, strlen(text), &len);
    if (!shown)
        return jm_fail_memory(err);
    return jm_fail(err, code, "no work directory can be made in %s", shown);
}

static int build(struct jm_workdir *dir, const char *parent, const struct jm_input *script,
                 const struct jm_input *inputs, size_t count, jianmu_error **err)
{
    jm_auto_free struct jm_input *all = jm_written_order(script, inputs, count, err);
    if (!all)
        return -1;
    uint64_t bytes = 0;
    for (size_t i = 0; i <= count; i++)
        bytes += all[i].len;
    if (place(dir, parent, bytes, script->path, err) < 0)
        return -1;
    if (jm_written_make(dir, all, count + 1, script->path, err) == 0)
        return 0;
    jm_wrap(err, "in %s", dir->base);
    return -1;
}

struct jm_workdir *jm_workdir_open(const char *parent, const char *script_name, const void *script, size_t script_len,
                                   const struct jm_input *inputs, size_t count, jianmu_error **err)
{
    struct jm_workdir *dir = calloc(1, sizeof *dir);
    if (!dir) {
        jm_fail_memory(err);
        return NULL;
    }
    dir->parent_fd = dir->base_fd = dir->work_fd = -1;
    dir->owner = getpid();
    struct jm_input first = {script_name, script, script_len};
    int failed = script_name ? build(dir, parent, &first, inputs, count, err) : place(dir, parent, 0, "", err);
    if (!failed)
        return dir;
    jm_workdir_close(dir);
    return NULL;
}

int jm_workdir_close(struct jm_workdir *dir)
{
    if (!dir)
        return 0;
    int r = 0;
    if (dir->owner == getpid()) {
        r = dismantle(dir);
    } else {
        close(dir->work_fd);
        close(dir->base_fd);
        close(dir->parent_fd);
    }
    free(dir->base);
    free(dir->written);
    free(dir->argv);
    free(dir);
    errno = -r;
    return r < 0 ? -1 : 0;
}
