/* SPDX-License-Identifier: Apache-2.0
 * Subschemas that apply each other to the same value: none may come back to itself, or a check would not end. On the
 * way back it is known which kinds of values each can be content with. */
#include "config.h"

#include "schema/compiler.h"

enum { NEW, OPEN, DONE };

static int visit(struct jm_compiler *c, struct jm_node *node, int depth);

static unsigned kinds_of(const json_t *values)
{
    unsigned kinds = 0;
    size_t i;
    json_t *item;
    json_array_foreach(values, i, item)
        kinds |= jm_value_kinds(item);
    return kinds;
}

static int visit_list(struct jm_compiler *c, const struct jm_nodes *nodes, unsigned *all, unsigned *any, int depth)
{
    *all = JM_ANY;
    *any = 0;
    for (size_t i = 0; i < nodes->count; i++) {
        if (visit(c, nodes->list[i], depth))
            return -1;
        *all &= nodes->list[i]->wants;
        *any |= nodes->list[i]->wants;
    }
    return 0;
}

static int visit_op(struct jm_compiler *c, struct jm_node *node, const struct jm_op *op, int depth)
{
    unsigned all = JM_ANY, any = JM_ANY;
    int rc = 0;
    switch (op->kind) {
    case JM_OP_TYPE: node->wants &= op->u.types | (op->u.types & JM_NUMBER ? JM_INTEGER : 0); break;
    case JM_OP_VALUES: node->wants &= kinds_of(op->u.json); break;
    case JM_OP_NOT: return visit(c, op->u.node, depth);
    case JM_OP_REF:
        rc = visit(c, op->u.node, depth);
        node->wants &= op->u.node->wants;
        break;
    case JM_OP_ALL:
        rc = visit_list(c, &op->u.nodes, &all, &any, depth);
        node->wants &= all;
        break;
    case JM_OP_ANY:
    case JM_OP_ONE:
        rc = visit_list(c, &op->u.nodes, &all, &any, depth);
        node->wants &= any;
        break;
    case JM_OP_CONDITION:
        return visit(c, op->u.condition->test, depth) ||
                       (op->u.condition->yes && visit(c, op->u.condition->yes, depth)) ||
                       (op->u.condition->no && visit(c, op->u.condition->no, depth)) ? -1 : 0;
    case JM_OP_DEPENDENT:
        for (size_t i = 0; i < op->u.dependents.count && !rc; i++)
            rc = op->u.dependents.list[i].node ? visit(c, op->u.dependents.list[i].node, depth) : 0;
        break;
    default: break;
    }
    return rc;
}

static int visit(struct jm_compiler *c, struct jm_node *node, int depth)
{
    if (node->seen == DONE || !node->json) /* true and false */
        return 0;
    if (node->seen == OPEN)
        return jm_schema_wrong(c, node->json, "this subschema applies itself to the same value again, without end");
    if (depth > JM_CHECK_DEEPEST)
        return jm_schema_wrong(c, node->json, "more than %d subschemas apply each other", JM_CHECK_DEEPEST);
    node->seen = OPEN;
    for (unsigned i = 0; i < node->count; i++)
        if (visit_op(c, node, &node->ops[i], depth + 1))
            return -1;
    node->seen = DONE;
    return 0;
}

int jm_schema_loops(struct jm_compiler *c)
{
    for (size_t i = 0; i < c->queue_count; i++)
        if (visit(c, c->queue[i], 0))
            return -1;
    return 0;
}
