/* SPDX-License-Identifier: Apache-2.0
 * The n-th allocation fails, and from the n-th on all fail, for every n; and there are no more than n descriptors.
 * Each time the answer is an error, or the same as ever; and nothing is left behind. */
#include "config.h"

#include "kit.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "plugin/registry.h"
#include "../shortage.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* ---- what is done each time ---- */
static const char yaml[] =
    "plugins:\n  path: [/nonexistent]\nexecution:\n  timeout_s: 1m30s\n  boxed: {memory: 1g, names: [a, b], pairs: {k: "
    "v}}\n"
    "  docker: {env_allowlist: [A, B], image: i}\ntools:\n  'k*': {timeout_s: 5, word: '3'}\n  job: {fsize: 1m}\n"
    "guard:\n  profile: dev\n  use: [policy]\n  max: {nofile: 100}\n"
    "  rules: [{name: n, tool: ['k*'], danger: read, mode: local, args: [{at: /a, regex: '^a+$'}, {at: '', glob: '*'}], "
    "plan: {timeout_s: {above: 5}, network: none, env: A}, then: deny, message: m}]\n"
    "  rates: [{calls: 5, per: 1m, key: run}]\n  budgets: [{per: run, output: 1m}]\n";
static const char asked[] =
    "{\"execution\":{\"memory\":\"64m\",\"env\":{\"A\":\"b\"},\"scope\":\"tools\",\"timeout_s\":\"9s\"}}";

/* The plans of a tool and of a job, and all lists, as one text; NULL with an error. */
static json_t *describe(const jianmu_config *config, const jianmu_constraints *c, jianmu_error **err)
{
    const struct jm_item *tool = jm_registry_find(config->registry, JIANMU_KIND_TOOL, "keyed", err);
    struct jm_plan *one = tool ? jm_plan_new(config, c, "boxed", "keyed", tool, err) : NULL;
    struct jm_plan *two = one ? jm_plan_new(config, c, NULL, "job", NULL, err) : NULL;
    json_t *all = two ? json_pack("[O, o, o, o, o, o, o, b, b]", jm_config_guard(config), jm_plan_json(one), jm_plan_json(two),
                                  jianmu_config_keys(config), jianmu_config_tools(config),
                                  jianmu_config_backends(config), jianmu_config_plugins(config),
                                  jm_plan_check_max(one, 601, NULL), jm_plan_check_max(two, 601, NULL))
                      : NULL;
    jm_plan_free(one);
    jm_plan_free(two);
    return all;
}

static char *load_and_tell(jianmu_config *config, jianmu_error **err)
{
    json_error_t why;
    char *text = NULL;
    jm_auto_json json_t *object = jm_json_parse(asked, strlen(asked), 0, &why);
    if (!object || jianmu_config_load_text(config, yaml, strlen(yaml), "jianmu.yaml", err))
        return NULL;
    jianmu_constraints *c = jianmu_constraints_from_json(object, err);
    jm_auto_json json_t *all = c && !jianmu_constraints_set(c, "env", "C=d", err) ? describe(config, c, err) : NULL;
    if (all)
        text = jm_json_print(all, 0, NULL);
    jianmu_constraints_free(c);
    return text;
}

/* 1: it answered as ever. */
static int attempt(const char *reference, jianmu_config *config, long n, char sentence[512])
{
    jianmu_error *err = NULL;
    char *text = load_and_tell(config, &err);
    fail_at = 0;
    snprintf(sentence, 512, "%s: %s", jianmu_code_name(jianmu_error_code(err)), jianmu_error_message(err));
    if (text && err)
        fail_msg("an answer and an error: %s", sentence);
    size_t same = 0;
    while (text && text[same] && text[same] == reference[same])
        same++;
    if (text && text[same] != reference[same])
        fail_msg("allocation %ld, another answer than ever, from byte %zu: %.60s, not %.60s", n, same,
                 text + (same > 30 ? same - 30 : 0), reference + (same > 30 ? same - 30 : 0));
    int rc = text != NULL;
    free(text);
    jianmu_error_free(err);
    jianmu_config_free(config);
    return rc;
}

static char *reference_text(void)
{
    jianmu_error *err = NULL;
    jianmu_config *config = kit_config();
    char *text = load_and_tell(config, &err);
    if (!text)
        fail_msg("%s", jianmu_error_message(err));
    jianmu_config_free(config);
    return text;
}

/* It puts its own allocator before ours, and takes the highest descriptors. */
static void not_under_valgrind(void)
{
    const char *preload = getenv("LD_PRELOAD");
    if (preload && strstr(preload, "vgpreload"))
        skip();
}

static void allocations(bool all_that_follow, long step)
{
    not_under_valgrind();
    kit_write("etc/jianmu/policy.yaml", "max: {timeout_s: 600, pids: 5, network: ['n*', x], memory: 1k}\n");
    jm_auto_free char *reference = reference_text();
    long n = 1 - step, refused = 0;
    char sentence[512];
    for (failed = 1; failed > 0;) { /* until there are fewer than n */
        long before = live;
        jianmu_config *config = kit_config();
        failed = 0;
        fail_on = all_that_follow;
        fail_at = n += step;
        int answered = attempt(reference, config, n, sentence);
        if (!answered && strncmp(sentence, "internal: ", 10) && strcmp(sentence, "ok: "))
            fail_msg("allocation %ld: %s", n, sentence);
        if (COUNTED && live != before)
            fail_msg("allocation %ld: %ld blocks are left (%s)", n, live - before, sentence);
        refused += !answered;
    }
    print_message("# %ld allocations, %ld refusals\n", n - 1, refused);
    assert_true(refused * step > 1000);
    kit_write("etc/jianmu/policy.yaml", NULL);
}

static void one_allocation(void **state)
{
    (void)state;
    allocations(false, 1);
}

static void all_allocations(void **state)
{
    (void)state;
    allocations(true, 5);
}

static int open_fds(int *highest)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    *highest = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || fd == dirfd(dir))
            continue;
        count++;
        *highest = fd > *highest ? fd : *highest;
    }
    closedir(dir);
    return count;
}

static void descriptors(void **state)
{
    (void)state;
    struct rlimit old, few;
    char sentence[512];
    int highest, before, after, refused = 0, answered = 0;
    not_under_valgrind();
    kit_write("etc/jianmu/policy.yaml", "max: {timeout_s: 600}\n");
    jm_auto_free char *reference = reference_text();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    open_fds(&highest);
    while (dup(0) < highest) /* no gaps below the limit; these are left open */
        ;
    before = open_fds(&highest);
    for (int n = 0; n < 64 && answered < 3; n++) {
        jianmu_config *config = kit_config();
        few = (struct rlimit){(rlim_t)(highest + 1 + n), old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        int rc = attempt(reference, config, n, sentence);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
        answered = rc ? answered + 1 : 0;
        refused += !rc;
        if (!rc && !strstr(sentence, "Too many open files"))
            fail_msg("%d descriptors: %s", n, sentence);
        after = open_fds(&highest);
        assert_int_equal(after, before);
    }
    assert_int_equal(answered, 3);
    assert_true(refused > 0);
    kit_write("etc/jianmu/policy.yaml", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_allocation), cmocka_unit_test(all_allocations), cmocka_unit_test(descriptors),
    };
    return cmocka_run_group_tests(tests, kit_setup, kit_teardown);
}
