/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "files/written.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "files/at.h"
#include <limits.h>
#include <string.h>
#include <sys/resource.h>

struct writer {
    struct jm_workdir *dir;
    struct timespec past;
    int fd;             /* the directory below work that was written to last; -1: work itself */
    const char *prefix; /* its path: the first prefix_len bytes of an input's */
    size_t prefix_len;
};

/* A path as it may stand in a sentence; new. */
static char *show(const char *path)
{
    size_t len;
    return jm_utf8_repair(path, strlen(path), &len);
}

static int fail_write(jianmu_error **err, int errnum, const char *what, const char *path)
{
    jm_auto_free char *shown = show(path);
    if (!shown)
        return jm_fail_memory(err);
    return jm_fail_errno(err, JIANMU_INTERNAL, errnum, "cannot %s \"%s\"", what, shown);
}

/* "/" before all other bytes, so that what lies in a directory comes directly behind its name. */
static int by_place(const void *one, const void *other)
{
    const unsigned char *a = (const void *)((const struct jm_input *)one)->path;
    const unsigned char *b = (const void *)((const struct jm_input *)other)->path;
    while (*a && *a == *b) {
        a++;
        b++;
    }
    int left = *a == '/' ? 1 : *a ? *a + 1 : 0;
    int right = *b == '/' ? 1 : *b ? *b + 1 : 0;
    return left - right;
}

static int fail_clash(jianmu_error **err, const char *one, const char *other, const char *script)
{
    jm_auto_free char *a = show(one), *b = show(other);
    if (!a || !b)
        return jm_fail_memory(err);
    if (strcmp(one, other) != 0)
        return jm_fail(err, JIANMU_INVALID,
                       "\"%s\" and \"%s\" cannot both be inputs: \"%s\" would be a file and a directory", a, b, a);
    if (strcmp(one, script) == 0)
        return jm_fail(err, JIANMU_INVALID, "the input \"%s\" has the name of the script, \"%s\"", a, script);
    return jm_fail(err, JIANMU_INVALID, "the input \"%s\" is given twice (\"%s\", \"%s\")", a, a, b);
}

static int check_places(const struct jm_input *all, size_t count, const char *script, jianmu_error **err)
{
    for (size_t i = 1; i < count; i++) {
        const char *before = all[i - 1].path, *path = all[i].path;
        size_t len = strlen(before);
        if (strncmp(before, path, len) == 0 && (path[len] == 0 || path[len] == '/'))
            return fail_clash(err, before, path, script);
    }
    return 0;
}

/* Beyond this limit a write would not fail but end the process by a signal. */
static int check_sizes(const struct jm_input *all, size_t count, jianmu_error **err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i].len > limit.rlim_cur)
            return fail_write(err, EFBIG, "write", all[i].path);
    }
    return 0;
}

/* The directory name in dir, made where it is missing, 0700 whatever the umask; -errno. */
static int make_dir(int dir, const char *name)
{
    if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
        return -errno;
    int fd = (int)jm_at_open_dir(dir, name);
    struct stat st;
    if (fd >= 0 && (fstat(fd, &st) < 0 || ((st.st_mode & 07777) != 0700 && fchmod(fd, 0700) < 0))) {
        int saved = errno;
        close(fd);
        return -saved;
    }
    return fd;
}

/* Makes the directories of path; w->fd is the last. */
static int enter(struct writer *w, const char *path, size_t len)
{
    if (w->prefix_len == len && memcmp(w->prefix ? w->prefix : "", path, len) == 0)
        return 0;
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    w->prefix_len = 0;
    for (size_t at = 0; at < len;) {
        const char *slash = memchr(path + at, '/', len - at);
        size_t end = slash ? (size_t)(slash - path) : len;
        char name[NAME_MAX + 1];
        if (end - at > NAME_MAX)
            return -ENAMETOOLONG;
        memcpy(name, path + at, end - at);
        name[end - at] = 0;
        int next = make_dir(w->fd >= 0 ? w->fd : w->dir->work_fd, name);
        if (w->fd >= 0)
            close(w->fd);
        w->fd = next;
        if (next < 0)
            return next;
        at = end + 1;
    }
    w->prefix = path;
    w->prefix_len = len;
    return 0;
}

static int put(int fd, const char *data, size_t len)
{
    while (len) {
        ssize_t n = write(fd, data, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

/* Its time of change is put a second back: whatever a job does to it shows, also within one tick of the clock. */
static int fill(int fd, const struct writer *w, const struct jm_input *in, struct jm_written *out)
{
    struct timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, w->past};
    struct stat st;
    if (put(fd, in->data, in->len) < 0)
        return -1;
    futimens(fd, times);
    if (fstat(fd, &st) < 0)
        return -1;
    if ((st.st_mode & 07777) != 0600 && (fchmod(fd, 0600) < 0 || fstat(fd, &st) < 0))
        return -1;
    out->dev = st.st_dev;
    out->ino = st.st_ino;
    out->size = st.st_size;
    out->mode = st.st_mode;
    out->mtime = st.st_mtim;
    out->ctime = st.st_ctim;
    return 0;
}

static int write_one(struct writer *w, const struct jm_input *in, struct jm_written *out, jianmu_error **err)
{
    const char *slash = strrchr(in->path, '/');
    int r = enter(w, in->path, slash ? (size_t)(slash - in->path) : 0);
    if (r < 0)
        return fail_write(err, -r, "make the directory of", in->path);
    jm_auto_fd int fd = openat(w->fd >= 0 ? w->fd : w->dir->work_fd, slash ? slash + 1 : in->path,
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_write(err, errno, "make", in->path);
    if (fill(fd, w, in, out) < 0)
        return fail_write(err, errno, "write", in->path);
    if (close(jm_steal_fd(fd)) < 0 && errno != EINTR)
        return fail_write(err, errno, "write", in->path);
    return 0;
}

/* dir->written with the paths behind it, in one block. */
static int remember_paths(struct jm_workdir *dir, const struct jm_input *all, size_t count)
{
    size_t bytes = count * sizeof *dir->written;
    for (size_t i = 0; i < count; i++)
        bytes += strlen(all[i].path) + 1;
    dir->written = calloc(1, bytes);
    if (!dir->written)
        return -1;
    dir->written_count = count;
    char *text = (char *)(dir->written + count);
    for (size_t i = 0; i < count; i++) {
        dir->written[i].path = text;
        text = stpcpy(text, all[i].path) + 1;
    }
    return 0;
}

struct jm_input *jm_written_order(const struct jm_input *script, const struct jm_input *inputs, size_t count,
                                  jianmu_error **err)
{
    jm_auto_free struct jm_input *all = calloc(count + 1, sizeof *all);
    if (!all) {
        jm_fail_memory(err);
        return NULL;
    }
    all[0] = *script;
    if (count) {
        memcpy(all + 1, inputs, count * sizeof *all);
        qsort(all, count + 1, sizeof *all, by_place);
    }
    if (check_places(all, count + 1, script->path, err) < 0 || check_sizes(all, count + 1, err) < 0)
        return NULL;
    return jm_steal(all);
}

int jm_written_make(struct jm_workdir *dir, const struct jm_input *all, size_t count, const char *script,
                    jianmu_error **err)
{
    if (remember_paths(dir, all, count) < 0)
        return jm_fail_memory(err);
    struct writer w = {.dir = dir, .fd = -1};
    clock_gettime(CLOCK_REALTIME, &w.past);
    w.past.tv_sec--;
    int r = 0;
    for (size_t i = 0; r == 0 && i < count; i++) {
        r = write_one(&w, &all[i], &dir->written[i], err);
        dir->written[i].script = strcmp(dir->written[i].path, script) == 0;
    }
    if (w.fd >= 0)
        close(w.fd);
    return r;
}

bool jm_written_same(const struct jm_written *w, const struct stat *st)
{
    return st->st_dev == w->dev && st->st_ino == w->ino && st->st_size == w->size && st->st_mode == w->mode &&
           st->st_mtim.tv_sec == w->mtime.tv_sec && st->st_mtim.tv_nsec == w->mtime.tv_nsec &&
           st->st_ctim.tv_sec == w->ctime.tv_sec && st->st_ctim.tv_nsec == w->ctime.tv_nsec;
}
