/* SPDX-License-Identifier: Apache-2.0
 * From the JSON of the configuration to what is quick to ask. The core has checked it; what is not as it must be all the
 * same fails the whole, as a rule that is left out may be the one that mattered. */
#include "config.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/pattern.h"
#include "policy/policy.h"
#include <stdio.h>
#include <string.h>

struct compiler {
    struct policy *policy;
    char *reason; /* 256 bytes */
};

/* One place for each different text, as long as there are some. */
static unsigned place_of(const char *list[REMEMBERED], const char *text)
{
    unsigned i = 0;
    while (i < REMEMBERED && list[i] && strcmp(list[i], text))
        i++;
    if (i < REMEMBERED)
        list[i] = text;
    return i < REMEMBERED ? i : NOT_REMEMBERED;
}

static int refuse(struct compiler *c, const char *source, const char *what)
{
    snprintf(c->reason, 256, "%s%s%s", source ? source : "", source ? ": " : "", what);
    return -1;
}

static const char *text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static int word(const char *value, const char *const *words)
{
    for (int i = 0; value && words[i]; i++)
        if (!strcmp(value, words[i]))
            return i;
    return -1;
}

static int compile_globs(struct compiler *c, const json_t *object, const char *key, struct globs *globs)
{
    const json_t *list = json_object_get(object, key);
    if (!list)
        return 0;
    globs->list = calloc(json_array_size(list) + 1, sizeof *globs->list);
    if (!globs->list)
        return refuse(c, NULL, "out of memory");
    for (; globs->count < json_array_size(list); globs->count++) {
        globs->list[globs->count] = json_string_value(json_array_get(list, globs->count));
        if (!globs->list[globs->count])
            return refuse(c, text(object, "source"), "a pattern is no text");
    }
    return 0;
}

/* "/a~1b/0": its tokens, unescaped in a copy. */
static int compile_pointer(struct compiler *c, struct argument *a, const char *pointer)
{
    size_t depth = 0;
    for (const char *p = pointer; *p; p++)
        depth += *p == '/';
    a->keys = strdup(pointer);
    a->at = calloc(depth + 1, sizeof *a->at);
    if (!a->keys || !a->at)
        return refuse(c, NULL, "out of memory");
    char *to = a->keys;
    for (const char *from = pointer; *from; to++) {
        char *key = to;
        for (from++; *from && *from != '/'; from++) {
            *to++ = *from != '~' ? *from : from[1] == '0' ? '~' : '/';
            from += *from == '~';
        }
        *to = 0; /* behind the "/" that was read, so never past it */
        size_t digits = strspn(key, "0123456789");
        bool index = digits && !key[digits] && digits < 10 && (key[0] != '0' || digits == 1);
        a->at[a->depth++] = (struct token){key, index ? strtoul(key, NULL, 10) : SIZE_MAX};
    }
    return 0;
}

static int compile_argument(struct compiler *c, const json_t *json, const char *source, struct argument *a)
{
    const char *pointer = text(json, "at"), *regex = text(json, "regex");
    jianmu_error *why = NULL;
    a->glob = text(json, "glob");
    if (!pointer || !a->glob == !regex)
        return refuse(c, source, "a pattern of arguments is not understood");
    a->place = place_of(c->policy->pointers, pointer);
    if (compile_pointer(c, a, pointer))
        return -1;
    if (regex && !(a->regex = jm_pattern_new(regex, strlen(regex), &why))) {
        refuse(c, source, jianmu_error_message(why));
        jianmu_error_free(why);
        return -1;
    }
    return 0;
}

static int compile_args(struct compiler *c, const json_t *json, struct rule *rule)
{
    const json_t *list = json_object_get(json, "args");
    size_t count = json_array_size(list);
    if (count && !(rule->args = calloc(count, sizeof *rule->args)))
        return refuse(c, NULL, "out of memory");
    for (; rule->arg_count < count; rule->arg_count++)
        if (compile_argument(c, json_array_get(list, rule->arg_count), rule->source, &rule->args[rule->arg_count])) {
            rule->arg_count++; /* its parts are freed with the others */
            return -1;
        }
    return 0;
}

static int compile_plan(struct compiler *c, const json_t *json, struct rule *rule)
{
    static const char *const ops[] = {[EQUAL] = "equal", [ABOVE] = "above", [BELOW] = "below", [GLOB] = "glob",
                                      [UNSET] = "unset", [UNSET + 1] = NULL};
    const json_t *list = json_object_get(json, "plan");
    size_t count = json_array_size(list);
    if (count && !(rule->plan = calloc(count, sizeof *rule->plan)))
        return refuse(c, NULL, "out of memory");
    for (; rule->plan_count < count; rule->plan_count++) {
        const json_t *one = json_array_get(list, rule->plan_count);
        int op = word(text(one, "op"), ops);
        struct condition condition = {text(one, "name"), 0, (enum op)op, json_object_get(one, "value")};
        if (op < 0 || !condition.name || !condition.value)
            return refuse(c, rule->source, "a condition of the plan is not understood");
        condition.place = place_of(c->policy->names, condition.name);
        rule->plan[rule->plan_count] = condition;
    }
    return 0;
}

static int compile_dangers(struct compiler *c, const json_t *json, struct rule *rule)
{
    static const char *const words[] = {"read", "write", "dangerous", NULL};
    size_t i;
    json_t *item;
    json_array_foreach(json_object_get(json, "danger"), i, item) {
        int danger = word(json_string_value(item), words);
        if (danger < 0)
            return refuse(c, rule->source, "a danger is not understood");
        rule->dangers |= 1u << ((unsigned)danger + JIANMU_DANGER_READ);
    }
    return 0;
}

static int compile_rule(struct compiler *c, const json_t *json, struct rule *rule)
{
    static const char *const verdicts[] = {"", "allow", "confirm", "deny", NULL};
    int verdict = word(text(json, "then"), verdicts);
    rule->source = text(json, "source");
    rule->name = text(json, "name");
    rule->message = text(json, "message");
    if (!rule->source || verdict <= 0)
        return refuse(c, rule->source, "a rule is not understood");
    rule->verdict = (uint32_t)verdict;
    return compile_dangers(c, json, rule) || compile_globs(c, json, "tool", &rule->tool) ||
                   compile_globs(c, json, "mode", &rule->mode) || compile_globs(c, json, "skill", &rule->skill) ||
                   compile_plan(c, json, rule) || compile_args(c, json, rule)
               ? -1 : 0;
}

static int compile_set(struct compiler *c, const json_t *json, struct set *set)
{
    static const char *const profiles[] = {[DEV] = "dev", [STANDARD] = "standard", [STRICT] = "strict", NULL};
    const json_t *rules = json_object_get(json, "rules"), *profile = json_object_get(json, "profile");
    size_t count = json_array_size(rules);
    if (profile) {
        const char *name = text(profile, "name");
        int which = name ? word(name, profiles + 1) : -1;
        if (which < 0)
            return refuse(c, text(profile, "source"), "the profile is not understood");
        set->profile = (enum profile)(which + 1);
        set->profile_source = text(profile, "source");
        snprintf(set->profile_text, sizeof set->profile_text, "profile %s", name);
    }
    if (count && !(set->rules = calloc(count, sizeof *set->rules)))
        return refuse(c, NULL, "out of memory");
    while (set->count < count) {
        struct rule *rule = &set->rules[set->count++];
        if (compile_rule(c, json_array_get(rules, set->count - 1), rule))
            return -1;
    }
    return 0;
}

static int64_t nanoseconds(const json_t *object, const char *key)
{
    double ns = json_number_value(json_object_get(object, key)) * 1e9 + 0.5;
    return ns < 9e18 ? (int64_t)ns : INT64_MAX;
}

static uint64_t whole(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static int compile_charge(struct compiler *c, const json_t *json, bool is_rate, struct charge *charge)
{
    static const char *const keys[] = {[BY_RULE] = "rule", [BY_TOOL] = "tool", [BY_RUN] = "run", NULL};
    static const char *const pers[] = {[BY_RULE] = "process", [BY_TOOL] = "", [BY_RUN] = "run", NULL};
    int key = is_rate ? word(text(json, "key"), keys) : word(text(json, "per"), pers);
    charge->source = text(json, "source");
    charge->name = text(json, "name");
    charge->is_rate = is_rate;
    charge->calls = whole(json, "calls");
    charge->burst = whole(json, "burst");
    charge->output = whole(json, "output");
    charge->per = is_rate ? nanoseconds(json, "per") : 0;
    charge->wall = json_object_get(json, "wall_s") ? nanoseconds(json, "wall_s") : 0;
    charge->cpu = json_object_get(json, "cpu_s") ? nanoseconds(json, "cpu_s") : 0;
    if (key < 0 || !charge->source || (is_rate && (!charge->calls || !charge->burst || charge->per <= 0)))
        return refuse(c, charge->source, is_rate ? "a rate is not understood" : "a budget is not understood");
    charge->key = (enum key)key;
    return compile_globs(c, json, "tool", &charge->tool);
}

static int compile_charges(struct compiler *c, struct policy *p, const json_t *set, const char *what)
{
    size_t i;
    json_t *json;
    json_array_foreach(json_object_get(set, what), i, json)
        if (compile_charge(c, json, what[0] == 'r', &p->charges[p->charge_count++]))
            return -1;
    return 0;
}

int policy_compile(struct policy *p, const json_t *guard, char reason[256])
{
    struct compiler c = {p, reason};
    static const char *const files[] = {"config", "policy"}, *const kinds[] = {"rates", "budgets"};
    size_t most = 1;
    p->text = jm_json_deep_copy(guard);
    if (!p->text)
        return refuse(&c, NULL, "out of memory");
    for (size_t i = 0; i < 2; i++) {
        const json_t *set = json_object_get(p->text, files[i]);
        if (compile_set(&c, set, &p->sets[i]))
            return -1;
        most += json_array_size(json_object_get(set, "rates")) + json_array_size(json_object_get(set, "budgets"));
    }
    p->charges = calloc(most, sizeof *p->charges);
    if (!p->charges)
        return refuse(&c, NULL, "out of memory");
    for (size_t kind = 0; kind < 2; kind++)
        for (size_t i = 0; i < 2; i++)
            if (compile_charges(&c, p, json_object_get(p->text, files[i]), kinds[kind]))
                return -1;
    return 0;
}
