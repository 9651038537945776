/* SPDX-License-Identifier: Apache-2.0
 * rules: in their order, each with what must hold and what then. */
#include "config.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/pattern.h"
#include "base/text.h"
#include "plugin/registry.h"
#include "settings/guard.h"
#include "settings/values.h"
#include <string.h>

static int wrong_word(struct jm_guard_reader *r, const struct jm_node *node, const char *what, const char *text,
                      const char *const *words, size_t count)
{
    char shown[JM_SHOWN];
    for (size_t i = 0; i < count; i++)
        if (!strcmp(text, words[i]))
            return 0;
    const char *nearest = jm_text_nearest(text, words, count);
    return jm_guard_wrong(r, node, "%s: %s is none of %s, %s, %s%s%s%s", what, jm_show(shown, text), words[0], words[1],
                          words[2], nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

static int danger(struct jm_guard_reader *r, const struct jm_node *node, const char *text)
{
    static const char *const words[] = {"read", "write", "dangerous"};
    return wrong_word(r, node, "danger", text, words, jm_countof(words));
}

/* A mode whose plug-in is elsewhere may be named, one that is only misspelled may not. */
static int mode(struct jm_guard_reader *r, const struct jm_node *node, const char *text)
{
    const char *names[64] = {"local", "docker", "native"};
    char shown[JM_SHOWN];
    size_t count = 3;
    for (size_t i = 0; i < jm_registry_count(r->config->registry) && count < jm_countof(names); i++) {
        const struct jm_item *item = jm_registry_item(r->config->registry, i);
        if (item->kind == JIANMU_KIND_BACKEND && item->state == JM_USABLE)
            names[count++] = item->name;
    }
    for (size_t i = 0; i < count; i++)
        if (!strcmp(text, names[i]))
            return 0;
    const char *nearest = jm_glob_is_literal(text) ? jm_text_nearest(text, names, count) : NULL;
    return nearest ? jm_guard_wrong(r, node, "mode: unknown mode %s; did you mean \"%s\"?", jm_show(shown, text), nearest)
                   : 0;
}

static json_t *then(struct jm_guard_reader *r, const struct jm_node *node)
{
    static const char *const words[] = {"allow", "confirm", "deny"};
    const char *text = jm_guard_text(r, node, "then");
    if (!text || wrong_word(r, node, "then", text, words, jm_countof(words)))
        return NULL;
    json_t *value = json_string(text);
    if (!value)
        jm_fail_memory(r->err);
    return value;
}

static json_t *plain_text(struct jm_guard_reader *r, const struct jm_node *node, const char *what)
{
    const char *text = jm_guard_text(r, node, what);
    json_t *value = text ? json_string(text) : NULL;
    if (text && !value)
        jm_fail_memory(r->err);
    return value;
}

static int rule_key(struct jm_guard_reader *r, const struct jm_node *node, json_t *rule)
{
    const char *key = node->key;
    json_t *value = !strcmp(key, "tool")     ? jm_guard_texts(r, node, "tool", jm_guard_tool)
                    : !strcmp(key, "danger") ? jm_guard_texts(r, node, "danger", danger)
                    : !strcmp(key, "mode")   ? jm_guard_texts(r, node, "mode", mode)
                    : !strcmp(key, "skill")  ? jm_guard_texts(r, node, "skill", NULL)
                    : !strcmp(key, "args")   ? jm_guard_args(r, node)
                    : !strcmp(key, "plan")   ? jm_guard_plan(r, node)
                    : !strcmp(key, "then")   ? then(r, node)
                                             : plain_text(r, node, key);
    return jm_guard_put(r, rule, key, value);
}

static json_t *one_rule(struct jm_guard_reader *r, const struct jm_node *node)
{
    static const char *const keys[] = {"name", "tool", "danger", "mode", "skill", "args", "plan", "then", "message"};
    if (jm_guard_is_map(r, node, "a rule"))
        return NULL;
    jm_auto_json json_t *rule = jm_guard_object(r, node);
    if (!rule)
        return NULL;
    for (const struct jm_node *key = node->child; key; key = key->next)
        if (jm_guard_known(r, key, "a rule", keys, jm_countof(keys)) || rule_key(r, key, rule))
            return NULL;
    if (!json_object_get(rule, "then")) {
        jm_guard_wrong(r, node, "this rule does not say what then: allow, confirm or deny");
        return NULL;
    }
    return jm_steal(rule);
}

json_t *jm_guard_rules(struct jm_guard_reader *r, const struct jm_node *node)
{
    return jm_guard_each(r, node, "guard.rules", one_rule);
}

/* RFC 6901: empty, or begins with "/"; "~" only as "~0" and "~1". */
static const char *pointer_fault(const char *text)
{
    if (*text && *text != '/')
        return "does not begin with \"/\"";
    for (; *text; text++)
        if (*text == '~' && text[1] != '0' && text[1] != '1')
            return "has a \"~\" in it that is neither \"~0\" nor \"~1\"";
    return NULL;
}

static int check_pattern(struct jm_guard_reader *r, const struct jm_node *node, const char *text)
{
    jianmu_error *why = NULL;
    struct jm_pattern *pattern = jm_pattern_new(text, strlen(text), &why);
    jm_pattern_free(pattern);
    if (pattern)
        return 0;
    if (jianmu_error_code(why) != JIANMU_INVALID)
        return jm_fail_take(r->err, why);
    jm_guard_wrong(r, node, "regex: %s", jianmu_error_message(why));
    jianmu_error_free(why);
    return -1;
}

static json_t *one_argument(struct jm_guard_reader *r, const struct jm_node *node)
{
    static const char *const keys[] = {"at", "glob", "regex"};
    char shown[JM_SHOWN];
    if (jm_guard_is_map(r, node, "a pattern of arguments"))
        return NULL;
    for (const struct jm_node *key = node->child; key; key = key->next)
        if (jm_guard_known(r, key, "a pattern of arguments", keys, jm_countof(keys)))
            return NULL;
    const struct jm_node *at = jm_node_member(node, "at"), *glob = jm_node_member(node, "glob"),
                         *regex = jm_node_member(node, "regex");
    if (!at || !glob == !regex) {
        jm_guard_wrong(r, node, at ? "exactly one of glob and regex must stand beside at"
                                   : "at is missing: the JSON pointer of the argument");
        return NULL;
    }
    const char *fault = at->kind != JM_NODE_SCALAR || jm_node_is_null(at) ? "is no text" : pointer_fault(at->text);
    if (fault) {
        jm_guard_wrong(r, at, "at: %s is no JSON pointer: it %s", jm_show(shown, at->text ? at->text : ""), fault);
        return NULL;
    }
    const struct jm_node *what = glob ? glob : regex;
    const char *text = jm_guard_text(r, what, what->key);
    if (!text || (regex && check_pattern(r, regex, text)))
        return NULL;
    json_t *json = json_pack("{s:s, s:s}", "at", at->text, what->key, text);
    if (!json)
        jm_fail_memory(r->err);
    return json;
}

json_t *jm_guard_args(struct jm_guard_reader *r, const struct jm_node *node)
{
    json_t *list = jm_guard_each(r, node, "args", one_argument);
    if (!list || json_array_size(list))
        return list;
    json_decref(list);
    jm_guard_wrong(r, node, "args: the list is empty");
    return NULL;
}
