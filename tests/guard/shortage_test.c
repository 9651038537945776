/* SPDX-License-Identifier: Apache-2.0
 * The n-th allocation fails, for every n: guards are opened or say that memory is short, what must be denied is never
 * allowed, and nothing is left behind. */
#include "config.h"

#include "guard/guard.h"
#include "base/cleanup.h"
#include "kit.h"
#include <stdio.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_MALLOC 0
static volatile long fail_at, held;
#else
#define OWN_MALLOC 1
static volatile long fail_at; /* 0: never; counts down */
static volatile long held;    /* not yet freed */

/* glibc lets a program replace malloc (malloc(3), "Replacing malloc"); its own functions stay reachable. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
#pragma GCC visibility push(default)
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *p, size_t size);
void free(void *p);
#pragma GCC visibility pop

static bool must_fail(void)
{
    if (fail_at <= 0 || --fail_at)
        return false;
    errno = ENOMEM;
    return true;
}

static void *counted(void *p)
{
    held += p != NULL;
    return p;
}

void *malloc(size_t size)
{
    return must_fail() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *p, size_t size)
{
    if (must_fail())
        return NULL;
    void *q = __libc_realloc(p, size);
    return p ? q : counted(q);
}

void free(void *p)
{
    held -= p != NULL;
    __libc_free(p);
}
#endif

static const char yaml[] =
    "guard:\n  profile: dev\n  rules:\n    - {name: no-etc, args: [{at: /path, regex: '^/etc/'}], then: deny}\n"
    "    - {name: list, args: [{at: /list, glob: '[1,*'}], then: deny}\n"
    "    - {plan: {timeout_s: {above: 90}}, mode: 'l*', skill: '/srv/*', then: deny}\n"
    "    - {tool: 'key*', danger: read, then: allow}\n"
    "  rates: [{calls: 100, per: 1, key: run}]\n  budgets: [{per: run, calls: 100}, {per: process, output: 1g}]\n";

static int setup(void **state)
{
    char command[4 * KIT_PATH];
    if (kit_setup(state))
        return -1;
    snprintf(command, sizeof command, "cp '%s/guards/policy/.libs/policy.so' '%s/guards/'", getenv("JIANMU_BUILD"), kit_dir);
    return system(command) ? -1 : 0;
}

struct asked {
    const char *args;
    double timeout_s;
    bool denied;
    json_t *json;
};

/* The number of calls that were allowed of those that may be; -1: no guards. */
static long attempts;

static int attempt(const jianmu_config *config, const struct asked *list, size_t count, json_t *plan)
{
    jianmu_error *err = NULL;
    struct jm_guards *guards = jm_guards_new(config, &err);
    int allowed = 0;
    if (!guards && jianmu_error_code(err) != JIANMU_INTERNAL)
        fail_msg("%s", jianmu_error_message(err));
    for (size_t i = 0; guards && i < count; i++) {
        struct jm_verdict v;
        const struct jm_guard_call call = {.tool = "keyed", .danger = 1, .mode = "local", .run_id = "run", .skill = "/srv/x",
                                           .args = list[i].json, .plan = plan, .timeout_s = list[i].timeout_s};
        jm_guards_decide(guards, &call, &v);
        if (v.verdict != JIANMU_DENY && list[i].denied) {
            fail_at = 0;
            fail_msg("allocation %ld: what must be denied is allowed: %s", attempts, list[i].args);
        }
        if (v.verdict == JIANMU_DENY && !v.message[0])
            fail_msg("denied without a word");
        const struct jianmu_guard_usage usage = {.size = sizeof usage, .attempts = 1, .output = 5};
        if (v.verdict == JIANMU_DENY)
            continue;
        jm_guards_again(guards, &v);
        jm_guards_settle(guards, &v, &usage);
        allowed++;
    }
    jm_guards_free(guards);
    jianmu_error_free(err);
    return guards ? allowed : -1;
}

static void one_allocation(void **state)
{
    (void)state;
    struct asked list[] = {{"{'path': '/etc/passwd'}", 0, true, NULL}, {"{'path': '/srv/x', 'list': [1, 2]}", 0, true, NULL},
                           {"{}", 100, true, NULL}, {"{'path': '/srv/x', 'list': [2]}", 50, false, NULL}, {"{}", 0, false, NULL}};
    const char *preload = getenv("LD_PRELOAD");
    if (!OWN_MALLOC || (preload && strstr(preload, "vgpreload")))
        skip();
    for (size_t i = 0; i < jm_countof(list); i++)
        list[i].json = kit_json(list[i].args);
    jianmu_config *config = kit_load(yaml);
    jm_auto_json json_t *plan = kit_json("{'timeout_s': 30.0}");
    assert_int_equal(attempt(config, list, jm_countof(list), plan), 2); /* and the module is loaded */
    long n = 0, short_of = 0, fewer = 0;
    for (bool failed = true; failed;) {
        long before = held;
        fail_at = attempts = ++n;
        int allowed = attempt(config, list, jm_countof(list), plan);
        failed = fail_at <= 0;
        fail_at = 0;
        if (held != before)
            fail_msg("allocation %ld: %ld blocks are left", n, held - before);
        short_of += allowed < 0;
        fewer += allowed >= 0 && allowed < 2;
        assert_true(failed || allowed == 2);
    }
    print_message("# %ld allocations, %ld times no guards, %ld times fewer allowed\n", n - 1, short_of, fewer);
    assert_true(short_of > 20 && fewer > 5);
    for (size_t i = 0; i < jm_countof(list); i++)
        json_decref(list[i].json);
    jianmu_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_allocation)};
    return cmocka_run_group_tests(tests, setup, kit_teardown);
}
