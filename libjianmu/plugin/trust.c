/* SPDX-License-Identifier: Apache-2.0
 * The path is walked by descriptors, one component at a time, so that what was checked is what was entered. */
#include "config.h"
#include "plugin/trust.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/xattr.h>

#define MOST_LINKS 40

struct walk {
    int dir;               /* where we stand */
    struct jm_buffer real; /* and its path; "" is the root */
    char *rest;            /* what is still to be gone */
    int links;
    struct jm_refusal *r;
};

static bool foreign(const struct stat *st)
{
    return st->st_uid != 0 && st->st_uid != geteuid();
}

static const char *writers(mode_t mode)
{
    return (mode & 022) == 022 ? "group and others" : mode & 020 ? "its group" : "others";
}

static int refuse_owner(const char *code, const char *what, const char *path, const struct stat *st,
                        struct jm_refusal *r)
{
    jm_auto_free char *word = jm_shell_word(path);
    if (!word)
        return jm_refuse_errno(r, code, ENOMEM, "%s", path);
    return jm_refuse(r, code, "%s %s belongs to user %u, who is neither root nor the user this runs as (%u); "
                     "mend it with: chown -h %u %s", what, path, (unsigned)st->st_uid, (unsigned)geteuid(),
                     (unsigned)geteuid(), word);
}

/* An access list that lets others write shows in the group bits, where its mask stands: looking for the list
 * itself only makes the advice right. */
static int refuse_mode(const char *code, const char *what, const char *path, const struct stat *st,
                       struct jm_refusal *r)
{
    jm_auto_free char *word = jm_shell_word(path);
    if (!word)
        return jm_refuse_errno(r, code, ENOMEM, "%s", path);
    if ((st->st_mode & 020) && lgetxattr(path, "system.posix_acl_access", NULL, 0) > 0)
        return jm_refuse(r, code, "%s %s has an access list that lets others write to it; mend it with: "
                         "setfacl -b %s && chmod go-w %s", what, path, word, word);
    return jm_refuse(r, code, "%s %s can be written by %s (mode %04o); mend it with: chmod go-w %s", what, path,
                     writers(st->st_mode), (unsigned)(st->st_mode & 07777), word);
}

static const char *real_or_root(struct walk *w)
{
    return w->real.len ? w->real.data : "/";
}

/* In a sticky directory nobody can take away what is not his, and what is in it is checked itself. */
static int check_dir(struct walk *w, int fd)
{
    struct stat st;
    if (fstat(fd, &st))
        return jm_refuse_errno(w->r, "unreadable", errno, "directory %s", real_or_root(w));
    if (foreign(&st))
        return refuse_owner("ancestor_owner", "directory", real_or_root(w), &st, w->r);
    if ((st.st_mode & 022) && !(st.st_mode & S_ISVTX))
        return refuse_mode("ancestor_mode", "directory", real_or_root(w), &st, w->r);
    return 0;
}

static int to_root(struct walk *w)
{
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return jm_refuse_errno(w->r, "unreadable", errno, "directory /");
    if (w->dir >= 0)
        close(w->dir);
    w->dir = fd;
    w->real.len = 0;
    return check_dir(w, fd);
}

/* The link's owner decides where it leads, so he is asked for too: in a sticky directory he may be anybody. */
static int follow(struct walk *w, int link, const char *path, const struct stat *st, const char *rest)
{
    char target[PATH_MAX];
    if (foreign(st))
        return refuse_owner("link", "symbolic link", path, st, w->r);
    if (++w->links > MOST_LINKS)
        return jm_refuse(w->r, "link", "%s leads through more than %d symbolic links", path, MOST_LINKS);
    ssize_t len = readlinkat(link, "", target, sizeof target);
    if (len < 0)
        return jm_refuse_errno(w->r, "link", errno, "symbolic link %s", path);
    if (len == 0 || len == (ssize_t)sizeof target)
        return jm_refuse(w->r, "link", "symbolic link %s leads nowhere", path);
    struct jm_buffer b = {0};
    jm_buffer_add(&b, target, (size_t)len);
    jm_buffer_adds(&b, "/");
    jm_buffer_adds(&b, rest);
    char *next = jm_buffer_take(&b);
    if (!next)
        return jm_refuse_errno(w->r, "link", ENOMEM, "%s", path);
    free(w->rest);
    w->rest = next;
    return target[0] == '/' ? to_root(w) : 0;
}

static int enter(struct walk *w, int *fd, const char *name)
{
    if (!strcmp(name, "..")) {
        char *slash = w->real.len ? strrchr(w->real.data, '/') : NULL;
        if (slash)
            w->real.len = (size_t)(slash - w->real.data);
    } else {
        jm_buffer_adds(&w->real, "/");
        jm_buffer_adds(&w->real, name);
    }
    if (w->real.failed)
        return jm_refuse_errno(w->r, "unreadable", ENOMEM, "%s", name);
    if (w->real.data)
        w->real.data[w->real.len] = 0;
    if (check_dir(w, *fd))
        return -1;
    close(w->dir);
    w->dir = jm_steal_fd(*fd);
    return 0;
}

/* Takes the next name off w->rest; NULL where nothing but "/" and "." is left. */
static char *next_name(struct walk *w)
{
    char *p = w->rest;
    for (;;) {
        p += strspn(p, "/");
        if (p[0] == '.' && (p[1] == '/' || !p[1]))
            p++;
        else
            break;
    }
    size_t len = strcspn(p, "/");
    char *name = len ? strndup(p, len) : NULL;
    if (len && !name)
        w->r->shortage = ENOMEM;
    memmove(w->rest, p + len, strlen(p + len) + 1);
    return name;
}

/* Goes on until a directory is reached with nothing left (*last NULL), or something that is no directory
 * (*last its name in w->dir, *st what it is). 1: a name that does not exist. */
static int walk(struct walk *w, char **last, struct stat *st)
{
    for (;;) {
        jm_auto_free char *name = next_name(w);
        if (!name)
            return w->r->shortage ? -1 : 0;
        jm_auto_free char *path = NULL;
        struct jm_buffer b = {0};
        jm_buffer_add(&b, w->real.data, w->real.len);
        jm_buffer_adds(&b, "/");
        jm_buffer_adds(&b, name);
        path = jm_buffer_take(&b);
        if (!path)
            return jm_refuse_errno(w->r, "unreadable", ENOMEM, "%s", name);
        jm_auto_fd int fd = openat(w->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || fstat(fd, st)) {
            return errno == ENOENT ? 1 : jm_refuse_errno(w->r, "unreadable", errno, "%s", path);
        }
        if (S_ISLNK(st->st_mode)) {
            jm_auto_free char *rest = jm_steal(w->rest);
            if (follow(w, fd, path, st, rest))
                return -1;
        } else if (S_ISDIR(st->st_mode)) {
            if (enter(w, &fd, name))
                return -1;
        } else {
            if (w->rest[strspn(w->rest, "/")])
                return jm_refuse(w->r, "not_directory", "%s is not a directory", path);
            *last = jm_steal(name);
            return 0;
        }
    }
}

static void walk_end(struct walk *w)
{
    if (w->dir >= 0)
        close(w->dir);
    jm_buffer_free(&w->real);
    free(w->rest);
}

int jm_trust_dir(const char *path, struct jm_place *place, struct jm_refusal *r)
{
    __attribute__((cleanup(walk_end))) struct walk w = {-1, {0}, strdup(path), 0, r};
    jm_auto_free char *last = NULL;
    if (path[0] != '/')
        return jm_refuse(r, "relative", "%s is not an absolute path", path);
    if (!w.rest)
        return jm_refuse_errno(r, "unreadable", ENOMEM, "%s", path);
    if (to_root(&w))
        return -1;
    int rc = walk(&w, &last, &place->st);
    if (rc)
        return rc;
    if (last)
        return jm_refuse(r, "not_directory", "%s is not a directory", path);
    if (fstat(w.dir, &place->st))
        return jm_refuse_errno(r, "unreadable", errno, "%s", path);
    place->real = strdup(real_or_root(&w));
    if (!place->real)
        return jm_refuse_errno(r, "unreadable", ENOMEM, "%s", path);
    place->fd = jm_steal_fd(w.dir);
    return 0;
}

static const char *kind_of_file(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR: return "a directory";
    case S_IFIFO: return "a FIFO";
    case S_IFSOCK: return "a socket";
    case S_IFCHR:
    case S_IFBLK: return "a device";
    }
    return "something else";
}

static int check_file(const char *real, const struct stat *st, struct jm_refusal *r)
{
    if (!S_ISREG(st->st_mode))
        return jm_refuse(r, "not_regular", "%s is %s, not a regular file", real, kind_of_file(st->st_mode));
    if (foreign(st))
        return refuse_owner("owner", "file", real, st, r);
    if (st->st_mode & 022)
        return refuse_mode("mode", "file", real, st, r);
    return 0;
}

static int open_file(struct walk *w, const char *name, const struct stat *checked, struct jm_place *place)
{
    jm_buffer_adds(&w->real, "/");
    jm_buffer_adds(&w->real, name);
    place->real = jm_buffer_take(&w->real);
    if (!place->real)
        return jm_refuse_errno(w->r, "unreadable", ENOMEM, "%s", name);
    if (check_file(place->real, checked, w->r))
        return -1;
    place->fd = openat(w->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (place->fd < 0 || fstat(place->fd, &place->st))
        return jm_refuse_errno(w->r, "unreadable", errno, "file %s", place->real);
    if (place->st.st_dev != checked->st_dev || place->st.st_ino != checked->st_ino)
        return jm_refuse(w->r, "changed", "%s was replaced while it was looked at", place->real);
    return check_file(place->real, &place->st, w->r);
}

int jm_trust_file(const struct jm_place *dir, const char *name, struct jm_place *place, struct jm_refusal *r)
{
    __attribute__((cleanup(walk_end))) struct walk w = {-1, {0}, strdup(name), 0, r};
    jm_auto_free char *last = NULL;
    struct stat st;
    if (strcmp(dir->real, "/"))
        jm_buffer_adds(&w.real, dir->real);
    if (!w.rest || w.real.failed)
        return jm_refuse_errno(r, "unreadable", ENOMEM, "%s", name);
    if (!fstatat(dir->fd, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode)) { /* nearly always: no way to go */
        w.dir = dir->fd;
        int opened = open_file(&w, name, &st, place);
        w.dir = -1;
        return opened;
    }
    w.dir = fcntl(dir->fd, F_DUPFD_CLOEXEC, 0);
    if (w.dir < 0)
        return jm_refuse_errno(r, "unreadable", errno, "%s", dir->real);
    int rc = walk(&w, &last, &st);
    if (rc < 0)
        return -1;
    if (rc > 0 && w.links)
        return jm_refuse(r, "link", "%s/%s is a symbolic link to something that does not exist", dir->real, name);
    if (rc > 0)
        return jm_refuse(r, "unreadable", "%s/%s is no longer there", dir->real, name);
    if (!last)
        return jm_refuse(r, "not_regular", "%s is a directory, not a regular file", real_or_root(&w));
    return open_file(&w, last, &st, place);
}

void jm_place_close(struct jm_place *place)
{
    if (place->fd >= 0)
        close(place->fd);
    free(place->real);
    place->fd = -1;
    place->real = NULL;
}
