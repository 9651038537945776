/* SPDX-License-Identifier: Apache-2.0
 * Keywords that apply other subschemas to the same value. */
#include "config.h"

#include "schema/compiler.h"
#include <string.h>

/* ---- $ref, allOf ---- */
static int check_ref(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    return jm_node_check(run, op->u.node, value, at);
}

int jm_compile_ref(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    const json_t *ref = json_object_get(node->json, "$ref");
    if (!ref)
        return 0;
    if (!json_is_string(ref))
        return jm_schema_wrong(c, node->json, "\"$ref\" is no string");
    op->u.node = jm_locate_reference(c, node, json_string_value(ref));
    op->kind = JM_OP_REF;
    op->check = check_ref;
    return op->u.node ? 1 : -1;
}

static int check_all(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    int good = 1;
    for (size_t i = 0; i < op->u.nodes.count; i++) {
        int rc = jm_node_check(run, op->u.nodes.list[i], value, at);
        if (rc > 0)
            continue;
        good = rc;
        if (rc < 0 || !jm_complaints_wanted(run))
            break;
    }
    return good;
}

/* ---- anyOf, oneOf ---- */
enum { LONGEST = 2000 }; /* of all that was expected; what comes then is not named */

static size_t depth_of(const json_t *list)
{
    const char *at = json_string_value(json_object_get(json_array_get(list, 0), "at"));
    size_t depth = 0;
    for (; at && *at; at++)
        depth += *at == '/';
    return depth;
}

/* The alternatives for another kind of value are passed over. Of the others the one that got furthest into the value is
 * most likely meant, and what it says is said; where none got anywhere, what each expected is named. */
static int complain_alternatives(struct jm_run *run, const struct jm_nodes *nodes, const json_t *value,
                                 const struct jm_at *at)
{
    unsigned kinds = jm_value_kinds(value), wanted = 0;
    jm_auto_json json_t *best = NULL;
    struct jm_complaint what = {0};
    size_t candidates = 0;
    for (size_t i = 0; i < nodes->count; i++) {
        int rc = 0;
        wanted |= nodes->list[i]->wants;
        if (!(nodes->list[i]->wants & kinds))
            continue;
        jm_auto_json json_t *list = jm_complaints_of(run, nodes->list[i], value, at, &rc);
        if (!list || rc < 0) {
            jm_buffer_free(&what.expected);
            return rc;
        }
        const char *expected = json_string_value(json_object_get(json_array_get(list, 0), "expected"));
        if (what.expected.len <= LONGEST)
            jm_buffer_addf(&what.expected, "%s%s", candidates ? " or " : "", expected ? expected : "another value");
        candidates++;
        if (!best || depth_of(list) > depth_of(best)) {
            json_decref(best);
            best = jm_steal(list);
        }
    }
    if (candidates == 1 || (best && depth_of(best) > at->depth)) {
        jm_buffer_free(&what.expected);
        return jm_complaints_add(run, best);
    }
    if (!candidates)
        jm_kinds_print(&what.expected, wanted);
    if (!candidates && !wanted)
        jm_buffer_adds(&what.expected, "nothing: no value is allowed here");
    jm_value_describe(&what.found, value);
    return jm_complain_taken(run, at, &what);
}

static int check_any(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    for (size_t i = 0; i < op->u.nodes.count; i++) {
        int rc = jm_node_good(run, op->u.nodes.list[i], value, at);
        if (rc)
            return rc;
    }
    return jm_complaints_wanted(run) ? complain_alternatives(run, &op->u.nodes, value, at) : 0;
}

static int check_one(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    size_t good = 0;
    struct jm_complaint what = {0};
    for (size_t i = 0; i < op->u.nodes.count; i++) {
        int rc = jm_node_good(run, op->u.nodes.list[i], value, at);
        if (rc > 0 && good) {
            if (!jm_complaints_wanted(run))
                return 0;
            jm_buffer_adds(&what.expected, "a value that fits only one of the alternatives");
            jm_buffer_addf(&what.found, "one that fits number %zu and number %zu", good, i + 1);
            return jm_complain_taken(run, at, &what);
        }
        if (rc < 0)
            return -1;
        if (rc)
            good = i + 1;
    }
    if (good)
        return 1;
    return jm_complaints_wanted(run) ? complain_alternatives(run, &op->u.nodes, value, at) : 0;
}

static int compile_list(struct jm_compiler *c, struct jm_node *node, struct jm_op *op, const char *name,
                        enum jm_op_kind kind, jm_check check)
{
    const json_t *list = json_object_get(node->json, name);
    size_t count = json_array_size(list);
    if (!list)
        return 0;
    if (!count)
        return jm_schema_wrong(c, node->json, "\"%s\" is no list of schemas", name);
    op->u.nodes.list = jm_schema_take(c, count * sizeof *op->u.nodes.list);
    if (!op->u.nodes.list)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_object(item) && !json_is_boolean(item))
            return jm_schema_wrong(c, node->json, "\"%s\" is no list of schemas", name);
        if (!(op->u.nodes.list[i] = jm_locate_node(c, item)))
            return -1;
    }
    op->u.nodes.count = count;
    op->kind = kind;
    op->check = check;
    return 1;
}

int jm_compile_all(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_list(c, node, op, "allOf", JM_OP_ALL, check_all);
}

int jm_compile_any(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_list(c, node, op, "anyOf", JM_OP_ANY, check_any);
}

int jm_compile_one(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_list(c, node, op, "oneOf", JM_OP_ONE, check_one);
}

/* ---- not, if ---- */
static int check_not(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    int rc = jm_node_good(run, op->u.node, value, at);
    return rc > 0 ? jm_complain(run, at, value, "a value that does not fit what \"not\" forbids") : rc < 0 ? -1 : 1;
}

int jm_compile_not(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    op->kind = JM_OP_NOT;
    op->check = check_not;
    return jm_schema_child(c, node, "not", &op->u.node);
}

static int check_condition(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    const struct jm_condition *condition = op->u.condition;
    int rc = jm_node_good(run, condition->test, value, at);
    if (rc < 0)
        return -1;
    const struct jm_node *next = rc ? condition->yes : condition->no;
    return next ? jm_node_check(run, next, value, at) : 1;
}

int jm_compile_condition(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    struct jm_condition *condition = jm_schema_take(c, sizeof *condition);
    if (!condition)
        return -1;
    int test = jm_schema_child(c, node, "if", &condition->test);
    int yes = test < 0 ? -1 : jm_schema_child(c, node, "then", &condition->yes);
    int no = yes < 0 ? -1 : jm_schema_child(c, node, "else", &condition->no);
    op->u.condition = condition;
    op->kind = JM_OP_CONDITION;
    op->check = check_condition;
    return no < 0 ? -1 : test && (yes || no);
}
