/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "schema/node.h"
#include <string.h>

/* A schema can lead to one value by more ways than there is time for: as the checker, this has so many steps. */
struct repairing {
    long steps;
    bool failed; /* no memory */
};

static bool over(const struct repairing *r)
{
    return r->failed || r->steps < 0;
}

/* new: the repaired value; NULL: as it was, or it is over */
static json_t *repair(const struct jm_node *node, const json_t *value, int depth, struct repairing *r);

static bool may_hold_json(const json_t *string, struct repairing *r)
{
    const char *text = json_string_value(string);
    size_t blanks = strspn(text, " \t\r\n");
    r->steps -= (long)(blanks / 16);
    return text[blanks] == '{' || text[blanks] == '[';
}

/* Is there a string that may hold JSON anywhere: mostly there is none. */
static bool any_may(const json_t *value, int depth, struct repairing *r)
{
    const char *name;
    json_t *item;
    size_t i;
    if (--r->steps < 0 || depth > JM_SCHEMA_DEEPEST)
        return false;
    if (json_is_string(value))
        return may_hold_json(value, r);
    json_object_foreach((json_t *)value, name, item)
        if (any_may(item, depth + 1, r))
            return true;
    json_array_foreach(value, i, item)
        if (any_may(item, depth + 1, r))
            return true;
    return false;
}

static json_t *parse(const struct jm_node *node, const json_t *value, struct repairing *r)
{
    json_error_t why;
    size_t len = json_string_length(value);
    if (node->wants & JM_STRING || !(node->wants & (JM_OBJECT | JM_ARRAY)) || !may_hold_json(value, r))
        return NULL;
    r->steps -= (long)(len / 4); /* each value in it is allocated */
    if (over(r))
        return NULL;
    json_t *parsed = jm_json_parse(json_string_value(value), len, JSON_REJECT_DUPLICATES, &why);
    if (!parsed) {
        r->failed |= json_error_code(&why) == json_error_out_of_memory;
        return NULL;
    }
    if (node->wants & jm_value_kinds(parsed))
        return parsed;
    json_decref(parsed);
    return NULL;
}

/* Puts item, which is taken, in the place of the old one; *copy is made at the first. */
static void put(json_t **copy, const json_t *value, const char *name, size_t index, json_t *item,
                struct repairing *r)
{
    if (!*copy) {
        r->steps -= (long)(json_object_size(value) + json_array_size(value));
        *copy = jm_json_copy(value);
    }
    if (!*copy)
        json_decref(item);
    r->failed |= !*copy || (name ? json_object_set_new_nocheck(*copy, name, item)
                                : json_array_set_new(*copy, index, item));
}

static json_t *repair_members(const struct jm_members *m, const json_t *value, int depth, struct repairing *r)
{
    json_t *copy = NULL;
    r->steps -= (long)m->named_count / 2;
    for (size_t i = 0; i < m->named_count && !over(r); i++) {
        const json_t *item = json_object_get(value, m->named[i].name);
        json_t *better = item ? repair(m->named[i].node, item, depth, r) : NULL;
        if (better)
            put(&copy, value, m->named[i].name, 0, better, r);
    }
    return copy;
}

static json_t *repair_elements(const struct jm_elements *e, const json_t *value, int depth, struct repairing *r)
{
    json_t *copy = NULL, *item;
    size_t i;
    json_array_foreach(value, i, item) {
        if (over(r) || (i >= e->first.count && !e->rest))
            break;
        const struct jm_node *node = i < e->first.count ? e->first.list[i] : e->rest;
        json_t *better = repair(node, item, depth, r);
        if (better)
            put(&copy, value, NULL, i, better, r);
    }
    return copy;
}

static json_t *repair_by(const struct jm_op *op, const json_t *value, int depth, struct repairing *r)
{
    json_t *copy = NULL;
    if (op->kind == JM_OP_REF)
        return repair(op->u.node, value, depth, r);
    if (op->kind == JM_OP_MEMBERS && json_is_object(value))
        return repair_members(op->u.members, value, depth, r);
    if (op->kind == JM_OP_ELEMENTS && json_is_array(value))
        return repair_elements(op->u.elements, value, depth, r);
    for (size_t i = 0; op->kind == JM_OP_ALL && i < op->u.nodes.count && !over(r); i++) {
        json_t *better = repair(op->u.nodes.list[i], copy ? copy : value, depth, r);
        if (better) {
            json_decref(copy);
            copy = better;
        }
    }
    return copy;
}

static json_t *repair(const struct jm_node *node, const json_t *value, int depth, struct repairing *r)
{
    r->steps -= 1 + (long)node->count;
    json_t *copy = json_is_string(value) ? parse(node, value, r) : NULL;
    if (depth > JM_SCHEMA_DEEPEST || !node->count)
        return copy;
    for (unsigned i = 0; i < node->count && !over(r); i++) {
        json_t *better = repair_by(&node->ops[i], copy ? copy : value, depth + 1, r);
        if (better) {
            json_decref(copy);
            copy = better;
        }
    }
    return copy;
}

int jm_schema_repair(const jianmu_schema *schema, const json_t *args, json_t **repaired, jianmu_error **err)
{
    struct repairing r = {.steps = JM_CHECK_STEPS};
    *repaired = args && any_may(args, 0, &r) ? repair(schema->root, args, 0, &r) : NULL;
    if (!over(&r))
        return 0;
    json_decref(*repaired);
    *repaired = NULL;
    return r.failed ? jm_fail_memory(err) : 0; /* too dear: it stays as it came */
}
