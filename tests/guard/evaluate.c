/* SPDX-License-Identifier: Apache-2.0
 * Reads cases as lines of JSON and answers each with a line: what the guard "policy" says to a series of calls, under a
 * clock that the case sets. usage: evaluate PLUGIN-DIR ETC-DIR. What takes nothing is also asked of the loaded module,
 * through the host of guards, which must say the same. */
#include "config.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "guard/guard.h"
#include "plugin/plain.h"
#include "policy/policy.h"
#include "settings/inside.h"
#include <stdio.h>
#include <string.h>

static const char *plugin_dir, *etc_dir;
static int64_t clock_now;

static int64_t told(void *data)
{
    (void)data;
    return clock_now;
}

__attribute__((noreturn)) static void die(const char *what, const char *detail)
{
    fprintf(stderr, "evaluate: %s: %s\n", what, detail);
    exit(1);
}

static void write_policy(const char *text)
{
    jm_auto_free char *path = NULL;
    if (asprintf(&path, "%s/jianmu/policy.yaml", etc_dir) < 0)
        abort();
    unlink(path);
    FILE *out = text ? fopen(path, "we") : NULL;
    if (text && (!out || fputs(text, out) < 0 || fclose(out)))
        die("cannot write", path);
}

static jianmu_config *load(const json_t *one)
{
    jianmu_error *err = NULL;
    jianmu_config *config = jianmu_config_new();
    const char *yaml = json_string_value(json_object_get(one, "yaml"));
    if (!config)
        abort();
    config->secure = true;
    config->sysconfdir = etc_dir;
    config->plugin_root = "/nonexistent";
    write_policy(json_string_value(json_object_get(one, "policy")));
    if (jianmu_config_add_plugin_dir(config, plugin_dir, &err) ||
        jianmu_config_load_text(config, yaml, strlen(yaml), "jianmu.yaml", &err))
        die(jianmu_error_message(err), yaml);
    return config;
}

static struct policy *open_policy(const jianmu_config *config)
{
    struct jm_plain_context ctx;
    void *instance = NULL;
    jm_auto_json json_t *settings = json_pack("{s:O}", "guard", jm_config_guard(config));
    jm_plain_context_init(&ctx, settings);
    if (policy_open(&ctx.public, &instance))
        die("open", jianmu_error_message(ctx.error));
    struct policy *p = instance;
    p->now = told;
    return p;
}

static const char *word(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* The loaded module must agree where nothing is counted. */
static void compare(struct jm_guards *guards, const json_t *call, const struct jianmu_guard_request *r,
                    const struct jianmu_guard_decision *d)
{
    struct jm_verdict v;
    const struct jm_guard_call what = {.tool = r->tool, .danger = r->danger, .flags = r->flags, .mode = r->mode,
                                       .skill = r->skill, .run_id = r->run_id, .args = r->args, .plan = r->plan,
                                       .over_max = r->over_max, .explain = json_is_true(json_object_get(call, "explain"))};
    jm_guards_decide(guards, &what, &v);
    bool same = v.verdict == d->verdict && !v.rule == !d->rule && (!v.rule || !strcmp(v.rule, d->rule)) &&
                !v.source == !d->source && (!v.source || !strcmp(v.source, d->source)) && !strcmp(v.message, d->message);
    if (!same)
        die("the module says otherwise", v.message);
    const struct jianmu_guard_usage usage = {.size = sizeof usage};
    if (v.verdict != JIANMU_DENY)
        jm_guards_settle(guards, &v, &usage);
}

static json_t *decide(struct policy *p, struct jm_guards *guards, const json_t *call, uint64_t *ticket)
{
    struct jm_plain_context ctx;
    jm_plain_context_init(&ctx, NULL);
    const struct jianmu_guard_request request = {
        .size = sizeof request, .danger = (uint32_t)json_integer_value(json_object_get(call, "danger")),
        .flags = (uint64_t)json_integer_value(json_object_get(call, "flags")), .tool = word(call, "tool"),
        .options = json_is_true(json_object_get(call, "explain")) ? JIANMU_GUARD_EXPLAIN : 0,
        .mode = word(call, "mode"), .skill = word(call, "skill"), .run_id = word(call, "run_id"),
        .args = json_object_get(call, "args"), .plan = json_object_get(call, "plan"), .over_max = word(call, "over_max")};
    struct jianmu_guard_decision d = {.size = sizeof d};
    if (policy_decide(p, &ctx.public, &request, &d))
        die("decide", "failed");
    if (!p->charge_count)
        compare(guards, call, &request, &d);
    *ticket = d.ticket;
    return json_pack("{s:i, s:i, s:f, s:s?, s:s?, s:s}", "verdict", (int)d.verdict, "code", d.code, "retry",
                     d.retry_after_s, "rule", d.rule, "source", d.source, "message", d.message);
}

static json_t *step(struct policy *p, struct jm_guards *guards, const json_t *what, uint64_t *tickets)
{
    const char *verb = word(what, "do");
    size_t at = (size_t)json_integer_value(json_object_get(what, "ticket")) % 8;
    clock_now = json_integer_value(json_object_get(what, "at"));
    if (!strcmp(verb, "decide"))
        return decide(p, guards, json_object_get(what, "call"), &tickets[at]);
    if (!strcmp(verb, "again"))
        return json_integer(policy_again(p, tickets[at]));
    const json_t *u = json_object_get(what, "usage");
    const struct jianmu_guard_usage usage = {sizeof usage, (uint32_t)json_integer_value(json_object_get(u, "attempts")),
                                             json_number_value(json_object_get(u, "wall_s")),
                                             json_number_value(json_object_get(u, "cpu_s")),
                                             (uint64_t)json_integer_value(json_object_get(u, "output"))};
    policy_settle(p, tickets[at], &usage);
    return json_null();
}

static void serve(const json_t *one)
{
    jianmu_error *err = NULL;
    jianmu_config *config = load(one);
    struct policy *p = open_policy(config);
    struct jm_guards *guards = jm_guards_new(config, &err);
    const json_t *steps = json_object_get(one, "steps");
    jm_auto_json json_t *answers = json_array();
    jm_auto_free uint64_t *tickets = calloc(8, sizeof *tickets);
    size_t i;
    json_t *what;
    if (!guards || !answers || !tickets)
        abort();
    json_array_foreach(steps, i, what)
        json_array_append_new(answers, step(p, guards, what, tickets));
    jm_auto_free char *text = jm_json_print(answers, 0, NULL);
    puts(text ? text : "null");
    jm_guards_free(guards);
    policy_close(p);
    jianmu_config_free(config);
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t room = 0;
    if (argc != 3)
        die("usage", "evaluate PLUGIN-DIR ETC-DIR");
    plugin_dir = argv[1];
    etc_dir = argv[2];
    for (ssize_t len; (len = getline(&line, &room, stdin)) > 0;) {
        json_error_t why;
        jm_auto_json json_t *one = jm_json_parse(line, (size_t)len, 0, &why);
        if (!one)
            die("a case", why.text);
        serve(one);
    }
    free(line);
    return fflush(stdout) ? 1 : 0;
}
