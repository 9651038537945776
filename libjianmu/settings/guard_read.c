/* SPDX-License-Identifier: Apache-2.0
 * What all parts of a guard section are read with. */
#include "config.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "plugin/registry.h"
#include "settings/guard.h"
#include "settings/values.h"
#include <string.h>

__attribute__((format(printf, 4, 0))) static int complain(struct jm_guard_reader *r, int line, int column, const char *format, va_list ap)
{
    jianmu_error *why = NULL;
    jm_vfail(&why, JIANMU_INVALID, format, ap);
    jm_wrap(&why, "%s:%d:%d", r->file, line, column);
    return jm_fail_take(r->err, why);
}

int jm_guard_wrong(struct jm_guard_reader *r, const struct jm_node *node, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int rc = complain(r, node->line, node->column, format, ap);
    va_end(ap);
    return rc;
}

int jm_guard_wrong_key(struct jm_guard_reader *r, const struct jm_node *node, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int rc = complain(r, node->key_line, node->key_column, format, ap);
    va_end(ap);
    return rc;
}

int jm_guard_known(struct jm_guard_reader *r, const struct jm_node *node, const char *where, const char *const *names,
                   size_t count)
{
    char shown[JM_SHOWN];
    for (size_t i = 0; i < count; i++)
        if (!strcmp(node->key, names[i]))
            return 0;
    const char *nearest = jm_text_nearest(node->key, names, count);
    return jm_guard_wrong_key(r, node, "unknown key %s in %s%s%s%s", jm_show(shown, node->key), where,
                              nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

int jm_guard_is_map(struct jm_guard_reader *r, const struct jm_node *node, const char *what)
{
    return node->kind == JM_NODE_MAP ? 0 : jm_guard_wrong(r, node, "%s must be a mapping of keys to values", what);
}

const char *jm_guard_text(struct jm_guard_reader *r, const struct jm_node *node, const char *what)
{
    if (node->kind != JM_NODE_SCALAR || jm_node_is_null(node)) {
        jm_guard_wrong(r, node, "%s must be text", what);
        return NULL;
    }
    jm_auto_json json_t *value = jm_node_json(node, what, r->file, r->err);
    if (!value)
        return NULL;
    if (!json_is_string(value)) {
        char shown[JM_SHOWN];
        jm_guard_wrong(r, node, "%s: %s is not text; put it in quotes", what, jm_show(shown, node->text));
        return NULL;
    }
    if (!*node->text) {
        jm_guard_wrong(r, node, "%s is empty", what);
        return NULL;
    }
    return node->text;
}

static int add_text(struct jm_guard_reader *r, json_t *list, const struct jm_node *node, const char *what,
                    int (*one)(struct jm_guard_reader *, const struct jm_node *, const char *))
{
    const char *text = jm_guard_text(r, node, what);
    if (!text || (one && one(r, node, text)))
        return -1;
    return json_array_append_new(list, json_string(text)) ? jm_fail_memory(r->err) : 0;
}

json_t *jm_guard_texts(struct jm_guard_reader *r, const struct jm_node *node, const char *what,
                       int (*one)(struct jm_guard_reader *r, const struct jm_node *node, const char *text))
{
    jm_auto_json json_t *list = json_array();
    if (!list) {
        jm_fail_memory(r->err);
        return NULL;
    }
    if (node->kind != JM_NODE_LIST)
        return add_text(r, list, node, what, one) ? NULL : jm_steal(list);
    for (const struct jm_node *child = node->child; child; child = child->next)
        if (add_text(r, list, child, what, one))
            return NULL;
    if (!json_array_size(list)) {
        jm_guard_wrong(r, node, "%s: the list is empty, and nothing would match it", what);
        return NULL;
    }
    return jm_steal(list);
}

json_t *jm_guard_number(struct jm_guard_reader *r, const struct jm_node *node, const char *what, enum jm_type type,
                        double min, double max)
{
    const struct jm_knob knob = {.name = what, .type = type, .min = min, .max = max};
    jianmu_error *why = NULL;
    jm_auto_json json_t *json = jm_node_json(node, what, r->file, r->err);
    if (!json)
        return NULL;
    json_t *value = jm_coerce_as(what, &knob, json, &why);
    if (!value) {
        jm_wrap(&why, "%s:%d:%d", r->file, node->line, node->column);
        jm_fail_take(r->err, why);
    }
    return value;
}

int jm_guard_put(struct jm_guard_reader *r, json_t *object, const char *key, json_t *value)
{
    if (!value)
        return -1; /* it has complained */
    return json_object_set_new(object, key, value) ? jm_fail_memory(r->err) : 0;
}

json_t *jm_guard_object(struct jm_guard_reader *r, const struct jm_node *node)
{
    size_t len; /* a path may hold any bytes */
    jm_auto_free char *file = jm_utf8_repair(r->file, strlen(r->file), &len);
    json_t *object = file ? json_pack("{s:o}", "source", json_sprintf("%s:%d", file, node->line)) : NULL;
    if (!object)
        jm_fail_memory(r->err);
    return object;
}

json_t *jm_guard_each(struct jm_guard_reader *r, const struct jm_node *node, const char *what,
                      json_t *(*one)(struct jm_guard_reader *r, const struct jm_node *node))
{
    if (node->kind != JM_NODE_LIST) {
        jm_guard_wrong(r, node, "%s must be a list", what);
        return NULL;
    }
    jm_auto_json json_t *list = json_array();
    if (!list)
        jm_fail_memory(r->err);
    for (const struct jm_node *child = node->child; list && child; child = child->next) {
        json_t *item = one(r, child);
        if (!item)
            return NULL;
        if (json_array_append_new(list, item)) {
            jm_fail_memory(r->err);
            return NULL;
        }
    }
    return jm_steal(list);
}

/* policy.yaml serves hosts with other plug-ins too, so a name in it need not be here. */
int jm_guard_tool(struct jm_guard_reader *r, const struct jm_node *node, const char *text)
{
    jianmu_error *why = NULL;
    for (const char *p = text; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/*?", *p))
            return jm_guard_wrong(r, node, "tool: a tool's name holds letters, digits and _ - . : / only; * and ? "
                                  "stand for any");
    if (r->policy || !jm_glob_is_literal(text) || !strcmp(text, "job") ||
        jm_registry_find(r->config->registry, JIANMU_KIND_TOOL, text, &why))
        return 0;
    int rc = jianmu_error_code(why) == JIANMU_INTERNAL ? jm_fail_memory(r->err)
                                                       : jm_guard_wrong(r, node, "tool: %s", jianmu_error_message(why));
    jianmu_error_free(why);
    return rc;
}
