/* SPDX-License-Identifier: Apache-2.0
 * Keywords of arrays. */
#include "config.h"

#include "schema/compiler.h"
#include <math.h>

static int check_child(struct jm_run *run, const struct jm_node *node, size_t index, const json_t *array,
                       const struct jm_at *at)
{
    const struct jm_at here = {.up = at, .index = index, .depth = at->depth + 1};
    return jm_node_check(run, node, json_array_get(array, index), &here);
}

/* ---- prefixItems, items, additionalItems ---- */
static int check_elements(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    const struct jm_elements *e = op->u.elements;
    size_t count = json_array_size(value);
    int good = 1;
    for (size_t i = 0; i < count && (i < e->first.count || e->rest); i++) {
        bool first = i < e->first.count;
        if (!first && e->rest->never) {
            return jm_complain(run, at, value, "an array of at most %zu item%s", e->first.count,
                               e->first.count == 1 ? "" : "s");
        }
        int rc = check_child(run, first ? e->first.list[i] : e->rest, i, value, at);
        good = rc > 0 ? good : rc;
        if (good < 0 || (!good && !jm_complaints_wanted(run)))
            break;
    }
    return good;
}

static int compile_first(struct jm_compiler *c, const struct jm_node *node, const char *keyword, const json_t *list,
                         struct jm_nodes *nodes)
{
    size_t i;
    json_t *item;
    nodes->list = jm_schema_take(c, json_array_size(list) * sizeof *nodes->list);
    if (!nodes->list)
        return -1;
    json_array_foreach(list, i, item) {
        if (!json_is_object(item) && !json_is_boolean(item))
            return jm_schema_wrong(c, node->json, "item %zu of \"%s\" is no schema", i, keyword);
        if (!(nodes->list[i] = jm_locate_node(c, item)))
            return -1;
    }
    nodes->count = json_array_size(list);
    return 1;
}

/* draft-07's array of items is read so under 2020-12 too, where it has no other meaning. */
int jm_compile_elements(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    const json_t *prefix = c->draft == JM_DRAFT_2020 ? json_object_get(node->json, "prefixItems") : NULL;
    const json_t *items = json_object_get(node->json, "items");
    bool tuple = json_is_array(items);
    struct jm_elements *e = jm_schema_take(c, sizeof *e);
    if (!e)
        return -1;
    if (prefix && (!json_is_array(prefix) || tuple))
        return jm_schema_wrong(c, node->json, tuple ? "\"prefixItems\" and an array of \"items\" stand side by side"
                                                    : "\"prefixItems\" is no list of schemas");
    int first = prefix || tuple ? compile_first(c, node, prefix ? "prefixItems" : "items", prefix ? prefix : items,
                                                &e->first) : 0;
    int rest = first < 0 ? -1 : jm_schema_child(c, node, tuple ? "additionalItems" : "items", &e->rest);
    op->u.elements = e;
    op->kinds = JM_ARRAY;
    op->kind = JM_OP_ELEMENTS;
    op->check = check_elements;
    return rest < 0 ? -1 : first || rest;
}

/* ---- contains ---- */
static int check_contains(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    const struct jm_contains *contains = op->u.contains;
    json_t *listener = run->complaints;
    double count = 0;
    int rc = 1;
    run->complaints = NULL;
    for (size_t i = 0; i < json_array_size(value) && rc >= 0 && count <= contains->most; i++) {
        rc = check_child(run, contains->node, i, value, at);
        count += rc > 0;
    }
    run->complaints = listener;
    if (rc < 0)
        return -1;
    if (count < contains->least)
        return jm_complain(run, at, value, "an array with at least %.0f item%s that fit%s what \"contains\" asks for",
                           contains->least, contains->least > 1 ? "s" : "", contains->least > 1 ? "" : "s");
    if (count > contains->most)
        return jm_complain(run, at, value, "an array with at most %.0f items that fit what \"contains\" asks for",
                           contains->most);
    return 1;
}

int jm_compile_contains(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    struct jm_contains *contains = jm_schema_take(c, sizeof *contains);
    if (!contains)
        return -1;
    contains->least = 1;
    contains->most = INFINITY;
    op->u.contains = contains;
    op->kinds = JM_ARRAY;
    op->check = check_contains;
    if (c->draft == JM_DRAFT_2020 && (jm_schema_count(c, node->json, "minContains", &contains->least) < 0 ||
                                      jm_schema_count(c, node->json, "maxContains", &contains->most) < 0))
        return -1;
    return jm_schema_child(c, node, "contains", &contains->node);
}
