/* SPDX-License-Identifier: Apache-2.0
 * dependentRequired, dependentSchemas, and draft-07's dependencies, which are both. */
#include "config.h"

#include "schema/compiler.h"
#include <string.h>

static int complain_dependent(struct jm_run *run, const char *name, const char *other, const struct jm_at *at)
{
    struct jm_complaint what = {0};
    if (!jm_complaints_wanted(run))
        return 0;
    jm_buffer_adds(&what.expected, "the property ");
    jm_text_quote(&what.expected, name, strlen(name));
    jm_buffer_adds(&what.expected, " beside ");
    jm_text_quote(&what.expected, other, strlen(other));
    jm_buffer_adds(&what.found, "an object without it");
    return jm_complain_taken(run, at, &what);
}

static int check_dependent(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    int good = 1;
    if (jm_run_spend(run, (long)op->u.dependents.count / 2))
        return -1;
    for (size_t i = 0; i < op->u.dependents.count; i++) {
        const struct jm_dependent *d = &op->u.dependents.list[i];
        size_t j;
        json_t *name;
        if (!json_object_get(value, d->name))
            continue;
        if (jm_run_spend(run, (long)json_array_size(d->required) / 2))
            return -1;
        json_array_foreach(d->required, j, name)
            if (!json_object_get(value, json_string_value(name)))
                good = complain_dependent(run, json_string_value(name), d->name, at);
        int rc = d->node ? jm_node_check(run, d->node, value, at) : 1;
        good = rc > 0 ? good : rc;
        if (good < 0 || (!good && !jm_complaints_wanted(run)))
            break;
    }
    return good;
}

static int compile_one(struct jm_compiler *c, const json_t *map, const char *keyword, bool names, bool schemas,
                       const json_t *item, struct jm_dependent *d)
{
    size_t i;
    json_t *name;
    if (schemas && (json_is_object(item) || json_is_boolean(item)))
        return (d->node = jm_locate_node(c, item)) ? 0 : -1;
    if (!names || !json_is_array(item))
        return jm_schema_wrong(c, map, "\"%.100s\" in \"%s\" is %s", d->name, keyword,
                               names ? "no list of names" : "no schema");
    json_array_foreach(item, i, name)
        if (!json_is_string(name))
            return jm_schema_wrong(c, map, "\"%.100s\" in \"%s\" is no list of names", d->name, keyword);
    d->required = item;
    return 0;
}

static int compile_dependent(struct jm_compiler *c, struct jm_node *node, struct jm_op *op, const char *keyword,
                             bool names, bool schemas)
{
    const json_t *map = json_object_get(node->json, keyword);
    const char *name;
    json_t *item;
    if (!map)
        return 0;
    if (!json_is_object(map))
        return jm_schema_wrong(c, node->json, "\"%s\" is no object", keyword);
    op->u.dependents.list = jm_schema_take(c, json_object_size(map) * sizeof *op->u.dependents.list);
    if (!op->u.dependents.list)
        return -1;
    json_object_foreach((json_t *)map, name, item) {
        struct jm_dependent *d = &op->u.dependents.list[op->u.dependents.count++];
        d->name = name;
        if (compile_one(c, map, keyword, names, schemas, item, d))
            return -1;
    }
    op->kinds = JM_OBJECT;
    op->kind = JM_OP_DEPENDENT;
    op->check = check_dependent;
    return 1;
}

int jm_compile_dependent(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_dependent(c, node, op, "dependentRequired", true, false);
}

int jm_compile_dependent_schemas(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_dependent(c, node, op, "dependentSchemas", false, true);
}

int jm_compile_dependencies(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_dependent(c, node, op, "dependencies", true, true);
}
