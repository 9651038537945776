/* SPDX-License-Identifier: Apache-2.0
 * Keywords that look at one value alone: type, enum, const, required, uniqueItems, pattern. */
#include "config.h"

#include "schema/compiler.h"
#include <stdio.h>
#include <string.h>

/* ---- type ---- */
static int check_type(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    struct jm_complaint what = {0};
    if (jm_value_kinds(value) & op->u.types)
        return 1;
    if (!jm_complaints_wanted(run))
        return 0;
    jm_kinds_print(&what.expected, op->u.types);
    jm_value_describe(&what.found, value);
    return jm_complain_taken(run, at, &what);
}

int jm_compile_type(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    const json_t *type = json_object_get(node->json, "type");
    size_t count = json_is_array(type) ? json_array_size(type) : type != NULL;
    if (!type)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_is_array(type) ? json_array_get(type, i) : type);
        unsigned kind = name ? jm_kind_of_name(name) : 0;
        if (!kind)
            return jm_schema_wrong(c, node->json, "\"type\" is no name of a type, nor a list of such: they are null, "
                                   "boolean, object, array, string, number, integer");
        op->u.types |= kind;
    }
    if (!count)
        return jm_schema_wrong(c, node->json, "\"type\" is an empty list");
    op->kind = JM_OP_TYPE;
    op->check = check_type;
    return 1;
}

/* ---- enum, const ---- */
static void expect_one_of(struct jm_buffer *b, const json_t *values)
{
    size_t i, count = json_array_size(values);
    json_t *item;
    jm_buffer_adds(b, count > 1 ? "one of " : count ? "" : "nothing: no value is allowed here");
    json_array_foreach(values, i, item) {
        if (b->len > 400 && i + 1 < count) {
            jm_buffer_addf(b, " and %zu more", count - i);
            break;
        }
        jm_buffer_adds(b, i ? ", " : "");
        jm_value_print(b, item);
    }
}

static int check_enum(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    size_t i;
    json_t *item;
    struct jm_complaint what = {0};
    json_array_foreach(op->u.json, i, item)
        if (jm_value_same(item, value, &run->steps))
            return 1;
    if (run->steps < 0)
        return jm_run_spend(run, 0);
    if (!jm_complaints_wanted(run))
        return 0;
    expect_one_of(&what.expected, op->u.json);
    jm_value_describe(&what.found, value);
    return jm_complain_taken(run, at, &what);
}

int jm_compile_enum(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    const json_t *values = json_object_get(node->json, "enum");
    if (!values)
        return 0;
    if (!json_is_array(values))
        return jm_schema_wrong(c, node->json, "\"enum\" is no list of values");
    op->u.json = values;
    op->kind = JM_OP_VALUES;
    op->check = check_enum;
    return 1;
}

/* As an enum of one. */
int jm_compile_const(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    json_t *value = json_object_get(node->json, "const");
    json_t *list = value ? json_pack("[O]", value) : NULL;
    if (!value)
        return 0;
    if (!list || json_array_append_new(c->schema->lists, list))
        return jm_fail_memory(c->err);
    op->u.json = list;
    op->kind = JM_OP_VALUES;
    op->check = check_enum;
    return 1;
}

/* ---- required ---- */
static int check_required(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    size_t i;
    json_t *name;
    int good = 1;
    if (jm_run_spend(run, (long)json_array_size(op->u.json) / 2))
        return -1;
    json_array_foreach(op->u.json, i, name) {
        if (json_object_get(value, json_string_value(name)))
            continue;
        good = 0;
        if (!jm_complaints_wanted(run))
            break;
        struct jm_complaint what = {0};
        jm_buffer_adds(&what.expected, "the property ");
        jm_text_quote(&what.expected, json_string_value(name), json_string_length(name));
        jm_buffer_adds(&what.found, "an object without it");
        jm_buffer_addf(&what.text, "%s is missing", what.expected.failed ? "" : what.expected.data);
        jm_complain_taken(run, at, &what);
    }
    return good;
}

int jm_compile_required(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    const json_t *names = json_object_get(node->json, "required");
    size_t i;
    json_t *name;
    if (!names)
        return 0;
    if (!json_is_array(names))
        return jm_schema_wrong(c, node->json, "\"required\" is no list of names");
    json_array_foreach(names, i, name)
        if (!json_is_string(name))
            return jm_schema_wrong(c, node->json, "\"required\" is no list of names");
    op->u.json = names;
    op->kinds = JM_OBJECT;
    op->check = check_required;
    return json_array_size(names) > 0;
}

/* ---- uniqueItems ---- */
struct hashed {
    uint64_t hash;
    size_t index;
};

static int by_hash(const void *a, const void *b)
{
    const struct hashed *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static int check_unique(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    size_t count = json_array_size(value), i, j;
    (void)op;
    if (count < 2)
        return 1;
    jm_auto_free struct hashed *items = calloc(count, sizeof *items);
    if (!items)
        return jm_fail_memory(&run->err);
    for (i = 0; i < count; i++)
        items[i] = (struct hashed){jm_value_hash(json_array_get(value, i), &run->steps), i};
    if (jm_run_spend(run, 0))
        return -1;
    qsort(items, count, sizeof *items, by_hash);
    for (i = 0; i < count; i++) {
        for (j = i + 1; j < count && items[j].hash == items[i].hash; j++) {
            size_t a = items[i].index, b = items[j].index;
            if (!jm_value_same(json_array_get(value, a), json_array_get(value, b), &run->steps))
                continue;
            struct jm_complaint what = {0};
            if (!jm_complaints_wanted(run))
                return 0;
            jm_buffer_adds(&what.expected, "items that all differ");
            jm_buffer_addf(&what.found, "items %zu and %zu are the same", a, b);
            return jm_complain_taken(run, at, &what);
        }
    }
    return jm_run_spend(run, 0) ? -1 : 1;
}

int jm_compile_unique(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    const json_t *unique = json_object_get(node->json, "uniqueItems");
    if (unique && !json_is_boolean(unique))
        return jm_schema_wrong(c, node->json, "\"uniqueItems\" is not true or false");
    op->kinds = JM_ARRAY;
    op->check = check_unique;
    return json_is_true(unique);
}

/* ---- pattern ---- */
static int check_pattern(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    int found = jm_run_search(run, op->u.pattern, json_string_value(value), json_string_length(value));
    if (found)
        return found;
    return jm_complain(run, at, value, "a string that matches %.300s", jm_pattern_text(op->u.pattern));
}

struct jm_pattern *jm_schema_pattern(struct jm_compiler *c, const json_t *at, const char *text, size_t len)
{
    jianmu_error *why = NULL;
    struct jm_pattern **list = realloc(c->schema->patterns, (c->schema->pattern_count + 1) * sizeof *list);
    if (!list) {
        jm_fail_memory(c->err);
        return NULL;
    }
    c->schema->patterns = list;
    struct jm_pattern *p = jm_pattern_new(text, len, &why);
    if (p)
        list[c->schema->pattern_count++] = p;
    else if (jianmu_error_code(why) == JIANMU_INVALID)
        jm_schema_wrong(c, at, "%s", jianmu_error_message(why));
    else
        jm_fail_memory(c->err);
    jianmu_error_free(why);
    return p;
}

int jm_compile_pattern(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    const json_t *text = json_object_get(node->json, "pattern");
    if (!text)
        return 0;
    if (!json_is_string(text))
        return jm_schema_wrong(c, node->json, "\"pattern\" is no string");
    op->u.pattern = jm_schema_pattern(c, node->json, json_string_value(text), json_string_length(text));
    op->kinds = JM_STRING;
    op->check = check_pattern;
    return op->u.pattern ? 1 : -1;
}
