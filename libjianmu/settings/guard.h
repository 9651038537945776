/* SPDX-License-Identifier: Apache-2.0
 * How the guard sections of jianmu.yaml and policy.yaml are read: checked word by word, and kept as JSON in which
 * every rule knows its line. */
#ifndef JM_SETTINGS_GUARD_H
#define JM_SETTINGS_GUARD_H

#include "settings/inside.h"

struct jm_guard_reader {
    jianmu_config *config;
    const char *file;
    bool policy; /* policy.yaml: it may name what this host does not have */
    jianmu_error **err;
};

/* Complaints, with file:line:column of a value, or of its key; return -1. */
int jm_guard_wrong(struct jm_guard_reader *r, const struct jm_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int jm_guard_wrong_key(struct jm_guard_reader *r, const struct jm_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* One of names, or a complaint that suggests the nearest. */
int jm_guard_known(struct jm_guard_reader *r, const struct jm_node *node, const char *where, const char *const *names,
                   size_t count);

int jm_guard_is_map(struct jm_guard_reader *r, const struct jm_node *node, const char *what);
/* Text that is not empty; NULL after a complaint. */
const char *jm_guard_text(struct jm_guard_reader *r, const struct jm_node *node, const char *what);
/* One text or a list of them, each checked by one(); new: a list with at least one item. */
json_t *jm_guard_texts(struct jm_guard_reader *r, const struct jm_node *node, const char *what,
                       int (*one)(struct jm_guard_reader *r, const struct jm_node *node, const char *text));
/* A list, each item made by one(); new. */
json_t *jm_guard_each(struct jm_guard_reader *r, const struct jm_node *node, const char *what,
                      json_t *(*one)(struct jm_guard_reader *r, const struct jm_node *node));
/* A number by that type within those bounds; new. */
json_t *jm_guard_number(struct jm_guard_reader *r, const struct jm_node *node, const char *what, enum jm_type type,
                        double min, double max);
/* object[key] = value, which is taken; 0, or -1 without value or memory. */
int jm_guard_put(struct jm_guard_reader *r, json_t *object, const char *key, json_t *value);
/* {"source": "file:line"}, new. */
json_t *jm_guard_object(struct jm_guard_reader *r, const struct jm_node *node);
/* Is it a pattern for tools, or the name of one? */
int jm_guard_tool(struct jm_guard_reader *r, const struct jm_node *node, const char *text);

/* Lists of what stands below rules:, rates:, budgets:; new. */
json_t *jm_guard_rules(struct jm_guard_reader *r, const struct jm_node *node);
json_t *jm_guard_rates(struct jm_guard_reader *r, const struct jm_node *node);
json_t *jm_guard_budgets(struct jm_guard_reader *r, const struct jm_node *node);
/* The conditions below args: and plan: of a rule; new. */
json_t *jm_guard_args(struct jm_guard_reader *r, const struct jm_node *node);
json_t *jm_guard_plan(struct jm_guard_reader *r, const struct jm_node *node);

#endif
