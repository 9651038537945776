/* SPDX-License-Identifier: Apache-2.0
 * What a config says of events: which parts are asked for, what is blotted out, whether calls are traced. */
#ifndef JM_RULES_H
#define JM_RULES_H

#include "jianmu.h"
#include <stdbool.h>

#define JM_INCLUDE_ARGUMENTS 0x1u
#define JM_INCLUDE_RESULT 0x2u
#define JM_INCLUDE_ERROR 0x4u /* a tool's own words */

enum { JM_MOST_PATTERNS = 64 }; /* held when the config is read */

struct jm_pattern;

/* Immutable: any thread. */
struct jm_rules {
    unsigned include;
    int trace;               /* 1 always, 0 never, -1 where a sink or the call asks for it */
    size_t count;
    struct jm_pattern **patterns;
};

struct jm_rules *jm_rules_new(const jianmu_config *config, jianmu_error **err);
void jm_rules_free(struct jm_rules *rules);

/* What must not be shown, from byte `from` of that text on: 1 in span, 0 nothing, -1 it cannot be judged. rules NULL: only
 * the usual forms of keys. */
int jm_rules_find(const struct jm_rules *rules, const char *text, size_t len, size_t from, size_t span[2]);

#endif
