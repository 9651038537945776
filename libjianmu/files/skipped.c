/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "files/skipped.h"
#include "base/cleanup.h"
#include "base/text.h"
#include <string.h>

static const char *const names[JM_WHYS] = {
    [JM_WHY_SYMLINK] = "symlink",     [JM_WHY_HARDLINK] = "hardlink",     [JM_WHY_FIFO] = "fifo",
    [JM_WHY_SOCKET] = "socket",       [JM_WHY_DEVICE] = "device",         [JM_WHY_TOO_LARGE] = "too_large",
    [JM_WHY_COUNT] = "count",         [JM_WHY_TOTAL] = "total",           [JM_WHY_DEPTH] = "depth",
    [JM_WHY_MOUNT] = "mount",         [JM_WHY_UNREADABLE] = "unreadable", [JM_WHY_VANISHED] = "vanished",
    [JM_WHY_CHANGED] = "changed",
};

int jm_skip_add(struct jm_skips *skips, struct jm_arena *arena, const struct jm_skip *skip, size_t path_len)
{
    if (skips->seen[skip->why]++ >= JM_SKIPPED_NAMED)
        return 0;
    if (skips->count == skips->room) {
        size_t room = skips->room ? 2 * skips->room : 16;
        struct jm_skip *items = realloc(skips->items, room * sizeof *items);
        if (!items)
            return -1;
        skips->items = items;
        skips->room = room;
    }
    struct jm_skip *added = &skips->items[skips->count];
    *added = *skip;
    added->path = jm_arena_text(arena, skip->path, path_len);
    if (!added->path)
        return -1;
    skips->count++;
    return 0;
}

json_t *jm_path_json(const char *path)
{
    size_t len;
    jm_auto_free char *text = jm_utf8_repair(path, strlen(path), &len);
    return text ? json_stringn(text, len) : NULL;
}

/* The bytes of a path that are not what its text says. */
static json_t *hex(const char *path)
{
    size_t len = strlen(path);
    jm_auto_free char *text = malloc(2 * len + 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        text[2 * i] = "0123456789abcdef"[(unsigned char)path[i] >> 4];
        text[2 * i + 1] = "0123456789abcdef"[(unsigned char)path[i] & 15];
    }
    return json_stringn(text, 2 * len);
}

static json_t *skip_json(const struct jm_skip *s)
{
    jm_auto_json json_t *object = json_object();
    json_t *path = jm_path_json(s->path);
    bool same = path && strcmp(json_string_value(path), s->path) == 0;
    int r = json_object_set_new(object, "path", path);
    r |= json_object_set_new(object, "why", json_string(names[s->why]));
    if (!same)
        r |= json_object_set_new(object, "path_hex", hex(s->path));
    if (s->why == JM_WHY_TOO_LARGE || s->why == JM_WHY_TOTAL)
        r |= json_object_set_new(object, "size", json_integer((json_int_t)s->size));
    if (s->errnum) {
        const char *name = strerrorname_np(s->errnum);
        r |= json_object_set_new(object, "error", json_string(name ? name : "unknown"));
    }
    return r ? NULL : jm_steal(object);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct jm_skip *)a)->path, ((const struct jm_skip *)b)->path);
}

json_t *jm_skips_json(struct jm_skips *skips)
{
    jm_auto_json json_t *array = json_array();
    int r = array ? 0 : -1;
    if (skips->count)
        qsort(skips->items, skips->count, sizeof *skips->items, by_path);
    for (size_t i = 0; r == 0 && i < skips->count; i++)
        r = json_array_append_new(array, skip_json(&skips->items[i]));
    for (int why = 0; r == 0 && why < JM_WHYS; why++) {
        if (skips->seen[why] > JM_SKIPPED_NAMED)
            r = json_array_append_new(array, json_pack("{s:s,s:s,s:I}", "path", "", "why", names[why], "more",
                                                       (json_int_t)(skips->seen[why] - JM_SKIPPED_NAMED)));
    }
    return r ? NULL : jm_steal(array);
}
