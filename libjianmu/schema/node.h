/* SPDX-License-Identifier: Apache-2.0
 * A compiled schema: a node for each subschema that is used, an op for each keyword in it. */
#ifndef JM_SCHEMA_NODE_H
#define JM_SCHEMA_NODE_H

#include "base/pattern.h"
#include "schema/schema.h"
#include "schema/value.h"

enum jm_draft { JM_DRAFT_7 = 1, JM_DRAFT_2020 = 2 };

enum {
    JM_SCHEMA_DEEPEST = 64,      /* subschemas within each other; arrays and objects of a value likewise */
    JM_SCHEMA_NODES = 10000,
    JM_CHECK_DEEPEST = 500,      /* subschemas applied within each other */
    JM_CHECK_STEPS = 5000000,
    JM_COMPLAINTS = 5
};

struct jm_run;
struct jm_op;
struct jm_node;

/* Where in the value we are. */
struct jm_at {
    const struct jm_at *up;
    const char *key; /* NULL: index counts */
    size_t index, depth;
    bool unnamed;    /* the schema does not name the key: it is the value's own */
};

/* 1 good, 0 not, -1 could not be judged */
typedef int (*jm_check)(struct jm_run *run, const struct jm_op *op, const json_t *value, const struct jm_at *at);

struct jm_nodes {
    struct jm_node **list;
    size_t count;
};

struct jm_member {
    const char *name;               /* of a property, or NULL */
    struct jm_pattern *pattern;     /* borrowed from the schema */
    struct jm_node *node;
};

struct jm_members {
    struct jm_member *named, *matched; /* by properties, by patternProperties */
    size_t named_count, matched_count;
    struct jm_node *others;         /* additionalProperties; NULL: any */
    const json_t *properties;       /* to look a name up */
};

struct jm_elements {
    struct jm_nodes first;
    struct jm_node *rest; /* NULL: any */
};

struct jm_contains {
    struct jm_node *node;
    double least, most;
};

struct jm_condition {
    struct jm_node *test, *yes, *no; /* yes, no: or NULL */
};

struct jm_dependent {
    const char *name;
    const json_t *required; /* names, or NULL */
    struct jm_node *node;   /* or NULL */
};

enum jm_op_kind {
    JM_OP_PLAIN, JM_OP_TYPE, JM_OP_VALUES /* enum, const */, JM_OP_REF, JM_OP_ALL, JM_OP_ANY, JM_OP_ONE, JM_OP_NOT,
    JM_OP_CONDITION, JM_OP_DEPENDENT, JM_OP_MEMBERS, JM_OP_ELEMENTS
};

struct jm_op {
    jm_check check;
    unsigned kinds; /* of values it looks at */
    enum jm_op_kind kind;
    union {
        unsigned types;
        const json_t *json;
        double size;
        struct jm_pattern *pattern;
        struct jm_node *node;
        struct jm_nodes nodes;
        struct jm_members *members;
        struct jm_elements *elements;
        struct jm_contains *contains;
        struct jm_condition *condition;
        struct {
            struct jm_dependent *list;
            size_t count;
        } dependents;
    } u;
};

struct jm_node {
    const json_t *json; /* where it was written; of the schema's own copy */
    struct jm_op *ops;
    unsigned count;
    bool never;         /* false */
    bool compiled;
    unsigned char seen; /* by the search for loops */
    unsigned wants;     /* kinds that may be good: an upper bound */
    size_t resource;
};

struct jm_block;

struct jianmu_schema {
    json_t *json;               /* own copy */
    json_t *lists;              /* of consts */
    struct jm_node *root;
    struct jm_block *blocks;    /* all nodes and ops */
    struct jm_pattern **patterns;
    size_t pattern_count;
};

/* check.c */
struct jm_run {
    long steps;
    unsigned depth, patterns;
    int64_t until;          /* processor time, once many patterns were searched for */
    json_t *complaints;     /* NULL: nobody listens */
    bool no_memory;
    jianmu_error *err;
};
int jm_node_check(struct jm_run *run, const struct jm_node *node, const json_t *value, const struct jm_at *at);
int jm_run_spend(struct jm_run *run, long steps);  /* 0, or -1: no more */
int jm_run_stop(struct jm_run *run, const char *why); /* -1 */
int jm_run_search(struct jm_run *run, const struct jm_pattern *p, const char *text, size_t len);
/* The same, and nobody listens. */
int jm_node_good(struct jm_run *run, const struct jm_node *node, const json_t *value, const struct jm_at *at);

/* complain.c: each returns 0. What was expected, and what came: value, or a text. */
int jm_complain(struct jm_run *run, const struct jm_at *at, const json_t *value, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
struct jm_complaint {
    struct jm_buffer expected, found, text; /* text: the whole sentence; empty: made of the two */
};
int jm_complain_taken(struct jm_run *run, const struct jm_at *at, struct jm_complaint *what); /* buffers are taken */
bool jm_complaints_wanted(const struct jm_run *run);
/* new: what the node has to say, which is not said yet; *rc as of a check. NULL without memory. */
json_t *jm_complaints_of(struct jm_run *run, const struct jm_node *node, const json_t *value, const struct jm_at *at,
                         int *rc);
int jm_complaints_add(struct jm_run *run, const json_t *list); /* says it */

#endif
