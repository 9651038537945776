/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "event/rules.h"
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
static bool merge(size_t (*spans)[2], size_t count, size_t span[2])
{
    if (!count)
        return false;
    span[0] = spans[0][0];
    span[1] = spans[0][1];
    for (size_t i = 1; i < count; i++) {
        if (spans[i][0] < span[0]) {
            span[0] = spans[i][0];
            span[1] = spans[i][1];
        }
    }
    for (size_t pass = 0; pass < count; pass++)
        for (size_t i = 0; i < count; i++)
            if (spans[i][0] <= span[1] && spans[i][1] > span[1])
                span[1] = spans[i][1];
    return true;
}

int jm_rules_find(const struct jm_rules *rules, const char *text, size_t len, size_t from, size_t span[2])
{
    size_t spans[JM_MOST_PATTERNS + 1][2], count = jm_secret_find(text, len, from, spans[0]);
    for (size_t i = 0; rules && i < rules->count; i++) {
        int rc = find_some(rules->patterns[i], text, len, from, spans[count]);
        if (rc < 0)
            return -1;
        count += (size_t)rc;
    }
    return merge(spans, count, span);
}
