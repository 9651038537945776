/* SPDX-License-Identifier: Apache-2.0
 * Many threads and one set of guards: what is counted is counted once, whatever comes between. */
#include "config.h"

#include "guard/guard.h"
#include "base/cleanup.h"
#include "kit.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 8, CALLS = 1500, BUDGET = 2000 };

static int setup(void **state)
{
    char command[4 * KIT_PATH];
    if (kit_setup(state))
        return -1;
    snprintf(command, sizeof command, "cp '%s/guards/policy/.libs/policy.so' '%s/guards/' && cp '%s/tests/guard/.libs/fixture.so' "
             "'%s/guards/'", getenv("JIANMU_BUILD"), kit_dir, getenv("JIANMU_BUILD"), kit_dir);
    return system(command) ? -1 : 0;
}

struct shared {
    struct jm_guards *guards;
    json_t *plan, *args;
    atomic_uint allowed, ran, attempts, refused, tools;
};

/* Every third call never runs, and every fifth is tried again. */
static void *calls(void *arg)
{
    struct shared *s = arg;
    unsigned me = atomic_fetch_add(&s->tools, 1);
    for (unsigned i = 0; i < CALLS; i++) {
        char tool[32], run[32];
        struct jm_verdict v;
        snprintf(tool, sizeof tool, "key-%u", i % 40);
        snprintf(run, sizeof run, "run-%u", (me + i) % 50);
        const struct jm_guard_call call = {.tool = tool, .danger = 1, .mode = "local", .run_id = run, .args = s->args,
                                           .plan = s->plan};
        jm_guards_decide(s->guards, &call, &v);
        if (v.verdict != JIANMU_ALLOW) {
            atomic_fetch_add(&s->refused, 1);
            continue;
        }
        struct jianmu_guard_usage usage = {.size = sizeof usage, .attempts = i % 3 ? 1 : 0, .wall_s = 0.001};
        if (i % 5 == 0 && usage.attempts && !jm_guards_again(s->guards, &v))
            usage.attempts++;
        jm_guards_settle(s->guards, &v, &usage);
        atomic_fetch_add(&s->allowed, 1);
        atomic_fetch_add(&s->attempts, usage.attempts);
    }
    return NULL;
}

static void run(struct shared *s, const char *yaml)
{
    jianmu_error *err = NULL;
    pthread_t threads[THREADS];
    jianmu_config *config = kit_load(yaml);
    s->guards = jm_guards_new(config, &err);
    assert_non_null(s->guards);
    s->plan = kit_json("{'timeout_s': 30.0}");
    s->args = kit_json("{'path': 'some text'}");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, calls, s), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    json_decref(s->plan);
    json_decref(s->args);
    jianmu_config_free(config);
}

static void counted_once(void **state)
{
    (void)state;
    struct shared s = {0};
    run(&s, "guard: {profile: dev, rules: [{tool: 'key-1?', args: [{at: /path, regex: 'me t'}], then: allow}], "
            "budgets: [{per: process, calls: 2000}, {per: run, calls: 1000000}], rates: [{calls: 1000000, per: 1, key: tool}]}");
    assert_int_equal(s.attempts, BUDGET); /* what came back was given out again, to the last one */
    assert_true(s.refused > 0);
    struct jm_verdict v;
    jm_auto_json json_t *plan = json_object();
    const struct jm_guard_call call = {.tool = "keyed", .danger = 1, .mode = "local", .plan = plan};
    jm_guards_decide(s.guards, &call, &v);
    assert_int_equal(v.code, JIANMU_OVER_BUDGET);
    jm_guards_free(s.guards);
}

static void foreign_too(void **state)
{
    (void)state;
    struct shared s = {0};
    run(&s, "guard: {profile: dev, use: [fixture, policy], time_limit: 60s, budgets: [{per: process, calls: 2000}]}");
    assert_int_equal(s.attempts, BUDGET);
    assert_int_equal(jm_guards_abandoned(s.guards), 0);
    jm_guards_free(s.guards);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counted_once), cmocka_unit_test(foreign_too)};
    return cmocka_run_group_tests(tests, setup, kit_teardown);
}
