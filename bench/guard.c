/* SPDX-License-Identifier: Apache-2.0
 * One decision of the guards, settled: by the number of rules and what they look at. Argument: a plug-in directory. */
#include "config.h"
#include "guard/guard.h"
#include "base/buffer.h"
#include "base/json.h"
#include "measure.h"
#include "settings/inside.h"
#include <string.h>

enum { ROUNDS = 101, CALLS = 2000, LANES = 6, RULES = 50 };

struct lane {
    jianmu_config *config;
    struct jm_guards *guards;
};

static jianmu_error *err;

static void open_lane(struct lane *l, const char *dir, const char *yaml)
{
    l->config = jianmu_config_new();
    l->config->secure = true;
    if (jianmu_config_add_plugin_dir(l->config, dir, &err) ||
        jianmu_config_load_text(l->config, yaml, strlen(yaml), "bench", &err) || !(l->guards = jm_guards_new(l->config, &err))) {
        fprintf(stderr, "guard: %s\n", jianmu_error_message(err));
        exit(1);
    }
}

/* Of 50 rules 30 speak of other tools, 10 of the plan, 6 of arguments by glob and 4 by regular expression. */
static void usual(struct jm_buffer *b, int i)
{
    if (i < 30)
        jm_buffer_addf(b, "    - {tool: 'other_%d_*', then: deny}\n", i);
    else if (i < 40)
        jm_buffer_addf(b, "    - {plan: {timeout_s: {above: %d}}, then: deny}\n", 100 + i);
    else if (i < 46)
        jm_buffer_addf(b, "    - {tool: 'read_*', args: [{at: /path, glob: '/secret/%d/*'}], then: deny}\n", i);
    else
        jm_buffer_addf(b, "    - {tool: 'read_*', args: [{at: /path, regex: '^/(etc|root)/%d'}], then: deny}\n", i);
}

static void globs(struct jm_buffer *b, int i)
{
    jm_buffer_addf(b, "    - {args: [{at: /path, glob: '/secret/%d/*'}], then: deny}\n", i);
}

static void patterns(struct jm_buffer *b, int i)
{
    jm_buffer_addf(b, "    - {args: [{at: /path, regex: '^/(etc|root)/%d'}], then: deny}\n", i);
}

static void open_rules(struct lane *l, const char *dir, void (*rule)(struct jm_buffer *, int), const char *more)
{
    struct jm_buffer b = {0};
    jm_buffer_addf(&b, "guard:\n  profile: dev\n%s%s", more, rule ? "  rules:\n" : "");
    for (int i = 0; rule && i < RULES; i++)
        rule(&b, i);
    open_lane(l, dir, b.data);
    jm_buffer_free(&b);
}

static double run_lane(struct lane *l, const struct jm_guard_call *call)
{
    const struct jianmu_guard_usage usage = {.size = sizeof usage, .attempts = 1};
    double before = bench_now_us();
    for (int i = 0; i < CALLS; i++) {
        struct jm_verdict v;
        jm_guards_decide(l->guards, call, &v);
        if (v.verdict != JIANMU_ALLOW) {
            fprintf(stderr, "guard: %s\n", v.message);
            exit(1);
        }
        jm_guards_settle(l->guards, &v, &usage);
    }
    return (bench_now_us() - before) / CALLS;
}

int main(int argc, char **argv)
{
    struct lane lanes[LANES] = {0};
    struct row rows[LANES] = {{.name = "no rules"}, {.name = "50 rules, 20 of them for this tool"},
                              {.name = "the same, a rate and a budget"}, {.name = "50 rules by glob, all for this tool"},
                              {.name = "50 rules by regular expression, all for this tool"}, {.name = "a rate and a budget alone"}};
    static const char counted[] = "  rates: [{calls: 1000000000, per: 1, key: run}]\n"
                                  "  budgets: [{per: run, calls: 1000000000, output: 1g}]\n";
    if (argc != 2)
        return 2;
    open_rules(&lanes[0], argv[1], NULL, "");
    open_rules(&lanes[1], argv[1], usual, "");
    open_rules(&lanes[2], argv[1], usual, counted);
    open_rules(&lanes[3], argv[1], globs, "");
    open_rules(&lanes[4], argv[1], patterns, "");
    open_rules(&lanes[5], argv[1], NULL, counted);
    json_t *args = json_pack("{s:s, s:i}", "path", "/srv/project/src/main.c", "lines", 200);
    json_t *plan = json_pack("{s:f, s:s, s:i}", "timeout_s", 30.0, "mode", "local", "capture", 1048576);
    const struct jm_guard_call call = {.tool = "read_file", .danger = JIANMU_DANGER_READ, .mode = "local", .run_id = "run-1",
                                       .args = args, .plan = plan};
    for (int i = 0; i < LANES; i++) {
        rows[i].us = calloc(ROUNDS, sizeof *rows[i].us);
        if (!rows[i].us)
            return 1;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < LANES; i++)
            rows[i].us[round] = run_lane(&lanes[i], &call);
    for (int i = 0; i < LANES; i++) {
        bench_settle(&rows[i], ROUNDS);
        jm_guards_free(lanes[i].guards);
        jianmu_config_free(lanes[i].config);
    }
    bench_print(rows, LANES, 0, "one decision, ns", 1e3);
    for (int i = 0; i < LANES; i++)
        free(rows[i].us);
    json_decref(args);
    json_decref(plan);
    return 0;
}
