/* SPDX-License-Identifier: Apache-2.0
 * --out: a job chose these names, so each part is opened by itself and no link is ever followed. */
#include "config.h"
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int artifacts_open(const char *dir)
{
    if (mkdir(dir, 0777) && errno != EEXIST) {
        say("--out %s: %s", dir, strerror(errno));
        return -1;
    }
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || faccessat(fd, ".", W_OK | X_OK, AT_EACCESS)) {
        say("--out %s: %s", dir, strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

/* Opens, making where missing, the directory of the next part; closes dir unless it is the top. */
static int enter(int dir, int top, const char *part)
{
    int next = -1;
    if (!mkdirat(dir, part, 0777) || errno == EEXIST)
        next = openat(dir, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int saved = errno;
    if (dir != top)
        close(dir);
    errno = saved;
    return next;
}

static int write_file(int dir, const char *name, const jianmu_artifact *a, bool force)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    mode_t mode = (a->mode & 0777) | 0600;
    int fd = openat(dir, name, flags, mode);
    if (fd < 0 && errno == EEXIST && force && !unlinkat(dir, name, 0))
        fd = openat(dir, name, flags, mode);
    if (fd < 0)
        return -1;
    int bad = write_all(fd, a->data, a->size);
    int error = bad ? errno : 0;
    if (close(fd) && !error)
        error = errno;
    if (error)
        unlinkat(dir, name, 0); /* half a file is worse than none */
    errno = error;
    return error ? -1 : 0;
}

static int write_artifact(int top, const jianmu_artifact *a, bool force)
{
    int dir = top;
    const char *rest = a->path;
    for (const char *slash; (slash = strchr(rest, '/')); rest = slash + 1) {
        char part[NAME_MAX + 1];
        size_t len = (size_t)(slash - rest);
        if (!len || len > NAME_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        memcpy(part, rest, len);
        part[len] = 0;
        if (!strcmp(part, "..") || (dir = enter(dir, top, part)) < 0) {
            errno = strcmp(part, "..") ? errno : EINVAL;
            return -1;
        }
    }
    int bad = !*rest || !strcmp(rest, "..") ? (errno = EINVAL, -1) : write_file(dir, rest, a, force);
    int saved = errno;
    if (dir != top)
        close(dir);
    errno = saved;
    return bad;
}

int artifacts_write(const jianmu_result *result, int dir, const char *name, bool force)
{
    int failed = 0;
    jianmu_artifact a;
    for (size_t i = 0; !jianmu_result_artifact(result, i, &a); i++) {
        if (!write_artifact(dir, &a, force))
            continue;
        failed++;
        say("%s/%s: %s%s", name, a.path, strerror(errno),
            errno == EEXIST && !force ? "; --force replaces it" : "");
    }
    return failed;
}
