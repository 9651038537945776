/* SPDX-License-Identifier: Apache-2.0
 * A YAML file as a tree that knows where everything stood. Small, flat files only: no anchors, aliases, tags,
 * several documents; at most 64 deep, 500 keys in a mapping, 10000 values, 1 MiB. */
#ifndef JM_YAML_H
#define JM_YAML_H

#include "jianmu.h"
#include <stdbool.h>

enum { JM_YAML_DEEPEST = 64, JM_YAML_KEYS = 500, JM_YAML_NODES = 10000, JM_YAML_BYTES = 1048576 };

enum jm_node_kind { JM_NODE_SCALAR, JM_NODE_LIST, JM_NODE_MAP };

struct jm_node {
    enum jm_node_kind kind;
    bool plain;                    /* a scalar without quotes */
    int line, column;              /* from 1 */
    char *text;                    /* of a scalar */
    struct jm_node *child, *last, *next, *parent;
    char *key;                     /* of a member of a map */
    unsigned key_hash;
    int key_line, key_column;
};

/* new; an empty file is an empty map. Every complaint begins with file:line:column. */
struct jm_node *jm_yaml_parse(const char *text, size_t len, const char *file, jianmu_error **err);
void jm_node_free(struct jm_node *node);
const struct jm_node *jm_node_member(const struct jm_node *map, const char *key);
bool jm_node_is_null(const struct jm_node *node); /* nothing, ~ or null, without quotes */

/* The value in JSON by the core schema of YAML 1.2; new. label names it in complaints. */
json_t *jm_node_json(const struct jm_node *node, const char *label, const char *file, jianmu_error **err);

#endif
