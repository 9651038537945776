/* SPDX-License-Identifier: Apache-2.0
 * The registry as others ask for it: one name, or all as JSON. */
#include "config.h"
#include "plugin/item.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include <string.h>

static bool stem_is(const char *path, const char *name)
{
    const char *base = strrchr(path, '/') + 1;
    size_t len = strlen(name);
    return !strncmp(base, name, len) && !strcmp(base + len, ".so");
}

/* A refused item that was meant by name: by its own, or where that is unknown by its file's. */
static bool is_meant(const struct jm_item *item, uint32_t kind, const char *name)
{
    return item->kind == kind && (item->name ? !strcmp(item->name, name) : stem_is(item->path, name));
}

/* The usable names, sorted as found. new; NULL without memory. */
static const char **usable_names(const jm_registry *registry, uint32_t kind, size_t *count)
{
    const char **names = calloc(registry->count + 1, sizeof *names);
    *count = 0;
    for (size_t i = 0; names && i < registry->count; i++) {
        const struct jm_item *item = &registry->items[i]->item;
        if (item->kind == kind && item->state == JM_USABLE)
            names[(*count)++] = item->name;
    }
    return names;
}

static int fail_unknown(const jm_registry *registry, uint32_t kind, const char *name, jianmu_error **err)
{
    size_t count, len;
    jm_auto_free const char **names = usable_names(registry, kind, &count);
    jm_auto_free char *shown = jm_utf8_repair(name, strnlen(name, 200), &len);
    if (!names || !shown)
        return jm_fail_memory(err);
    const char *nearest = jm_text_nearest(name, names, count);
    struct jm_buffer b = {0};
    jm_buffer_addf(&b, "unknown %s \"%s\"", kind == JIANMU_KIND_BACKEND ? "mode" : jm_kind_name(kind), shown);
    if (nearest)
        jm_buffer_addf(&b, ", did you mean \"%s\"?", nearest);
    if (kind == JIANMU_KIND_BACKEND) {
        jm_buffer_adds(&b, count ? nearest ? " Available: " : "; available: " : "; no backend was found");
        for (size_t i = 0; i < count; i++)
            jm_buffer_addf(&b, "%s%s", i ? ", " : "", names[i]);
    }
    jm_auto_free char *text = jm_buffer_take(&b);
    if (!text)
        return jm_fail_memory(err);
    return jm_fail(err, JIANMU_NOT_FOUND, "%s", text);
}

static struct jm_item *find(const jm_registry *registry, uint32_t kind, const char *name, jianmu_error **err)
{
    const struct jm_item *refused = NULL;
    for (size_t i = 0; i < registry->count; i++) {
        struct jm_item *item = &registry->items[i]->item;
        if (item->state == JM_USABLE && item->kind == kind && !strcmp(item->name, name))
            return item;
        if (item->state == JM_REFUSED && !refused && is_meant(item, kind, name))
            refused = item;
    }
    if (refused)
        jm_fail(err, JIANMU_UNAVAILABLE, "%s \"%s\" cannot be used: %s", jm_kind_name(kind), name, refused->sentence);
    else
        fail_unknown(registry, kind, name, err);
    return NULL;
}

static void lock(const jm_registry *registry)
{
    pthread_mutex_lock(&((jm_registry *)registry)->lock);
}

static void unlock(const jm_registry *registry)
{
    pthread_mutex_unlock(&((jm_registry *)registry)->lock);
}

struct jm_item *jm_registry_find(const jm_registry *registry, uint32_t kind, const char *name, jianmu_error **err)
{
    lock(registry);
    struct jm_item *item = find(registry, kind, name, err);
    unlock(registry);
    return item;
}

/* A path may hold any bytes, JSON may not. */
static json_t *text_or_null(const char *text)
{
    if (!text)
        return json_null();
    size_t len;
    jm_auto_free char *valid = jm_utf8_repair(text, strlen(text), &len);
    return valid ? json_string(valid) : NULL;
}

static json_t *danger_json(const struct jm_item *item)
{
    static const char *const names[] = {NULL, "read", "write", "dangerous"};
    bool known = item->kind == JIANMU_KIND_TOOL && item->danger < jm_countof(names);
    return text_or_null(known ? names[item->danger] : NULL);
}

static json_t *flags_json(const struct jm_item *item)
{
    static const struct { uint64_t bit; const char *name; } flags[] = {
        {JIANMU_READ_ONLY, "read_only"}, {JIANMU_IDEMPOTENT, "idempotent"}, {JIANMU_OPEN_WORLD, "open_world"},
        {JIANMU_COOPERATES, "cooperates"}, {JIANMU_BY_PROCESS, "by_process"}, {JIANMU_ISOLATED, "isolated"},
        {JIANMU_IN_PROCESS, "in_process"}};
    json_t *list = json_array();
    for (size_t i = 0; list && i < jm_countof(flags); i++) {
        if ((item->flags & flags[i].bit) && json_array_append_new(list, json_string(flags[i].name))) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *item_json(const struct jm_item *item)
{
    static const char *const states[] = {"usable", "shadowed", "refused"};
    jm_auto_json json_t *object = json_object();
    if (!object || json_object_set_new(object, "path", text_or_null(item->path)) ||
        json_object_set_new(object, "origin", text_or_null(item->origin)) ||
        json_object_set_new(object, "kind", json_string(jm_kind_name(item->kind))) ||
        json_object_set_new(object, "name", text_or_null(item->name)) ||
        json_object_set_new(object, "state", json_string(states[item->state])) ||
        json_object_set_new(object, "code", text_or_null(item->code)) ||
        json_object_set_new(object, "sentence", text_or_null(item->sentence)) ||
        json_object_set_new(object, "text", text_or_null(item->text)) ||
        json_object_set_new(object, "danger", danger_json(item)) ||
        json_object_set_new(object, "flags", flags_json(item)) ||
        json_object_set_new(object, "loaded", json_boolean(item->loaded)))
        return NULL;
    return jm_steal(object);
}

json_t *jm_registry_json(const jm_registry *registry)
{
    json_t *list = json_array();
    lock(registry);
    for (size_t i = 0; list && i < registry->count; i++) {
        if (json_array_append_new(list, item_json(&registry->items[i]->item))) {
            json_decref(list);
            list = NULL;
        }
    }
    unlock(registry);
    return list;
}
