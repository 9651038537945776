/* SPDX-License-Identifier: Apache-2.0
 * Nodes to JSON by the core schema of YAML 1.2. */
#include "config.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "settings/values.h"
#include "settings/yaml.h"
#include <math.h>
#include <string.h>
#include <strings.h>

static bool is_one_of(const char *text, const char *const *words)
{
    while (*words && strcmp(*words, text))
        words++;
    return *words;
}

bool jm_node_is_null(const struct jm_node *node)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    return node->kind == JM_NODE_SCALAR && node->plain && is_one_of(node->text, nulls);
}

/* What YAML 1.1 read as a truth value and 1.2 reads as text: whoever writes it means one of the two. */
static bool is_old_bool(const char *text)
{
    return !strcasecmp(text, "yes") || !strcasecmp(text, "no") || !strcasecmp(text, "on") || !strcasecmp(text, "off");
}

/* 1: a whole number, 0: none, -1: one that is too large. */
static int whole(const char *text, json_int_t *number)
{
    bool minus = *text == '-';
    unsigned base = 10;
    uint64_t n = 0;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'o'))
        base = text[1] == 'x' ? 16 : 8;
    const char *p = base != 10 ? text + 2 : text + (*text == '-' || *text == '+'), *digits = p;
    bool large = false;
    for (; *p; p++) {
        static const char all[] = "0123456789abcdef";
        const char *at = strchr(all, *p >= 'A' && *p <= 'F' ? *p | 0x20 : *p);
        if (!at || (unsigned)(at - all) >= base)
            return 0;
        large |= n > (INT64_MAX - (uint64_t)(at - all)) / base;
        n = n * base + (uint64_t)(at - all);
    }
    *number = minus ? -(json_int_t)n : (json_int_t)n;
    return p == digits ? 0 : large ? -1 : 1;
}

static bool is_not_finite(const char *text)
{
    static const char *const words[] = {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN", NULL};
    return is_one_of(text + (*text == '-' || *text == '+'), words);
}

static json_t *plain_json(const char *text, const char **why)
{
    static const char *const yes[] = {"true", "True", "TRUE", NULL}, *const no[] = {"false", "False", "FALSE", NULL};
    json_int_t integer;
    double real;
    if (is_one_of(text, yes) || is_one_of(text, no))
        return json_boolean(*text == 't' || *text == 'T');
    if (is_old_bool(text)) {
        *why = "may be meant as true or false, or as text: write true, false, or put it in quotes";
        return NULL;
    }
    int kind = whole(text, &integer);
    if (kind > 0)
        return json_integer(integer);
    bool sign = *text == '-' || *text == '+';
    size_t used = jm_parse_real(text + sign, strlen(text + sign), &real);
    bool is_real = kind == 0 && used && !text[sign + used];
    if (kind < 0 || (is_real && isinf(real)))
        *why = "is too large";
    else if (is_not_finite(text))
        *why = "is not a finite number";
    if (*why)
        return NULL;
    return is_real ? json_real(*text == '-' ? -real : real) : json_string(text);
}

static json_t *scalar_json(const struct jm_node *node, const char *label, const char *file, jianmu_error **err)
{
    const char *why = NULL;
    char shown[JM_SHOWN];
    if (jm_node_is_null(node))
        return json_null();
    json_t *value = node->plain ? plain_json(node->text, &why) : json_string(node->text);
    if (why)
        jm_fail(err, JIANMU_INVALID, "%s:%d:%d: %s: %s %s", file, node->line, node->column, label,
                jm_show(shown, node->text), why);
    else if (!value)
        jm_fail_memory(err);
    return value;
}

/* At most JM_YAML_DEEPEST calls deep. */
json_t *jm_node_json(const struct jm_node *node, const char *label, const char *file, jianmu_error **err)
{
    if (node->kind == JM_NODE_SCALAR)
        return scalar_json(node, label, file, err);
    jm_auto_json json_t *all = node->kind == JM_NODE_LIST ? json_array() : json_object();
    for (const struct jm_node *child = node->child; child; child = child->next) {
        json_t *value = jm_node_json(child, label, file, err);
        if (!value)
            return NULL;
        if (child->key ? json_object_set_new(all, child->key, value) : json_array_append_new(all, value)) {
            jm_fail_memory(err);
            return NULL;
        }
    }
    if (!all)
        jm_fail_memory(err);
    return jm_steal(all);
}
