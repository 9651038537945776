/* SPDX-License-Identifier: Apache-2.0
 * Bounds of numbers, lengths and sizes. */
#include "config.h"

#include "schema/compiler.h"
#include "base/text.h"
#include <math.h>

/* ---- numbers ---- */
static int complain_number(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at,
                           const char *what)
{
    struct jm_complaint saying = {0};
    if (!jm_complaints_wanted(run))
        return 0;
    jm_buffer_adds(&saying.expected, what);
    jm_value_print(&saying.expected, op->u.json);
    jm_value_describe(&saying.found, value);
    return jm_complain_taken(run, at, &saying);
}

static int check_minimum(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    return jm_number_compare(value, op->u.json) >= 0 || complain_number(run, op, value, at, "a number of at least ");
}

static int check_maximum(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    return jm_number_compare(value, op->u.json) <= 0 || complain_number(run, op, value, at, "a number of at most ");
}

static int check_above(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    return jm_number_compare(value, op->u.json) > 0 || complain_number(run, op, value, at, "a number greater than ");
}

static int check_below(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    return jm_number_compare(value, op->u.json) < 0 || complain_number(run, op, value, at, "a number less than ");
}

static int check_multiple(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    return jm_number_is_multiple(value, op->u.json) || complain_number(run, op, value, at, "a multiple of ");
}

static int compile_number(struct jm_compiler *c, struct jm_node *node, struct jm_op *op, const char *name,
                          jm_check check)
{
    op->u.json = json_object_get(node->json, name);
    op->kinds = JM_NUMBER;
    op->check = check;
    if (!op->u.json)
        return 0;
    return json_is_number(op->u.json) ? 1 : jm_schema_wrong(c, node->json, "\"%s\" is no number", name);
}

int jm_compile_minimum(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_number(c, node, op, "minimum", check_minimum);
}

int jm_compile_maximum(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_number(c, node, op, "maximum", check_maximum);
}

int jm_compile_above(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_number(c, node, op, "exclusiveMinimum", check_above);
}

int jm_compile_below(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_number(c, node, op, "exclusiveMaximum", check_below);
}

int jm_compile_multiple(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    int rc = compile_number(c, node, op, "multipleOf", check_multiple);
    if (rc > 0 && json_number_value(op->u.json) <= 0)
        return jm_schema_wrong(c, node->json, "\"multipleOf\" is not greater than 0");
    return rc;
}

/* ---- lengths and sizes ---- */
int jm_schema_count(struct jm_compiler *c, const json_t *json, const char *name, double *count)
{
    const json_t *number = json_object_get(json, name);
    if (!number)
        return 0;
    if (!json_is_number(number) || !(jm_value_kinds(number) & JM_INTEGER) || json_number_value(number) < 0)
        return jm_schema_wrong(c, json, "\"%s\" is no whole number of at least 0", name);
    *count = json_number_value(number);
    return 1;
}

static int complain_size(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at,
                         const char *what, const char *one, const char *many)
{
    return jm_complain(run, at, value, "%s %.0f %s", what, op->u.size, op->u.size == 1 ? one : many);
}

/* Characters in a long string take their time. */
static int characters(struct jm_run *run, const json_t *value, double *count)
{
    size_t len = json_string_length(value);
    if (jm_run_spend(run, (long)(len / 64)))
        return -1;
    *count = (double)jm_utf8_count(json_string_value(value), len);
    return 0;
}

/* A string of n bytes has at least n/4 characters and at most n. */
static int check_min_length(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    size_t len = json_string_length(value);
    if ((double)((len + 3) / 4) >= op->u.size)
        return 1;
    double count = 0;
    if ((double)len >= op->u.size && characters(run, value, &count))
        return -1;
    return count >= op->u.size || complain_size(run, op, value, at, "a string of at least", "character", "characters");
}

static int check_max_length(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    size_t len = json_string_length(value);
    double count = (double)((len + 3) / 4);
    if ((double)len <= op->u.size)
        return 1;
    if (count <= op->u.size && characters(run, value, &count))
        return -1;
    return count <= op->u.size ||
           complain_size(run, op, value, at, "a string of at most", "character", "characters");
}

static int check_min_items(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    return (double)json_array_size(value) >= op->u.size ||
           complain_size(run, op, value, at, "an array of at least", "item", "items");
}

static int check_max_items(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    return (double)json_array_size(value) <= op->u.size ||
           complain_size(run, op, value, at, "an array of at most", "item", "items");
}

static int check_min_properties(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    return (double)json_object_size(value) >= op->u.size ||
           complain_size(run, op, value, at, "an object of at least", "property", "properties");
}

static int check_max_properties(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at)
{
    return (double)json_object_size(value) <= op->u.size ||
           complain_size(run, op, value, at, "an object of at most", "property", "properties");
}

static int compile_size(struct jm_compiler *c, struct jm_node *node, struct jm_op *op, const char *name, unsigned kinds,
                        jm_check check)
{
    op->kinds = kinds;
    op->check = check;
    return jm_schema_count(c, node->json, name, &op->u.size);
}

int jm_compile_min_length(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_size(c, node, op, "minLength", JM_STRING, check_min_length);
}

int jm_compile_max_length(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_size(c, node, op, "maxLength", JM_STRING, check_max_length);
}

int jm_compile_min_items(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_size(c, node, op, "minItems", JM_ARRAY, check_min_items);
}

int jm_compile_max_items(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_size(c, node, op, "maxItems", JM_ARRAY, check_max_items);
}

int jm_compile_min_properties(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_size(c, node, op, "minProperties", JM_OBJECT, check_min_properties);
}

int jm_compile_max_properties(struct jm_compiler *c, struct jm_node *node, struct jm_op *op)
{
    return compile_size(c, node, op, "maxProperties", JM_OBJECT, check_max_properties);
}
