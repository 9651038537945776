/* SPDX-License-Identifier: Apache-2.0
 * Regular expressions: PCRE2 with JavaScript's $ and \u, over UTF-8, not anchored. Each search is bounded, whatever the
 * pattern and the text. A pattern is immutable: any thread. */
#ifndef JM_PATTERN_H
#define JM_PATTERN_H

#include "jianmu.h"

struct jm_pattern;

/* new; NULL: JIANMU_INVALID, where in the pattern and why. */
struct jm_pattern *jm_pattern_new(const char *text, size_t len, jianmu_error **err);
/* 1 found from byte `from` on, its bytes [span[0], span[1]) (span or NULL); 0 not found; -1 could not be judged: the
 * bound, no memory, not UTF-8. */
int jm_pattern_find(const struct jm_pattern *p, const char *text, size_t len, size_t from, size_t span[2],
                    jianmu_error **err);
int jm_pattern_matches(const struct jm_pattern *p, const char *text, size_t len, jianmu_error **err); /* so, anywhere */
const char *jm_pattern_text(const struct jm_pattern *p); /* as it was written; borrowed */
void jm_pattern_free(struct jm_pattern *p);

#endif
