/* SPDX-License-Identifier: Apache-2.0
 * The environment of a process: what it needs, and what an allow-list names. Nothing else of the host's. */
#include "config.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "call/services.h"
#include <stdio.h>
#include <string.h>

extern char **environ;

struct list {
    char **items;
    size_t count, cap;
    bool failed;
};

static void put(struct list *l, char *item)
{
    if (item && !l->failed) {
        size_t name = strcspn(item, "=") + 1;
        for (size_t i = 0; i < l->count; i++)
            if (!strncmp(l->items[i], item, name)) {
                free(l->items[i]);
                l->items[i] = item;
                return;
            }
        if (l->count + 2 > l->cap) {
            size_t cap = l->cap ? 2 * l->cap : 16;
            char **more = realloc(l->items, cap * sizeof *more);
            if (more) {
                l->items = more;
                l->cap = cap;
            }
        }
        if (l->count + 2 <= l->cap) {
            l->items[l->count++] = item;
            l->items[l->count] = NULL;
            return;
        }
    }
    free(item);
    l->failed = true;
}

static void set(struct list *l, const char *name, const char *value)
{
    char *item;
    put(l, jm_format(&item, "%s=%s", name, value) < 0 ? NULL : item);
}

/* Names that start with one of the prefixes, or are one of the names. */
static bool allowed(const char *entry, json_t *names, bool prefix)
{
    size_t i, name_len = strcspn(entry, "=");
    json_t *item;
    json_array_foreach (names, i, item) {
        const char *text = json_string_value(item);
        size_t len = text ? strlen(text) : 0;
        if (len && !strncmp(entry, text, len) && (prefix ? name_len >= len : name_len == len))
            return true;
    }
    return false;
}

static void add_allowed(struct list *l, jm_context *ctx)
{
    json_t *names = jm_service_setting(&ctx->public, "env_allowlist");
    json_t *prefixes = jm_service_setting(&ctx->public, "env_allowprefix");
    if (!json_array_size(names) && !json_array_size(prefixes))
        return;
    for (char **e = environ; e && *e; e++)
        if (strchr(*e, '=') && (allowed(*e, names, false) || allowed(*e, prefixes, true)))
            put(l, strdup(*e));
}

static void add_directory(struct list *l, jm_context *ctx, const char *which, const char *name)
{
    const char *grant = json_string_value(jm_service_setting(&ctx->public, which));
    size_t len = grant ? strlen(grant) : 0;
    if (!len)
        return;
    if (len > 3 && (!strcmp(grant + len - 3, ":rw") || !strcmp(grant + len - 3, ":ro")))
        len -= 3;
    char *item;
    put(l, jm_format(&item, "%s=%.*s", name, (int)len, grant) < 0 ? NULL : item);
}

static void add_trace(struct list *l, const struct jm_trace *trace)
{
    char parent[JM_TRACEPARENT];
    jm_trace_print(trace, parent);
    set(l, "TRACEPARENT", parent);
    if (trace->state)
        set(l, "TRACESTATE", trace->state);
}

char **jm_environment_new(jm_context *ctx, const struct jm_workdir *dir, const struct jm_trace *trace,
                          jianmu_error **err)
{
    struct list l = {0};
    const char *path = getenv("PATH"), *tz = getenv("TZ"), *key;
    json_t *value;
    set(&l, "PATH", path && *path ? path : "/usr/local/bin:/usr/bin:/bin");
    set(&l, "LANG", "C.UTF-8");
    if (tz)
        set(&l, "TZ", tz);
    add_allowed(&l, ctx);
    set(&l, "HOME", dir->home);
    set(&l, "TMPDIR", dir->tmp);
    add_directory(&l, ctx, "workspace", "JIANMU_WORKSPACE");
    add_directory(&l, ctx, "skill", "JIANMU_SKILL");
    if (trace)
        add_trace(&l, trace);
    json_object_foreach (jm_service_setting(&ctx->public, "env"), key, value)
        if (json_is_string(value))
            set(&l, key, json_string_value(value));
    if (!l.failed)
        return l.items;
    jm_environment_free(l.items);
    jm_fail_memory(err);
    return NULL;
}

void jm_environment_free(char **env)
{
    for (size_t i = 0; env && env[i]; i++)
        free(env[i]);
    free(env);
}
