/* SPDX-License-Identifier: Apache-2.0
 * The words of JSON Schema, and which of them hold further schemas. */
#ifndef JM_SCHEMA_WORDS_H
#define JM_SCHEMA_WORDS_H

#include <jansson.h>

enum jm_holds {
    JM_HOLDS_UNKNOWN, /* no word of either draft */
    JM_HOLDS_NOTE,    /* says something about values to people: title, default */
    JM_HOLDS_PLAIN,
    JM_HOLDS_NAME,    /* what the schema is called, and where it leads: $id, $ref, $defs' contents excepted */
    JM_HOLDS_SCHEMA,
    JM_HOLDS_SCHEMAS, /* a list of them */
    JM_HOLDS_MAP      /* an object of them */
};

enum jm_holds jm_keyword_holds(const char *name, const json_t *value);
const char *jm_keyword_nearest(const char *name); /* NULL: none */

#endif
