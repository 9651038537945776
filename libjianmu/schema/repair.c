/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "schema/node.h"
#include <string.h>

/* new: the repaired value; NULL: as it was, or *failed */
static json_t *repair(const struct jm_node *node, const json_t *value, int depth, bool *failed);

static json_t *parse(const struct jm_node *node, const json_t *value, bool *failed)
{
    json_error_t why;
    const char *text = json_string_value(value);
    size_t len = json_string_length(value), blanks = strspn(text, " \t\r\n");
    if (node->wants & JM_STRING || !(node->wants & (JM_OBJECT | JM_ARRAY)) || blanks == len ||
        !strchr("{[", text[blanks]))
        return NULL;
    json_t *parsed = jm_json_parse(text, len, JSON_REJECT_DUPLICATES, &why);
    if (!parsed) {
        *failed |= json_error_code(&why) == json_error_out_of_memory;
        return NULL;
    }
    if (node->wants & jm_value_kinds(parsed))
        return parsed;
    json_decref(parsed);
    return NULL;
}

/* Puts item, which is taken, in the place of the old one; *copy is made at the first. */
static void put(json_t **copy, const json_t *value, const char *name, size_t index, json_t *item, bool *failed)
{
    if (!*copy)
        *copy = jm_json_copy(value);
    if (!*copy)
        json_decref(item);
    *failed |= !*copy || (name ? json_object_set_new_nocheck(*copy, name, item)
                               : json_array_set_new(*copy, index, item));
}

static json_t *repair_members(const struct jm_members *m, const json_t *value, int depth, bool *failed)
{
    json_t *copy = NULL;
    for (size_t i = 0; i < m->named_count && !*failed; i++) {
        const json_t *item = json_object_get(value, m->named[i].name);
        json_t *better = item ? repair(m->named[i].node, item, depth, failed) : NULL;
        if (better)
            put(&copy, value, m->named[i].name, 0, better, failed);
    }
    return copy;
}

static json_t *repair_elements(const struct jm_elements *e, const json_t *value, int depth, bool *failed)
{
    json_t *copy = NULL, *item;
    size_t i;
    json_array_foreach(value, i, item) {
        const struct jm_node *node = i < e->first.count ? e->first.list[i] : e->rest;
        json_t *better = node && !*failed ? repair(node, item, depth, failed) : NULL;
        if (better)
            put(&copy, value, NULL, i, better, failed);
    }
    return copy;
}

static json_t *repair_by(const struct jm_op *op, const json_t *value, int depth, bool *failed)
{
    json_t *copy = NULL;
    if (op->kind == JM_OP_REF)
        return repair(op->u.node, value, depth, failed);
    if (op->kind == JM_OP_MEMBERS && json_is_object(value))
        return repair_members(op->u.members, value, depth, failed);
    if (op->kind == JM_OP_ELEMENTS && json_is_array(value))
        return repair_elements(op->u.elements, value, depth, failed);
    for (size_t i = 0; op->kind == JM_OP_ALL && i < op->u.nodes.count && !*failed; i++) {
        json_t *better = repair(op->u.nodes.list[i], copy ? copy : value, depth, failed);
        if (better) {
            json_decref(copy);
            copy = better;
        }
    }
    return copy;
}

static json_t *repair(const struct jm_node *node, const json_t *value, int depth, bool *failed)
{
    json_t *copy = json_is_string(value) ? parse(node, value, failed) : NULL;
    if (depth > JM_SCHEMA_DEEPEST || !node->count)
        return copy;
    for (unsigned i = 0; i < node->count && !*failed; i++) {
        json_t *better = repair_by(&node->ops[i], copy ? copy : value, depth + 1, failed);
        if (better) {
            json_decref(copy);
            copy = better;
        }
    }
    return copy;
}

int jm_schema_repair(const jianmu_schema *schema, const json_t *args, json_t **repaired, jianmu_error **err)
{
    bool failed = false;
    *repaired = args ? repair(schema->root, args, 0, &failed) : NULL;
    if (!failed)
        return 0;
    json_decref(*repaired);
    *repaired = NULL;
    return jm_fail_memory(err);
}
