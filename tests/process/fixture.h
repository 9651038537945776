/* SPDX-License-Identifier: Apache-2.0
 * What the cmocka tests of the process service share: reapers, a directory, and a run. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "support.h"
#include "base/cleanup.h"
#include "process/protocol.h"
#include "process/reapers.h"
#include <setjmp.h>
#include <stdarg.h>

extern struct jm_reapers *reapers;
extern char dir[]; /* private; emptied at the end */

struct outcome {
    struct jm_process_result r;
    jianmu_error *err;
    int status;
};

/* A result or an error, never both. */
void run(struct outcome *o, const struct jm_process_spec *spec);
void run_well(struct outcome *o, const struct jm_process_spec *spec); /* a result, or the test fails */
void done(struct outcome *o);
/* Path of a new file in dir; static. */
const char *put_file(const char *name, const char *text, mode_t mode);

int open_fixture(void **state);
int close_fixture(void **state);

/* Declares spec, for the victim with these arguments, and the outcome o. */
#define RUN(o, ...) \
    const char *argv_[16]; \
    struct jm_process_spec spec; \
    struct outcome o = {0}; \
    set_spec(&spec, argv_, __VA_ARGS__, NULL)

#endif
