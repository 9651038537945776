/* SPDX-License-Identifier: Apache-2.0
 * What a config holds, as JSON for callers and models. None of the plug-ins' code runs. */
#include "config.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "plugin/registry.h"
#include "settings/inside.h"
#include "settings/values.h"
#include <string.h>

json_t *jianmu_config_plugins(const jianmu_config *config)
{
    return config->registry ? jm_registry_json(config->registry) : json_array();
}

/* A path may hold any bytes, JSON may not. */
static json_t *path_json(const char *path)
{
    size_t len;
    jm_auto_free char *valid = jm_utf8_repair(path, strlen(path), &len);
    return valid ? json_string(valid) : NULL;
}

static json_t *flags_json(uint64_t flags)
{
    static const struct {
        uint64_t bit;
        const char *name;
    } names[] = {{JIANMU_READ_ONLY, "read_only"},   {JIANMU_IDEMPOTENT, "idempotent"},
                 {JIANMU_OPEN_WORLD, "open_world"}, {JIANMU_COOPERATES, "cooperates"},
                 {JIANMU_BY_PROCESS, "by_process"}, {JIANMU_ISOLATED, "isolated"},
                 {JIANMU_IN_PROCESS, "in_process"}};
    json_t *list = json_array();
    for (size_t i = 0; list && i < jm_countof(names); i++) {
        if (flags & names[i].bit && json_array_append_new(list, json_string(names[i].name))) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static void add_limit(struct jm_buffer *b, const struct jm_plan *plan, const char *name, const char *unit)
{
    const struct jm_plan_entry *entry = jm_plan_find(plan, name);
    char shown[JM_SHOWN];
    if (!entry || !entry->setting.value)
        return;
    const char *text = json_string_value(entry->setting.value);
    jm_buffer_adds(b, b->len ? ", " : "Limits: ");
    if (text)
        jm_buffer_addf(b, "%s %s", unit, text);
    else
        jm_buffer_addf(b, "%s %s", jm_show_value(shown, entry->setting.value), unit);
}

/* What the tool's author wrote, and one line of what holds here: both are part of a prompt. plan NULL: it cannot run
 * here at all. */
static json_t *description(const struct jm_plan *plan, const struct jm_item *item)
{
    struct jm_buffer b = {0};
    if (plan) {
        add_limit(&b, plan, "timeout_s", "seconds of time");
        add_limit(&b, plan, "max_output", "characters of output");
        add_limit(&b, plan, "memory", "bytes of memory");
        add_limit(&b, plan, "pids", "processes");
        add_limit(&b, plan, "network", "network");
    }
    json_t *json = b.failed ? NULL : b.len ? json_sprintf("%s\n%s.", item->text, b.data) : json_string(item->text);
    jm_buffer_free(&b);
    return json;
}

json_t *jm_tool_json(const jianmu_config *config, const jianmu_constraints *constraints, const struct jm_item *item)
{
    static const char *const dangers[] = {"read", "write", "dangerous"};
    size_t danger = item->danger >= 1 && item->danger <= 3 ? item->danger - 1 : 2; /* unknown: the worst */
    jianmu_error *err = NULL;
    struct jm_plan *plan = jm_plan_new(config, constraints, NULL, item->name, item, &err);
    bool short_of_memory = jianmu_error_code(err) == JIANMU_INTERNAL;
    jianmu_error_free(err);
    if (short_of_memory)
        return NULL;
    json_t *schema = jm_json_deep_copy(item->json); /* what stands in x-jianmu is not for models */
    if (schema)
        json_object_del(schema, "x-jianmu");
    json_t *json = json_pack("{s:s, s:o, s:o, s:s, s:o, s:s?, s:o}", "name", item->name, "description",
                             description(plan, item), "parameters", schema, "danger", dangers[danger], "flags",
                             flags_json(item->flags), "mode", plan ? plan->mode : NULL, "path", path_json(item->path));
    jm_plan_free(plan);
    return json;
}

static json_t *tool_json(const jianmu_config *config, const struct jm_item *item)
{
    return jm_tool_json(config, NULL, item);
}

static json_t *backend_json(const jianmu_config *config, const struct jm_item *item)
{
    (void)config;
    json_t *enforces = json_object_get(item->json, "enforces");
    return json_pack("{s:s, s:s, s:o, s:o, s:o}", "mode", item->name, "description", item->text, "enforces",
                     json_is_array(enforces) ? jm_json_deep_copy(enforces) : json_array(), "flags",
                     flags_json(item->flags), "path", path_json(item->path));
}

static json_t *list(const jianmu_config *config, uint32_t kind,
                    json_t *(*one)(const jianmu_config *, const struct jm_item *))
{
    json_t *all = json_array();
    size_t count = config->registry ? jm_registry_count(config->registry) : 0;
    for (size_t i = 0; all && i < count; i++) {
        const struct jm_item *item = jm_registry_item(config->registry, i);
        if (item->kind == kind && item->state == JM_USABLE && json_array_append_new(all, one(config, item))) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

json_t *jianmu_config_tools(const jianmu_config *config)
{
    return list(config, JIANMU_KIND_TOOL, tool_json);
}

json_t *jianmu_config_backends(const jianmu_config *config)
{
    return list(config, JIANMU_KIND_BACKEND, backend_json);
}

json_t *jianmu_config_keys(const jianmu_config *config)
{
    return jm_keys_json(&config->keys);
}
