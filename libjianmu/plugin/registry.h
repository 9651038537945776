/* SPDX-License-Identifier: Apache-2.0
 * What the plug-in directories hold: found by name, read as data, checked, and loaded only when used. */
#ifndef JM_REGISTRY_H
#define JM_REGISTRY_H

#include "jianmu-plugin.h"
#include "jianmu.h"
#include <stdbool.h>

enum jm_item_state { JM_USABLE, JM_SHADOWED, JM_REFUSED };

/* One tool, backend, guard or sink in one file; a refused file is one item without name. Owned by its registry. */
struct jm_item {
    char *path;               /* absolute, as found */
    const char *origin;       /* "--plugin-dir", "JIANMU_PLUGIN_PATH", "plugins.path", "user", "installed", "skill"; static */
    uint32_t kind;            /* JIANMU_KIND_... by directory */
    enum jm_item_state state;
    const char *code;         /* why refused: "abi", "size", "no_entry", "undefined_symbol", "owner", "mode", ... ; static */
    char *sentence;           /* the same for people; names the component and what mends it */
    char *name, *text;        /* from the note */
    uint32_t danger;
    uint64_t flags;
    json_t *json;             /* schema of a tool, {"keys", "enforces"} of a backend, {"keys"} of the others; parsed, an object */
    /* after jm_item_load; copies of the descriptors, what the file lacks is zero */
    bool loaded;
    union {
        struct jianmu_head head;
        struct jianmu_tool_plugin tool;
        struct jianmu_backend_plugin backend;
        struct jianmu_guard_plugin guard;
        struct jianmu_sink_plugin sink;
    } plugin;
    void *module;             /* the loader's */
};

struct jm_search_dir {
    const char *path, *origin;
    unsigned kinds; /* 1 << JIANMU_KIND_...: what is looked for; 0: all */
};

typedef struct jm_registry jm_registry;

/* Looks into DIR/backends, DIR/tools, DIR/guards and DIR/sinks of each, first match by name wins. A directory that does not exist is
 * passed over; a bad file is an item in state JM_REFUSED and disturbs nothing. */
jm_registry *jm_registry_scan(const struct jm_search_dir *dirs, size_t count, jianmu_error **err);
void jm_registry_free(jm_registry *registry);
size_t jm_registry_count(const jm_registry *registry);
struct jm_item *jm_registry_item(const jm_registry *registry, size_t i);
/* The usable one of that name. Else NULL and JIANMU_NOT_FOUND (suggesting the nearest), or, where one of that name
 * or file stem was refused, its sentence as JIANMU_UNAVAILABLE. */
struct jm_item *jm_registry_find(const jm_registry *registry, uint32_t kind, const char *name, jianmu_error **err);
json_t *jm_registry_json(const jm_registry *registry);

/* Loads the file of that item, checks that note and descriptor agree, copies the descriptors. Any thread; again is
 * no work. Errors carry the true reason, never "file not found" for something else. */
int jm_item_load(jm_registry *registry, struct jm_item *item, jianmu_error **err);
/* After this the item's code is never unloaded: an abandoned call still runs in it. */
void jm_item_pin(jm_registry *registry, struct jm_item *item);

#endif
