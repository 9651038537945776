/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "event/rules.h"
#include "event/line.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/pattern.h"
#include "event/secret.h"
#include "settings/settings.h"
#include <string.h>

static const json_t *value_of(const jianmu_config *config, const char *path)
{
    const struct jm_setting *s = jm_config_value(config, path);
    return s ? s->value : NULL;
}

static int read_patterns(struct jm_rules *rules, const json_t *list, jianmu_error **err)
{
    size_t i;
    json_t *item;
    rules->patterns = calloc(json_array_size(list) + 1, sizeof *rules->patterns);
    if (!rules->patterns)
        return jm_fail_memory(err);
    json_array_foreach (list, i, item) {
        struct jm_pattern *p = jm_pattern_new(json_string_value(item), json_string_length(item), err);
        if (!p)
            return -1;
        rules->patterns[rules->count++] = p;
    }
    return 0;
}

static unsigned read_include(const json_t *list)
{
    unsigned include = 0;
    size_t i;
    json_t *item;
    json_array_foreach (list, i, item) {
        const char *word = json_string_value(item);
        include |= !strcmp(word, "arguments") ? JM_INCLUDE_ARGUMENTS
                   : !strcmp(word, "result")  ? JM_INCLUDE_RESULT
                   : !strcmp(word, "error")   ? JM_INCLUDE_ERROR
                                              : 0;
    }
    return include;
}

struct jm_rules *jm_rules_new(const jianmu_config *config, jianmu_error **err)
{
    struct jm_rules *rules = calloc(1, sizeof *rules);
    if (!rules) {
        jm_fail_memory(err);
        return NULL;
    }
    const json_t *trace = value_of(config, "events.trace");
    rules->include = read_include(value_of(config, "events.include"));
    rules->trace = json_is_boolean(trace) ? json_is_true(trace) : -1;
    if (!read_patterns(rules, value_of(config, "events.redact"), err))
        return rules;
    jm_rules_free(rules);
    return NULL;
}

void jm_rules_free(struct jm_rules *rules)
{
    if (!rules)
        return;
    for (size_t i = 0; i < rules->count; i++)
        jm_pattern_free(rules->patterns[i]);
    free(rules->patterns);
    free(rules);
}

/* A match of nothing blots nothing out; the next may. */
static int find_some(const struct jm_pattern *p, const char *text, size_t len, size_t from, size_t span[2])
{
    while (from <= len) {
        jianmu_error *err = NULL;
        int found = jm_pattern_find(p, text, len, from, span, &err);
        jianmu_error_free(err);
        if (found <= 0 || span[1] > span[0])
            return found;
        for (from = span[1] + 1; from < len && ((unsigned char)text[from] & 0xc0) == 0x80;)
            from++;
    }
    return 0;
}

/* Of all that was found: the first, and what overlaps it. */
static bool merge(const size_t (*next)[2], size_t count, size_t span[2])
{
    size_t first = 0;
    for (size_t i = 1; i < count; i++)
        if (next[i][0] < next[first][0])
            first = i;
    if (next[first][0] == SIZE_MAX)
        return false;
    span[0] = next[first][0];
    span[1] = next[first][1];
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < count; i++)
            if (next[i][0] <= span[1] && next[i][1] > span[1]) {
                span[1] = next[i][1];
                more = true;
            }
    }
    return true;
}

void jm_search_init(struct jm_search *s, const struct jm_rules *rules, const char *text, size_t len, long *work)
{
    s->rules = rules;
    s->text = text;
    s->len = len;
    s->work = work;
    for (size_t i = 0; i <= (rules ? rules->count : 0); i++)
        s->next[i][0] = s->next[i][1] = 0;
}

/* What the search of one pattern costs: what it passed, and that the rest was looked at for its UTF-8. */
static bool spend(struct jm_search *s, size_t from, size_t to)
{
    *s->work -= (long)(64 + to - from + (s->len - from) / 16);
    return *s->work >= 0;
}

static int search(struct jm_search *s, size_t which, size_t from)
{
    size_t *next = s->next[which];
    if (*s->work < 0)
        return -1;
    int rc = which ? find_some(s->rules->patterns[which - 1], s->text, s->len, from, next)
                   : jm_secret_find(s->text, s->len, from, next);
    if (rc < 0)
        *s->work -= JM_LINE_WORK / 4; /* it took all the steps it may */
    if (!rc)
        next[0] = next[1] = SIZE_MAX;
    return rc < 0 || !spend(s, from, rc ? next[1] : s->len) ? -1 : rc;
}

int jm_search_next(struct jm_search *s, size_t from, size_t span[2])
{
    size_t count = 1 + (s->rules ? s->rules->count : 0);
    for (size_t i = 0; i < count; i++) {
        bool passed = s->next[i][0] != SIZE_MAX && (s->next[i][0] < from || s->next[i][1] <= s->next[i][0]);
        if (passed && search(s, i, from) < 0)
            return -1;
    }
    return merge((const size_t(*)[2])s->next, count, span);
}
