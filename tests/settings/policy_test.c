/* SPDX-License-Identifier: Apache-2.0
 * policy.yaml: what it bounds, and that it is refused whole where one word of it is not understood. */
#include "config.h"

#include "kit.h"
#include "base/cleanup.h"
#include <stdio.h>
#include <string.h>

static void policy(void **state)
{
    (void)state;
    static const struct {
        const char *policy, *yaml, *constraints, *mode, *name, *setting; /* or the sentence, where it has no layer */
    } list[] = {
        {"max:\n  timeout_s: 60\n", "", NULL, NULL, "timeout_s", "60.0 policy POLICY:2"},
        {"max:\n  timeout_s: 1m\n", "execution: {timeout_s: 50}\n", NULL, NULL, "timeout_s", "50.0 yaml jianmu.yaml:1"},
        {"max:\n  timeout_s: 60\n", "execution: {timeout_s: 60}\n", NULL, NULL, "timeout_s", "60.0 yaml jianmu.yaml:1"},
        {"max:\n  timeout_s: 60\n", "execution:\n  timeout_s: 61\n", NULL, NULL, "timeout_s",
         "timeout_s: 61.0 (jianmu.yaml:2) is above the maximum 60.0 (POLICY:2)"},
        {"max:\n  timeout_s: 60\n", "", "{'timeout_s': '2m'}", NULL, "timeout_s",
         "timeout_s: 120.0 (constraints) is above the maximum 60.0 (POLICY:2)"},
        {"max:\n  timeout_s: 60\n", "tools:\n  bare:\n    timeout_s: 90\n", NULL, NULL, "timeout_s",
         "timeout_s: 90.0 (jianmu.yaml:3) is above the maximum 60.0 (POLICY:2)"},
        {"max:\n\n  memory: 64m\n", "", NULL, "boxed", "memory", "67108864 policy POLICY:3"},
        {"max:\n  memory: 256m\n", "", NULL, "boxed", "memory", "134217728 default default"},
        {"max:\n  memory: 64m\n", "execution:\n  boxed:\n    memory: 65m\n", NULL, "boxed", "memory",
         "memory: 68157440 (jianmu.yaml:3) is above the maximum 67108864 (POLICY:2)"},
        {"max: {memory: 64m}\n", "", NULL, "local", "memory", "67108864 policy POLICY:1"},
        {"max: {capture: 1k}\n", "", NULL, NULL, "capture", "1024 policy POLICY:1"},
        {"max: {max_output: 100}\n", "", NULL, NULL, "max_output", "100 policy POLICY:1"},
        {"max: {pids: 5, cpus: 0.5}\n", "", NULL, "boxed", "cpus", "0.5 policy POLICY:1"},
        {"max: {nofile: 64, fsize: 1m, disk: 1m, output_limit: 1m, cpu_time_s: 5}\n", "", NULL, NULL, "disk",
         "1048576 policy POLICY:1"},
        {"", "", NULL, NULL, "timeout_s", "null unset unset"},
        {"max:\n", "", NULL, NULL, "timeout_s", "null unset unset"},
    };
    char path[2 * KIT_PATH], want[4 * KIT_PATH];
    snprintf(path, sizeof path, "%s/etc/jianmu/policy.yaml", kit_dir);
    for (size_t i = 0; i < jm_countof(list); i++) {
        char sentence[512];
        kit_write("etc/jianmu/policy.yaml", list[i].policy);
        jianmu_config *config = kit_load(list[i].yaml);
        jm_auto_json json_t *explain = kit_explain(config, list[i].constraints, list[i].mode, "bare", sentence);
        const char *marker = strstr(list[i].setting, "POLICY");
        snprintf(want, sizeof want, "%.*s%s%s", marker ? (int)(marker - list[i].setting) : 1000, list[i].setting,
                 marker ? path : "", marker ? marker + 6 : "");
        assert_string_equal(explain ? kit_setting(explain, list[i].name) : sentence, want);
        jianmu_config_free(config);
    }
    kit_write("etc/jianmu/policy.yaml", NULL);
}

static void own_timeout(void **state)
{
    (void)state;
    char want[4 * KIT_PATH];
    kit_write("etc/jianmu/policy.yaml", "max: {timeout_s: 60}\n");
    jianmu_config *config = kit_load("");
    struct jm_plan *plan = jm_plan_new(config, NULL, NULL, "job", NULL, NULL);
    jianmu_error *err = NULL;
    assert_true(jm_plan_find(plan, "timeout_s")->asked);
    assert_int_equal(jm_plan_check_timeout(plan, 60, &err), 0);
    assert_int_equal(jm_plan_check_timeout(plan, 60.5, &err), -1);
    assert_int_equal(jianmu_error_code(err), JIANMU_DENIED);
    snprintf(want, sizeof want, "timeout_s: 60.5 (call) is above the maximum 60.0 (%s/etc/jianmu/policy.yaml:1)",
             kit_dir);
    assert_string_equal(jianmu_error_message(err), want);
    jianmu_error_free(err);
    jm_plan_free(plan);
    jianmu_config_free(config);
    kit_write("etc/jianmu/policy.yaml", NULL);
}

/* What is not understood in it would be lost: nothing is loaded then. */
static void bad_policy(void **state)
{
    (void)state;
    static const struct {
        const char *policy, *sentence;
    } list[] = {
        {"guard: {}\n",
         "1:1: \"guard\" is not understood by this version, which knows \"max\" only; it loads no policy in part"},
        {"max: {timeout_s: 5}\nrules: []\n",
         "2:1: \"rules\" is not understood by this version, which knows \"max\" only; it loads no policy in part"},
        {"execution: {}\n",
         "1:1: \"execution\" is not understood by this version, which knows \"max\" only; it loads no policy in part"},
        {"max: {network: none}\n", "1:7: \"network\" is no limit that can have a maximum"},
        {"max: {memroy: 5m}\n", "1:7: \"memroy\" is no limit that can have a maximum; did you mean \"memory\"?"},
        {"max: {timeout_s: 0}\n", "1:18: max.timeout_s: 0 would mean \"no limit\"; to have none, leave it out"},
        {"max: {timeout_s: yes}\n", "1:18: max.timeout_s: \"yes\" may be meant as true or false, or as text: write "
                                    "true, false, or put it in quotes"},
        {"max: {timeout_s: null}\n",
         "1:18: max.timeout_s: null is not a duration (like 30, \"30s\", \"2m\", \"500ms\", \"1.5h\", \"1m30s\")"},
        {"max: 5\n", "1:6: a mapping of keys to values must stand here"},
        {"[max]\n", "1:1: a mapping of keys to values must stand here"},
        {"max: {timeout_s: 5\n", "2:1: did not find expected ',' or '}', while parsing a flow mapping"},
    };
    for (size_t i = 0; i < jm_countof(list); i++) {
        char want[4 * KIT_PATH];
        jianmu_error *err = NULL;
        jianmu_config *config = kit_config();
        kit_write("etc/jianmu/policy.yaml", list[i].policy);
        assert_int_equal(jianmu_config_load_text(config, "", 0, "jianmu.yaml", &err), -1);
        snprintf(want, sizeof want, "%s/etc/jianmu/policy.yaml:%s", kit_dir, list[i].sentence);
        assert_string_equal(jianmu_error_message(err), want);
        jianmu_error_free(err);
        jianmu_config_free(config);
    }
    kit_write("etc/jianmu/policy.yaml", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policy),
        cmocka_unit_test(own_timeout),
        cmocka_unit_test(bad_policy),
    };
    return cmocka_run_group_tests(tests, kit_setup, kit_teardown);
}
