/* SPDX-License-Identifier: Apache-2.0
 * Conditions on values of the plan, read by the type that the value has there. */
#include "config.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "settings/guard.h"
#include "settings/values.h"
#include <string.h>

static bool in_plan(const struct jm_key *key)
{
    return !key->guard && !key->sink && (!key->knob.yaml || !strncmp(key->knob.yaml, "execution.", 10));
}

static const struct jm_key *find_key(const struct jm_guard_reader *r, const char *name)
{
    const struct jm_keys *keys = &r->config->keys;
    for (size_t i = 0; i < keys->count; i++)
        if (in_plan(&keys->list[i]) && !keys->list[i].problem && !strcmp(keys->list[i].knob.name, name))
            return &keys->list[i];
    return NULL;
}

static int unknown_value(struct jm_guard_reader *r, const struct jm_node *node)
{
    const char *names[256];
    char shown[JM_SHOWN];
    size_t count = 0;
    for (size_t i = 0; i < r->config->keys.count && count < jm_countof(names); i++)
        if (in_plan(&r->config->keys.list[i]))
            names[count++] = r->config->keys.list[i].knob.name;
    const char *nearest = jm_text_nearest(node->key, names, count);
    return jm_guard_wrong_key(r, node, "plan: there is no value %s in a plan%s%s%s", jm_show(shown, node->key),
                              nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

/* What a value is compared with need not be one that could be set: above 0 is a question, too. */
static json_t *coerced(struct jm_guard_reader *r, const struct jm_node *node, const char *name, struct jm_knob knob)
{
    jianmu_error *why = NULL;
    jm_auto_free char *label = NULL;
    if (jm_format(&label, "plan.%s", name) < 0) {
        label = NULL;
        jm_fail_memory(r->err);
        return NULL;
    }
    jm_auto_json json_t *json = jm_node_json(node, label, r->file, r->err);
    if (!json)
        return NULL;
    knob.min = 0;
    knob.flags = 0;
    json_t *value = jm_coerce_as(label, &knob, json, &why);
    if (!value) {
        jm_wrap(&why, "%s:%d:%d", r->file, node->line, node->column);
        jm_fail_take(r->err, why);
    }
    return value;
}

static bool is_number(const struct jm_key *key)
{
    return key->knob.type == JM_INT || key->knob.type == JM_REAL || key->knob.type == JM_SECONDS ||
           key->knob.type == JM_SIZE;
}

static json_t *finish(struct jm_guard_reader *r, const char *name, const char *op, json_t *value)
{
    if (!value)
        return NULL;
    json_t *json = json_pack("{s:s, s:s, s:o}", "name", name, "op", op, "value", value);
    if (!json)
        jm_fail_memory(r->err);
    return json;
}

/* {above: n}, {below: n}, {glob: g} */
static json_t *compared(struct jm_guard_reader *r, const struct jm_node *node, const struct jm_key *key)
{
    static const char *const ops[] = {"above", "below", "glob"};
    const struct jm_node *op = node->child;
    if (!op || op->next) {
        jm_guard_wrong(r, node, "plan.%s: exactly one of above, below and glob must stand here", node->key);
        return NULL;
    }
    if (jm_guard_known(r, op, "a condition of the plan", ops, jm_countof(ops)))
        return NULL;
    bool glob = !strcmp(op->key, "glob");
    if (glob == is_number(key) || key->knob.type == JM_BOOL) {
        jm_guard_wrong_key(r, op, "plan.%s is %s: %s cannot be asked of it", node->key,
                           is_number(key) ? "a number" : key->knob.type == JM_BOOL ? "true or false" : "text", op->key);
        return NULL;
    }
    if (!glob)
        return finish(r, node->key, op->key, coerced(r, op, node->key, key->knob));
    const char *text = jm_guard_text(r, op, "glob");
    json_t *value = text ? json_string(text) : NULL;
    if (text && !value)
        jm_fail_memory(r->err);
    return finish(r, node->key, "glob", value);
}

static json_t *condition(struct jm_guard_reader *r, const struct jm_node *node)
{
    const struct jm_key *key = find_key(r, node->key);
    if (!key) {
        unknown_value(r, node);
        return NULL;
    }
    if (jm_node_is_null(node))
        return finish(r, node->key, "unset", json_null());
    if (node->kind == JM_NODE_MAP)
        return compared(r, node, key);
    if (node->kind == JM_NODE_LIST) {
        jm_guard_wrong(r, node, "plan.%s: one value, or one of above, below and glob, must stand here", node->key);
        return NULL;
    }
    if (key->knob.type != JM_LIST && key->knob.type != JM_MAP)
        return finish(r, node->key, "equal", coerced(r, node, node->key, key->knob));
    const char *text = jm_guard_text(r, node, node->key); /* of lists: one of their items, of maps: a name */
    json_t *value = text ? json_string(text) : NULL;
    if (text && !value)
        jm_fail_memory(r->err);
    return finish(r, node->key, "equal", value);
}

json_t *jm_guard_plan(struct jm_guard_reader *r, const struct jm_node *node)
{
    if (jm_guard_is_map(r, node, "plan"))
        return NULL;
    jm_auto_json json_t *list = json_array();
    if (!list)
        jm_fail_memory(r->err);
    for (const struct jm_node *child = node->child; list && child; child = child->next) {
        json_t *one = condition(r, child);
        if (!one)
            return NULL;
        if (json_array_append_new(list, one)) {
            jm_fail_memory(r->err);
            return NULL;
        }
    }
    if (list && !json_array_size(list)) {
        jm_guard_wrong(r, node, "plan: there is no condition in it");
        return NULL;
    }
    return jm_steal(list);
}
