/* SPDX-License-Identifier: Apache-2.0
 * Does a rule speak of this call? What is cheap to say comes first. */
#include "config.h"
#include "base/cleanup.h"
#include "base/glob.h"
#include "base/json.h"
#include "base/pattern.h"
#include "policy/policy.h"
#include <string.h>

int policy_globs_fit(const struct globs *globs, const char *text)
{
    if (!globs->list)
        return 1;
    if (!text)
        return 0;
    size_t len = strlen(text);
    for (size_t i = 0; i < globs->count; i++) {
        int fits = jm_glob_fits(globs->list[i], strlen(globs->list[i]), text, len);
        if (fits)
            return fits;
    }
    return 0;
}

static int fits(const struct condition *c, const char *text, size_t len)
{
    const char *other = json_string_value(c->value);
    size_t other_len = json_string_length(c->value);
    if (c->op == GLOB)
        return jm_glob_fits(other, other_len, text, len);
    return len == other_len && !memcmp(text, other, len);
}

/* Of a list one item must fit, of a map one name. */
static int one_fits(const struct condition *c, const json_t *value)
{
    size_t i;
    json_t *item;
    const char *key;
    int rc = 0;
    if (!json_is_string(c->value))
        return 0;
    if (json_is_string(value))
        return fits(c, json_string_value(value), json_string_length(value));
    json_array_foreach((json_t *)value, i, item)
        if (json_is_string(item) && (rc = fits(c, json_string_value(item), json_string_length(item))))
            return rc;
    json_object_foreach((json_t *)value, key, item)
        if ((rc = fits(c, key, strlen(key))))
            return rc;
    return 0;
}

static const json_t *planned(const struct condition *c, struct look *look)
{
    if (c->place >= REMEMBERED)
        return json_object_get(look->request->plan, c->name);
    if (!(look->plan_known & UINT64_C(1) << c->place)) {
        look->plan[c->place] = json_object_get(look->request->plan, c->name);
        look->plan_known |= UINT64_C(1) << c->place;
    }
    return look->plan[c->place];
}

/* A number that is not set is a limit that there is not: above all. */
static int holds(const struct condition *c, struct look *look)
{
    const json_t *value = planned(c, look);
    bool unset = !value || json_is_null(value);
    switch (c->op) {
    case UNSET: return unset;
    case ABOVE:
    case BELOW:
        if (unset)
            return c->op == ABOVE;
        if (!json_is_number(value) || !json_is_number(c->value))
            return -1;
        return c->op == ABOVE ? json_number_value(value) > json_number_value(c->value)
                              : json_number_value(value) < json_number_value(c->value);
    case GLOB: return unset ? 0 : one_fits(c, value);
    case EQUAL: break;
    }
    if (unset)
        return 0;
    if (json_is_number(c->value))
        return json_is_number(value) && json_number_value(value) == json_number_value(c->value);
    if (json_is_boolean(c->value))
        return json_is_boolean(value) && json_is_true(value) == json_is_true(c->value);
    return one_fits(c, value);
}

static const json_t *follow(const struct argument *a, const json_t *value)
{
    for (size_t i = 0; i < a->depth && value; i++) {
        if (json_is_object(value))
            value = json_object_get(value, a->at[i].key);
        else
            value = json_is_array(value) && a->at[i].index != SIZE_MAX ? json_array_get(value, a->at[i].index) : NULL;
    }
    return value;
}

static const json_t *given(const struct argument *a, struct look *look)
{
    const json_t *args = look->request->args;
    if (!args || a->place >= REMEMBERED)
        return args ? follow(a, args) : NULL;
    if (!(look->args_known & UINT64_C(1) << a->place)) {
        look->args[a->place] = follow(a, args);
        look->args_known |= UINT64_C(1) << a->place;
    }
    return look->args[a->place];
}

static int text_fits(const struct argument *a, const char *text, size_t len)
{
    return a->glob ? jm_glob_fits(a->glob, strlen(a->glob), text, len) : jm_pattern_matches(a->regex, text, len, NULL);
}

/* A text as it is, anything else as JSON, in one way however it was written: 22.0 is 22. */
static int argument_fits(const struct argument *a, struct look *look)
{
    const json_t *value = given(a, look);
    size_t len;
    if (!value)
        return 0;
    if (json_is_string(value))
        return text_fits(a, json_string_value(value), json_string_length(value));
    jm_auto_free char *text = jm_json_canonical(value, &len);
    return text ? text_fits(a, text, len) : -1;
}

uint32_t policy_danger(const struct jianmu_guard_request *request)
{
    bool known = request->danger >= JIANMU_DANGER_READ && request->danger <= JIANMU_DANGER_DANGEROUS;
    return known ? request->danger : JIANMU_DANGER_DANGEROUS;
}

int policy_rule_matches(const struct rule *rule, struct look *look)
{
    const struct jianmu_guard_request *request = look->request;
    int rc = 1;
    if (rule->dangers && !(rule->dangers & 1u << policy_danger(request)))
        return 0;
    if (rule->mode.list)
        rc = policy_globs_fit(&rule->mode, request->mode);
    if (rc == 1 && rule->skill.list)
        rc = policy_globs_fit(&rule->skill, request->skill);
    for (size_t i = 0; i < rule->plan_count && rc == 1; i++)
        rc = holds(&rule->plan[i], look);
    for (size_t i = 0; i < rule->arg_count && rc == 1; i++)
        rc = argument_fits(&rule->args[i], look);
    return rc;
}
