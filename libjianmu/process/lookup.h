/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JM_LOOKUP_H
#define JM_LOOKUP_H

#include "process/process.h"
#include <limits.h>

/* The file that argv[0] stands for: itself if it has a "/", else the first executable one on PATH of spec->env.
 * JIANMU_NOT_FOUND, or JIANMU_UNAVAILABLE where there are only files that may not be executed. */
int jm_program_find(const struct jm_process_spec *spec, char path[PATH_MAX], jianmu_error **err);
/* The error of an exec of path that failed so. */
int jm_program_fail(const struct jm_process_spec *spec, const char *path, int errnum, jianmu_error **err);

#endif
