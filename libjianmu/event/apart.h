/* SPDX-License-Identifier: Apache-2.0
 * A subscriber on a thread of its own: it gets copies from a bounded queue. What it has no time for is lost and counted;
 * if one event takes it longer than is patient, it is abandoned: never called again, its thread left to itself. */
#ifndef JM_APART_H
#define JM_APART_H

#include "event/event.h"

struct jm_apart;

/* new. gone(data), or NULL, is called by its thread when the function will never be called again; not at all where that
 * never returns. */
struct jm_apart *jm_apart_new(const char *name, jianmu_subscriber fn, void *data, double patience, void (*gone)(void *data),
                              jianmu_error **err);
void jm_apart_take(void *apart, const jianmu_event *event);
/* Waits for the queue to be worked off, as long as is patient. Then it is freed, or abandoned. */
void jm_apart_end(void *apart, bool forked);
json_t *jm_apart_report(const void *apart); /* new: {"sink", "lost", "abandoned"} */

#endif
