/* SPDX-License-Identifier: Apache-2.0
 * The guard "policy": rules, rates and budgets of jianmu.yaml and policy.yaml. */
#ifndef POLICY_H
#define POLICY_H

#include "jianmu-plugin.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct jm_pattern;

struct globs {
    size_t count;
    const char **list;  /* NULL: no condition */
};

struct token {
    const char *key;    /* of an object */
    size_t index;       /* of a list; SIZE_MAX: it is no index */
};

enum { REMEMBERED = 64, NOT_REMEMBERED = 64 };
struct argument {
    unsigned place;             /* equal for equal pointers, below REMEMBERED */
    struct token *at;
    size_t depth;
    char *keys;                 /* what the tokens point into */
    const char *glob;           /* or: */
    struct jm_pattern *regex;
};

enum op { EQUAL, ABOVE, BELOW, GLOB, UNSET };
struct condition {
    const char *name;
    unsigned place;             /* the same for names */
    enum op op;
    const json_t *value;
};

/* What rules have looked for in one call so far. */
struct look {
    const struct jianmu_guard_request *request;
    uint64_t plan_known, args_known;
    const json_t *plan[REMEMBERED], *args[REMEMBERED];
};

struct rule {
    const char *name, *source, *message; /* NULL: none; source is never NULL */
    uint32_t verdict;
    unsigned dangers;                    /* bits; 0: no condition */
    struct globs tool, mode, skill;
    struct argument *args;
    size_t arg_count;
    struct condition *plan;
    size_t plan_count;
};

enum profile { NO_PROFILE, DEV, STANDARD, STRICT };
struct set {
    struct rule *rules;
    size_t count;
    enum profile profile;
    const char *profile_name, *profile_source; /* "profile strict" */
    char profile_text[32];
};

/* What a key of a rate or budget has left. Units in charge.c. */
struct slot {
    struct slot *next;
    uint64_t hash;
    int64_t used;        /* when it was touched last */
    unsigned open;       /* calls that are not settled yet */
    unsigned __int128 level;
    uint64_t calls, output;
    int64_t wall, cpu;
    char key[];
};

struct table {
    struct slot **heads;
    size_t buckets, count;
    int64_t swept;
};

enum key { BY_RULE, BY_TOOL, BY_RUN };
struct charge {
    const char *name, *source;
    struct globs tool;
    bool is_rate;
    enum key key;
    uint64_t calls, burst, output; /* of a budget: 0: none */
    int64_t per, wall, cpu;        /* nanoseconds; 0: none */
    struct table table;
};

/* What concerns one tool, worked out once. */
struct tool {
    struct tool *next;
    uint64_t hash;
    size_t *rules[2], rule_count[2]; /* of own and policy */
    size_t *charges, charge_count;
    char name[];
};

struct ticket {
    bool open;
    uint32_t generation;
    const struct tool *tool;
    char *run_id;
    uint32_t attempts;
    uint32_t next_free;        /* as the number of a ticket: from 1; 0: none */
};

enum { OWN, POLICY, TOOLS = 256 };
struct policy {
    json_t *text;              /* all strings of the rules are in it */
    struct set sets[2];
    const char *names[REMEMBERED], *pointers[REMEMBERED]; /* that rules look for */
    struct charge *charges;    /* rates, then budgets */
    size_t charge_count;
    pthread_mutex_t lock;      /* over the tables, the tickets, and adding tools */
    struct ticket *tickets;
    size_t ticket_count;
    uint32_t free_ticket;
    _Atomic(struct tool *) tools[TOOLS];
    int64_t (*now)(void *data); /* CLOCK_MONOTONIC nanoseconds */
    void *now_data;
};

/* compile.c: from the checked JSON; 0, or -1 with the reason in text */
int policy_compile(struct policy *p, const json_t *guard, char reason[256]);
void policy_free(struct policy *p);

/* match.c: 1 it does, 0 it does not, -1 it cannot be said */
int policy_globs_fit(const struct globs *globs, const char *text);
uint32_t policy_danger(const struct jianmu_guard_request *request); /* unknown: the worst */
int policy_rule_matches(const struct rule *rule, struct look *look);

/* tool.c: NULL without memory, or where it cannot be said which rules it has */
const struct tool *policy_tool(struct policy *p, const char *name);
uint64_t policy_hash(const char *text);

/* charge.c: 0 it was taken, *ticket is set; 1 refused, the decision says why */
int policy_charge(struct policy *p, const struct tool *tool, const struct jianmu_guard_request *request,
                  struct jianmu_guard_decision *decision);
int policy_again(void *instance, uint64_t ticket);
void policy_settle(void *instance, uint64_t ticket, const struct jianmu_guard_usage *usage);

/* table.c: its slot, or NULL. full: there are so many that no further one is kept */
struct slot *table_find(const struct table *table, const char *key);
struct slot *table_add(struct table *table, const char *key, int64_t now,
                       bool (*spent)(const struct slot *slot, int64_t now, const void *data), const void *data,
                       bool *full);
void table_free(struct table *table);

/* policy.c */
int policy_decide(void *instance, jianmu_context *ctx, const struct jianmu_guard_request *request,
                  struct jianmu_guard_decision *decision);
int policy_open(jianmu_context *ctx, void **instance);
void policy_close(void *instance);

#endif
