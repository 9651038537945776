/* SPDX-License-Identifier: Apache-2.0
 * The guard sections of jianmu.yaml and policy.yaml: what becomes of them, and every way of getting them wrong. */
#include "config.h"

#include "kit.h"
#include "base/cleanup.h"
#include "base/json.h"
#include <stdio.h>
#include <string.h>

static int guards_setup(void **state)
{
    if (kit_setup(state))
        return -1;
    kit_put("guard", "guards/noted.so");
    return 0;
}

static void is_json(const json_t *got, const char *want)
{
    jm_auto_json json_t *other = kit_json(want);
    jm_auto_free char *text = jm_json_print(got, 0, NULL);
    if (!json_equal((json_t *)got, other))
        fail_msg("is   %s\nmust %s", text, want);
}

static void defaults(void **state)
{
    (void)state;
    jianmu_config *config = kit_load("");
    is_json(jm_config_guard(config), "{'use': ['policy'], 'confirm_expires': 300.0, 'time_limit': 1.0, 'config': {'profile': {'name': "
                                     "'standard', 'source': 'default'}}}");
    assert_string_equal(jm_config_profile(config), "standard");
    jianmu_config_free(config);
}

static const char whole[] =
    "guard:\n  profile: strict\n  use: [noted, policy]\n  confirm_expires: 5m\n  noted: {word: x, wait: 2s}\n"
    "  rules:\n"
    "    - name: no-etc\n      tool: [keyed, 'k*']\n      danger: [read, write]\n      mode: docker\n"
    "      skill: '/srv/*'\n"
    "      args:\n        - {at: /path, glob: '/etc/*'}\n        - {at: '', regex: '^a+$'}\n"
    "      plan: {timeout_s: {above: 2m}, memory: {below: 1k}, network: none, env_allowlist: A, pids: null, docker_image: {glob: 'x*'}}\n"
    "      then: deny\n      message: never\n"
    "    - {then: allow}\n"
    "  rates:\n    - {tool: job, calls: 5, per: 1m, key: run}\n    - {calls: 2, per: 1, burst: 9, name: all}\n"
    "  budgets:\n    - {per: run, calls: 100, wall_s: 1h, cpu_s: 30, output: 1m}\n";

static void everything(void **state)
{
    (void)state;
    jianmu_error *err = NULL;
    jianmu_config *config = kit_load(whole);
    is_json(jm_config_guard(config),
            "{'use': ['noted', 'policy'], 'confirm_expires': 300.0, 'time_limit': 1.0, 'config': {"
            "'profile': {'name': 'strict', 'source': 'jianmu.yaml:2'}, 'rules': ["
            "{'source': 'jianmu.yaml:7', 'name': 'no-etc', 'tool': ['keyed', 'k*'], 'danger': ['read', 'write'], "
            "'mode': ['docker'], 'skill': ['/srv/*'], 'args': [{'at': '/path', 'glob': '/etc/*'}, {'at': '', 'regex': "
            "'^a+$'}], 'plan': [{'name': 'timeout_s', 'op': 'above', 'value': 120.0}, {'name': 'memory', 'op': 'below', "
            "'value': 1024}, {'name': 'network', 'op': 'equal', 'value': 'none'}, {'name': 'env_allowlist', 'op': "
            "'equal', 'value': 'A'}, {'name': 'pids', 'op': 'unset', 'value': null}, {'name': 'docker_image', 'op': "
            "'glob', 'value': 'x*'}], 'then': 'deny', 'message': 'never'}, {'source': 'jianmu.yaml:18', 'then': "
            "'allow'}], 'rates': [{'source': 'jianmu.yaml:20', 'tool': ['job'], 'calls': 5, 'per': 60.0, 'key': 'run', "
            "'burst': 5}, {'source': 'jianmu.yaml:21', 'calls': 2, 'per': 1.0, 'burst': 9, 'name': 'all', 'key': "
            "'rule'}], 'budgets': [{'source': 'jianmu.yaml:23', 'per': 'run', 'calls': 100, 'wall_s': 3600.0, 'cpu_s': "
            "30.0, 'output': 1048576}]}}");
    jm_auto_json json_t *own = jm_config_plugin(config, "guard", "noted", &err);
    is_json(own, "{'word': 'x', 'flag': false, 'whole': 7, 'share': 0.25, 'wait': 2.0, 'room': 65536, 'names': ['a', "
                 "'b'], 'pairs': {'k': 'v'}, 'open': null}");
    jianmu_config_free(config);
}

static void policy_file(void **state)
{
    (void)state;
    jm_auto_free char *source = NULL;
    assert_true(asprintf(&source, "%s/etc/jianmu/policy.yaml:3", kit_dir) > 0);
    kit_write("etc/jianmu/policy.yaml", "guard:\n  profile: strict\n  rules: [{tool: not_here, then: deny}]\n");
    jianmu_config *config = kit_load("guard: {use: [noted]}\n");
    const json_t *rule = json_array_get(json_object_get(json_object_get(jm_config_guard(config), "policy"), "rules"), 0);
    assert_string_equal(json_string_value(json_object_get(rule, "source")), source);
    is_json(json_object_get(jm_config_guard(config), "use"), "['noted', 'policy']");
    assert_string_equal(jm_config_profile(config), "strict");
    jianmu_config_free(config);
    kit_write("etc/jianmu/policy.yaml", "guard:\n  max: {timeout_s: 30}\n");
    config = kit_load("guard: {max: {timeout_s: 40, pids: 7}, use: [noted]}\n");
    jm_auto_json json_t *explain = kit_explain(config, NULL, NULL, "job", NULL);
    assert_non_null(strstr(kit_setting(explain, "timeout_s"), "30.0 policy"));
    assert_string_equal(kit_setting(explain, "pids"), "7 policy jianmu.yaml:1");
    is_json(json_object_get(jm_config_guard(config), "use"), "['noted']");
    jianmu_config_free(config);
    kit_write("etc/jianmu/policy.yaml", NULL);
}

static const struct {
    const char *yaml, *sentence;
} bad[] = {
    {"guard: 5\n", "1:8: guard must be a mapping of keys to values"},
    {"guard:\n  profil: dev\n", "2:3: unknown key \"profil\" in guard; did you mean \"profile\"?"},
    {"guard:\n  noted: {wrod: x}\n", "2:11: unknown key \"wrod\" in guard.noted; did you mean \"word\"?"},
    {"guard:\n  noted: {wait: soon}\n",
     "2:17: guard.noted.wait: \"soon\" is not a duration (like 30, \"30s\", \"2m\", \"500ms\", \"1.5h\", \"1m30s\")"},
    {"guard:\n  profile: strickt\n",
     "2:12: guard.profile: \"strickt\" is no profile; there are dev, standard and strict; did you mean \"strict\"?"},
    {"guard:\n  profile: [dev]\n", "2:12: guard.profile must be text"},
    {"guard:\n  use: []\n", "2:8: guard.use: the list is empty, and nothing would match it"},
    {"guard:\n  use: [noted]\n  profile: dev\n",
     "2:3: guard.use: profile, rules, rates and budgets are held by the guard \"policy\", which the list does not name"},
    {"guard:\n  use: [notde]\n", "2:9: guard.use: unknown guard \"notde\", did you mean \"noted\"?"},
    {"guard:\n  use: [noted, policy, noted]\n", "2:8: guard.use: a guard stands here twice"},
    {"guard:\n  time_limit: 5m\n", "2:15: guard.time_limit: \"5m\" is too large, at most 60.0"},
    {"guard:\n  confirm_expires: 0\n", "2:20: guard.confirm_expires: 0 is too small"},
    {"guard:\n  max: {timout_s: 5}\n",
     "2:9: \"timout_s\" is no setting that can have a maximum; did you mean \"timeout_s\"?"},
    {"guard:\n  max: {timeout_s: soon}\n", "2:20: guard.max.timeout_s: \"soon\" is not a duration (like 30, \"30s\", "
                                           "\"2m\", \"500ms\", \"1.5h\", \"1m30s\")"},
    {"guard:\n  max: 5\n", "2:8: guard.max must be a mapping of keys to values"},
    /* rules */
    {"guard:\n  rules: {then: deny}\n", "2:10: guard.rules must be a list"},
    {"guard:\n  rules: [deny]\n", "2:11: a rule must be a mapping of keys to values"},
    {"guard:\n  rules:\n    - tool: keyed\n", "3:7: this rule does not say what then: allow, confirm or deny"},
    {"guard:\n  rules:\n    - tol: keyed\n      then: deny\n", "3:7: unknown key \"tol\" in a rule; did you mean \"tool\"?"},
    {"guard:\n  rules:\n    - then: dney\n", "3:13: then: \"dney\" is none of allow, confirm, deny; did you mean \"deny\"?"},
    {"guard:\n  rules:\n    - {tool: keyd, then: deny}\n", "3:14: tool: unknown tool \"keyd\", did you mean \"keyed\"?"},
    {"guard:\n  rules:\n    - {tool: 'a b', then: deny}\n",
     "3:14: tool: a tool's name holds letters, digits and _ - . : / only; * and ? stand for any"},
    {"guard:\n  rules:\n    - {tool: [], then: deny}\n", "3:14: tool: the list is empty, and nothing would match it"},
    {"guard:\n  rules:\n    - {danger: wirte, then: deny}\n",
     "3:16: danger: \"wirte\" is none of read, write, dangerous; did you mean \"write\"?"},
    {"guard:\n  rules:\n    - {mode: dokcer, then: deny}\n",
     "3:14: mode: unknown mode \"dokcer\"; did you mean \"docker\"?"},
    {"guard:\n  rules:\n    - {name: 5, then: deny}\n", "3:14: name: \"5\" is not text; put it in quotes"},
    {"guard:\n  rules:\n    - {message: '', then: deny}\n", "3:17: message is empty"},
    {"guard:\n  rules:\n    - {args: [], then: deny}\n", "3:14: args: the list is empty"},
    {"guard:\n  rules:\n    - {args: [{glob: x}], then: deny}\n",
     "3:15: at is missing: the JSON pointer of the argument"},
    {"guard:\n  rules:\n    - {args: [{at: /a}], then: deny}\n", "3:15: exactly one of glob and regex must stand beside at"},
    {"guard:\n  rules:\n    - {args: [{at: /a, glob: x, regex: x}], then: deny}\n",
     "3:15: exactly one of glob and regex must stand beside at"},
    {"guard:\n  rules:\n    - {args: [{at: a, glob: x}], then: deny}\n",
     "3:20: at: \"a\" is no JSON pointer: it does not begin with \"/\""},
    {"guard:\n  rules:\n    - {args: [{at: /a~2, glob: x}], then: deny}\n",
     "3:20: at: \"/a~2\" is no JSON pointer: it has a \"~\" in it that is neither \"~0\" nor \"~1\""},
    {"guard:\n  rules:\n    - {args: [{at: /a, globb: x}], then: deny}\n",
     "3:24: unknown key \"globb\" in a pattern of arguments; did you mean \"glob\"?"},
    {"guard:\n  rules:\n    - {plan: {timout_s: 5}, then: deny}\n",
     "3:15: plan: there is no value \"timout_s\" in a plan; did you mean \"timeout_s\"?"},
    {"guard:\n  rules:\n    - {plan: {timeout_s: {abov: 5}}, then: deny}\n",
     "3:27: unknown key \"abov\" in a condition of the plan; did you mean \"above\"?"},
    {"guard:\n  rules:\n    - {plan: {timeout_s: {above: soon}}, then: deny}\n",
     "3:34: plan.timeout_s: \"soon\" is not a duration (like 30, \"30s\", \"2m\", \"500ms\", \"1.5h\", \"1m30s\")"},
    {"guard:\n  rules:\n    - {plan: {timeout_s: {glob: x}}, then: deny}\n",
     "3:27: plan.timeout_s is a number: glob cannot be asked of it"},
    {"guard:\n  rules:\n    - {plan: {network: {above: 5}}, then: deny}\n",
     "3:25: plan.network is text: above cannot be asked of it"},
    {"guard:\n  rules:\n    - {plan: {timeout_s: {above: 5, below: 9}}, then: deny}\n",
     "3:26: plan.timeout_s: exactly one of above, below and glob must stand here"},
    {"guard:\n  rules:\n    - {plan: {network: [none]}, then: deny}\n",
     "3:24: plan.network: one value, or one of above, below and glob, must stand here"},
    {"guard:\n  rules:\n    - {plan: {}, then: deny}\n", "3:14: plan: there is no condition in it"},
    /* rates and budgets */
    {"guard:\n  rates: [{calls: 5}]\n", "2:11: a rate needs calls and per: so many calls in so long a time"},
    {"guard:\n  rates: [{calls: 0, per: 1}]\n", "2:19: calls: 0 is too small"},
    {"guard:\n  rates: [{calls: 5, per: 0}]\n", "2:27: per: 0 is too small"},
    {"guard:\n  rates: [{calls: 5, per: 1, key: rnu}]\n", "2:35: key: \"rnu\" is none of rule, tool, run; did you mean \"run\"?"},
    {"guard:\n  rates: [{calls: 5, per: 1, bust: 3}]\n", "2:30: unknown key \"bust\" in a rate; did you mean \"burst\"?"},
    {"guard:\n  budgets: [{per: run}]\n",
     "2:13: a budget needs per (run or process) and one of calls, wall_s, cpu_s and output"},
    {"guard:\n  budgets: [{calls: 5}]\n",
     "2:13: a budget needs per (run or process) and one of calls, wall_s, cpu_s and output"},
    {"guard:\n  budgets: [{per: rum, calls: 5}]\n", "2:19: per: \"rum\" is none of run, process; did you mean \"run\"?"},
    {"guard:\n  budgets: [{per: run, output: -1}]\n", "2:32: output: -1 is negative"},
};

static void bad_sections(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < jm_countof(bad); i++) {
        char want[512];
        snprintf(want, sizeof want, "jianmu.yaml:%s", bad[i].sentence);
        wrong += kit_refuse(bad[i].yaml, strlen(bad[i].yaml), want);
    }
    assert_int_equal(wrong, 0);
}

/* PCRE2's own words are in it, so only its place and the offset are compared. */
static void bad_pattern(void **state)
{
    (void)state;
    static const char yaml[] = "guard:\n  rules:\n    - args: [{at: /a, regex: 'a(b'}]\n      then: deny\n";
    jianmu_error *err = NULL;
    jianmu_config *config = kit_config();
    assert_int_equal(jianmu_config_load_text(config, yaml, sizeof yaml - 1, "jianmu.yaml", &err), -1);
    assert_ptr_equal(strstr(jianmu_error_message(err), "jianmu.yaml:3:30: regex: "), jianmu_error_message(err));
    assert_non_null(strstr(jianmu_error_message(err), "3"));
    jianmu_error_free(err);
    jianmu_config_free(config);
}

static void bad_policy(void **state)
{
    (void)state;
    static const struct {
        const char *policy, *sentence;
    } list[] = {
        {"guard: {use: [noted]}\n", "1:9: unknown key \"use\" in guard"},
        {"guard: {noted: {word: x}}\n", "1:9: unknown key \"noted\" in guard"},
        {"guard: {rules: [{then: alow}]}\n", "1:24: then: \"alow\" is none of allow, confirm, deny; did you mean \"allow\"?"},
    };
    for (size_t i = 0; i < jm_countof(list); i++) {
        char want[2 * KIT_PATH];
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
        cmocka_unit_test(defaults),    cmocka_unit_test(everything), cmocka_unit_test(policy_file),
        cmocka_unit_test(bad_sections), cmocka_unit_test(bad_pattern), cmocka_unit_test(bad_policy),
    };
    return cmocka_run_group_tests(tests, guards_setup, kit_teardown);
}
