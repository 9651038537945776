/* SPDX-License-Identifier: Apache-2.0
 * One file of a job, from its name to the list of artifacts. */
#include "config.h"
#include "base/cleanup.h"
#include "files/at.h"
#include "files/walk.h"
#include <string.h>

/* Above this a file has memory of its own, so that no more than its size is taken for it. */
#define LARGE ((uint64_t)64 << 10)
#define READ (O_RDONLY | O_NONBLOCK)

/* Its owner, us, took the permission away. *mode: as it was. */
static long open_mended(int dir, const char *name, mode_t *mode)
{
    struct statx was = {0};
    long r = jm_at_grant(dir, name, 0400, &was);
    if (r < 0)
        return was.stx_nlink > 1 ? -EMLINK : -EACCES;
    *mode = was.stx_mode;
    return jm_at_open(dir, name, READ);
}

/* O_NOATIME spares the file system a write for each file; only the owner may ask for it. */
static long open_file(int dir, const char *name, mode_t *mode)
{
    long fd = jm_at_open(dir, name, READ | O_NOATIME);
    if (fd == -EPERM)
        fd = jm_at_open(dir, name, READ);
    return fd == -EACCES ? open_mended(dir, name, mode) : fd;
}

/* The bytes read, at most size + 1 (one more: it grew), or -errno. */
static ssize_t read_whole(int fd, char *to, size_t size)
{
    size_t got = 0;
    do {
        ssize_t n = read(fd, to + got, size + 1 - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        got += (size_t)n;
    } while (got < size);
    return (ssize_t)got;
}

static int add_item(struct jm_walk *w, const jianmu_artifact *item)
{
    struct jm_artifact_list *list = w->list;
    if (list->count == w->room) {
        size_t room = w->room ? 2 * w->room : 64;
        jianmu_artifact *items = realloc(list->items, room * sizeof *items);
        if (!items)
            return -1;
        list->items = items;
        w->room = room;
    }
    list->items[list->count++] = *item;
    w->total += item->size;
    return 0;
}

/* Room in the arena is taken only once the file is known to be whole. */
static int take(struct jm_walk *w, int fd, uint64_t size, mode_t mode)
{
    struct jm_arena *arena = &w->list->arena;
    size_t path_len = w->prefix_len + strlen(w->path + w->prefix_len) + 1;
    bool large = size > LARGE;
    char *own = large ? jm_arena_block(arena, size + 1) : NULL;
    char *path = jm_arena_room(arena, path_len + (large ? 0 : size + 1));
    if (!path || (large && !own))
        return -1;
    char *data = large ? own : path + path_len;
    ssize_t got = read_whole(fd, data, size);
    if (got < 0 || (uint64_t)got != size) {
        if (large)
            jm_arena_drop_block(arena);
        return got < 0 ? jm_walk_skip_errno(w, (int)-got) : jm_walk_skip(w, JM_WHY_CHANGED);
    }
    memcpy(path, w->path, path_len);
    jm_arena_take(arena, path_len + (large ? 0 : size));
    return add_item(w, &(jianmu_artifact){.path = path, .data = data, .size = size, .mode = mode & 0777});
}

static int skip_sized(struct jm_walk *w, enum jm_why why, uint64_t size)
{
    struct jm_skip skip = {.path = w->path, .why = why, .size = size};
    return jm_skip_add(&w->skips, &w->scratch, &skip, strlen(w->path));
}

int jm_walk_file(struct jm_walk *w, int dir, const char *name)
{
    mode_t mode = 0;
    jm_auto_fd int fd = (int)open_file(dir, name, &mode);
    struct stat st;
    if (fd < 0)
        return jm_walk_skip_errno(w, -fd);
    if (fstat(fd, &st) < 0)
        return jm_walk_skip_errno(w, errno);
    if (!S_ISREG(st.st_mode))
        return jm_walk_skip(w, S_ISDIR(st.st_mode) ? JM_WHY_VANISHED : (enum jm_why)jm_why_of_mode(st.st_mode));
    if (st.st_dev != w->dev)
        return jm_walk_skip(w, JM_WHY_MOUNT);
    if (st.st_nlink != 1)
        return jm_walk_skip(w, st.st_nlink ? JM_WHY_HARDLINK : JM_WHY_VANISHED);
    const struct jm_written *written = jm_walk_written(w, st.st_ino);
    if (written && jm_written_same(written, &st)) {
        w->unchanged[written - w->dir->written] = true;
        return 0;
    }
    uint64_t size = (uint64_t)st.st_size;
    if (size > w->caps->bytes)
        return skip_sized(w, JM_WHY_TOO_LARGE, size);
    if (size > w->caps->total - w->total)
        return skip_sized(w, JM_WHY_TOTAL, size);
    return take(w, fd, size, mode ? mode : st.st_mode);
}
