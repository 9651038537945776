/* SPDX-License-Identifier: Apache-2.0
 * Rates and budgets, in whole numbers, so that nothing is lost to rounding. A rate of `calls` in `per` nanoseconds is a
 * bucket in which each nanosecond puts `calls` drops, and from which each call takes `per`; it holds burst * per. */
#include "config.h"
#include "base/text.h"
#include "policy/policy.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_RUN INT64_C(3600000000000) /* a run that nobody heard of for an hour may be forgotten, if there are many */

typedef unsigned __int128 drops;

static drops capacity(const struct charge *c)
{
    return (drops)c->burst * (drops)c->per;
}

static drops level_now(const struct charge *c, const struct slot *slot, int64_t now)
{
    drops most = capacity(c);
    if (!slot)
        return most;
    drops level = slot->level + (now > slot->used ? (drops)(now - slot->used) * c->calls : 0);
    return level < most ? level : most;
}

static bool spent(const struct slot *slot, int64_t now, const void *data)
{
    const struct charge *c = data;
    return c->is_rate ? level_now(c, slot, now) == capacity(c) : now - slot->used >= IDLE_RUN;
}

static const char *key_of(const struct charge *c, const struct tool *tool, const char *run_id)
{
    return c->key == BY_TOOL ? tool->name : c->key == BY_RUN && run_id ? run_id : "";
}

/* Nanoseconds until a call may be; 0: now. */
static int64_t wait_of(const struct charge *c, const struct slot *slot, int64_t now)
{
    drops level = level_now(c, slot, now), need = (drops)c->per;
    return level >= need ? 0 : (int64_t)((need - level + c->calls - 1) / c->calls);
}

/* What of a budget is used up; NULL: nothing. */
static const char *used_up(const struct charge *c, const struct slot *slot, char text[64])
{
    char seconds[32];
    if (!slot)
        return NULL;
    if (c->calls && slot->calls >= c->calls)
        snprintf(text, 64, "%llu calls", (unsigned long long)c->calls);
    else if (c->wall && slot->wall >= c->wall)
        snprintf(text, 64, "%s seconds", jm_print_seconds((double)c->wall / 1e9, seconds));
    else if (c->cpu && slot->cpu >= c->cpu)
        snprintf(text, 64, "%s seconds of processor time", jm_print_seconds((double)c->cpu / 1e9, seconds));
    else if (c->output && slot->output >= c->output)
        snprintf(text, 64, "%llu bytes of output", (unsigned long long)c->output);
    else
        return NULL;
    return text;
}

static void name_it(const struct charge *c, struct jianmu_guard_decision *d, int code)
{
    d->verdict = JIANMU_DENY;
    d->code = code;
    d->rule = c->name;
    d->source = c->source;
}

static void too_often(const struct charge *c, const char *tool, int64_t wait, struct jianmu_guard_decision *d)
{
    char per[32], again[32];
    name_it(c, d, 32);
    d->retry_after_s = (double)wait / 1e9;
    snprintf(d->message, sizeof d->message, "tool '%.64s' is called too often: %llu calls in %ss are allowed (%.60s%s%.140s); try "
             "again in %ss", tool, (unsigned long long)c->calls, jm_print_seconds((double)c->per / 1e9, per),
             c->name ? c->name : "", c->name ? ", " : "", c->source,
             jm_print_seconds(ceil((double)wait / 1e6) / 1e3, again));
}

static void over_budget(const struct charge *c, const char *what, struct jianmu_guard_decision *d)
{
    name_it(c, d, 33);
    snprintf(d->message, sizeof d->message, "the budget of this %s is used up: %s (%.60s%s%.140s)",
             c->key == BY_RUN ? "run" : "process", what, c->name ? c->name : "", c->name ? ", " : "", c->source);
}

/* Is there enough of everything? 0, or -1 and the decision says what is missing: a rate before a budget. */
static int check(struct policy *p, const struct tool *tool, const char *run_id, int64_t now,
                 struct jianmu_guard_decision *d)
{
    const struct charge *slowest = NULL;
    int64_t longest = 0;
    char text[64];
    for (size_t i = 0; i < tool->charge_count; i++) {
        const struct charge *c = &p->charges[tool->charges[i]];
        if (!c->is_rate)
            continue;
        int64_t wait = wait_of(c, table_find(&c->table, key_of(c, tool, run_id)), now);
        if (wait > longest) {
            longest = wait;
            slowest = c;
        }
    }
    if (slowest) {
        if (d)
            too_often(slowest, tool->name, longest, d);
        return -1;
    }
    for (size_t i = 0; i < tool->charge_count; i++) {
        const struct charge *c = &p->charges[tool->charges[i]];
        const char *what = c->is_rate ? NULL : used_up(c, table_find(&c->table, key_of(c, tool, run_id)), text);
        if (!what)
            continue;
        if (d)
            over_budget(c, what, d);
        return -1;
    }
    return 0;
}

/* Every key gets its place before anything is taken. */
static int make_places(struct policy *p, const struct tool *tool, const char *run_id, int64_t now,
                       struct jianmu_guard_decision *d)
{
    for (size_t i = 0; i < tool->charge_count; i++) {
        struct charge *c = &p->charges[tool->charges[i]];
        const char *key = key_of(c, tool, run_id);
        bool full;
        if (table_find(&c->table, key))
            continue;
        struct slot *slot = table_add(&c->table, key, now, spent, c, &full);
        if (slot) {
            slot->level = capacity(c);
            continue;
        }
        name_it(c, d, full ? c->is_rate ? 32 : 33 : 30);
        snprintf(d->message, sizeof d->message, full ? "more runs than can be counted are under way (%s)"
                                                     : "out of memory (%s)", c->source);
        return -1;
    }
    return 0;
}

static int more_tickets(struct policy *p)
{
    size_t count = p->ticket_count ? 2 * p->ticket_count : 16;
    struct ticket *list = count < UINT32_MAX ? realloc(p->tickets, count * sizeof *list) : NULL;
    if (!list)
        return -1;
    memset(list + p->ticket_count, 0, (count - p->ticket_count) * sizeof *list);
    p->tickets = list;
    while (p->ticket_count < count) {
        list[p->ticket_count].next_free = p->free_ticket;
        p->free_ticket = (uint32_t)++p->ticket_count;
    }
    return 0;
}

static int new_ticket(struct policy *p, const struct tool *tool, const char *run_id, uint64_t *number)
{
    char *copy = strdup(run_id ? run_id : "");
    if (!copy || (!p->free_ticket && more_tickets(p))) {
        free(copy);
        return -1;
    }
    uint32_t at = p->free_ticket;
    struct ticket *t = &p->tickets[at - 1];
    p->free_ticket = t->next_free;
    *t = (struct ticket){true, t->generation + 1, tool, copy, 1, 0};
    *number = (uint64_t)t->generation << 32 | at;
    return 0;
}

static void take(struct policy *p, const struct tool *tool, const char *run_id, int64_t now, bool first)
{
    for (size_t i = 0; i < tool->charge_count; i++) {
        struct charge *c = &p->charges[tool->charges[i]];
        struct slot *slot = table_find(&c->table, key_of(c, tool, run_id));
        if (c->is_rate)
            slot->level = level_now(c, slot, now) - (drops)c->per;
        else
            slot->calls++;
        slot->used = now > slot->used ? now : slot->used;
        slot->open += first;
    }
}

int policy_charge(struct policy *p, const struct tool *tool, const struct jianmu_guard_request *request,
                  struct jianmu_guard_decision *d)
{
    const char *run_id = request->run_id;
    if (!tool->charge_count)
        return 0;
    pthread_mutex_lock(&p->lock);
    int64_t now = p->now(p->now_data);
    int refused = check(p, tool, run_id, now, d);
    if (!refused && !(request->options & JIANMU_GUARD_EXPLAIN)) {
        refused = make_places(p, tool, run_id, now, d);
        if (!refused && new_ticket(p, tool, run_id, &d->ticket)) {
            d->verdict = JIANMU_DENY;
            d->code = 30;
            snprintf(d->message, sizeof d->message, "out of memory");
            refused = -1;
        }
        if (!refused)
            take(p, tool, run_id, now, true);
    }
    pthread_mutex_unlock(&p->lock);
    return refused ? 1 : 0;
}

static struct ticket *find_ticket(struct policy *p, uint64_t number)
{
    size_t at = (size_t)(number & 0xffffffffu);
    struct ticket *t = at && at <= p->ticket_count ? &p->tickets[at - 1] : NULL;
    return t && t->open && t->generation == (uint32_t)(number >> 32) ? t : NULL;
}

int policy_again(void *instance, uint64_t number)
{
    struct policy *p = instance;
    if (!number)
        return 0; /* nothing is counted for this tool */
    pthread_mutex_lock(&p->lock);
    struct ticket *t = find_ticket(p, number);
    int64_t now = p->now(p->now_data);
    int rc = t && t->attempts < UINT32_MAX && !check(p, t->tool, t->run_id, now, NULL) ? 0 : -1;
    if (!rc) {
        take(p, t->tool, t->run_id, now, false);
        t->attempts++;
    }
    pthread_mutex_unlock(&p->lock);
    return rc;
}

static void add_time(int64_t *sum, double seconds)
{
    double ns = seconds > 0 ? seconds * 1e9 + 0.5 : 0; /* NaN is not above 0 */
    int64_t whole = ns < 9e18 ? (int64_t)ns : INT64_MAX;
    *sum = *sum > INT64_MAX - whole ? INT64_MAX : *sum + whole;
}

static void settle_one(struct charge *c, struct slot *slot, uint32_t back, const struct jianmu_guard_usage *usage,
                       int64_t now)
{
    slot->open--;
    if (c->is_rate) {
        drops most = capacity(c), level = level_now(c, slot, now) + (drops)back * (drops)c->per;
        slot->level = level < most ? level : most;
        slot->used = now > slot->used ? now : slot->used;
        return;
    }
    slot->calls -= back;
    slot->used = now > slot->used ? now : slot->used;
    if (!usage->attempts)
        return;
    add_time(&slot->wall, usage->wall_s);
    add_time(&slot->cpu, usage->cpu_s);
    slot->output = usage->output > UINT64_MAX - slot->output ? UINT64_MAX : slot->output + usage->output;
}

void policy_settle(void *instance, uint64_t number, const struct jianmu_guard_usage *usage)
{
    struct policy *p = instance;
    if (!number)
        return;
    pthread_mutex_lock(&p->lock);
    struct ticket *t = find_ticket(p, number);
    int64_t now = p->now(p->now_data);
    for (size_t i = 0; t && i < t->tool->charge_count; i++) {
        struct charge *c = &p->charges[t->tool->charges[i]];
        uint32_t back = usage->attempts < t->attempts ? t->attempts - usage->attempts : 0;
        settle_one(c, table_find(&c->table, key_of(c, t->tool, t->run_id)), back, usage, now);
    }
    if (t) {
        free(t->run_id);
        t->run_id = NULL;
        t->open = false;
        t->next_free = p->free_ticket;
        p->free_ticket = (uint32_t)(t - p->tickets) + 1;
    }
    pthread_mutex_unlock(&p->lock);
}
