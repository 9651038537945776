/* SPDX-License-Identifier: Apache-2.0
 * What is needed while a schema becomes nodes. */
#ifndef JM_SCHEMA_COMPILER_H
#define JM_SCHEMA_COMPILER_H

#include "base/cleanup.h"
#include "base/error.h"
#include "schema/node.h"

/* A part of the document with a URI of its own. */
struct jm_resource {
    char *uri; /* without fragment; "" where none is named */
    const json_t *root;
};

struct jm_anchor {
    size_t resource;
    const char *name;
    const json_t *json;
};

struct jm_compiler {
    jianmu_schema *schema;
    enum jm_draft draft;
    jianmu_error **err;
    struct jm_node **places; /* by the address of their json; a power of two */
    size_t place_count, place_room;
    struct jm_resource *resources;
    size_t resource_count;
    struct jm_anchor *anchors;
    size_t anchor_count;
    struct jm_node **queue; /* found, not yet compiled */
    size_t queue_count, queue_done;
    struct jm_node *always, *never;
};

/* arena.c: zeroed, lives as long as the schema; NULL without memory, and then the error is set. */
void *jm_schema_take(struct jm_compiler *c, size_t size);
void jm_schema_blocks_free(struct jm_block *blocks);

/* locate.c */
int jm_locate_all(struct jm_compiler *c); /* every subschema has its node, every $id and anchor is known */
struct jm_node *jm_locate_node(struct jm_compiler *c, const json_t *json); /* of a subschema; NULL: failed */
struct jm_node *jm_locate_reference(struct jm_compiler *c, const struct jm_node *from, const char *reference);
void jm_locate_free(struct jm_compiler *c);

/* compile.c: "<pointer>: <sentence>"; returns -1. */
int jm_schema_wrong(struct jm_compiler *c, const json_t *json, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The subschema that is the value of a keyword: 1, 0 the keyword is not there, -1 failed. */
int jm_schema_child(struct jm_compiler *c, const struct jm_node *node, const char *keyword, struct jm_node **child);

/* Keywords. compile: 1 the op is filled in, 0 the keyword is not there, -1 failed. */
struct jm_keyword {
    int (*compile)(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
    unsigned drafts; /* 0: all */
};
extern const struct jm_keyword jm_keywords[]; /* ended by a NULL */
enum { JM_KEYWORDS = 40 };

/* plain.c */
int jm_compile_type(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_enum(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_const(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_required(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_unique(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_pattern(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
struct jm_pattern *jm_schema_pattern(struct jm_compiler *c, const json_t *at, const char *text, size_t len);
/* bounds.c */
int jm_compile_minimum(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_maximum(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_above(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_below(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_multiple(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_min_length(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_max_length(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_min_items(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_max_items(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_min_properties(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_max_properties(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_schema_count(struct jm_compiler *c, const json_t *json, const char *name, double *count); /* 1, 0, -1 */
/* combine.c */
int jm_compile_ref(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_all(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_any(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_one(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_not(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_condition(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
/* members.c, dependent.c */
int jm_compile_members(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_names(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_dependent(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_dependencies(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_dependent_schemas(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
/* elements.c */
int jm_compile_elements(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);
int jm_compile_contains(struct jm_compiler *c, struct jm_node *node, struct jm_op *op);

/* loops.c: refuses a schema that applies itself to the same value again without end; sets what nodes want. */
int jm_schema_loops(struct jm_compiler *c);

#endif
