/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_SUPPORT_H
#define CALL_SUPPORT_H

#include "jianmu.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct world {
    jianmu_config *config;
    jianmu_constraints *constraints;
    jianmu_bus *bus;
    jianmu_runner *runner;
    json_t *events;      /* array of all that came */
    json_t *last;        /* what expect_pair returned */
};

extern const char *world_dir; /* of its plug-ins, below the build tree; tests/call/dir */
/* A runner with the plug-ins of the build tree; yaml and constraints (JSON text) may be NULL. Fails the test. */
void world_open(struct world *w, const char *yaml, const char *constraints);
void world_close(struct world *w);
/* The same, and what it says where it cannot be opened. */
void world_refused(const char *yaml, const char *constraints, jianmu_code code, const char *part);

/* Calls and expects a result; args: JSON text or NULL. */
jianmu_result *call_tool(struct world *w, const char *tool, const char *args, jianmu_call *call);
/* Calls and expects an error of that code whose sentence holds part. */
void call_refused(struct world *w, const char *tool, const char *args, jianmu_call *call, jianmu_code code, const char *part);
/* Runs a script and expects a result. */
jianmu_result *run_script(struct world *w, const char *language, const char *script);

/* Exactly one started and one end event since the last call of this; the end is returned, borrowed until the next. */
json_t *expect_pair(struct world *w, const char *end);
int use_build_tree(void **state); /* set-up: tool hosts are those of the build tree */
json_t *json_text(const char *text);
double now_s(void);
int count_fds(void);
int count_threads(void);
bool process_gone(int pid); /* gone, or a zombie of somebody else's */

#endif
