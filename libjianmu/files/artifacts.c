/* SPDX-License-Identifier: Apache-2.0
 * Breadth first: what lies high up is taken before a flood below uses up the caps. Directories wait as paths, not
 * as descriptors, and are opened beneath work with no link followed on the way, so neither depth nor width costs
 * descriptors, and swapping a directory on the way for a link leads nowhere. */
#include "config.h"
#include "files/artifacts.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "files/at.h"
#include "files/walk.h"
#include <dirent.h>
#include <limits.h>
#include <string.h>

struct waiting {
    const char *path;
    uint64_t depth;
};

struct queue {
    struct waiting *items;
    size_t first, count, room;
};

int jm_walk_skip(struct jm_walk *w, enum jm_why why)
{
    struct jm_skip skip = {.path = *w->path ? w->path : ".", .why = why};
    return jm_skip_add(&w->skips, &w->scratch, &skip, strlen(skip.path));
}

int jm_walk_skip_errno(struct jm_walk *w, int errnum)
{
    struct jm_skip skip = {.path = *w->path ? w->path : ".", .why = JM_WHY_UNREADABLE};
    switch (errnum) {
    case ENOENT: skip.why = JM_WHY_VANISHED; break;
    case ELOOP: skip.why = JM_WHY_SYMLINK; break;
    case EMLINK: skip.why = JM_WHY_HARDLINK; break;
    case EXDEV: skip.why = JM_WHY_MOUNT; break;
    case ENXIO: skip.why = JM_WHY_SOCKET; break;
    default: skip.errnum = errnum;
    }
    return jm_skip_add(&w->skips, &w->scratch, &skip, strlen(skip.path));
}

int jm_why_of_mode(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
    case S_IFDIR: return -1;
    case S_IFLNK: return JM_WHY_SYMLINK;
    case S_IFIFO: return JM_WHY_FIFO;
    case S_IFSOCK: return JM_WHY_SOCKET;
    default: return JM_WHY_DEVICE;
    }
}

/* How much of path is opened by the next call: all of it, or up to a "/" so that it fits; one name where the
 * kernel cannot be told to follow nothing. */
static size_t piece(const char *path, bool single)
{
    size_t len = strlen(path);
    const char *end = single ? strchr(path, '/') : len < PATH_MAX ? NULL : memrchr(path, '/', PATH_MAX - 1);
    return end ? (size_t)(end - path) : len;
}

/* The path below work without following a link anywhere; -errno. "" is work itself. */
static long open_below(int work_fd, const char *path, long flags)
{
    bool single = false;
    int at = work_fd;
    for (;;) {
        char text[PATH_MAX];
        size_t len = piece(path, single);
        if (len >= sizeof text)
            return -ENAMETOOLONG;
        memcpy(text, path, len);
        text[len] = 0;
        bool last = !path[len];
        long how = last ? flags : O_PATH | O_DIRECTORY;
        const char *name = *text ? text : ".";
        long fd = single ? jm_at_open(at, name, how) : jm_at_openat2(at, name, how);
        if (fd < 0 && !single && jm_at_lacks_openat2(at, fd)) {
            single = true;
            continue;
        }
        if (at != work_fd)
            close(at);
        if (fd < 0 || last)
            return fd;
        at = (int)fd;
        path += len + 1;
    }
}

static long open_dir(int work_fd, const char *path)
{
    long fd = open_below(work_fd, path, O_RDONLY | O_DIRECTORY);
    if (fd != -EACCES)
        return fd;
    if (!*path) {
        fchmod(work_fd, 0700);
    } else {
        struct statx was;
        jm_auto_fd int held = (int)open_below(work_fd, path, O_PATH | O_DIRECTORY);
        if (held < 0 || jm_fd_grant(held, 0700, &was) < 0)
            return fd;
    }
    return open_below(work_fd, path, O_RDONLY | O_DIRECTORY);
}

static int by_inode(const void *a, const void *b)
{
    ino_t one = (*(const struct jm_written *const *)a)->ino, other = (*(const struct jm_written *const *)b)->ino;
    return one < other ? -1 : one > other;
}

const struct jm_written *jm_walk_written(const struct jm_walk *w, ino_t ino)
{
    struct jm_written wanted = {.ino = ino};
    const struct jm_written *key = &wanted, **found = NULL;
    if (w->dir->written_count)
        found = bsearch(&key, w->by_inode, w->dir->written_count, sizeof key, by_inode);
    return found ? *found : NULL;
}

/* An input or the script that nobody touched: known without opening it. */
static bool is_untouched(struct jm_walk *w, int fd, const struct jm_dirent *e)
{
    const struct jm_written *written = jm_walk_written(w, e->ino);
    struct stat st;
    if (!written || fstatat(fd, e->name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !jm_written_same(written, &st))
        return false;
    w->unchanged[written - w->dir->written] = true;
    return true;
}

static bool is_script(const struct jm_walk *w, const char *path)
{
    for (size_t i = 0; i < w->dir->written_count; i++) {
        if (w->dir->written[i].script)
            return strcmp(w->dir->written[i].path, path) == 0;
    }
    return false;
}

static int enqueue(struct jm_walk *w, struct queue *q, uint64_t depth)
{
    if (depth > w->caps->depth)
        return jm_walk_skip(w, JM_WHY_DEPTH);
    if (q->count == q->room) {
        size_t room = q->room ? 2 * q->room : 64;
        struct waiting *items = realloc(q->items, room * sizeof *items);
        if (!items)
            return -1;
        q->items = items;
        q->room = room;
    }
    const char *path = jm_arena_text(&w->scratch, w->path, strlen(w->path));
    if (!path)
        return -1;
    q->items[q->count++] = (struct waiting){path, depth};
    return 0;
}

static mode_t mode_of(int fd, const struct jm_dirent *e)
{
    if (e->type != DT_UNKNOWN)
        return DTTOIF(e->type);
    struct stat st;
    return fstatat(fd, e->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : st.st_mode;
}

/* Room for the path of a directory, a "/" and any name. */
static int set_prefix(struct jm_walk *w, const char *path)
{
    size_t len = strlen(path);
    if (len + 2 > w->path_room) {
        size_t room = 2 * len + PATH_MAX;
        char *text = realloc(w->path, room);
        if (!text)
            return -1;
        w->path = text;
        w->path_room = room;
    }
    memcpy(w->path, path, len + 1);
    w->prefix_len = len ? len + 1 : 0;
    return 0;
}

static int set_name(struct jm_walk *w, const char *name)
{
    size_t need = w->prefix_len + strlen(name) + 1;
    if (need > w->path_room) {
        char *text = realloc(w->path, 2 * need);
        if (!text)
            return -1;
        w->path = text;
        w->path_room = 2 * need;
    }
    if (w->prefix_len)
        w->path[w->prefix_len - 1] = '/';
    strcpy(w->path + w->prefix_len, name);
    return 0;
}

static int visit(struct jm_walk *w, struct queue *q, int fd, uint64_t depth, const struct jm_dirent *e)
{
    if (set_name(w, e->name) < 0)
        return -1;
    mode_t mode = mode_of(fd, e);
    if (!mode)
        return jm_walk_skip(w, JM_WHY_VANISHED);
    if (S_ISDIR(mode))
        return enqueue(w, q, depth + 1);
    if (!S_ISREG(mode))
        return jm_walk_skip(w, (enum jm_why)jm_why_of_mode(mode));
    if (is_untouched(w, fd, e) || (!depth && is_script(w, w->path)))
        return 0;
    if (w->list->count >= w->caps->count)
        return jm_walk_skip(w, JM_WHY_COUNT);
    return jm_walk_file(w, fd, e->name);
}

static int visit_dir(struct jm_walk *w, struct queue *q, const struct waiting *at, char *buffer, size_t room)
{
    if (set_prefix(w, at->path) < 0)
        return -1;
    jm_auto_fd int fd = (int)open_dir(w->dir->work_fd, at->path);
    struct stat st;
    if (fd < 0)
        return jm_walk_skip_errno(w, -fd);
    if (fstat(fd, &st) < 0)
        return jm_walk_skip_errno(w, errno);
    if (!*at->path)
        w->dev = st.st_dev;
    if (st.st_dev != w->dev)
        return jm_walk_skip(w, JM_WHY_MOUNT);
    if ((st.st_mode & 0700) != 0700)
        fchmod(fd, (st.st_mode & 07777) | 0700); /* or nothing in it can be opened */
    ssize_t n;
    while ((n = getdents64(fd, buffer, room)) > 0) {
        for (ssize_t i = 0; i < n;) {
            const struct jm_dirent *e = (const void *)(buffer + i);
            i += e->len;
            if (!jm_is_dots(e->name) && visit(w, q, fd, at->depth, e) < 0)
                return -1;
        }
    }
    if (n == 0)
        return 0;
    int errnum = errno;
    w->path[w->prefix_len ? w->prefix_len - 1 : 0] = 0;
    return jm_walk_skip_errno(w, errnum);
}

static int walk(struct jm_walk *w)
{
    size_t room = (size_t)32 << 10;
    jm_auto_free char *buffer = malloc(room);
    struct queue q = {0};
    if (!buffer || set_prefix(w, "") < 0)
        return -1;
    int r = enqueue(w, &q, 0);
    while (r == 0 && q.first < q.count) {
        struct waiting at = q.items[q.first++];
        r = visit_dir(w, &q, &at, buffer, room);
    }
    free(q.items);
    return r;
}

/* Not met unchanged in the walk, perhaps for a cap: asked by name. */
static bool is_modified(const struct jm_walk *w, const struct jm_written *written)
{
    long fd = open_below(w->dir->work_fd, written->path, O_PATH);
    if (fd < 0)
        return fd == -ENOENT || fd == -ENOTDIR || fd == -ELOOP || fd == -EXDEV;
    struct stat st;
    bool same = fstat((int)fd, &st) == 0 && jm_written_same(written, &st);
    close((int)fd);
    return !same;
}

static int list_modified(struct jm_walk *w)
{
    json_t *array = w->list->modified_inputs = json_array();
    int r = array ? 0 : -1;
    for (size_t i = 0; r == 0 && i < w->dir->written_count; i++) {
        if (!w->unchanged[i] && is_modified(w, &w->dir->written[i]))
            r = json_array_append_new(array, jm_path_json(w->dir->written[i].path));
    }
    return r;
}

static int index_written(struct jm_walk *w)
{
    size_t count = w->dir->written_count;
    w->unchanged = calloc(count + 1, sizeof *w->unchanged);
    w->by_inode = calloc(count + 1, sizeof(struct jm_written *));
    if (!w->unchanged || !w->by_inode)
        return -1;
    for (size_t i = 0; i < count; i++)
        w->by_inode[i] = &w->dir->written[i];
    if (count > 1)
        qsort(w->by_inode, count, sizeof(struct jm_written *), by_inode);
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const jianmu_artifact *)a)->path, ((const jianmu_artifact *)b)->path);
}

static int collect(struct jm_walk *w)
{
    if (index_written(w) < 0 || walk(w) < 0 || list_modified(w) < 0)
        return -1;
    w->list->skipped = jm_skips_json(&w->skips);
    if (w->list->count > 1)
        qsort(w->list->items, w->list->count, sizeof *w->list->items, by_path);
    return w->list->skipped ? 0 : -1;
}

int jm_artifacts_collect(const struct jm_workdir *dir, const struct jm_artifact_caps *caps,
                         struct jm_artifact_list *list, jianmu_error **err)
{
    struct jm_walk w = {.dir = dir, .caps = caps, .list = list};
    *list = (struct jm_artifact_list){0};
    int r = collect(&w);
    free(w.path);
    free(w.by_inode);
    free(w.unchanged);
    free(w.skips.items);
    jm_arena_free(&w.scratch);
    if (r == 0)
        return 0;
    jm_artifact_list_free(list);
    return jm_fail_memory(err);
}

void jm_artifact_list_free(struct jm_artifact_list *list)
{
    free(list->items);
    jm_arena_free(&list->arena);
    json_decref(list->skipped);
    json_decref(list->modified_inputs);
    *list = (struct jm_artifact_list){0};
}
