/* SPDX-License-Identifier: Apache-2.0
 * Maxima. A number has a largest one, a text a list of patterns that are allowed. What was asked for beyond one is
 * recorded and denied; a default comes down to it; what nobody set becomes it, as unset would mean without bounds. */
#include "config.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "settings/inside.h"
#include "settings/values.h"
#include <stdio.h>
#include <string.h>

static const char *const bounded[] = {
    "timeout_s",  "memory",     "cpus",         "pids",    "cpu_time_s",   "fsize",       "nofile",
    "disk",       "network",    "docker_image", "mode",    "tmpfs_noexec", "output_limit", "capture",
    "max_output", "max_retries", "concurrency",  "artifact_count", "artifact_bytes", "artifact_total",
    "artifact_depth"};

static int unknown_bound(const char *file, const struct jm_node *node, jianmu_error **err)
{
    char shown[JM_SHOWN];
    const char *nearest = jm_text_nearest(node->key, bounded, jm_countof(bounded));
    return jm_fail(err, JIANMU_INVALID, "%s:%d:%d: %s is no setting that can have a maximum%s%s%s", file, node->key_line,
                   node->key_column, jm_show(shown, node->key), nearest ? "; did you mean \"" : "",
                   nearest ? nearest : "", nearest ? "\"?" : "");
}

/* A text stands for the list of it alone. */
static json_t *allowed(const char *label, const struct jm_knob *knob, const json_t *json, jianmu_error **err)
{
    json_t *list = json_array(), *item = NULL;
    size_t count = json_is_array(json) ? json_array_size(json) : 1;
    for (size_t i = 0; list && i < count; i++) {
        item = jm_coerce_as(label, knob, json_is_array(json) ? json_array_get(json, i) : json, err);
        if (!item || json_array_append_new(list, item)) {
            if (item)
                jm_fail_memory(err);
            json_decref(list);
            return NULL;
        }
    }
    if (list && count)
        return list;
    json_decref(list);
    if (count)
        jm_fail_memory(err);
    else
        jm_fail(err, JIANMU_INVALID, "%s: an empty list allows nothing at all", label);
    return NULL;
}

static int add_bound(jianmu_config *c, const struct jm_node *node, const char *where, const char *file,
                     jianmu_error **err)
{
    const struct jm_knob *knob = NULL;
    for (size_t i = 0; i < jm_countof(bounded); i++)
        if (!strcmp(bounded[i], node->key))
            knob = jm_knob_find(node->key);
    if (!knob)
        return unknown_bound(file, node, err);
    jm_auto_free char *label = NULL;
    if (jm_format(&label, "%s.%s", where, node->key) < 0) {
        label = NULL;
        return jm_fail_memory(err);
    }
    jm_auto_json json_t *json = jm_node_json(node, label, file, err);
    if (!json)
        return -1;
    jianmu_error *why = NULL;
    json_t *value = knob->type == JM_STR ? allowed(label, knob, json, &why) : jm_coerce_as(label, knob, json, &why);
    if (!value) {
        jm_wrap(&why, "%s:%d:%d", file, node->line, node->column);
        return jm_fail_take(err, why);
    }
    struct jm_bound *bound = jm_append(&c->bounds, &c->bound_count, sizeof *bound);
    if (!bound) {
        json_decref(value);
        return jm_fail_memory(err);
    }
    *bound = (struct jm_bound){knob, {value, JM_POLICY, file, node->line}};
    return 0;
}

int jm_bounds_load(jianmu_config *config, const struct jm_node *max, const char *where, const char *file,
                   jianmu_error **err)
{
    for (const struct jm_node *node = max->child; node; node = node->next)
        if (add_bound(config, node, where, file, err))
            return -1;
    return 0;
}

static bool is_within(const json_t *value, const json_t *max)
{
    size_t i;
    json_t *pattern;
    if (!json_is_array(max))
        return json_is_number(max) ? json_number_value(value) <= json_number_value(max) : json_equal(value, max);
    json_array_foreach((json_t *)max, i, pattern)
        if (jm_glob_match(json_string_value(pattern), json_string_value(value)))
            return true;
    return false;
}

/* What stands where nobody asked: of patterns the first without a wild character; NULL: there is none. */
static const json_t *stands(const json_t *max)
{
    size_t i;
    json_t *pattern;
    if (!json_is_array(max))
        return max;
    json_array_foreach((json_t *)max, i, pattern)
        if (jm_glob_is_literal(json_string_value(pattern)))
            return pattern;
    return NULL;
}

static void add_max(struct jm_buffer *b, const json_t *max)
{
    size_t i;
    json_t *pattern;
    char shown[JM_SHOWN];
    if (json_is_array(max)) {
        json_array_foreach((json_t *)max, i, pattern)
            jm_buffer_addf(b, "%s%s", i ? ", " : "is not among ", jm_show_value(shown, pattern));
    } else {
        jm_buffer_addf(b, "%s %s", json_is_number(max) ? "is above the maximum" : "must be", jm_show_value(shown, max));
    }
}

static int record(char **over, const struct jm_plan_entry *entry, const struct jm_setting *max, jianmu_error **err)
{
    const struct jm_setting *s = &entry->setting;
    char value[JM_SHOWN];
    struct jm_buffer b = {0};
    if (*over)
        jm_buffer_addf(&b, "%s; ", *over);
    jm_buffer_addf(&b, "%s: %s (%s%s%.0d) ", entry->name, s->value ? jm_show_value(value, s->value) : "unset",
                   s->file ? s->file : jm_layer_name(s->layer), s->line ? ":" : "", s->line);
    add_max(&b, max->value);
    jm_buffer_addf(&b, " (%s:%d)", max->file, max->line);
    free(*over);
    *over = jm_buffer_take(&b);
    return *over ? 0 : jm_fail_memory(err);
}

static int set_timeout_max(struct jm_plan *plan, const struct jm_setting *max, jianmu_error **err)
{
    struct jm_setting *s = &plan->timeout_max;
    if (s->value && json_number_value(s->value) <= json_number_value(max->value))
        return 0;
    json_decref(s->value);
    *s = *max;
    s->value = jm_json_deep_copy(max->value);
    return s->value ? 0 : jm_fail_memory(err);
}

static int apply(struct jm_plan *plan, const struct jm_bound *bound, jianmu_error **err)
{
    struct jm_plan_entry *entry = (struct jm_plan_entry *)jm_plan_find(plan, bound->knob->name);
    bool timeout = !strcmp(bound->knob->name, "timeout_s");
    if (timeout && set_timeout_max(plan, &bound->setting, err))
        return -1;
    if (!entry || (entry->setting.value && is_within(entry->setting.value, bound->setting.value)))
        return 0;
    struct jm_setting *s = &entry->setting;
    const json_t *most = stands(bound->setting.value);
    /* where a call runs is decided before its plan is made */
    if ((entry->asked && s->layer != JM_POLICY) || !most || !strcmp(entry->name, "mode"))
        return record(timeout ? &plan->over_timeout : &plan->over_max, entry, &bound->setting, err);
    json_decref(s->value);
    *s = bound->setting;
    s->value = jm_json_deep_copy(most); /* plans of many threads share nothing */
    entry->asked = true;
    return s->value ? 0 : jm_fail_memory(err);
}

int jm_bounds_apply(const jianmu_config *config, struct jm_plan *plan, jianmu_error **err)
{
    for (size_t i = 0; i < config->bound_count; i++)
        if (apply(plan, &config->bounds[i], err))
            return -1;
    return 0;
}
