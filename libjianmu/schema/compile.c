/* SPDX-License-Identifier: Apache-2.0
 * A schema becomes nodes once, so that a check compares and looks up, and reads no schema. */
#include "config.h"

#include "schema/compiler.h"
#include "base/json.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

/* Keywords of one kind of value; those that say it best come first, for complaints. */
const struct jm_keyword jm_keywords[] = {
    {jm_compile_type, 0},           {jm_compile_enum, 0},       {jm_compile_const, 0},
    {jm_compile_required, 0},       {jm_compile_members, 0},    {jm_compile_names, 0},
    {jm_compile_dependent, JM_DRAFT_2020},                      {jm_compile_dependent_schemas, JM_DRAFT_2020},
    {jm_compile_dependencies, 0},   {jm_compile_elements, 0},   {jm_compile_contains, 0},
    {jm_compile_unique, 0},         {jm_compile_minimum, 0},    {jm_compile_maximum, 0},
    {jm_compile_above, 0},          {jm_compile_below, 0},      {jm_compile_multiple, 0},
    {jm_compile_min_length, 0},     {jm_compile_max_length, 0}, {jm_compile_pattern, 0},
    {jm_compile_min_items, 0},      {jm_compile_max_items, 0},  {jm_compile_min_properties, 0},
    {jm_compile_max_properties, 0}, {jm_compile_ref, 0},        {jm_compile_all, 0},
    {jm_compile_any, 0},            {jm_compile_one, 0},        {jm_compile_not, 0},
    {jm_compile_condition, 0},      {NULL, 0}};

/* The pointer to target, which is part of json, is put into b. */
static bool find(const json_t *json, const json_t *target, struct jm_buffer *b, int depth)
{
    size_t len = b->len, i;
    const char *name;
    json_t *item;
    if (json == target)
        return true;
    if (depth > JM_JSON_DEEPEST)
        return false;
    json_object_foreach((json_t *)json, name, item) {
        jm_buffer_adds(b, "/");
        for (const char *p = name; *p; p++)
            jm_buffer_add(b, *p == '~' ? "~0" : *p == '/' ? "~1" : p, *p == '~' || *p == '/' ? 2 : 1);
        if (find(item, target, b, depth + 1))
            return true;
        b->len = len;
    }
    json_array_foreach(json, i, item) {
        jm_buffer_addf(b, "/%zu", i);
        if (find(item, target, b, depth + 1))
            return true;
        b->len = len;
    }
    return false;
}

int jm_schema_wrong(struct jm_compiler *c, const json_t *json, const char *format, ...)
{
    struct jm_buffer b = {0};
    va_list ap;
    va_start(ap, format);
    jm_auto_free char *text = jm_vformat(format, ap);
    va_end(ap);
    bool found = text && find(c->schema->json, json, &b, 0);
    if (found && b.len && !b.failed)
        b.data[b.len] = 0;
    if (!text || b.failed)
        jm_fail_memory(c->err);
    else
        jm_fail(c->err, JIANMU_INVALID, "%s%s%s", found && b.len ? b.data : "", found && b.len ? ": " : "", text);
    jm_buffer_free(&b);
    return -1;
}

int jm_schema_child(struct jm_compiler *c, const struct jm_node *node, const char *keyword, struct jm_node **child)
{
    const json_t *json = json_object_get(node->json, keyword);
    if (!json)
        return 0;
    if (!json_is_object(json) && !json_is_boolean(json))
        return jm_schema_wrong(c, node->json, "\"%s\" is no schema", keyword);
    *child = jm_locate_node(c, json);
    return *child ? 1 : -1;
}

static bool is_dialect(const char *text, const char *rest)
{
    const char *start = !strncmp(text, "https://", 8) ? text + 8 : !strncmp(text, "http://", 7) ? text + 7 : text;
    size_t len = strlen(rest);
    return start > text && !strncmp(start, rest, len) && (!start[len] || !strcmp(start + len, "#"));
}

static int read_dialect(struct jm_compiler *c)
{
    const json_t *dialect = json_object_get(c->schema->json, "$schema");
    const char *text = json_string_value(dialect);
    c->draft = JM_DRAFT_2020;
    if (!dialect)
        return 0;
    if (text && is_dialect(text, "json-schema.org/draft-07/schema"))
        c->draft = JM_DRAFT_7;
    else if (!text || !is_dialect(text, "json-schema.org/draft/2020-12/schema"))
        return jm_schema_wrong(c, c->schema->json, "\"$schema\" is %.200s%s%s, and only draft 2020-12 "
                               "(https://json-schema.org/draft/2020-12/schema) and draft-07 "
                               "(http://json-schema.org/draft-07/schema#) are known",
                               text ? "\"" : "", text ? text : "no string", text ? "\"" : "");
    return 0;
}

/* What would be silently without effect. */
static int refuse_unknown(struct jm_compiler *c, const struct jm_node *node)
{
    static const char *const refused[] = {"$dynamicRef", "$recursiveRef", "unevaluatedProperties", "unevaluatedItems"};
    for (size_t i = 0; i < jm_countof(refused); i++)
        if (json_object_get(node->json, refused[i]))
            return jm_schema_wrong(c, node->json, "\"%s\" is not supported", refused[i]);
    const json_t *dialect = json_object_get(node->json, "$schema");
    const json_t *own = json_object_get(c->schema->json, "$schema");
    if (dialect && !(own && json_equal(dialect, own)))
        return jm_schema_wrong(c, node->json, "\"$schema\" is another than that of the whole");
    return 0;
}

static int compile_node(struct jm_compiler *c, struct jm_node *node)
{
    struct jm_op ops[JM_KEYWORDS];
    bool bare = c->draft == JM_DRAFT_7 && json_object_get(node->json, "$ref");
    if (!bare && refuse_unknown(c, node))
        return -1;
    for (const struct jm_keyword *k = jm_keywords; k->compile; k++) {
        struct jm_op *op = &ops[node->count];
        if ((bare && k->compile != jm_compile_ref) || (k->drafts && !(k->drafts & c->draft)))
            continue;
        *op = (struct jm_op){.kinds = JM_ANY}; /* the one before may have used it, and come to nothing */
        int rc = k->compile(c, node, op);
        if (rc < 0)
            return -1;
        node->count += rc > 0;
    }
    node->ops = jm_schema_take(c, node->count * sizeof *ops);
    if (node->ops && node->count)
        memcpy(node->ops, ops, node->count * sizeof *ops);
    return node->ops ? 0 : -1;
}

static int compile(struct jm_compiler *c)
{
    c->always = jm_schema_take(c, sizeof *c->always);
    c->never = c->always ? jm_schema_take(c, sizeof *c->never) : NULL;
    if (!c->never)
        return -1;
    c->never->never = c->always->compiled = c->never->compiled = true;
    c->always->wants = JM_ANY;
    if (read_dialect(c) || jm_locate_all(c) || !(c->schema->root = jm_locate_node(c, c->schema->json)))
        return -1;
    for (; c->queue_done < c->queue_count; c->queue_done++)
        if (compile_node(c, c->queue[c->queue_done]))
            return -1;
    return jm_schema_loops(c);
}

jianmu_schema *jianmu_schema_new(const json_t *schema, jianmu_error **err)
{
    struct jm_compiler c = {.err = err};
    if (!json_is_object(schema) && !json_is_boolean(schema)) {
        jm_fail(err, JIANMU_INVALID, "a schema is an object, true or false");
        return NULL;
    }
    if (!jm_json_can_print(schema)) {
        jm_fail(err, JIANMU_INVALID, "the schema is nested more than %d deep", JM_JSON_DEEPEST);
        return NULL;
    }
    c.schema = calloc(1, sizeof *c.schema);
    if (c.schema) {
        c.schema->json = jm_json_deep_copy(schema);
        c.schema->lists = json_array();
    }
    int rc = c.schema && c.schema->json && c.schema->lists ? compile(&c) : jm_fail_memory(err);
    jm_locate_free(&c);
    if (rc) {
        jianmu_schema_free(c.schema);
        return NULL;
    }
    return c.schema;
}

void jianmu_schema_free(jianmu_schema *schema)
{
    if (!schema)
        return;
    for (size_t i = 0; i < schema->pattern_count; i++)
        jm_pattern_free(schema->patterns[i]);
    free(schema->patterns);
    jm_schema_blocks_free(schema->blocks);
    json_decref(schema->json);
    json_decref(schema->lists);
    free(schema);
}
