/* SPDX-License-Identifier: Apache-2.0
 * Which program runs a script: a table of languages, the #! line, and the real interpreter behind a shim. */
#ifndef JM_INTERPRETER_H
#define JM_INTERPRETER_H

#include "jianmu.h"

struct jm_language {
    const char *name;
    const char *script;        /* what the script is called in the work directory */
    const char *program;       /* looked for on PATH */
    const char *flags[4];      /* before the script; fewer end with NULL */
};

/* Unknown: an error that lists the known. */
const struct jm_language *jm_language_find(const char *name, jianmu_error **err);
/* By name, else by the script's #! line, else python. */
const struct jm_language *jm_language_of(const char *name, const char *script, size_t len, jianmu_error **err);

/* The real program of that name on path ("a:b", only absolute elements count): new; JIANMU_NOT_FOUND. A shim of a
 * version manager is resolved to the program it would start. */
char *jm_interpreter_find(const char *program, const char *path, jianmu_error **err);

#endif
