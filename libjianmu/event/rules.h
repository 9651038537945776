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

/* What must not be shown in a text of valid UTF-8, from its beginning to its end. Each pattern's next match is kept until
 * it has been passed. */
struct jm_search {
    const struct jm_rules *rules;
    const char *text;
    size_t len;
    long *work; /* what may be spent yet */
    size_t next[JM_MOST_PATTERNS + 1][2];
};

/* rules NULL: only the usual forms of keys. All is borrowed. */
void jm_search_init(struct jm_search *s, const struct jm_rules *rules, const char *text, size_t len, long *work);
/* From byte `from` on: 1 in span, 0 nothing, -1 it cannot be judged, or the work is spent. */
int jm_search_next(struct jm_search *s, size_t from, size_t span[2]);

#endif
