/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "common/append.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Nothing that is opened here may hold a call up: a pipe takes what it has room for. */
static int open_file(const char *path, struct stat *st)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (fd < 0)
        return -1;
    if (!fstat(fd, st))
        return fd;
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

/* Was somebody stopped in the middle of a line? */
static bool ends_torn(const char *path, const struct stat *st)
{
    struct stat other;
    char last = '\n';
    if (!S_ISREG(st->st_mode) || !st->st_size)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool same = !fstat(fd, &other) && other.st_ino == st->st_ino && other.st_dev == st->st_dev;
    bool torn = same && pread(fd, &last, 1, st->st_size - 1) == 1 && last != '\n';
    close(fd);
    return torn;
}

static void use_file(struct append *a, int fd, const struct stat *st)
{
    if (a->fd >= 0)
        close(a->fd);
    a->fd = fd;
    a->dev = st->st_dev;
    a->ino = st->st_ino;
    a->regular = S_ISREG(st->st_mode);
    a->torn = ends_torn(a->path, st);
}

/* Where no new one can be had the old one goes on. */
static void follow_rotation(struct append *a)
{
    struct stat st;
    if (!a->regular || (!stat(a->path, &st) && st.st_ino == a->ino && st.st_dev == a->dev))
        return;
    int fd = open_file(a->path, &st);
    if (fd >= 0)
        use_file(a, fd, &st);
}

static void look_around(struct append *a)
{
    struct rlimit largest;
    follow_rotation(a);
    a->quiet = !a->regular || getrlimit(RLIMIT_FSIZE, &largest) || largest.rlim_cur != RLIM_INFINITY;
}

int append_open(struct append *a, const char *path)
{
    struct stat st;
    *a = (struct append){.fd = -1, .path = strdup(path)};
    int fd = a->path ? open_file(path, &st) : -1;
    if (fd < 0) {
        int saved = a->path ? errno : ENOMEM;
        free(a->path);
        a->path = NULL;
        return saved;
    }
    pthread_mutex_init(&a->lock, NULL);
    use_file(a, fd, &st);
    look_around(a);
    return 0;
}

static ssize_t plain_write(int fd, const struct iovec *parts, int count)
{
    ssize_t n;
    do
        n = count == 1 ? write(fd, parts->iov_base, parts->iov_len) : writev(fd, parts, count);
    while (n < 0 && errno == EINTR);
    return n;
}

/* A pipe without a reader and a limit of file sizes are no reason to kill this process. */
static ssize_t quiet_write(int fd, const struct iovec *parts, int count)
{
    static const struct timespec now = {0, 0};
    sigset_t set, old;
    ssize_t n;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigaddset(&set, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    n = plain_write(fd, parts, count);
    int saved = errno;
    if (n < 0 && (saved == EPIPE || saved == EFBIG)) {
        sigemptyset(&set);
        sigaddset(&set, saved == EPIPE ? SIGPIPE : SIGXFSZ);
        while (sigtimedwait(&set, NULL, &now) < 0 && errno == EINTR)
            ;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = saved;
    return n;
}

/* Takes the piece away that had room, unless somebody has written behind it. */
static void take_back(struct append *a, ssize_t n)
{
    struct stat st;
    off_t end = a->regular ? lseek(a->fd, 0, SEEK_CUR) : -1;
    a->torn = end < n || fstat(a->fd, &st) || st.st_size != end || ftruncate(a->fd, end - n);
}

void append_line(struct append *a, const char *line, size_t len, bool look,
                 size_t (*notice)(uint64_t untold, const char *line, char text[512]))
{
    char text[513];
    struct iovec parts[2] = {{text, 0}, {(void *)line, len}};
    pthread_mutex_lock(&a->lock);
    if (look)
        look_around(a);
    if (a->torn)
        text[parts[0].iov_len++] = '\n';
    if (a->untold && notice)
        parts[0].iov_len += notice(a->untold, line, text + parts[0].iov_len);
    int first = parts[0].iov_len ? 0 : 1;
    ssize_t n = a->quiet ? quiet_write(a->fd, parts + first, 2 - first) : plain_write(a->fd, parts + first, 2 - first);
    if (n == (ssize_t)(parts[0].iov_len + len)) {
        a->torn = false;
        a->untold = 0;
    } else {
        if (n > 0)
            take_back(a, n);
        a->untold++;
        a->lost++;
    }
    pthread_mutex_unlock(&a->lock);
}

uint64_t append_lost(struct append *a)
{
    pthread_mutex_lock(&a->lock);
    uint64_t lost = a->lost;
    pthread_mutex_unlock(&a->lock);
    return lost;
}

void append_close(struct append *a)
{
    if (!a->path)
        return;
    close(a->fd);
    free(a->path);
    pthread_mutex_destroy(&a->lock);
    a->path = NULL;
}
