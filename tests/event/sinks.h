/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_SINKS_H
#define TEST_SINKS_H

#include "../call/support.h"

/* A directory of the test's own, and a runner whose config names sinks; yaml: what stands in events:, %s is the directory. */
struct place {
    struct world w;
    char dir[64];
    char file[128]; /* dir/lines */
};
int place_make(void **state);   /* set-up and tear-down of one test */
int place_remove(void **state);
void place_open(struct place *p, const char *events);
void place_call(struct place *p, int times); /* calls echo_it, which must succeed */
json_t *place_lines(const char *file);      /* new: all lines, each whole */
json_int_t place_lost(struct place *p, const char *sink, bool *abandoned);
const char *member(json_t *line, const char *name);

#endif
