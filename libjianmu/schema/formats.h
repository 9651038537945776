/* SPDX-License-Identifier: Apache-2.0
 * Specifications of tools in the words of others. */
#ifndef JM_SCHEMA_FORMATS_H
#define JM_SCHEMA_FORMATS_H

#include "jianmu.h"
#include <stdbool.h>

/* new: without $ref, $schema and definitions; NULL: it cannot be written so, or no memory. */
json_t *jm_schema_inline(const json_t *schema, jianmu_error **err);
/* Every object in it is closed and names all properties as required, with words alone that are understood in strict
 * mode. Else false, and *where, *why (new, or NULL without memory) say what stands against it. */
bool jm_schema_is_strict(const json_t *schema, char **why);

#endif
