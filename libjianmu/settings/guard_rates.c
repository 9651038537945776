/* SPDX-License-Identifier: Apache-2.0
 * rates: and budgets: */
#include "config.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "settings/guard.h"
#include "settings/values.h"
#include <string.h>

#define MOST 1e12

static json_t *word(struct jm_guard_reader *r, const struct jm_node *node, const char *what, const char *const *words,
                    size_t count)
{
    char shown[JM_SHOWN];
    const char *text = jm_guard_text(r, node, what);
    if (!text)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(text, words[i]))
            continue;
        json_t *value = json_string(text);
        if (!value)
            jm_fail_memory(r->err);
        return value;
    }
    const char *nearest = jm_text_nearest(text, words, count);
    jm_guard_wrong(r, node, "%s: %s is none of %s, %s%s%s%s%s%s", what, jm_show(shown, text), words[0], words[1],
                   count > 2 ? ", " : "", count > 2 ? words[2] : "", nearest ? "; did you mean \"" : "",
                   nearest ? nearest : "", nearest ? "\"?" : "");
    return NULL;
}

static json_t *name_of(struct jm_guard_reader *r, const struct jm_node *node)
{
    const char *text = jm_guard_text(r, node, "name");
    json_t *value = text ? json_string(text) : NULL;
    if (text && !value)
        jm_fail_memory(r->err);
    return value;
}

static int rate_key(struct jm_guard_reader *r, const struct jm_node *node, json_t *rate)
{
    static const char *const keys[] = {"rule", "tool", "run"};
    const char *key = node->key;
    json_t *value = !strcmp(key, "tool")    ? jm_guard_texts(r, node, "tool", jm_guard_tool)
                    : !strcmp(key, "calls") ? jm_guard_number(r, node, "calls", JM_INT, 1, MOST)
                    : !strcmp(key, "burst") ? jm_guard_number(r, node, "burst", JM_INT, 1, MOST)
                    : !strcmp(key, "per")   ? jm_guard_number(r, node, "per", JM_SECONDS, 1e-3, 1e8)
                    : !strcmp(key, "key")   ? word(r, node, "key", keys, jm_countof(keys))
                                            : name_of(r, node);
    return jm_guard_put(r, rate, key, value);
}

static json_t *one_rate(struct jm_guard_reader *r, const struct jm_node *node)
{
    static const char *const keys[] = {"name", "tool", "calls", "per", "burst", "key"};
    if (jm_guard_is_map(r, node, "a rate"))
        return NULL;
    jm_auto_json json_t *rate = jm_guard_object(r, node);
    if (!rate)
        return NULL;
    for (const struct jm_node *key = node->child; key; key = key->next)
        if (jm_guard_known(r, key, "a rate", keys, jm_countof(keys)) || rate_key(r, key, rate))
            return NULL;
    if (!json_object_get(rate, "calls") || !json_object_get(rate, "per")) {
        jm_guard_wrong(r, node, "a rate needs calls and per: so many calls in so long a time");
        return NULL;
    }
    if (!json_object_get(rate, "key") && jm_guard_put(r, rate, "key", json_string("rule")))
        return jm_fail_memory(r->err), NULL;
    if (!json_object_get(rate, "burst") && json_object_set(rate, "burst", json_object_get(rate, "calls")))
        return jm_fail_memory(r->err), NULL;
    return jm_steal(rate);
}

static int budget_key(struct jm_guard_reader *r, const struct jm_node *node, json_t *budget)
{
    static const char *const pers[] = {"run", "process"};
    const char *key = node->key;
    json_t *value = !strcmp(key, "tool")     ? jm_guard_texts(r, node, "tool", jm_guard_tool)
                    : !strcmp(key, "per")    ? word(r, node, "per", pers, jm_countof(pers))
                    : !strcmp(key, "calls")  ? jm_guard_number(r, node, "calls", JM_INT, 1, MOST)
                    : !strcmp(key, "wall_s") ? jm_guard_number(r, node, "wall_s", JM_SECONDS, 1e-6, MOST)
                    : !strcmp(key, "cpu_s")  ? jm_guard_number(r, node, "cpu_s", JM_SECONDS, 1e-6, MOST)
                    : !strcmp(key, "output") ? jm_guard_number(r, node, "output", JM_SIZE, 1, 0x1p50)
                                             : name_of(r, node);
    return jm_guard_put(r, budget, key, value);
}

static json_t *one_budget(struct jm_guard_reader *r, const struct jm_node *node)
{
    static const char *const keys[] = {"name", "tool", "per", "calls", "wall_s", "cpu_s", "output"};
    if (jm_guard_is_map(r, node, "a budget"))
        return NULL;
    jm_auto_json json_t *budget = jm_guard_object(r, node);
    if (!budget)
        return NULL;
    for (const struct jm_node *key = node->child; key; key = key->next)
        if (jm_guard_known(r, key, "a budget", keys, jm_countof(keys)) || budget_key(r, key, budget))
            return NULL;
    bool limits = false;
    for (size_t i = 3; i < jm_countof(keys); i++)
        limits |= json_object_get(budget, keys[i]) != NULL;
    if (!json_object_get(budget, "per") || !limits) {
        jm_guard_wrong(r, node, "a budget needs per (run or process) and one of calls, wall_s, cpu_s and output");
        return NULL;
    }
    return jm_steal(budget);
}

json_t *jm_guard_rates(struct jm_guard_reader *r, const struct jm_node *node)
{
    return jm_guard_each(r, node, "guard.rates", one_rate);
}

json_t *jm_guard_budgets(struct jm_guard_reader *r, const struct jm_node *node)
{
    return jm_guard_each(r, node, "guard.budgets", one_budget);
}
