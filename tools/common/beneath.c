/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "common/beneath.h"
#include "common/tool.h"
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>

#define WALK_DEPTH 128
#define WALK_LINKS 40
#define WALK_PATH (2 * PATH_MAX)

int tool_open_beneath(int dir, const char *path, int flags, mode_t mode)
{
    struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC), .mode = flags & O_CREAT ? mode : 0,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    for (int tries = 0;; tries++) {
        long fd = syscall(SYS_openat2, dir, path, &how, sizeof how);
        if (fd >= 0)
            return (int)fd;
        /* EAGAIN: a rename elsewhere meant that ".." could not be proved; EPERM: filters that know no openat2 */
        if (errno == ENOSYS || errno == EPERM || (errno == EAGAIN && tries >= 100))
            return tool_walk_beneath(dir, path, flags, mode);
        if (errno != EAGAIN && errno != EINTR)
            return -1;
    }
}

struct walk {
    int fds[WALK_DEPTH]; /* directories below the first, innermost last */
    int depth, links;
    char todo[WALK_PATH];
};

static int fail_with(int errnum)
{
    errno = errnum;
    return -1;
}

/* Puts what the link says in front of the rest of the way, which is empty behind a last "/". 1 it was a link, 0 none,
 * -1 errno. */
static int follow_link(struct walk *w, int at, const char *name, bool slash, const char *rest)
{
    char target[WALK_PATH];
    ssize_t n = readlinkat(at, name, target, PATH_MAX);
    if (n < 0)
        return errno == EINVAL || errno == ENOENT ? 0 : -1;
    if (n == 0 || n >= PATH_MAX || ++w->links > WALK_LINKS)
        return fail_with(n == 0 ? ENOENT : ELOOP);
    if (target[0] == '/')
        return fail_with(EXDEV);
    size_t rest_len = strlen(rest);
    if ((size_t)n + 1 + rest_len >= sizeof target)
        return fail_with(ENAMETOOLONG);
    if (slash)
        target[n++] = '/';
    memcpy(target + n, rest, rest_len + 1);
    memcpy(w->todo, target, (size_t)n + rest_len + 1);
    return 1;
}

/* One step; 1: go on with w->todo, 0: *result is the end. */
static int step(struct walk *w, int dir, int flags, mode_t mode, int *result)
{
    char *name = w->todo + strspn(w->todo, "/");
    size_t len = strcspn(name, "/");
    char *rest = name + len;
    bool slash = *rest == '/';
    rest += strspn(rest, "/");
    name[len] = 0;
    int at = w->depth ? w->fds[w->depth - 1] : dir;
    bool here = len == 0 || !strcmp(name, "."), last = *rest == 0;
    if (!here && !strcmp(name, "..")) {
        if (w->depth == 0)
            return *result = fail_with(EXDEV), 0;
        close(w->fds[--w->depth]);
        at = w->depth ? w->fds[w->depth - 1] : dir;
        here = true;
    }
    if (here) {
        if (last)
            return *result = openat(at, ".", flags | O_CLOEXEC, mode), 0;
        memmove(w->todo, rest, strlen(rest) + 1);
        return 1;
    }
    bool stays_link = last && !slash && (flags & O_NOFOLLOW || (flags & O_CREAT && flags & O_EXCL));
    int link = stays_link ? 0 : follow_link(w, at, name, slash, rest);
    if (link)
        return link < 0 ? (*result = -1, 0) : 1;
    if (last) {
        int directory = slash ? O_DIRECTORY : 0;
        if (slash && flags & O_CREAT)
            return *result = fail_with(EISDIR), 0;
        return *result = openat(at, name, flags | O_NOFOLLOW | O_CLOEXEC | directory, mode), 0;
    }
    if (w->depth == WALK_DEPTH)
        return *result = fail_with(ENAMETOOLONG), 0;
    int fd = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return *result = -1, 0;
    w->fds[w->depth++] = fd;
    memmove(w->todo, rest, strlen(rest) + 1);
    return 1;
}

int tool_walk_beneath(int dir, const char *path, int flags, mode_t mode)
{
    struct walk w = {.depth = 0, .links = 0};
    int result = -1;
    size_t len = strlen(path);
    if (len == 0 || len >= PATH_MAX)
        return fail_with(len ? ENAMETOOLONG : ENOENT);
    if (*path == '/')
        return fail_with(EXDEV);
    memcpy(w.todo, path, len + 1);
    while (step(&w, dir, flags, mode, &result))
        ;
    int saved = errno;
    while (w.depth)
        close(w.fds[--w.depth]);
    errno = saved;
    return result;
}

/* Behind "/NAME/" or "/NAME" of path; NULL: it does not begin so. */
static const char *below(const char *path, const char *name)
{
    size_t len = strlen(name);
    if (strncmp(path, name, len) || (path[len] != '/' && path[len] != 0))
        return NULL;
    path += len;
    return path + strspn(path, "/");
}

int tool_find_place(jianmu_context *ctx, const char *path, struct tool_place *place, json_t **answer)
{
    const struct jianmu_services *services = ctx->services;
    const char *which = "workspace", *rest = path;
    int unused, skill = services->directory(ctx, "skill", &unused);
    if ((rest = below(path, "/skill")) || (skill >= 0 && (rest = below(path, "skill")))) {
        which = "skill";
    } else if (*path == '/' && !(rest = below(path, "/workspace"))) {
        *answer = tool_error(ctx, "'%s' is absolute: only paths relative to the workspace, /workspace/... and "
                             "/skill/... can be reached", path);
        return -1;
    } else if (*path != '/') {
        rest = path;
        if (services->directory(ctx, "workspace", &unused) < 0 && skill >= 0)
            which = "skill";
    }
    place->writable = 0;
    place->path = *rest ? rest : ".";
    place->dir = services->directory(ctx, which, &place->writable);
    if (place->dir >= 0)
        return 0;
    *answer = tool_error(ctx, "no %s was given to this call, so there is no '%s' (--%s DIR)", which, path, which);
    return -1;
}

json_t *tool_path_error(jianmu_context *ctx, const char *path, int errnum)
{
    const char *what = strerrordesc_np(errnum);
    switch (errnum) {
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        ctx->services->fail(ctx, JIANMU_INTERNAL, "'%s': %s", path, what);
        return NULL;
    case EXDEV: return tool_error(ctx, "'%s' leads out of the directory it must stay in", path);
    case ENXIO: return tool_error(ctx, "'%s' is not a regular file", path);
    default: return tool_error(ctx, "'%s': %s", path, what ? what : "unknown error");
    }
}

int tool_open(jianmu_context *ctx, const char *path, int flags, struct stat *st, json_t **answer)
{
    struct tool_place place;
    if (tool_find_place(ctx, path, &place, answer))
        return -1;
    jm_auto_fd int fd = tool_open_beneath(place.dir, place.path, flags | O_NONBLOCK | O_NOCTTY, 0666);
    if (fd < 0 || fstat(fd, st)) {
        *answer = tool_path_error(ctx, path, errno);
        return -1;
    }
    return jm_steal_fd(fd);
}

const char *tool_file_type(mode_t mode)
{
    return S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "directory" : S_ISLNK(mode) ? "link" : S_ISFIFO(mode) ? "fifo" :
           S_ISSOCK(mode) ? "socket" : "device";
}
