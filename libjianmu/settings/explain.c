/* SPDX-License-Identifier: Apache-2.0
 * A plan's own: found in, told, freed; and the mode. */
#include "config.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "plugin/registry.h"
#include "settings/inside.h"
#include "settings/constraints.h"
#include "settings/values.h"
#include <stdio.h>
#include <string.h>

const char *jm_layer_name(enum jm_layer layer)
{
    switch (layer) {
    case JM_UNSET: return "unset";
    case JM_DEFAULT: return "default";
    case JM_YAML: return "yaml";
    case JM_TOOL_RULE: return "tools";
    case JM_CONSTRAINTS: return "constraints";
    case JM_CALL: return "call";
    case JM_POLICY: return "policy";
    }
    return "unknown";
}

void jm_plan_free(struct jm_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->count; i++)
        json_decref(plan->entries[i].setting.value);
    json_decref(plan->timeout_max.value);
    free(plan->entries);
    if (plan->own_keys)
        jm_keys_free(plan->own_keys);
    free(plan->own_keys);
    free(plan->mode);
    free(plan->subject);
    free(plan->refusal);
    free(plan->notice);
    free(plan->over_max);
    free(plan->over_timeout);
    free(plan);
}

const struct jm_plan_entry *jm_plan_find(const struct jm_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->count; i++)
        if (!strcmp(plan->entries[i].name, name))
            return &plan->entries[i];
    return NULL;
}

static json_t *setting_json(const struct jm_setting *s)
{
    const char *layer = jm_layer_name(s->layer);
    jm_auto_free char *source = NULL;
    int n = s->line    ? jm_format(&source, "%s:%d", s->file, s->line)
            : s->file  ? jm_format(&source, "%s (%s)", layer, s->file)
                       : jm_format(&source, "%s", layer);
    if (n < 0) {
        source = NULL;
        return NULL;
    }
    json_t *value = s->value ? jm_json_deep_copy(s->value) : json_null();
    json_t *json = json_pack("{s:o, s:s, s:s}", "value", value, "layer", layer, "source", source);
    if (json && s->line && (json_object_set_new(json, "file", json_string(s->file)) ||
                            json_object_set_new(json, "line", json_integer(s->line)))) {
        json_decref(json);
        return NULL;
    }
    return json;
}

json_t *jm_plan_json(const struct jm_plan *plan)
{
    jm_auto_json json_t *settings = json_object();
    for (size_t i = 0; settings && i < plan->count; i++)
        if (json_object_set_new(settings, plan->entries[i].name, setting_json(&plan->entries[i].setting)))
            return NULL;
    return settings ? json_pack("{s:s, s:s, s:O, s:s?, s:s?}", "mode", plan->mode, "subject", plan->subject, "settings",
                                settings, "notice", plan->notice, "over_max",
                                plan->over_max ? plan->over_max : plan->over_timeout)
                    : NULL;
}

int jm_plan_check_max(const struct jm_plan *plan, double own_timeout, jianmu_error **err)
{
    char asked[32], most[JM_SHOWN];
    const struct jm_setting *max = &plan->timeout_max;
    if (plan->over_max || (plan->over_timeout && own_timeout <= 0))
        return jm_fail(err, JIANMU_DENIED, "%s", plan->over_max ? plan->over_max : plan->over_timeout);
    if (!max->value || own_timeout <= json_number_value(max->value))
        return 0;
    return jm_fail(err, JIANMU_DENIED, "timeout_s: %s (call) is above the maximum %s (%s:%d)",
                   jm_print_seconds(own_timeout, asked), jm_show_value(most, max->value), max->file, max->line);
}

int jm_plan_json_timeout(const struct jm_plan *plan, json_t *explain, double seconds)
{
    jianmu_error *why = NULL;
    struct jm_setting call = {json_real(seconds), JM_CALL, NULL, 0};
    json_t *json = call.value ? setting_json(&call) : NULL;
    json_decref(call.value);
    int over = jm_plan_check_max(plan, seconds, &why);
    int bad = json_object_set_new(json_object_get(explain, "settings"), "timeout_s", json) ||
              json_object_set_new(explain, "over_max", over ? json_string(jianmu_error_message(why)) : json_null());
    jianmu_error_free(why);
    return bad ? -1 : 0;
}

/* Where the mode stands: constraints, the tool's rule, the file, or the default. */
struct jm_setting jm_mode_named(const jianmu_config *config, const jianmu_constraints *constraints,
                                const char *subject, const struct jm_item *tool)
{
    bool job = !tool;
    json_t *asked = jm_constraints_get(constraints, "mode");
    if (asked && jm_constraints_apply(constraints, subject, job))
        return (struct jm_setting){asked, JM_CONSTRAINTS, NULL, 0};
    const struct jm_rule *rule = jm_config_rule(config, "mode", subject, job);
    if (rule)
        return rule->setting;
    const struct jm_setting *set = jm_config_value(config, "execution.tool_runner");
    const struct jm_key *core = jm_keys_core(&config->keys, "mode");
    return set ? *set : (struct jm_setting){core ? core->fallback : NULL, JM_DEFAULT, NULL, 0};
}

char *jm_mode_resolve(const jianmu_config *config, const jianmu_constraints *constraints, const char *subject,
                      const struct jm_item *tool, jianmu_error **err)
{
    jianmu_error *why = NULL;
    if (!config->loaded) {
        jm_fail(err, JIANMU_INVALID, "the config is not loaded");
        return NULL;
    }
    struct jm_setting named = jm_mode_named(config, constraints, subject, tool);
    const char *mode = json_string_value(named.value);
    if (jm_registry_find(config->registry, JIANMU_KIND_BACKEND, mode, &why)) {
        char *copy = strdup(mode);
        if (!copy)
            jm_fail_memory(err);
        return copy;
    }
    if (named.line)
        jm_wrap(&why, "%s:%d: %s", named.file, named.line, named.layer == JM_YAML ? "execution.tool_runner" : "mode");
    else if (named.layer == JM_CONSTRAINTS)
        jm_wrap(&why, "constraints: mode");
    jm_fail_take(err, why);
    return NULL;
}
