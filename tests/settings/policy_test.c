/* SPDX-License-Identifier: Apache-2.0
 * policy.yaml: what it bounds, and that it is refused whole where one word of it is not understood. */
#include "config.h"

#include "kit.h"
#include "base/cleanup.h"
#include "settings/inside.h"
#include <stdio.h>
#include <string.h>

/* "POLICY" in what must come back is the path of the file. */
static void put_path(char *want, const char *text, const char *path)
{
    for (const char *marker; (marker = strstr(text, "POLICY")); text = marker + 6)
        want += sprintf(want, "%.*s%s", (int)(marker - text), text, path);
    strcpy(want, text);
}

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
        /* of a text: patterns */
        {"max: {network: none}\n", "", NULL, "boxed", "network", "\"none\" default default"},
        {"max: {network: [none, 'net-*']}\n", "", "{'network': 'net-a'}", "boxed", "network",
         "\"net-a\" constraints constraints"},
        {"max:\n  network: [none, 'net-*']\n", "", "{'network': 'host'}", "boxed", "network",
         "network: \"host\" (constraints) is not among \"none\", \"net-*\" (POLICY:2)"},
        {"max: {network: ['net-*', inner]}\n", "", NULL, "boxed", "network", "\"inner\" policy POLICY:1"},
        {"max: {network: ['net-*']}\n", "", NULL, "boxed", "network",
         "network: \"none\" (default) is not among \"net-*\" (POLICY:1)"},
        {"max: {network: none}\n", "", NULL, "local", "network", "\"none\" policy POLICY:1"}, /* unset is any */
        {"max: {docker_image: 'a/*'}\n", "", NULL, "boxed", "docker_image",
         "docker_image: unset (unset) is not among \"a/*\" (POLICY:1)"},
        {"max: {docker_image: 'a/*'}\n", "", "{'docker_image': 'a/b:1'}", "boxed", "docker_image",
         "\"a/b:1\" constraints constraints"},
        {"max: {docker_image: 'a/*'}\n", "", NULL, "local", "docker_image", "none"},
        {"max: {mode: [Boxed]}\n", "", NULL, "boxed", "mode", "\"boxed\" call call"},
        {"max: {mode: [Boxed]}\n", "", NULL, NULL, "mode",
         "mode: \"local\" (default) is not among \"boxed\" (POLICY:1)"},
        {"max: {mode: 'b*'}\n", "execution:\n  tool_runner: local\n", NULL, NULL, "mode",
         "mode: \"local\" (jianmu.yaml:2) is not among \"b*\" (POLICY:1)"},
        {"max: {tmpfs_noexec: true}\n", "", "{'tmpfs_noexec': false}", "boxed", "tmpfs_noexec",
         "tmpfs_noexec: false (constraints) must be true (POLICY:1)"},
        {"max: {tmpfs_noexec: true}\n", "", NULL, "boxed", "tmpfs_noexec", "true default default"},
        {"max: {tmpfs_noexec: false}\n", "", NULL, "boxed", "tmpfs_noexec", "false policy POLICY:1"},
        {"max: {max_retries: 1, artifact_count: 9}\n", "", NULL, NULL, "max_retries", "1 policy POLICY:1"},
        /* several at once */
        {"max: {pids: 5, memory: 1m}\n", "", "{'pids': 6, 'memory': '2m'}", "boxed", "memory",
         "pids: 6 (constraints) is above the maximum 5 (POLICY:1); memory: 2097152 (constraints) is above the maximum "
         "1048576 (POLICY:1)"},
        {"", "", NULL, NULL, "timeout_s", "null unset unset"},
        {"max:\n", "", NULL, NULL, "timeout_s", "null unset unset"},
    };
    char path[2 * KIT_PATH], want[4 * KIT_PATH];
    snprintf(path, sizeof path, "%s/etc/jianmu/policy.yaml", kit_dir);
    for (size_t i = 0; i < jm_countof(list); i++) {
        kit_write("etc/jianmu/policy.yaml", list[i].policy);
        jianmu_config *config = kit_load(list[i].yaml);
        jm_auto_json json_t *explain = kit_explain(config, list[i].constraints, list[i].mode, "bare", NULL);
        const char *over = json_string_value(json_object_get(explain, "over_max"));
        put_path(want, list[i].setting, path);
        assert_string_equal(over ? over : kit_setting(explain, list[i].name), want);
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
    assert_int_equal(jm_plan_check_max(plan, 60, &err), 0);
    assert_int_equal(jm_plan_check_max(plan, 60.5, &err), -1);
    assert_int_equal(jianmu_error_code(err), JIANMU_DENIED);
    snprintf(want, sizeof want, "timeout_s: 60.5 (call) is above the maximum 60.0 (%s/etc/jianmu/policy.yaml:1)",
             kit_dir);
    assert_string_equal(jianmu_error_message(err), want);
    jianmu_error_free(err);
    jm_plan_free(plan);
    jianmu_config_free(config);
    /* a call's own takes the place of the plan's, above its maximum or not */
    config = kit_load("execution: {timeout_s: 70}\n");
    plan = jm_plan_new(config, NULL, NULL, "job", NULL, NULL);
    assert_int_equal(jm_plan_check_max(plan, 0, NULL), -1);
    assert_int_equal(jm_plan_check_max(plan, 61, NULL), -1);
    assert_int_equal(jm_plan_check_max(plan, 60, NULL), 0);
    jm_plan_free(plan);
    jianmu_config_free(config);
    kit_write("etc/jianmu/policy.yaml", NULL);
}

/* Several may bound the same: whatever their order the smallest holds. */
static void several(void **state)
{
    (void)state;
    static const double seconds[][3] = {{60, 30, 90}, {30, 60, 90}, {90, 60, 30}};
    for (size_t i = 0; i < jm_countof(seconds); i++) {
        jianmu_config *config = kit_load("");
        for (size_t j = 0; j < 3; j++) {
            struct jm_bound *bound = jm_append(&config->bounds, &config->bound_count, sizeof *bound);
            *bound = (struct jm_bound){jm_knob_find("timeout_s"), {json_real(seconds[i][j]), JM_POLICY, "p.yaml", 1}};
        }
        struct jm_plan *plan = jm_plan_new(config, NULL, NULL, "job", NULL, NULL);
        assert_true(plan->timeout_s == 30);
        assert_int_equal(jm_plan_check_max(plan, 0, NULL), 0);
        assert_int_equal(jm_plan_check_max(plan, 30, NULL), 0);
        assert_int_equal(jm_plan_check_max(plan, 31, NULL), -1);
        jm_plan_free(plan);
        jianmu_config_free(config);
    }
}

/* What is not understood in it would be lost: nothing is loaded then. */
static void bad_policy(void **state)
{
    (void)state;
    static const struct {
        const char *policy, *sentence;
    } list[] = {
        {"max: {timeout_s: 5}\nrules: []\n",
         "2:1: \"rules\" is not understood by this version, which knows \"max\" and \"guard\" only; it loads no policy in part"},
        {"execution: {}\n",
         "1:1: \"execution\" is not understood by this version, which knows \"max\" and \"guard\" only; it loads no policy in part"},
        {"max: {workspace: /srv}\n", "1:7: \"workspace\" is no setting that can have a maximum"},
        {"max: {memroy: 5m}\n", "1:7: \"memroy\" is no setting that can have a maximum; did you mean \"memory\"?"},
        {"max: {network: []}\n", "1:16: max.network: an empty list allows nothing at all"},
        {"max: {network: [none, 5]}\n", "1:16: max.network: 5 is not text; put it in quotes"},
        {"max: {timeout_s: [5, 6]}\n",
         "1:18: max.timeout_s: a list is not a duration (like 30, \"30s\", \"2m\", \"500ms\", \"1.5h\", \"1m30s\")"},
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
        cmocka_unit_test(several),
        cmocka_unit_test(bad_policy),
    };
    return cmocka_run_group_tests(tests, kit_setup, kit_teardown);
}
