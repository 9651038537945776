/* SPDX-License-Identifier: Apache-2.0
 * Judging a call: every guard in use is asked, the strictest verdict holds, and whatever goes wrong denies. */
#ifndef JM_GUARD_H
#define JM_GUARD_H

#include "jianmu-plugin.h"
#include "jianmu.h"
#include "settings/settings.h"
#include <stdbool.h>

struct jm_guards;

/* One call, before it runs. All borrowed until jm_guards_decide returns. */
struct jm_guard_call {
    const char *tool;         /* "job": a job */
    uint32_t danger;          /* JIANMU_DANGER_...; what is none of them counts as dangerous */
    uint64_t flags;           /* of the tool */
    const char *mode;
    const char *skill;        /* NULL: that of the plan, or none */
    const char *run_id;       /* NULL: none */
    json_t *args;             /* NULL: a job; must not be changed meanwhile */
    json_t *plan;             /* of jm_guard_plan_values */
    double timeout_s;         /* the call's own, instead of the plan's; 0: none */
    const char *over_max;     /* why the plan is above a maximum; NULL: it is not */
    bool explain;             /* nothing will run, nothing is taken */
    bool operator;            /* nobody will be asked */
};

enum { JM_GUARDS_MOST = 8 };

/* verdict is one of JIANMU_ALLOW, JIANMU_CONFIRM, JIANMU_DENY; the strings are the guards', valid as long as they. */
struct jm_verdict {
    unsigned verdict;
    jianmu_code code;         /* of a denial: JIANMU_DENIED, JIANMU_RATE_LIMITED, JIANMU_OVER_BUDGET; of CONFIRM: JIANMU_NEEDS_CONFIRMATION */
    double retry_after_s;     /* 0: never, or not known */
    const char *guard;        /* whose verdict this is; NULL: nobody's, the core's own */
    const char *rule, *source; /* "no-etc", "jianmu.yaml:12"; NULL: none */
    char message[640];        /* one whole sentence that names rule and line; "" where a call is allowed */
    unsigned charged;         /* bits: guards that have taken something */
    uint64_t tickets[JM_GUARDS_MOST];
};

/* {name: value} of all that is set in a plan; new: made once for a plan, for all its calls; NULL without memory. */
json_t *jm_guard_plan_values(const struct jm_plan *plan);

/* The guards that the config has in use, opened. One that cannot be had is no error here: it denies every call and says
 * why. config is held. NULL: JIANMU_INTERNAL. */
struct jm_guards *jm_guards_new(const jianmu_config *config, jianmu_error **err);
void jm_guards_free(struct jm_guards *guards); /* after the last verdict was settled */

/* Any thread. A verdict that does not deny must be settled, whatever becomes of the call; one that denies needs not. */
void jm_guards_decide(struct jm_guards *guards, const struct jm_guard_call *call, struct jm_verdict *verdict);
/* May there be one more attempt? 0: it was charged; -1: no, and nothing was. */
int jm_guards_again(struct jm_guards *guards, const struct jm_verdict *verdict);
/* The end of a call: with attempts 0 all that was taken is given back. */
void jm_guards_settle(struct jm_guards *guards, struct jm_verdict *verdict, const struct jianmu_guard_usage *usage);
/* Foreign guards that were left behind in callbacks that did not return, so far. */
unsigned jm_guards_abandoned(const struct jm_guards *guards);

#endif
