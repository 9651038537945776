/* SPDX-License-Identifier: Apache-2.0
 * JSON Schema (drafts 2020-12 and 07) for arguments and results. The public half is in jianmu.h. */
#ifndef JM_SCHEMA_SCHEMA_H
#define JM_SCHEMA_SCHEMA_H

#include "jianmu.h"
#include <stdbool.h>

/* Models send {"list": "[1, 2]"} where an array was asked for. Strings that hold JSON, where the schema wants an object
 * or an array and no string will do, are parsed; nothing else is changed, and args never is. *repaired: new, or NULL
 * where nothing was to be done, or it takes more steps than a check may. 0, or -1 without memory. Cheap, but a check first is cheaper: most calls are good. */
int jm_schema_repair(const jianmu_schema *schema, const json_t *args, json_t **repaired, jianmu_error **err);

/* new: complaints of jianmu_schema_check as one sentence; NULL without memory. values: as it came, which may be
 * somebody's secret; else only what kind of value came. */
char *jm_schema_text(const json_t *complaints, bool values);

#endif
