/* SPDX-License-Identifier: Apache-2.0
 * The order: rules of both files, maxima, rates, budgets. Of two verdicts the stricter holds. */
#include "config.h"
#include "base/clock.h"
#include "base/pattern.h"
#include "policy/policy.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What one set says. rule NULL: its profile says it, or nothing does. */
struct opinion {
    uint32_t verdict;
    const struct rule *rule;
    bool failed;                /* the rule could not be evaluated */
    const char *name, *source, *why;
};

static struct opinion by_profile(const struct set *set, const struct jianmu_guard_request *request)
{
    struct opinion o = {JIANMU_ALLOW, NULL, false, NULL, NULL, NULL};
    uint32_t danger = policy_danger(request);
    if (set->profile == NO_PROFILE)
        return o;
    o.name = set->profile_text;
    o.source = set->profile_source;
    if (set->profile == STRICT && request->flags & JIANMU_OPEN_WORLD) {
        o.verdict = JIANMU_DENY;
        o.why = "it reaches beyond this machine";
    } else if (set->profile == STRICT && danger >= JIANMU_DANGER_WRITE) {
        o.verdict = JIANMU_CONFIRM;
        o.why = danger == JIANMU_DANGER_WRITE ? "it changes things" : "it is dangerous";
    } else if (set->profile == STANDARD && danger == JIANMU_DANGER_DANGEROUS) {
        o.verdict = JIANMU_CONFIRM;
        o.why = "it is dangerous";
    }
    return o;
}

static struct opinion opinion(const struct set *set, const size_t *rules, size_t count, struct look *look)
{
    for (size_t i = 0; i < count; i++) {
        const struct rule *rule = &set->rules[rules[i]];
        int matches = policy_rule_matches(rule, look);
        if (!matches)
            continue;
        return (struct opinion){matches < 0 ? JIANMU_DENY : rule->verdict, rule, matches < 0, rule->name, rule->source,
                                matches < 0 ? "a rule of it cannot be evaluated" : rule->message};
    }
    return by_profile(set, look->request);
}

/* At most so many bytes of it, and no half character. */
static int clipped(const char *text, size_t most)
{
    size_t len = strnlen(text, most + 1);
    if (len > most)
        for (len = most; len && ((unsigned char)text[len] & 0xc0) == 0x80;)
            len--;
    return (int)len;
}

static void tell(const struct opinion *o, const char *tool, struct jianmu_guard_decision *d)
{
    bool denied = o->verdict == JIANMU_DENY;
    d->verdict = o->verdict;
    d->code = denied ? 30 : 0;
    d->rule = o->name;
    d->source = o->source;
    if (o->verdict == JIANMU_ALLOW)
        return;
    const char *why = o->why ? o->why : "", *name = o->name ? o->name : "rule", *source = o->source ? o->source : "";
    snprintf(d->message, sizeof d->message, "tool '%.*s' %s%s%.*s (%s%.*s%s%.*s)", clipped(tool, 64), tool,
             denied ? "is denied" : "needs confirmation", *why ? ": " : "", clipped(why, 160), why,
             o->rule && o->name ? "rule " : "", clipped(name, 60), name, o->name ? ", " : " of ", clipped(source, 140),
             source);
}

static int cannot(struct jianmu_guard_decision *d, const char *why)
{
    d->verdict = JIANMU_DENY;
    d->code = 30;
    snprintf(d->message, sizeof d->message, "%s", why);
    return 0;
}

int policy_decide(void *instance, jianmu_context *ctx, const struct jianmu_guard_request *request,
                  struct jianmu_guard_decision *d)
{
    struct policy *p = instance;
    const struct tool *tool = policy_tool(p, request->tool);
    (void)ctx;
    if (!tool)
        return cannot(d, "which rules it has cannot be said: out of memory");
    struct look look;
    look.request = request;
    look.plan_known = look.args_known = 0;
    struct opinion own = opinion(&p->sets[OWN], tool->rules[OWN], tool->rule_count[OWN], &look);
    struct opinion policy = opinion(&p->sets[POLICY], tool->rules[POLICY], tool->rule_count[POLICY], &look);
    tell(policy.verdict > own.verdict ? &policy : &own, request->tool, d);
    if (d->verdict == JIANMU_DENY)
        return 0;
    if (request->over_max) {
        d->rule = d->source = NULL;
        return cannot(d, request->over_max);
    }
    if (policy_charge(p, tool, request, d))
        d->verdict = JIANMU_DENY;
    return 0;
}

static int64_t monotonic(void *data)
{
    (void)data;
    return jm_now();
}

int policy_open(jianmu_context *ctx, void **instance)
{
    char reason[256];
    struct policy *p = calloc(1, sizeof *p);
    if (!p)
        return ctx->services->fail(ctx, 70, "out of memory");
    pthread_mutex_init(&p->lock, NULL);
    p->now = monotonic;
    *instance = p;
    if (!policy_compile(p, ctx->services->setting(ctx, "guard"), reason))
        return 0;
    policy_close(p);
    *instance = NULL;
    return ctx->services->fail(ctx, strcmp(reason, "out of memory") ? 10 : 70, "%s", reason);
}

static void free_rule(struct rule *rule)
{
    for (size_t i = 0; i < rule->arg_count; i++) {
        free(rule->args[i].at);
        free(rule->args[i].keys);
        jm_pattern_free(rule->args[i].regex);
    }
    free(rule->args);
    free(rule->plan);
    free(rule->tool.list);
    free(rule->mode.list);
    free(rule->skill.list);
}

static void free_tools(struct policy *p)
{
    for (size_t i = 0; i < TOOLS; i++) {
        for (struct tool *tool = p->tools[i], *next; tool; tool = next) {
            next = tool->next;
            free(tool->rules[OWN]);
            free(tool->rules[POLICY]);
            free(tool->charges);
            free(tool);
        }
    }
}

void policy_close(void *instance)
{
    struct policy *p = instance;
    for (size_t set = 0; set < 2; set++) {
        for (size_t i = 0; i < p->sets[set].count; i++)
            free_rule(&p->sets[set].rules[i]);
        free(p->sets[set].rules);
    }
    for (size_t i = 0; i < p->charge_count; i++) {
        free(p->charges[i].tool.list);
        table_free(&p->charges[i].table);
    }
    free(p->charges);
    for (size_t i = 0; i < p->ticket_count; i++)
        free(p->tickets[i].run_id);
    free(p->tickets);
    free_tools(p);
    json_decref(p->text);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

JIANMU_GUARD(policy, policy_decide, policy_open, policy_again, policy_settle, policy_close, JIANMU_COOPERATES,
             "Rules, rates and budgets of jianmu.yaml and policy.yaml.", "{}")
JIANMU_PLUGIN(JIANMU_ITEM(policy))
