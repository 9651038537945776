/* SPDX-License-Identifier: Apache-2.0
 * Layers to plan. There is one rule: go through the layers from the highest down and fill in what is missing. */
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

/* Who knows the setting of that name. */
struct slot {
    const struct jm_key *core, *mode, *tool;
};

struct builder {
    const jianmu_config *config;
    const jianmu_constraints *constraints; /* NULL where they are out of scope */
    const struct jm_item *backend, *tool;  /* tool NULL: a job */
    struct jm_plan *plan;
    struct slot *slots;                    /* as many as entries */
    jianmu_error **err;
};

/* The merge: the first that has something to say wins. value is borrowed, and copied: plans of many threads share
 * nothing. NULL and null are silent. A layer without a value: there was no memory for it. */
static void fill(struct jm_setting *s, const json_t *value, enum jm_layer layer, const char *file, int line)
{
    if (s->layer == JM_UNSET && value && !json_is_null(value))
        *s = (struct jm_setting){jm_json_deep_copy(value), layer, file, line};
}

static void fill_from(struct jm_setting *s, const struct jm_setting *from)
{
    if (from)
        fill(s, from->value, from->layer, from->file, from->line);
}

static const struct jm_rule *best_rule(const struct builder *b, const char *name)
{
    return jm_config_rule(b->config, name, b->plan->subject, !b->tool);
}

/* The file's value again by this tool's own type: one pattern may mean several tools. */
static int fill_rule(const struct builder *b, const struct jm_knob *knob, struct jm_setting *s)
{
    const struct jm_rule *rule = knob->flags & JM_PER_TOOL ? best_rule(b, knob->name) : NULL;
    if (!rule || s->layer != JM_UNSET)
        return 0;
    jm_auto_json json_t *value = jm_coerce(knob, rule->setting.value, b->err);
    fill(s, value, rule->setting.layer, rule->setting.file, rule->setting.line);
    return value ? 0 : -1;
}

static const struct jm_key *mode_key(const struct builder *b, const char *name)
{
    for (size_t i = 0; i < b->plan->count; i++)
        if (!strcmp(b->plan->entries[i].name, name))
            return b->slots[i].mode;
    return NULL;
}

/* Of the timeouts that the file names the smallest holds. */
static void fill_timeout(const struct builder *b, struct jm_setting *s)
{
    const struct jm_key *key = mode_key(b, "docker_timeout");
    const struct jm_setting *all = jm_config_value(b->config, "execution.timeout_s");
    const struct jm_setting *own = key ? jm_config_value(b->config, key->path) : NULL;
    bool own_first = own && (!all || json_number_value(own->value) < json_number_value(all->value));
    fill_from(s, own_first ? own : all);
}

/* What the tool's author gave it. */
static int fill_registrant(const struct builder *b, const char *member, const struct jm_knob *knob,
                           struct jm_setting *s)
{
    json_t *note = b->tool ? json_object_get(b->tool->json, "x-jianmu") : NULL;
    json_t *value = json_object_get(json_object_get(note, member), knob->name);
    jianmu_error *why = NULL;
    if (s->layer != JM_UNSET || !value || json_is_null(value) || !(knob->flags & JM_PER_TOOL) ||
        knob->flags & JM_PER_MODE || !strcmp(knob->name, "mode")) /* where it is shut in is not its author's to say */
        return 0;
    jm_auto_json json_t *coerced = jm_coerce(knob, value, &why);
    if (coerced) {
        fill(s, coerced, JM_DEFAULT, "tool", 0);
        return 0;
    }
    jm_fail(b->err, jianmu_error_code(why) == JIANMU_INVALID ? JIANMU_UNAVAILABLE : JIANMU_INTERNAL,
            "the note of the tool \"%s\" is wrong: %s: %s", b->tool->name, member, jianmu_error_message(why));
    jianmu_error_free(why);
    return -1;
}

static int fill_defaults(const struct builder *b, const struct slot *slot, const struct jm_knob *knob,
                         struct jm_setting *s)
{
    bool isolated = b->backend && (b->backend->flags & JIANMU_ISOLATED);
    if ((isolated && fill_registrant(b, "defaults_isolated", knob, s)) || fill_registrant(b, "defaults", knob, s))
        return -1;
    if (slot->tool)
        fill(s, slot->tool->fallback, JM_DEFAULT, "tool", 0);
    if (slot->mode)
        fill(s, slot->mode->fallback, JM_DEFAULT, NULL, 0);
    if (slot->core && !strcmp(knob->name, "tool_args_max"))
        fill(s, b->config->env_args_max, JM_DEFAULT, "$JIANMU_TOOL_ARGS_MAX", 0);
    const struct jm_key *docker = slot->core && !strcmp(knob->name, "timeout_s") ? mode_key(b, "docker_timeout") : NULL;
    if (docker)
        fill(s, docker->fallback, JM_DEFAULT, NULL, 0);
    if (slot->core)
        fill(s, slot->core->fallback, JM_DEFAULT, NULL, 0);
    return 0;
}

static int merge(const struct builder *b, const struct slot *slot, struct jm_plan_entry *entry)
{
    struct jm_setting *s = &entry->setting;
    const struct jm_key *key = slot->core ? slot->core : slot->tool ? slot->tool : slot->mode;
    const struct jm_key *wrong = slot->mode && slot->mode->problem   ? slot->mode
                                 : slot->tool && slot->tool->problem ? slot->tool : NULL;
    if (wrong)
        return jm_fail(b->err, JIANMU_UNAVAILABLE, "the note of the %s \"%s\" is wrong about its key \"%s\": %s",
                       wrong->mode ? "backend" : "tool", wrong->mode ? wrong->mode : wrong->tool, wrong->name,
                       wrong->problem);
    if (slot->core)
        fill(s, jm_constraints_get(b->constraints, entry->name), JM_CONSTRAINTS, NULL, 0);
    if (fill_rule(b, &key->knob, s))
        return -1;
    if (slot->core && !strcmp(entry->name, "timeout_s"))
        fill_timeout(b, s);
    if (slot->mode)
        fill_from(s, jm_config_value(b->config, slot->mode->path));
    if (slot->core && slot->core->path)
        fill_from(s, jm_config_value(b->config, slot->core->path));
    if (fill_defaults(b, slot, &key->knob, s))
        return -1;
    entry->asked = s->layer > JM_DEFAULT;
    return s->layer != JM_UNSET && !s->value ? jm_fail_memory(b->err) : 0;
}

/* What only some backends have is shown where it means something: the backend has it, it limits, or it was asked. */
static bool is_shown(const struct builder *b, const struct jm_key *key)
{
    const char *yaml = key->knob.yaml;
    if (key->guard || key->sink)
        return false;
    if (key->mode || key->tool)
        return key->mode ? !strcmp(key->mode, b->plan->mode) : b->tool && key->tool == b->tool->name;
    if (yaml && strncmp(yaml, "execution.", 10))
        return false;
    if (!(key->knob.flags & JM_PER_MODE) || key->knob.flags & JM_LIMIT ||
        jm_constraints_get(b->constraints, key->knob.name) || best_rule(b, key->knob.name))
        return true;
    for (size_t i = 0; i < b->config->keys.count; i++) {
        const struct jm_key *other = &b->config->keys.list[i];
        if (other->mode && !strcmp(other->mode, b->plan->mode) && !strcmp(other->knob.name, key->knob.name))
            return true;
    }
    return false;
}

/* A tool of a skill is in no config: what its note adds is read for its plan. */
static int add_own_keys(struct builder *b)
{
    size_t i = 0, count = jm_registry_count(b->config->registry);
    while (i < count && jm_registry_item(b->config->registry, i) != b->tool)
        i++;
    if (!b->tool || i < count)
        return 0;
    b->plan->own_keys = calloc(1, sizeof *b->plan->own_keys);
    return b->plan->own_keys ? jm_keys_of_tool(b->plan->own_keys, b->tool, b->err) : jm_fail_memory(b->err);
}

/* One entry a name, whoever has it. */
static int list_entries(struct builder *b)
{
    const struct jm_keys *keys = &b->config->keys, *own = b->plan->own_keys;
    size_t most = keys->count + (own ? own->count : 0);
    b->plan->entries = calloc(most, sizeof *b->plan->entries);
    b->slots = calloc(most, sizeof *b->slots);
    if (!b->plan->entries || !b->slots)
        return jm_fail_memory(b->err);
    for (size_t i = 0; i < most; i++) {
        const struct jm_key *key = i < keys->count ? &keys->list[i] : &own->list[i - keys->count];
        size_t at = 0;
        if (!is_shown(b, key))
            continue;
        while (at < b->plan->count && strcmp(b->plan->entries[at].name, key->knob.name))
            at++;
        if (at == b->plan->count) {
            b->plan->entries[b->plan->count++].name = key->knob.name;
            b->plan->entries[at].flags = key->knob.flags;
        }
        if (key->mode)
            b->slots[at].mode = key;
        else if (key->tool)
            b->slots[at].tool = key;
        else
            b->slots[at].core = key;
    }
    return 0;
}

static double number(const struct jm_plan *plan, const char *name)
{
    const struct jm_plan_entry *entry = jm_plan_find(plan, name);
    return entry && entry->setting.value ? json_number_value(entry->setting.value) : 0;
}

/* An opened backend is what it is, whatever the layers name. */
static int set_mode(const struct builder *b)
{
    struct jm_setting *s = &((struct jm_plan_entry *)jm_plan_find(b->plan, "mode"))->setting;
    if (s->value && !strcmp(json_string_value(s->value), b->plan->mode))
        return 0;
    json_decref(s->value);
    *s = (struct jm_setting){json_string(b->plan->mode), JM_CALL, NULL, 0};
    return s->value ? 0 : jm_fail_memory(b->err);
}

/* What every call reads. */
static void set_fields(struct jm_plan *plan)
{
    plan->timeout_s = number(plan, "timeout_s");
    plan->cpu_time_s = number(plan, "cpu_time_s");
    plan->capture = (uint64_t)number(plan, "capture");
    plan->output_limit = (uint64_t)number(plan, "output_limit");
    plan->max_output = (uint64_t)number(plan, "max_output");
    plan->concurrency = (uint64_t)number(plan, "concurrency");
    plan->fsize = (uint64_t)number(plan, "fsize");
    plan->nofile = (uint64_t)number(plan, "nofile");
    plan->artifact_count = (uint64_t)number(plan, "artifact_count");
    plan->artifact_bytes = (uint64_t)number(plan, "artifact_bytes");
    plan->artifact_total = (uint64_t)number(plan, "artifact_total");
    plan->artifact_depth = (uint64_t)number(plan, "artifact_depth");
}

/* What the caller should be told: constraints that speak of something else, fields that this mode has no use for. */
static int write_notice(const struct builder *b, const jianmu_constraints *given)
{
    struct jm_buffer text = {0};
    const char *field, *comma = "";
    json_t *value;
    if (given && !b->constraints) {
        json_object_foreach((json_t *)jm_constraints_fields(given), field, value) {
            if (!strcmp(field, "scope"))
                continue;
            jm_buffer_addf(&text, "%s%s", comma, field);
            comma = ", ";
        }
        if (*comma)
            jm_buffer_addf(&text, ": not heeded, the constraints' scope \"%s\" has no %s",
                           json_string_value(jm_constraints_get(given, "scope")), b->tool ? "tool calls" : "jobs");
    }
    for (size_t i = 0; i < b->plan->count; i++) {
        const struct jm_plan_entry *entry = &b->plan->entries[i];
        bool useless = entry->asked && entry->flags & JM_PER_MODE && !(entry->flags & JM_LIMIT) && !b->slots[i].mode;
        if (useless)
            jm_buffer_addf(&text, "%s%s: means nothing in mode \"%s\"", text.len ? "; " : "", entry->name,
                           b->plan->mode);
    }
    if (!text.len && !text.failed)
        return 0;
    b->plan->notice = jm_buffer_take(&text);
    return b->plan->notice ? 0 : jm_fail_memory(b->err);
}

static int build(struct builder *b, const jianmu_constraints *given)
{
    if (add_own_keys(b) || list_entries(b))
        return -1;
    for (size_t i = 0; i < b->plan->count; i++)
        if (merge(b, &b->slots[i], &b->plan->entries[i]))
            return -1;
    if (set_mode(b))
        return -1;
    if (b->plan->strict && (jm_strict_defaults(b->plan, b->backend, b->err) ||
                            (given && !b->constraints && jm_strict_ignored(b->plan, given, b->err))))
        return -1;
    if (jm_bounds_apply(b->config, b->plan, b->err))
        return -1;
    set_fields(b->plan);
    return write_notice(b, given);
}

struct jm_plan *jm_plan_new(const jianmu_config *config, const jianmu_constraints *constraints, const char *mode,
                            const char *subject, const struct jm_item *tool, jianmu_error **err)
{
    bool apply = jm_constraints_apply(constraints, subject, !tool);
    if (!config->loaded) {
        jm_fail(err, JIANMU_INVALID, "the config is not loaded");
        return NULL;
    }
    struct builder b = {.config = config, .constraints = apply ? constraints : NULL, .tool = tool, .err = err};
    b.plan = calloc(1, sizeof *b.plan);
    if (!b.plan || !(b.plan->subject = strdup(subject))) {
        jm_plan_free(b.plan);
        jm_fail_memory(err);
        return NULL;
    }
    b.plan->strict = !strcmp(jm_config_profile(config), "strict");
    b.plan->mode = mode ? jm_mode_normalise(mode, err) : jm_mode_resolve(config, constraints, subject, tool, err);
    jianmu_error *why = NULL;
    b.backend = b.plan->mode ? jm_registry_find(config->registry, JIANMU_KIND_BACKEND, b.plan->mode, &why) : NULL;
    /* an opened "local" need not be in a directory: that of the tool host is the core's own */
    bool own = mode && b.plan->mode && !strcmp(b.plan->mode, "local");
    int rc = b.backend || own ? build(&b, constraints) : -1;
    if (rc)
        jm_fail_take(err, why);
    else
        jianmu_error_free(why);
    free(b.slots);
    if (!rc)
        return b.plan;
    jm_plan_free(b.plan);
    return NULL;
}
