/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JM_CONSTRAINTS_H
#define JM_CONSTRAINTS_H

#include "jianmu.h"
#include <stdbool.h>

/* Borrowed; NULL: silent. constraints may be NULL. */
json_t *jm_constraints_get(const jianmu_constraints *constraints, const char *field);
/* Do they speak of this subject: a tool, or "job"? subject NULL: any. */
bool jm_constraints_apply(const jianmu_constraints *constraints, const char *subject, bool job);
const json_t *jm_constraints_fields(const jianmu_constraints *constraints);

#endif
