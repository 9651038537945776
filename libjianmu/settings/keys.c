/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "settings/keys.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "plugin/registry.h"
#include "settings/values.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Keys of a backend that name a program, or let the host's environment in: not from a file that lies about. */
static const char *const not_from_cwd[] = {"engine", "runtime", "python", "interpreter", "env_allowlist",
                                           "env_allowprefix"};

static struct jm_key *add(struct jm_keys *keys, jianmu_error **err)
{
    if ((keys->count & (keys->count - 1)) == 0) {
        struct jm_key *list = realloc(keys->list, (keys->count ? 2 * keys->count : 1) * sizeof *list);
        if (!list) {
            jm_fail_memory(err);
            return NULL;
        }
        keys->list = list;
    }
    keys->list[keys->count] = (struct jm_key){0};
    return &keys->list[keys->count++];
}

static int add_core(struct jm_keys *keys, const struct jm_knob *knob, jianmu_error **err)
{
    struct jm_key *key = add(keys, err);
    if (!key)
        return -1;
    key->knob = *knob;
    if (knob->yaml && !(key->path = strdup(knob->yaml)))
        return jm_fail_memory(err);
    if (knob->yaml && knob->flags & JM_PER_MODE)
        key->mode = "docker";
    if (!knob->fallback)
        return 0;
    json_error_t why;
    jm_auto_json json_t *value = jm_json_parse(knob->fallback, strlen(knob->fallback), JSON_DECODE_ANY, &why);
    if (!value)
        return jm_fail_memory(err);
    key->fallback = jm_coerce(knob, value, err);
    return key->fallback ? 0 : -1;
}

static const char *owner_of(const struct jm_key *key, const char **kind)
{
    const char *owners[] = {key->mode, key->tool, key->guard, key->sink};
    static const char *const kinds[] = {"mode", "tool", "guard", "sink"};
    for (size_t i = 0; i < jm_countof(owners); i++) {
        if (owners[i]) {
            if (kind)
                *kind = kinds[i];
            return owners[i];
        }
    }
    return NULL;
}

const struct jm_key *jm_keys_core(const struct jm_keys *keys, const char *name)
{
    for (size_t i = 0; i < keys->count; i++)
        if (!owner_of(&keys->list[i], NULL) && !strcmp(keys->list[i].knob.name, name))
            return &keys->list[i];
    return NULL;
}

const struct jm_key *jm_keys_at(const struct jm_keys *keys, const char *path)
{
    for (size_t i = 0; i < keys->count; i++)
        if (!keys->list[i].tool && keys->list[i].path && !strcmp(keys->list[i].path, path))
            return &keys->list[i];
    return NULL;
}

bool jm_keys_below(const struct jm_keys *keys, const char *path)
{
    size_t len = strlen(path);
    for (size_t i = 0; i < keys->count; i++) {
        const char *other = keys->list[i].tool ? NULL : keys->list[i].path;
        if (other && !strncmp(other, path, len) && other[len] == '.')
            return true;
    }
    return false;
}

/* What a note says is wrong; it is a fault of the plug-in, told when the key or its plug-in is used. */
__attribute__((format(printf, 2, 3))) static int problem(struct jm_key *key, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    key->problem = jm_vsentence(0, format, ap);
    va_end(ap);
    return key->problem ? 0 : -1;
}

static double number_or(const json_t *value, double otherwise)
{
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

/* The type, bounds and flags of a key that only its plug-in knows. */
static int declare(struct jm_key *key, const json_t *note)
{
    struct jm_knob *knob = &key->knob;
    const char *type = json_string_value(json_object_get(note, "type"));
    if (!type || jm_type_from_name(type, &knob->type))
        return problem(key, "its type must be one of str, bool, int, real, seconds, size, list, map");
    bool bytes = knob->type == JM_SIZE, seconds = knob->type == JM_SECONDS;
    knob->min = number_or(json_object_get(note, "min"), bytes ? 1 : seconds ? 1e-6 : 0);
    knob->max = number_or(json_object_get(note, "max"), seconds ? 1e8 : 0x1p50);
    knob->flags = key->mode ? JM_IN_YAML | JM_PER_MODE | JM_CWD_SAFE : key->tool ? JM_PER_TOOL : JM_IN_YAML;
    for (size_t i = 0; i < jm_countof(not_from_cwd); i++)
        if (!strcmp(knob->name, not_from_cwd[i]))
            knob->flags &= ~JM_CWD_SAFE;
    if (json_is_false(json_object_get(note, "cwd")))
        knob->flags &= ~JM_CWD_SAFE;
    return 0;
}

/* A backend may have a generic knob, a tool none: what the core calls so stays the core's. */
static int inherit(struct jm_key *key, const struct jm_knob *generic)
{
    if (!key->mode || !(generic->flags & JM_PER_MODE))
        return problem(key, "the name is the core's");
    const char *name = key->knob.name, *doc = key->knob.doc;
    key->knob = *generic;
    key->knob.name = name;
    key->knob.doc = doc ? doc : generic->doc;
    key->knob.flags = (generic->flags & ~(JM_IN_CONSTRAINTS | JM_PER_TOOL)) | JM_IN_YAML;
    return 0;
}

static int fill_from_note(struct jm_key *key, const struct jm_knob *generic, const json_t *note, jianmu_error **err)
{
    const char *doc = json_string_value(json_object_get(note, "doc"));
    if (doc && !(key->doc = strdup(doc)))
        return jm_fail_memory(err);
    key->knob.name = key->name;
    key->knob.doc = key->doc;
    if (!json_is_object(note) ? problem(key, "it must be an object")
        : generic             ? inherit(key, generic)
                              : declare(key, note))
        return jm_fail_memory(err);
    json_t *fallback = json_object_get(note, "default");
    if (json_is_null(fallback))
        key->knob.flags |= JM_NULLABLE;
    if (key->problem || !fallback || json_is_null(fallback))
        return 0;
    jianmu_error *why = NULL;
    key->fallback = jm_coerce_as("its default", &key->knob, fallback, &why);
    if (key->fallback)
        return 0;
    int rc = jianmu_error_code(why) == JIANMU_INVALID ? problem(key, "%s", jianmu_error_message(why)) : -1;
    jianmu_error_free(why);
    return rc ? jm_fail_memory(err) : 0;
}

static bool has_row(const struct jm_keys *keys, const char *mode, const char *name)
{
    for (size_t i = 0; i < keys->count; i++)
        if (keys->list[i].mode && !strcmp(keys->list[i].mode, mode) && !strcmp(keys->list[i].knob.name, name))
            return true;
    return false;
}

/* The core's of that name, but for what is docker's alone. */
static const struct jm_knob *generic_knob(const char *name)
{
    for (size_t i = 0; i < jm_knob_count; i++)
        if (!strcmp(jm_knobs[i].name, name) && !(jm_knobs[i].yaml && jm_knobs[i].flags & JM_PER_MODE))
            return jm_knob_find(name);
    return NULL;
}

static int add_noted(struct jm_keys *keys, const struct jm_item *item, const char *name, const json_t *note,
                     jianmu_error **err)
{
    static const char *const sections[] = {[JIANMU_KIND_TOOL] = "tools", [JIANMU_KIND_BACKEND] = "execution",
                                           [JIANMU_KIND_GUARD] = "guard", [JIANMU_KIND_SINK] = "events"};
    bool backend = item->kind == JIANMU_KIND_BACKEND, planned = backend || item->kind == JIANMU_KIND_TOOL;
    jm_auto_free char *path = NULL;
    if (jm_format(&path, "%s.%s.%s", sections[item->kind], item->name, name) < 0) {
        path = NULL;
        return jm_fail_memory(err);
    }
    if (backend && (jm_keys_at(keys, path) || has_row(keys, item->name, name)))
        return 0; /* the core's own row stands */
    const struct jm_knob *generic = planned ? generic_knob(name) : NULL;
    struct jm_key *key = add(keys, err);
    if (!key)
        return -1;
    key->mode = backend ? item->name : NULL;
    key->tool = item->kind == JIANMU_KIND_TOOL ? item->name : NULL;
    key->guard = item->kind == JIANMU_KIND_GUARD ? item->name : NULL;
    key->sink = item->kind == JIANMU_KIND_SINK ? item->name : NULL;
    key->path = jm_steal(path);
    key->name = strdup(name);
    if (!key->name)
        return jm_fail_memory(err);
    return fill_from_note(key, generic, note, err);
}

static int add_item(struct jm_keys *keys, const struct jm_item *item, jianmu_error **err)
{
    const json_t *where = item->kind == JIANMU_KIND_TOOL ? json_object_get(item->json, "x-jianmu") : item->json;
    const char *name;
    json_t *note;
    json_object_foreach(json_object_get(where, "keys"), name, note)
        if (add_noted(keys, item, name, note, err))
            return -1;
    return 0;
}

int jm_keys_build(struct jm_keys *keys, const struct jm_registry *registry, jianmu_error **err)
{
    for (size_t i = 0; i < jm_knob_count; i++)
        if (add_core(keys, &jm_knobs[i], err))
            return -1;
    for (size_t i = 0; registry && i < jm_registry_count(registry); i++) {
        const struct jm_item *item = jm_registry_item(registry, i);
        if (item->state == JM_USABLE && add_item(keys, item, err))
            return -1;
    }
    return 0;
}

int jm_keys_of_tool(struct jm_keys *keys, const struct jm_item *tool, jianmu_error **err)
{
    return add_item(keys, tool, err);
}

void jm_keys_free(struct jm_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++) {
        free(keys->list[i].path);
        free(keys->list[i].name);
        free(keys->list[i].doc);
        free(keys->list[i].problem);
        json_decref(keys->list[i].fallback);
    }
    free(keys->list);
    *keys = (struct jm_keys){0};
}

static json_t *layers_json(const struct jm_knob *knob)
{
    json_t *list = json_array();
    int bad = 0;
    if (!strcmp(knob->name, "timeout_s"))
        bad |= json_array_append_new(list, json_string(jm_layer_name(JM_CALL)));
    if (knob->flags & JM_IN_CONSTRAINTS)
        bad |= json_array_append_new(list, json_string(jm_layer_name(JM_CONSTRAINTS)));
    if (knob->flags & JM_PER_TOOL)
        bad |= json_array_append_new(list, json_string(jm_layer_name(JM_TOOL_RULE)));
    if (knob->flags & JM_IN_YAML)
        bad |= json_array_append_new(list, json_string(jm_layer_name(JM_YAML)));
    if (!bad)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *key_json(const struct jm_key *key)
{
    const char *kind = NULL, *owner = owner_of(key, &kind);
    json_t *fallback = key->fallback ? jm_json_deep_copy(key->fallback) : json_null();
    json_t *json = json_pack("{s:s, s:s, s:s, s:o, s:o, s:b, s:s}", "key", key->path ? key->path : key->knob.name,
                             "name", key->knob.name, "type", jm_type_name(key->knob.type), "default", fallback,
                             "layers", layers_json(&key->knob), "cwd", (key->knob.flags & JM_CWD_SAFE) != 0, "doc",
                             key->knob.doc ? key->knob.doc : "");
    if (json && owner && json_object_set_new(json, kind, json_string(owner))) {
        json_decref(json);
        return NULL;
    }
    return json;
}

json_t *jm_keys_json(const struct jm_keys *keys)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < keys->count; i++) {
        if (keys->list[i].problem)
            continue;
        if (json_array_append_new(list, key_json(&keys->list[i]))) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}
