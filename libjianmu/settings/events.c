/* SPDX-License-Identifier: Apache-2.0
 * The section events: what only it can have wrong, and what the sinks are told. */
#include "config.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/pattern.h"
#include "base/text.h"
#include "plugin/registry.h"
#include "settings/inside.h"
#include "settings/values.h"
#include <stdio.h>
#include <string.h>

enum { MOST_PATTERNS = 64 };

static int check_pattern(const jianmu_config *c, const char *text, jianmu_error **err)
{
    (void)c;
    struct jm_pattern *p = jm_pattern_new(text, strlen(text), err);
    int empty = p ? jm_pattern_matches(p, "", 0, NULL) : 0;
    jm_pattern_free(p);
    if (!p)
        return -1;
    return empty ? jm_fail(err, JIANMU_INVALID, "the pattern matches nothing at all, so it would blot nothing out") : 0;
}

static int check_included(const jianmu_config *c, const char *word, jianmu_error **err)
{
    static const char *const words[] = {"arguments", "result", "error"};
    char shown[JM_SHOWN];
    (void)c;
    for (size_t i = 0; i < jm_countof(words); i++)
        if (!strcmp(word, words[i]))
            return 0;
    return jm_fail(err, JIANMU_INVALID, "%s cannot be included; there are arguments, result, error", jm_show(shown, word));
}

static int check_sink(const jianmu_config *c, const char *name, jianmu_error **err)
{
    jianmu_error *why = NULL;
    if (jm_registry_find(c->registry, JIANMU_KIND_SINK, name, &why))
        return 0;
    jm_fail(err, JIANMU_INVALID, "%s", jianmu_error_message(why));
    jianmu_error_free(why);
    return -1;
}

/* Each item of a list, told by its own place. */
static int check_list(const jianmu_config *c, const struct jm_node *list, const char *label,
                      int (*check)(const jianmu_config *, const char *, jianmu_error **), size_t most, jianmu_error **err)
{
    size_t count = 0;
    for (const struct jm_node *node = list ? list->child : NULL; node; node = node->next) {
        jianmu_error *why = NULL;
        if (count++ == most)
            jm_fail(&why, JIANMU_INVALID, "more than %zu are too many", most);
        else if (!check(c, node->text ? node->text : "", &why))
            continue;
        jm_wrap(&why, "%s:%d:%d: %s", c->file, node->line, node->column, label);
        return jm_fail_take(err, why);
    }
    return 0;
}

int jm_check_events(const jianmu_config *c, const struct jm_node *events, jianmu_error **err)
{
    if (check_list(c, jm_node_member(events, "redact"), "events.redact", check_pattern, MOST_PATTERNS, err) ||
        check_list(c, jm_node_member(events, "include"), "events.include", check_included, 16, err))
        return -1;
    return check_list(c, jm_node_member(events, "use"), "events.use", check_sink, 64, err);
}

static int add_name(json_t *names, const char *name, jianmu_error **err)
{
    size_t i;
    json_t *item;
    json_array_foreach (names, i, item)
        if (!strcmp(json_string_value(item), name))
            return 0;
    return json_array_append_new(names, json_string(name)) ? jm_fail_memory(err) : 0;
}

json_t *jm_config_sinks(const jianmu_config *config, jianmu_error **err)
{
    jm_auto_json json_t *names = json_array();
    const struct jm_setting *use = jm_config_value(config, "events.use");
    size_t i;
    json_t *item;
    if (!names) {
        jm_fail_memory(err);
        return NULL;
    }
    json_array_foreach (use ? use->value : NULL, i, item)
        if (add_name(names, json_string_value(item), err))
            return NULL;
    for (i = 0; i < config->keys.count; i++) {
        const struct jm_key *key = &config->keys.list[i];
        if (key->sink && jm_config_value(config, key->path) && add_name(names, key->sink, err))
            return NULL;
    }
    return jm_steal(names);
}

json_t *jm_config_sink_value(const jianmu_config *config, const char *sink, const char *name, const json_t *value,
                             jianmu_error **err)
{
    const char *names[64];
    size_t count = 0;
    for (size_t i = 0; i < config->keys.count; i++) {
        const struct jm_key *key = &config->keys.list[i];
        if (!key->sink || strcmp(key->sink, sink))
            continue;
        if (!strcmp(key->knob.name, name))
            return json_is_null(value) ? json_null() : jm_coerce_as(key->path, &key->knob, value, err);
        if (count < jm_countof(names))
            names[count++] = key->knob.name;
    }
    const char *nearest = jm_text_nearest(name, names, count);
    char shown[JM_SHOWN];
    jm_fail(err, JIANMU_INVALID, "sink '%s' has no setting %s%s%s%s", sink, jm_show(shown, name),
            nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    return NULL;
}
