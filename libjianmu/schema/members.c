/* SPDX-License-Identifier: Apache-2.0
 * Keywords of objects. */
#include "config.h"

#include "schema/compiler.h"
#include "base/text.h"
#include <string.h>

static int check_child(struct jm_run *run, const struct jm_node *node, const char *name, const json_t *value,
                       const struct jm_at *at)
{
    const struct jm_at here = {.up = at, .key = name, .depth = at->depth + 1};
    return jm_node_check(run, node, value, &here);
}

static int check_unnamed(struct jm_run *run, const struct jm_node *node, const char *name, const json_t *value,
                         const struct jm_at *at)
{
    const struct jm_at here = {.up = at, .key = name, .depth = at->depth + 1, .unnamed = true};
    return jm_node_check(run, node, value, &here);
}

/* ---- properties, patternProperties, additionalProperties ---- */
static int complain_unknown(struct jm_run *run, const struct jm_members *m, const char *name, const struct jm_at *at)
{
    struct jm_complaint what = {0};
    if (!jm_complaints_wanted(run))
        return 0;
    jm_auto_free const char **names = calloc(m->named_count + 1, sizeof *names);
    if (!names) {
        run->no_memory = true;
        return 0;
    }
    jm_buffer_adds(&what.expected, m->named_count ? "no other properties than " : "no properties");
    for (size_t i = 0; i < m->named_count; i++) {
        names[i] = m->named[i].name;
        jm_buffer_adds(&what.expected, i ? ", " : "");
        if (what.expected.len > 400) {
            jm_buffer_addf(&what.expected, "%zu more", m->named_count - i);
            break;
        }
        jm_text_quote(&what.expected, names[i], strlen(names[i]));
    }
    const char *nearest = names[0] ? jm_text_nearest(name, names, m->named_count) : NULL;
    jm_buffer_adds(&what.found, "the property ");
    jm_text_quote(&what.found, name, strlen(name));
    jm_buffer_addf(&what.text, "unknown property%s", what.found.failed ? "" : what.found.data + strlen("the property"));
    if (nearest) {
        jm_buffer_adds(&what.text, ", did you mean ");
        jm_text_quote(&what.text, nearest, strlen(nearest));
        jm_buffer_adds(&what.text, "?");
    } else if (!what.expected.failed) {
        jm_buffer_addf(&what.text, "; expected %s", what.expected.data);
    }
    return jm_complain_taken(run, at, &what);
}

static int check_others(struct jm_run *run, const struct jm_members *m, const json_t *value, const struct jm_at *at)
{
    const char *name;
    json_t *item;
    int good = 1;
    json_object_foreach((json_t *)value, name, item) {
        int rc = jm_run_spend(run, (long)(strlen(name) / 16)) ? -1 : 1;
        bool known = rc > 0 && json_object_get(m->properties, name);
        for (size_t i = 0; i < m->matched_count && rc > 0; i++) {
            int found = jm_run_search(run, m->matched[i].pattern, name, strlen(name));
            known |= found > 0;
            rc = found > 0 ? check_unnamed(run, m->matched[i].node, name, item, at) : found < 0 ? -1 : 1;
        }
        if (!known && rc > 0 && m->others)
            rc = m->others->never ? complain_unknown(run, m, name, at) : check_unnamed(run, m->others, name, item, at);
        good = rc > 0 ? good : rc;
        if (good < 0 || (!good && !jm_complaints_wanted(run)))
            break;
    }
    return good;
}

static int check_members(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    const struct jm_members *m = op->u.members;
    size_t known = 0;
    int good = 1;
    if (jm_run_spend(run, (long)m->named_count / 2))
        return -1;
    for (size_t i = 0; i < m->named_count; i++) {
        const json_t *item = json_object_get(value, m->named[i].name);
        if (!item)
            continue;
        known++;
        int rc = check_child(run, m->named[i].node, m->named[i].name, item, at);
        good = rc > 0 ? good : rc;
        if (good < 0 || (!good && !jm_complaints_wanted(run)))
            return good;
    }
    if (!m->matched_count && (!m->others || known == json_object_size(value)))
        return good;
    int rc = jm_run_spend(run, (long)json_object_size(value)) ? -1 : check_others(run, m, value, at);
    return rc > 0 ? good : rc;
}

/* A map from names to schemas, in its order; patterns: the names are such. */
static int compile_map(struct jm_compiler *c, const struct jm_node *node, const char *keyword, bool patterns,
                       struct jm_member **list, size_t *count)
{
    const json_t *map = json_object_get(node->json, keyword);
    const char *name;
    json_t *item;
    if (!map)
        return 0;
    if (!json_is_object(map))
        return jm_schema_wrong(c, node->json, "\"%s\" is no object of schemas", keyword);
    *list = jm_schema_take(c, json_object_size(map) * sizeof **list);
    if (!*list)
        return -1;
    json_object_foreach((json_t *)map, name, item) {
        struct jm_member *m = &(*list)[(*count)++];
        if (!json_is_object(item) && !json_is_boolean(item))
            return jm_schema_wrong(c, map, "\"%.100s\" is no schema", name);
        m->name = name;
        m->node = jm_locate_node(c, item);
        if (!m->node || (patterns && !(m->pattern = jm_schema_pattern(c, map, name, strlen(name)))))
            return -1;
    }
    return 1;
}

int jm_compile_members(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    struct jm_members *m = jm_schema_take(c, sizeof *m);
    if (!m)
        return -1;
    int named = compile_map(c, node, "properties", false, &m->named, &m->named_count);
    int matched = named < 0 ? -1 : compile_map(c, node, "patternProperties", true, &m->matched, &m->matched_count);
    int others = matched < 0 ? -1 : jm_schema_child(c, node, "additionalProperties", &m->others);
    m->properties = json_object_get(node->json, "properties");
    op->u.members = m;
    op->kinds = JM_OBJECT;
    op->kind = JM_OP_MEMBERS;
    op->check = check_members;
    return others < 0 ? -1 : named || matched || others;
}

/* ---- propertyNames ---- */
static int check_names(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    const char *name;
    json_t *item;
    int good = 1;
    json_object_foreach((json_t *)value, name, item) {
        if (jm_run_spend(run, 4 + (long)(strlen(name) / 16)))
            return -1;
        jm_auto_json json_t *text = json_string_nocheck(name);
        if (!text)
            return jm_fail_memory(&run->err);
        int rc = jm_node_good(run, op->u.node, text, at);
        if (rc > 0)
            continue;
        good = rc;
        if (rc < 0 || !jm_complaints_wanted(run))
            break;
        jm_auto_json json_t *list = jm_complaints_of(run, op->u.node, text, at, &rc);
        const char *expected = json_string_value(json_object_get(json_array_get(list, 0), "expected"));
        struct jm_complaint what = {0};
        jm_buffer_addf(&what.expected, "each name of a property to be %s", expected ? expected : "another");
        jm_buffer_adds(&what.found, "the name ");
        jm_text_quote(&what.found, name, strlen(name));
        jm_complain_taken(run, at, &what);
    }
    return good;
}

int jm_compile_names(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    op->kinds = JM_OBJECT;
    op->check = check_names;
    return jm_schema_child(c, node, "propertyNames", &op->u.node);
}
