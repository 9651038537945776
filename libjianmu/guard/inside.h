/* SPDX-License-Identifier: Apache-2.0
 * The inside of the host of guards. */
#ifndef JM_GUARD_INSIDE_H
#define JM_GUARD_INSIDE_H

#include "guard/guard.h"
#include "plugin/plain.h"
#include "plugin/registry.h"
#include <stdatomic.h>

struct jm_one_guard {
    const char *name;         /* the config's */
    struct jm_item *item;     /* NULL: it cannot be had */
    struct jianmu_guard_plugin plugin;
    void *instance;
    json_t *settings;
    bool opened, foreign;     /* foreign: called on a thread of its own, with a time limit */
    char *broken;             /* why it denies every call; NULL: it does not */
};

struct jm_guards {
    atomic_uint references;   /* the owner's, and one for each thread that a foreign guard is in */
    atomic_uint abandoned, lost; /* threads left behind that are still in there; all that ever were */
    jianmu_config *config;
    double time_limit;
    size_t count;
    struct jm_one_guard list[JM_GUARDS_MOST];
};

void jm_guards_release(struct jm_guards *guards);

/* Foreign guards: the same three on another thread. -1 where there was no answer in time, or none could be had;
 * message: room for the reason, of JM_GUARD_REASON bytes. */
enum { JM_GUARD_REASON = 256 };
int jm_guard_away_decide(struct jm_guards *guards, struct jm_one_guard *guard, const struct jianmu_guard_request *request,
                         struct jianmu_guard_decision *decision, char *reason);
int jm_guard_away_again(struct jm_guards *guards, struct jm_one_guard *guard, uint64_t ticket);
void jm_guard_away_settle(struct jm_guards *guards, struct jm_one_guard *guard, uint64_t ticket,
                          const struct jianmu_guard_usage *usage);

#endif
