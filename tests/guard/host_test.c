/* SPDX-License-Identifier: Apache-2.0
 * The host of guards: the strictest verdict holds, and whatever goes wrong denies. */
#include "config.h"

#include "guard/guard.h"
#include "kit.h"
#include "base/cleanup.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const struct jianmu_guard_usage never = {.size = sizeof never}, once = {.size = sizeof once, .attempts = 1};

static void put(const char *from, const char *to)
{
    char source[2 * KIT_PATH], target[2 * KIT_PATH], block[4096];
    snprintf(source, sizeof source, "%s/%s", getenv("JIANMU_BUILD"), from);
    snprintf(target, sizeof target, "%s/%s", kit_dir, to);
    FILE *in = fopen(source, "re"), *out = fopen(target, "we");
    if (!in || !out)
        fail_msg("%s", in ? target : source);
    for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;)
        assert_int_equal(fwrite(block, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

static int setup(void **state)
{
    if (kit_setup(state))
        return -1;
    put("guards/policy/.libs/policy.so", "guards/policy.so");
    put("tests/guard/.libs/fixture.so", "guards/fixture.so");
    return 0;
}

struct ask {
    jianmu_config *config;
    struct jm_guards *guards;
    json_t *args, *plan;
    struct jm_guard_call call;
    struct jm_verdict v;
};

/* A call of keyed with {"path": "/etc/passwd"}, dangerous, in a plan with a timeout of 30 seconds. */
static struct ask *open_guards(const char *yaml)
{
    jianmu_error *err = NULL;
    struct ask *a = calloc(1, sizeof *a);
    assert_non_null(a);
    a->config = kit_load(yaml);
    a->guards = jm_guards_new(a->config, &err);
    if (!a->guards)
        fail_msg("%s", jianmu_error_message(err));
    a->args = kit_json("{'path': '/etc/passwd'}");
    a->plan = kit_json("{'timeout_s': 30.0, 'mode': 'local'}");
    a->call = (struct jm_guard_call){.tool = "keyed", .danger = JIANMU_DANGER_DANGEROUS, .mode = "local", .args = a->args,
                                     .plan = a->plan};
    return a;
}

static void close_guards(struct ask *a)
{
    jm_guards_free(a->guards);
    jianmu_config_free(a->config);
    json_decref(a->args);
    json_decref(a->plan);
    free(a);
}

/* Decides, and settles as a call that never ran. */
static void must(struct ask *a, unsigned verdict, const char *message)
{
    jm_guards_decide(a->guards, &a->call, &a->v);
    if (a->v.verdict != verdict || strcmp(a->v.message, message))
        fail_msg("is   %u %s\nmust %u %s", a->v.verdict, a->v.message, verdict, message);
    jm_guards_settle(a->guards, &a->v, &never);
}

static void profiles(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        uint32_t danger;
        uint64_t flags;
        unsigned verdict;
        const char *message;
    } list[] = {
        {"", 3, 0, JIANMU_CONFIRM, "tool 'keyed' needs confirmation: it is dangerous (profile standard, default)"},
        {"", 2, 0, JIANMU_ALLOW, ""},
        {"", 0, 0, JIANMU_CONFIRM, "tool 'keyed' needs confirmation: it is dangerous (profile standard, default)"},
        {"", 77, 0, JIANMU_CONFIRM, "tool 'keyed' needs confirmation: it is dangerous (profile standard, default)"},
        {"guard: {profile: dev}", 3, 4, JIANMU_ALLOW, ""},
        {"guard: {profile: strict}", 1, 0, JIANMU_ALLOW, ""},
        {"guard: {profile: strict}", 2, 0, JIANMU_CONFIRM,
         "tool 'keyed' needs confirmation: it changes things (profile strict, jianmu.yaml:1)"},
        {"guard: {profile: strict}", 1, JIANMU_OPEN_WORLD, JIANMU_DENY,
         "tool 'keyed' is denied: it reaches beyond this machine (profile strict, jianmu.yaml:1)"},
    };
    for (size_t i = 0; i < jm_countof(list); i++) {
        struct ask *a = open_guards(list[i].yaml);
        a->call.danger = list[i].danger;
        a->call.flags = list[i].flags;
        must(a, list[i].verdict, list[i].message);
        close_guards(a);
    }
}

static void rule_and_line(void **state)
{
    (void)state;
    struct ask *a = open_guards("guard:\n  rules:\n    - {name: no-etc, args: [{at: /path, glob: '/etc/*'}], then: deny, "
                                "message: never}\n    - {tool: 'key*', then: allow}\n");
    must(a, JIANMU_DENY, "tool 'keyed' is denied: never (rule no-etc, jianmu.yaml:3)");
    assert_string_equal(a->v.rule, "no-etc");
    assert_string_equal(a->v.source, "jianmu.yaml:3");
    assert_string_equal(a->v.guard, "policy");
    assert_int_equal(a->v.code, JIANMU_DENIED);
    json_object_set_new(a->args, "path", json_string("/srv/x"));
    must(a, JIANMU_ALLOW, "");
    assert_null(a->v.rule);
    assert_string_equal(a->v.source, "jianmu.yaml:4");
    close_guards(a);
}

/* The pattern needs more steps than there are; whatever the rule would have said, the call is denied. */
static void cannot_be_evaluated(void **state)
{
    (void)state;
    struct ask *a = open_guards("guard:\n  rules:\n    - name: slow\n      args: [{at: /path, regex: '^(a|aa)+$'}]\n      then: "
                                "allow\n");
    char text[201];
    memset(text, 'a', 200);
    text[199] = 'b';
    text[200] = 0;
    json_object_set_new(a->args, "path", json_string(text));
    must(a, JIANMU_DENY, "tool 'keyed' is denied: a rule of it cannot be evaluated (rule slow, jianmu.yaml:3)");
    close_guards(a);
}

static void the_plan_and_its_maximum(void **state)
{
    (void)state;
    struct ask *a = open_guards("guard:\n  profile: dev\n  rules:\n    - {plan: {timeout_s: {above: 1m}}, then: deny, name: long}\n");
    must(a, JIANMU_ALLOW, "");
    a->call.timeout_s = 61; /* the call's own goes before the plan's */
    must(a, JIANMU_DENY, "tool 'keyed' is denied (rule long, jianmu.yaml:4)");
    a->call.timeout_s = 0;
    a->call.over_max = "timeout_s: 5 is above the maximum 3";
    must(a, JIANMU_DENY, "timeout_s: 5 is above the maximum 3");
    assert_null(a->v.rule);
    close_guards(a);
    a = open_guards("guard: {use: [fixture]}");
    must(a, JIANMU_ALLOW, "");
    a->call.over_max = "timeout_s: 5 is above the maximum 3"; /* a guard that does not care changes nothing */
    must(a, JIANMU_DENY, "timeout_s: 5 is above the maximum 3");
    assert_null(a->v.guard);
    close_guards(a);
}

static void policy_only_tightens(void **state)
{
    (void)state;
    jm_auto_free char *want = NULL;
    kit_write("etc/jianmu/policy.yaml", "guard:\n  rules:\n    - {tool: keyed, danger: write, then: allow}\n    - {tool: keyed, "
                                        "then: deny, name: top}\n");
    struct ask *a = open_guards("guard: {rules: [{then: allow}]}");
    assert_true(asprintf(&want, "tool 'keyed' is denied (rule top, %s/etc/jianmu/policy.yaml:4)", kit_dir) > 0);
    must(a, JIANMU_DENY, want);
    a->call.danger = JIANMU_DANGER_WRITE;
    must(a, JIANMU_ALLOW, "");
    close_guards(a);
    a = open_guards("guard: {rules: [{then: confirm}]}");
    a->call.danger = JIANMU_DANGER_WRITE; /* its allow is no opinion */
    must(a, JIANMU_CONFIRM, "tool 'keyed' needs confirmation (rule of jianmu.yaml:1)");
    close_guards(a);
    a = open_guards("guard: {use: [fixture]}"); /* it holds though jianmu.yaml names another guard */
    must(a, JIANMU_DENY, want);
    close_guards(a);
    kit_write("etc/jianmu/policy.yaml", NULL);
}

static void gone(void **state)
{
    (void)state;
    char path[2 * KIT_PATH];
    snprintf(path, sizeof path, "%s/guards/policy.so", kit_dir);
    jianmu_error *err = NULL;
    jianmu_config *config = kit_load("guard: {rules: [{then: allow}]}");
    assert_int_equal(unlink(path), 0); /* between reading the directory and using it */
    struct jm_guards *guards = jm_guards_new(config, &err);
    assert_non_null(guards);
    jm_auto_json json_t *plan = json_object();
    const struct jm_guard_call call = {.tool = "keyed", .danger = 1, .mode = "local", .plan = plan};
    struct jm_verdict v;
    for (int i = 0; i < 3; i++) {
        jm_guards_decide(guards, &call, &v);
        assert_int_equal(v.verdict, JIANMU_DENY);
        assert_int_equal(v.code, JIANMU_DENIED);
        assert_ptr_equal(strstr(v.message, "the guard \"policy\" cannot be had, so every call is denied: "), v.message);
    }
    jm_guards_free(guards);
    jianmu_config_free(config);
    struct ask *a = open_guards("guard: {rules: [{then: allow}]}"); /* it never was there */
    must(a, JIANMU_DENY, "the guard \"policy\" cannot be had, so every call is denied: unknown guard \"policy\"");
    close_guards(a);
    put("guards/policy/.libs/policy.so", "guards/policy.so");
    assert_int_equal(chmod(path, 0666), 0); /* refused, as anybody may change it */
    a = open_guards("guard: {rules: [{then: allow}]}");
    jm_guards_decide(a->guards, &a->call, &a->v);
    assert_int_equal(a->v.verdict, JIANMU_DENY);
    assert_non_null(strstr(a->v.message, "chmod"));
    close_guards(a);
    assert_int_equal(chmod(path, 0644), 0);
}

static void foreign(void **state)
{
    (void)state;
    static const struct {
        const char *act;
        unsigned verdict;
        const char *message;
    } list[] = {
        {"allow", JIANMU_ALLOW, ""},
        {"deny", JIANMU_DENY, "the guard \"fixture\" denies it"},
        {"confirm", JIANMU_CONFIRM, "the guard \"fixture\" asks for confirmation"},
        {"nothing", JIANMU_DENY, "the guard \"fixture\" failed, so the call is denied: 0 is no verdict"},
        {"nine", JIANMU_DENY, "the guard \"fixture\" failed, so the call is denied: 9 is no verdict"},
        {"fail", JIANMU_DENY, "the guard \"fixture\" failed, so the call is denied: it has no opinion on keyed"},
        {"silent", JIANMU_DENY, "the guard \"fixture\" failed, so the call is denied: it gave no reason"},
        {"said", JIANMU_DENY, "the guard \"fixture\" failed, so the call is denied: it says so, and returns 0"},
        {"closed", JIANMU_DENY, "the guard \"fixture\" cannot be had, so every call is denied: today it does not open"},
    };
    for (size_t i = 0; i < jm_countof(list); i++) {
        char yaml[200];
        snprintf(yaml, sizeof yaml, "guard: {profile: dev, use: [policy, fixture], fixture: {act: %s}}", list[i].act);
        struct ask *a = open_guards(yaml);
        must(a, list[i].verdict, list[i].message);
        close_guards(a);
    }
    struct ask *a = open_guards("guard: {use: [fixture], fixture: {act: odd}}");
    jm_guards_decide(a->guards, &a->call, &a->v);
    assert_int_equal(a->v.verdict, JIANMU_DENY);
    assert_int_equal(a->v.code, JIANMU_DENIED);
    assert_true(a->v.retry_after_s == 0);
    assert_null(a->v.rule);
    assert_string_equal(a->v.source, "its file:1");
    assert_int_equal(strlen(a->v.message), 512);
    assert_int_equal(a->v.message[0], '?');
    close_guards(a);
}

/* One that denies behind one that took: what was taken comes back. */
static void the_strictest_holds(void **state)
{
    (void)state;
    struct ask *a = open_guards("guard: {profile: dev, rates: [{calls: 1, per: 1h}], use: [policy, fixture], fixture: {act: deny}}");
    for (int i = 0; i < 5; i++)
        must(a, JIANMU_DENY, "the guard \"fixture\" denies it");
    close_guards(a);
    a = open_guards("guard: {profile: standard, use: [fixture, policy], fixture: {act: confirm}}");
    must(a, JIANMU_CONFIRM, "the guard \"fixture\" asks for confirmation"); /* of two alike the first */
    close_guards(a);
}

static char *log_text(const char *path)
{
    static char text[1024];
    FILE *in = fopen(path, "re");
    size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;
    text[n] = 0;
    if (in)
        fclose(in);
    return text;
}

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void again_and_settle(void **state)
{
    (void)state;
    char path[2 * KIT_PATH], yaml[4 * KIT_PATH];
    snprintf(path, sizeof path, "%s/log", kit_dir);
    unlink(path);
    snprintf(yaml, sizeof yaml, "guard: {profile: dev, rates: [{calls: 3, per: 1h}], use: [policy, fixture], fixture: {act: once, log: "
                                "'%s'}}", path);
    struct ask *a = open_guards(yaml);
    jm_guards_decide(a->guards, &a->call, &a->v);
    assert_int_equal(a->v.verdict, JIANMU_ALLOW);
    assert_int_equal(jm_guards_again(a->guards, &a->v), -1); /* the second guard wants no repeat */
    jm_guards_settle(a->guards, &a->v, &once);
    assert_int_equal(a->v.charged, 0);
    assert_string_equal(log_text(path), "again 7 0\nsettle 7 1\n");
    for (int i = 0; i < 2; i++) { /* the attempt that was not made came back, so two are left */
        jm_guards_decide(a->guards, &a->call, &a->v);
        assert_int_equal(a->v.verdict, JIANMU_ALLOW);
        jm_guards_settle(a->guards, &a->v, &once);
    }
    jm_guards_decide(a->guards, &a->call, &a->v);
    assert_int_equal(a->v.code, JIANMU_RATE_LIMITED);
    assert_true(a->v.retry_after_s > 1100 && a->v.retry_after_s <= 1200);
    assert_ptr_equal(strstr(a->v.message, "tool 'keyed' is called too often: 3 calls in 3600.0s are allowed (jianmu.yaml:1); "
                                          "try again in 1"), a->v.message);
    close_guards(a);
    assert_non_null(strstr(log_text(path), "close"));
}

/* Left behind and counted; what it allows too late is given back; beyond eight nobody is sent after them. */
static void throws_away_its_time(void **state)
{
    (void)state;
    char path[2 * KIT_PATH], yaml[4 * KIT_PATH];
    snprintf(path, sizeof path, "%s/late", kit_dir);
    unlink(path);
    snprintf(yaml, sizeof yaml, "guard: {use: [fixture], time_limit: 20ms, fixture: {act: sleep, log: '%s'}}", path);
    struct ask *a = open_guards(yaml);
    static const char late[] = "the guard \"fixture\" failed, so the call is denied: it did not answer in time";
    unsigned lost = 0, full = 0;
    for (int i = 0; i < 12; i++) {
        jm_guards_decide(a->guards, &a->call, &a->v);
        assert_int_equal(a->v.verdict, JIANMU_DENY);
        lost += !strcmp(a->v.message, late);
        full += strstr(a->v.message, "too many of its answers are still awaited") != NULL;
    }
    assert_int_equal(lost + full, 12);
    assert_true(lost >= 1);
    assert_int_equal(jm_guards_abandoned(a->guards), lost);
    close_guards(a); /* while they are still in there */
    for (int i = 0; i < 2000 && !strstr(log_text(path), "close"); i++)
        pause_ms(10);
    const char *text = log_text(path);
    assert_non_null(strstr(text, "close")); /* by the last of them */
    unsigned given_back = 0;
    for (const char *p = text; (p = strstr(p, "settle 7 0\n")); p++)
        given_back++;
    assert_int_equal(given_back, lost);
}

static void a_slow_settle_delays_no_call(void **state)
{
    (void)state;
    struct timespec start, end;
    struct ask *a = open_guards("guard: {use: [fixture], time_limit: 20ms, fixture: {act: slow settle}}");
    clock_gettime(CLOCK_MONOTONIC, &start);
    must(a, JIANMU_ALLOW, "");
    clock_gettime(CLOCK_MONOTONIC, &end);
    assert_true(end.tv_sec - start.tv_sec < 1 || (end.tv_sec - start.tv_sec == 1 && end.tv_nsec < start.tv_nsec));
    assert_int_equal(jm_guards_abandoned(a->guards), 1);
    close_guards(a);
    pause_ms(1700); /* its thread ends before the process does */
}

static void explaining_takes_nothing(void **state)
{
    (void)state;
    struct ask *a = open_guards("guard: {profile: dev, budgets: [{per: run, calls: 1, name: one}]}");
    a->call.explain = true;
    for (int i = 0; i < 5; i++) {
        must(a, JIANMU_ALLOW, "");
        assert_int_equal(a->v.charged, 0);
    }
    a->call.explain = false;
    jm_guards_decide(a->guards, &a->call, &a->v);
    assert_int_equal(a->v.verdict, JIANMU_ALLOW);
    jm_guards_settle(a->guards, &a->v, &once);
    must(a, JIANMU_DENY, "the budget of this run is used up: 1 calls (one, jianmu.yaml:1)");
    assert_int_equal(a->v.code, JIANMU_OVER_BUDGET);
    a->call.explain = true;
    must(a, JIANMU_DENY, "the budget of this run is used up: 1 calls (one, jianmu.yaml:1)");
    a->call.explain = false;
    a->call.run_id = "another";
    must(a, JIANMU_ALLOW, "");
    close_guards(a);
}

/* Ten thousand runs are remembered, and no further one is let in while none of them can be forgotten. */
static void many_runs(void **state)
{
    (void)state;
    struct ask *a = open_guards("guard: {profile: dev, budgets: [{per: run, calls: 5}]}");
    char run[32];
    a->call.run_id = run;
    for (int i = 0; i < 10001; i++) {
        snprintf(run, sizeof run, "run-%d", i);
        jm_guards_decide(a->guards, &a->call, &a->v);
        if (a->v.verdict != (i < 10000 ? JIANMU_ALLOW : JIANMU_DENY))
            fail_msg("%s: %s", run, a->v.message);
        jm_guards_settle(a->guards, &a->v, &once);
    }
    assert_string_equal(a->v.message, "more runs than can be counted are under way (jianmu.yaml:1)");
    snprintf(run, sizeof run, "run-%d", 5000); /* those that are known go on */
    must(a, JIANMU_ALLOW, "");
    close_guards(a);
    a = open_guards("guard: {profile: dev, rates: [{calls: 1000000, per: 1, key: run}]}");
    a->call.run_id = run;
    for (int i = 0; i < 30000; i++) { /* a bucket that is full again is as good as none */
        snprintf(run, sizeof run, "run-%d", i);
        jm_guards_decide(a->guards, &a->call, &a->v);
        if (a->v.verdict != JIANMU_ALLOW) {
            assert_int_equal(a->v.code, JIANMU_RATE_LIMITED);
            pause_ms(120);
            continue;
        }
        jm_guards_settle(a->guards, &a->v, &once);
    }
    must(a, JIANMU_ALLOW, "");
    close_guards(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profiles),
        cmocka_unit_test(rule_and_line),
        cmocka_unit_test(cannot_be_evaluated),
        cmocka_unit_test(the_plan_and_its_maximum),
        cmocka_unit_test(policy_only_tightens),
        cmocka_unit_test(gone),
        cmocka_unit_test(foreign),
        cmocka_unit_test(the_strictest_holds),
        cmocka_unit_test(again_and_settle),
        cmocka_unit_test(throws_away_its_time),
        cmocka_unit_test(a_slow_settle_delays_no_call),
        cmocka_unit_test(explaining_takes_nothing),
        cmocka_unit_test(many_runs),
    };
    return cmocka_run_group_tests(tests, setup, kit_teardown);
}
