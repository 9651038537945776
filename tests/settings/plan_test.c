/* SPDX-License-Identifier: Apache-2.0
 * Layers to plan: who wins, and where each value says it came from. */
#include "config.h"

#include "kit.h"
#include "base/cleanup.h"
#include "plugin/registry.h"
#include "settings/constraints.h"
#include <pthread.h>
#include <string.h>

/* One setting of one plan. */
static const struct row {
    const char *yaml, *constraints, *mode, *subject, *name, *setting;
} rows[] = {
    /* from the highest layer down, each taking the place of the one below it */
    {"", NULL, NULL, "bare", "timeout_s", "null unset unset"},
    {"", NULL, NULL, "keyed", "timeout_s", "2.0 default default (tool)"},
    {"execution:\n  timeout_s: 7\n", NULL, NULL, "keyed", "timeout_s", "7.0 yaml jianmu.yaml:2"},
    {"execution:\n  timeout_s: 7\ntools:\n  k*:\n    timeout_s: 8\n", NULL, NULL, "keyed", "timeout_s",
     "8.0 tools jianmu.yaml:5"},
    {"execution:\n  timeout_s: 7\ntools:\n  k*:\n    timeout_s: 8\n", "{'timeout_s': '9s'}", NULL, "keyed", "timeout_s",
     "9.0 constraints constraints"},
    {"execution:\n  timeout_s: 7\n", "{'timeout_s': null}", NULL, "keyed", "timeout_s", "7.0 yaml jianmu.yaml:2"},
    {"execution:\n  timeout_s: 7\n", "{'mode': 'local'}", NULL, "keyed", "timeout_s", "7.0 yaml jianmu.yaml:2"},
    {"execution:\n  timeout_s: null\n", NULL, NULL, "keyed", "timeout_s", "2.0 default default (tool)"},
    {"tools:\n  k*:\n    timeout_s: null\n", NULL, NULL, "keyed", "timeout_s", "2.0 default default (tool)"},
    /* which pattern */
    {"tools:\n  '*': {max_output: 1}\n  'key*': {max_output: 2}\n", NULL, NULL, "keyed", "max_output",
     "2 tools jianmu.yaml:3"},
    {"tools:\n  'key*': {max_output: 2}\n  '*': {max_output: 1}\n", NULL, NULL, "keyed", "max_output",
     "2 tools jianmu.yaml:2"},
    {"tools:\n  'key*': {max_output: 2}\n  '*eyed': {max_output: 3}\n", NULL, NULL, "keyed", "max_output",
     "3 tools jianmu.yaml:3"},
    {"tools:\n  '?eyed': {max_output: 3}\n  'key?d': {max_output: 2}\n", NULL, NULL, "keyed", "max_output",
     "2 tools jianmu.yaml:3"},
    {"tools:\n  keyed: {max_output: 2}\n  'keyed*': {max_output: 3}\n", NULL, NULL, "keyed", "max_output",
     "2 tools jianmu.yaml:2"},
    {"tools:\n  'b*': {max_output: 2}\n", NULL, NULL, "keyed", "max_output", "2000 default default (tool)"},
    {"tools:\n  '*': {max_output: 2}\n", NULL, NULL, "job", "max_output", "null unset unset"}, /* jobs are named only */
    {"tools:\n  job: {max_output: 2}\n", NULL, NULL, "job", "max_output", "2 tools jianmu.yaml:2"},
    {"tools:\n  job: {max_output: 2}\n", NULL, NULL, "bare", "max_output", "null unset unset"},
    /* a tool's own keys */
    {"", NULL, NULL, "keyed", "word", "\"first\" default default (tool)"},
    {"tools:\n  keyed: {word: x}\n", NULL, NULL, "keyed", "word", "\"x\" tools jianmu.yaml:2"},
    {"tools:\n  keyed_too: {word: 5}\n", NULL, NULL, "keyed_too", "word", "5 tools jianmu.yaml:2"},
    {"tools:\n  'keyed*': {word: \"5\"}\n", NULL, NULL, "keyed_too", "word", "5 tools jianmu.yaml:2"},
    {"tools:\n  'keyed*': {word: \"5\"}\n", NULL, NULL, "keyed", "word", "\"5\" tools jianmu.yaml:2"},
    {"", NULL, NULL, "bare", "word", "none"},
    {"", NULL, NULL, "job", "word", "none"},
    /* a backend's keys are of its mode alone */
    {"", NULL, NULL, "bare", "python", "null unset unset"},
    {"execution:\n  local: {python: /p}\n", NULL, NULL, "bare", "python", "\"/p\" yaml jianmu.yaml:2"},
    {"execution:\n  local: {python: /p}\n", NULL, "boxed", "bare", "python", "null unset unset"},
    {"", NULL, NULL, "keyed_too", "python", "\"tool's\" default default (tool)"},
    {"execution:\n  local: {python: /p}\n", NULL, NULL, "keyed_too", "python", "\"/p\" yaml jianmu.yaml:2"},
    {"tools:\n  keyed_too: {python: /t}\nexecution:\n  local: {python: /p}\n", NULL, NULL, "keyed_too", "python",
     "\"/t\" tools jianmu.yaml:2"},
    {"execution:\n  docker: {image: i}\n", NULL, NULL, "bare", "docker_image", "none"},
    {"execution:\n  docker: {timeout: 3}\n", NULL, NULL, "bare", "timeout_s", "null unset unset"},
    {"execution:\n  docker: {network: host}\n", NULL, NULL, "bare", "network", "null unset unset"},
    {"execution:\n  docker: {network: host}\n", NULL, "boxed", "bare", "network", "\"none\" default default"},
    {"execution:\n  boxed: {network: host}\n", NULL, "boxed", "bare", "network", "\"host\" yaml jianmu.yaml:2"},
    {"execution:\n  boxed: {memory: 1g}\n", NULL, "boxed", "bare", "memory", "1073741824 yaml jianmu.yaml:2"},
    {"execution:\n  boxed: {memory: 1g}\n", "{'memory': '2g'}", "boxed", "bare", "memory",
     "2147483648 constraints constraints"},
    {"execution:\n  boxed: {memory: 1g}\n", NULL, "local", "bare", "memory", "null unset unset"},
    {"", NULL, "boxed", "bare", "memory", "134217728 default default"},
    {"", NULL, "boxed", "bare", "cpus", "1.5 default default"},
    {"", NULL, "boxed", "bare", "disk", "null unset unset"},
    {"", NULL, "boxed", "bare", "tmpfs_noexec", "true default default"},
    {"", NULL, "local", "bare", "tmpfs_noexec", "none"},
    {"", "{'tmpfs_noexec': false}", "boxed", "bare", "tmpfs_noexec", "false constraints constraints"},
    /* the registrant's values where the backend isolates */
    {"", NULL, "boxed", "keyed", "timeout_s", "5.0 default default (tool)"},
    {"", NULL, "boxed", "keyed", "max_output", "2000 default default (tool)"},
    /* which do not say where it runs, and how it is shut in */
    {"", NULL, NULL, "keyed", "mode", "\"local\" default default"},
    {"", NULL, "boxed", "keyed", "network", "\"none\" default default"},
    {"", NULL, "local", "keyed", "network", "null unset unset"},
    /* the mode itself */
    {"", NULL, NULL, "bare", "mode", "\"local\" default default"},
    {"execution: {tool_runner: Boxed}\n", NULL, NULL, "bare", "mode", "\"boxed\" yaml jianmu.yaml:1"},
    {"execution: {tool_runner: Boxed}\n", "{'mode': ' LOCAL '}", NULL, "bare", "mode",
     "\"local\" constraints constraints"},
    {"", NULL, "boxed", "bare", "mode", "\"boxed\" call call"}, /* an opened backend */
    {"tools: {'b*': {mode: Boxed}}\n", NULL, NULL, "bare", "mode", "\"boxed\" tools jianmu.yaml:1"},
    {"tools: {'b*': {mode: Boxed}}\n", NULL, NULL, "bare", "memory", "134217728 default default"},
    {"tools: {'b*': {mode: Boxed}}\n", "{'mode': 'local'}", NULL, "bare", "mode", "\"local\" constraints constraints"},
    {"tools: {'b*': {mode: Boxed}}\n", "{'mode': 'local', 'scope': 'skill'}", NULL, "bare", "mode",
     "\"boxed\" tools jianmu.yaml:1"},
    {"execution: {tool_runner: boxed}\ntools: {bare: {mode: local}}\n", NULL, NULL, "bare", "mode",
     "\"local\" tools jianmu.yaml:2"},
    {"tools: {'*': {mode: boxed}}\n", NULL, NULL, "job", "mode", "\"local\" default default"},
    {"tools: {job: {mode: boxed}}\n", NULL, NULL, "job", "mode", "\"boxed\" tools jianmu.yaml:1"},
    {"tools: {'*': {tmpfs_noexec: false}}\n", NULL, "boxed", "bare", "tmpfs_noexec", "false tools jianmu.yaml:1"},
    {"tools: {bare: {max_retries: 0}}\n", NULL, NULL, "bare", "max_retries", "0 tools jianmu.yaml:1"},
    /* profile strict: smaller defaults where the backend has such limits, and not below what was asked */
    {"guard: {profile: strict}\n", NULL, "boxed", "bare", "cpus", "0.5 default default (profile strict)"},
    {"guard: {profile: strict}\n", NULL, "boxed", "bare", "pids", "64 default default"},
    {"guard: {profile: strict}\n", NULL, "boxed", "bare", "memory", "134217728 default default"}, /* is less */
    {"guard: {profile: strict}\nexecution: {boxed: {memory: 1g, cpus: 2}}\n", NULL, "boxed", "job", "memory",
     "1073741824 yaml jianmu.yaml:2"},
    {"guard: {profile: strict}\n", "{'cpus': 3}", "boxed", "job", "cpus", "3.0 constraints constraints"},
    {"guard: {profile: strict}\n", NULL, "local", "bare", "memory", "null unset unset"},
    {"guard: {profile: standard}\n", NULL, "boxed", "bare", "cpus", "1.5 default default"},
    /* scope */
    {"", "{'scope': 'tools', 'timeout_s': 3}", NULL, "bare", "timeout_s", "3.0 constraints constraints"},
    {"", "{'scope': 'skill', 'timeout_s': 3}", NULL, "bare", "timeout_s", "null unset unset"},
    {"", "{'scope': 'all', 'timeout_s': 3}", NULL, "bare", "timeout_s", "3.0 constraints constraints"},
    {"", "{'scope': 'tools', 'timeout_s': 3}", NULL, "job", "timeout_s", "null unset unset"},
    {"", "{'scope': 'skill', 'timeout_s': 3}", NULL, "job", "timeout_s", "3.0 constraints constraints"},
    {"", "{'scope': 'all', 'timeout_s': 3}", NULL, "job", "timeout_s", "3.0 constraints constraints"},
    {"execution: {tool_runner: boxed}\n", "{'scope': 'skill', 'mode': 'local'}", NULL, "bare", "mode",
     "\"boxed\" yaml jianmu.yaml:1"},
    {"execution: {tool_runner: boxed}\n", "{'scope': 'skill', 'mode': 'local'}", NULL, "job", "mode",
     "\"local\" constraints constraints"},
    {"execution: {timeout_s: 4}\n", "{'scope': 'skill', 'timeout_s': 3}", NULL, "bare", "timeout_s",
     "4.0 yaml jianmu.yaml:1"},
    /* the rest of the core's defaults */
    {"", NULL, NULL, "job", "capture", "1048576 default default"},
    {"", NULL, NULL, "job", "max_retries", "3 default default"},
    {"", NULL, NULL, "job", "retry_backoff", "0.2 default default"},
    {"", NULL, NULL, "job", "tool_args_max", "60000 default default"},
    {"", NULL, NULL, "job", "artifact_count", "20000 default default"},
    {"", NULL, NULL, "job", "artifact_bytes", "67108864 default default"},
    {"", NULL, NULL, "job", "artifact_total", "268435456 default default"},
    {"", NULL, NULL, "job", "artifact_depth", "64 default default"},
    {"", NULL, NULL, "job", "output_limit", "null unset unset"},
    {"", NULL, NULL, "job", "plugins.path", "none"},
};

static void settings(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < jm_countof(rows); i++) {
        const struct row *row = &rows[i];
        jianmu_config *config = kit_load(row->yaml);
        jm_auto_json json_t *explain = kit_explain(config, row->constraints, row->mode, row->subject, NULL);
        const char *got = kit_setting(explain, row->name);
        if (strcmp(got, row->setting) && ++wrong)
            print_error("%s%s %s %s %s\nis    %s\nmust  %s\n", row->yaml, row->constraints ? row->constraints : "",
                        row->mode ? row->mode : "", row->subject, row->name, got, row->setting);
        jianmu_config_free(config);
    }
    assert_int_equal(wrong, 0);
}

/* Of docker the core knows six keys; its plug-in is put there for these. */
static void timeouts(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *constraints, *subject, *setting;
    } docker[] = {
        {"", NULL, "bare", "60.0 default default"},
        {"", NULL, "job", "60.0 default default"},
        {"", NULL, "keyed", "5.0 default default (tool)"},
        {"execution:\n  timeout_s: 100\n", NULL, "bare", "100.0 yaml jianmu.yaml:2"}, /* the built-in 60 is not named */
        {"execution:\n  docker:\n    timeout: 90\n", NULL, "bare", "90.0 yaml jianmu.yaml:3"},
        {"execution:\n  timeout_s: 100\n  docker:\n    timeout: 90\n", NULL, "job", "90.0 yaml jianmu.yaml:4"},
        {"execution:\n  timeout_s: 80\n  docker:\n    timeout: 90\n", NULL, "bare", "80.0 yaml jianmu.yaml:2"},
        {"execution:\n  timeout_s: null\n  docker:\n    timeout: 90\n", NULL, "keyed", "90.0 yaml jianmu.yaml:4"},
        {"execution:\n  timeout_s: 80\ntools:\n  bare:\n    timeout_s: 300\n", NULL, "bare",
         "300.0 tools jianmu.yaml:5"},
        {"execution:\n  timeout_s: 80\n", "{'timeout_s': 500}", "bare", "500.0 constraints constraints"},
    };
    kit_put("docker", "backends/docker.so");
    for (size_t i = 0; i < jm_countof(docker); i++) {
        jianmu_config *config = kit_load(docker[i].yaml);
        jm_auto_json json_t *explain = kit_explain(config, docker[i].constraints, "docker", docker[i].subject, NULL);
        assert_string_equal(kit_setting(explain, "timeout_s"), docker[i].setting);
        jianmu_config_free(config);
    }
    jianmu_config *config = kit_load(
        "execution:\n  docker:\n    image: i\n    network: bridge\n    reuse_container: true\n");
    jm_auto_json json_t *explain = kit_explain(config, NULL, "docker", "bare", NULL);
    assert_string_equal(kit_setting(explain, "docker_image"), "\"i\" yaml jianmu.yaml:3");
    assert_string_equal(kit_setting(explain, "network"), "\"bridge\" yaml jianmu.yaml:4");
    assert_string_equal(kit_setting(explain, "reuse_container"), "true yaml jianmu.yaml:5");
    jm_auto_json json_t *other = kit_explain(config, "{'docker_image': 'j', 'network': 'none'}", "docker", "bare",
                                             NULL);
    assert_string_equal(kit_setting(other, "docker_image"), "\"j\" constraints constraints");
    assert_string_equal(kit_setting(other, "network"), "\"none\" constraints constraints");
    jianmu_config_free(config);
    config = kit_load("");
    jm_auto_json json_t *plain = kit_explain(config, NULL, "docker", "bare", NULL);
    assert_string_equal(kit_setting(plain, "docker_image"), "\"jianmu-tools:latest\" default default");
    assert_string_equal(kit_setting(plain, "network"), "\"none\" default default");
    assert_string_equal(kit_setting(plain, "docker_timeout"), "60.0 default default");
    assert_string_equal(kit_setting(plain, "reuse_container"), "false default default");
    assert_string_equal(kit_setting(plain, "env_allowlist"), "[] default default");
    jianmu_config_free(config);
    kit_write("backends/docker.so", NULL);
}

static void notices(void **state)
{
    (void)state;
    static const struct {
        const char *constraints, *mode, *subject, *notice;
    } list[] = {
        {NULL, NULL, "bare", NULL},
        {"{'scope': 'skill'}", NULL, "bare", NULL}, /* nothing that could be lost */
        {"{'scope': 'skill', 'memory': 5, 'mode': 'boxed'}", NULL, "bare",
         "memory, mode: not heeded, the constraints' scope \"skill\" has no tool calls"},
        {"{'scope': 'tools', 'memory': 5}", NULL, "job",
         "memory: not heeded, the constraints' scope \"tools\" has no jobs"},
        {"{'scope': 'skill', 'memory': 5}", NULL, "job", NULL},
        {"{'docker_image': 'x'}", "local", "bare", "docker_image: means nothing in mode \"local\""},
        {"{'docker_image': 'x', 'tmpfs_noexec': true}", "local", "bare",
         "docker_image: means nothing in mode \"local\"; tmpfs_noexec: means nothing in mode \"local\""},
        {"{'docker_image': 'x'}", "boxed", "bare", NULL},
        {"{'memory': 5}", "local", "bare", NULL}, /* a limit is refused by who cannot enforce it, not told */
    };
    jianmu_config *config = kit_load("");
    for (size_t i = 0; i < jm_countof(list); i++) {
        jm_auto_json json_t *explain = kit_explain(config, list[i].constraints, list[i].mode, list[i].subject, NULL);
        const char *notice = json_string_value(json_object_get(explain, "notice"));
        assert_string_equal(notice ? notice : "", list[i].notice ? list[i].notice : "");
    }
    jianmu_config_free(config);
}

/* Plans that cannot be, each with its sentence. */
static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *constraints, *mode, *subject, *sentence;
    } list[] = {
        {"", "{'mode': 'nativ'}", NULL, "bare",
         "constraints: mode: unknown mode \"nativ\"; available: boxed, local, sick"},
        {"", "{'mode': 'boxd'}", NULL, "bare",
         "constraints: mode: unknown mode \"boxd\", did you mean \"boxed\"? Available: boxed, local, sick"},
        {"", "{'mode': '../evil'}", NULL, "bare",
         "constraints: mode: unknown mode \"../evil\"; available: boxed, local, sick"},
        {"execution:\n  tool_runner: nativ\n", NULL, NULL, "bare",
         "jianmu.yaml:2: execution.tool_runner: unknown mode \"nativ\"; available: boxed, local, sick"},
        {"tools:\n  '*':\n    mode: nativ\n", NULL, NULL, "bare",
         "jianmu.yaml:3: mode: unknown mode \"nativ\"; available: boxed, local, sick"},
        {"", NULL, "nativ", "bare", "unknown mode \"nativ\"; available: boxed, local, sick"},
        {"", NULL, "sick", "bare",
         "the note of the backend \"sick\" is wrong about its key \"odd\": its type must be one of str, bool, int, "
         "real, seconds, "
         "size, list, map"},
        {"", NULL, NULL, "ill",
         "the note of the tool \"ill\" is wrong about its key \"size\": its default: \"12 m\" has a blank in it"},
        {"", NULL, NULL, "ill_name",
         "the note of the tool \"ill_name\" is wrong about its key \"memory\": the name is the core's"},
        {"", NULL, NULL, "ill_default",
         "the note of the tool \"ill_default\" is wrong: defaults: timeout_s: -1 is negative"},
    };
    for (size_t i = 0; i < jm_countof(list); i++) {
        char sentence[512];
        jianmu_config *config = kit_load(list[i].yaml);
        json_t *explain = kit_explain(config, list[i].constraints, list[i].mode, list[i].subject, sentence);
        assert_null(explain);
        assert_string_equal(sentence, list[i].sentence);
        jianmu_config_free(config);
    }
}

static void fields(void **state)
{
    (void)state;
    jianmu_config *config = kit_load(
        "execution:\n  timeout_s: 1.5\n  cpu_time_s: 2\n  capture: 0\n  output_limit: 9\n"
        "  max_output: 8\n  fsize: 7\n  nofile: 16\n  artifacts: {count: 1, bytes: 2, total: 3, depth: 4}\n");
    struct jm_plan *plan = jm_plan_new(config, NULL, NULL, "job", NULL, NULL);
    assert_non_null(plan);
    assert_string_equal(plan->mode, "local");
    assert_string_equal(plan->subject, "job");
    assert_true(plan->timeout_s == 1.5 && plan->cpu_time_s == 2);
    assert_true(plan->capture == 0 && plan->output_limit == 9 && plan->max_output == 8);
    assert_true(plan->fsize == 7 && plan->nofile == 16);
    assert_true(plan->artifact_count == 1 && plan->artifact_bytes == 2 && plan->artifact_total == 3 &&
                plan->artifact_depth == 4);
    assert_true(jm_plan_find(plan, "fsize")->asked);
    assert_false(jm_plan_find(plan, "memory")->asked);
    assert_true(jm_plan_find(plan, "memory")->flags & JM_LIMIT);
    assert_false(jm_plan_find(plan, "max_retries")->asked);
    assert_null(jm_plan_find(plan, "no_such"));
    assert_int_equal(jm_plan_check_max(plan, 1e7, NULL), 0);
    jm_plan_free(plan);
    plan = jm_plan_new(config = (jianmu_config_free(config), kit_load("")), NULL, NULL, "job", NULL, NULL);
    assert_true(plan->timeout_s == 0 && plan->output_limit == 0 && plan->max_output == 0 && plan->capture == 1048576);
    jm_plan_free(plan);
    jianmu_config_free(config);
    jianmu_config *empty = jianmu_config_new();
    jianmu_error *err = NULL;
    assert_null(jm_mode_resolve(empty, NULL, "bare", NULL, &err));
    assert_string_equal(jianmu_error_message(err), "the config is not loaded");
    jianmu_error_free(err);
    assert_null(jm_plan_new(empty, NULL, "local", "job", NULL, NULL));
    jianmu_config_free(empty);
}

/* A description is part of a prompt: it says what holds here. */
static void descriptions(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *bare, *keyed;
    } list[] = {
        {"", "has nothing of its own",
         "has keys and defaults\nLimits: 2.0 seconds of time, 2000 characters of output."},
        {"tools:\n  keyed: {timeout_s: 1m, max_output: 10}\n", "has nothing of its own",
         "has keys and defaults\nLimits: 60.0 seconds of time, 10 characters of output."},
        {"execution: {tool_runner: boxed}\n",
         "has nothing of its own\nLimits: 134217728 bytes of memory, 64 processes, network none.",
         "has keys and defaults\nLimits: 5.0 seconds of time, 2000 characters of output, 134217728 bytes of memory, 64 "
         "processes, network none."},
        {"execution: {tool_runner: nowhere}\n", "has nothing of its own", "has keys and defaults"},
    };
    for (size_t i = 0; i < jm_countof(list); i++) {
        jianmu_config *config = kit_load(list[i].yaml);
        jm_auto_json json_t *tools = jianmu_config_tools(config);
        size_t n;
        json_t *tool;
        assert_int_equal(json_array_size(tools), 6);
        json_array_foreach(tools, n, tool) {
            const char *name = json_string_value(json_object_get(tool, "name"));
            const char *text = json_string_value(json_object_get(tool, "description"));
            if (!strcmp(name, "bare"))
                assert_string_equal(text, list[i].bare);
            if (!strcmp(name, "keyed"))
                assert_string_equal(text, list[i].keyed);
            assert_null(json_object_get(json_object_get(tool, "parameters"), "x-jianmu"));
        }
        jianmu_config_free(config);
    }
    jianmu_config *config = kit_load("");
    jm_auto_json json_t *backends = jianmu_config_backends(config);
    assert_int_equal(json_array_size(backends), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(backends, 0), "mode")), "boxed");
    assert_int_equal(json_array_size(json_object_get(json_array_get(backends, 0), "enforces")), 2);
    jianmu_config_free(config);
    jianmu_config *unloaded = jianmu_config_new(); /* holds nothing, and says so */
    jm_auto_json json_t *none = jianmu_config_tools(unloaded), *nothing = jianmu_config_plugins(unloaded);
    assert_int_equal(json_array_size(none) + json_array_size(nothing), 0);
    jianmu_config_free(unloaded);
}

static void *many_plans(void *data)
{
    const jianmu_config *config = data;
    const struct jm_item *tool = jm_registry_find(config->registry, JIANMU_KIND_TOOL, "keyed", NULL);
    size_t bad = 0;
    for (int i = 0; i < 100; i++) {
        struct jm_plan *plan = jm_plan_new(config, NULL, "boxed", "keyed", tool, NULL);
        json_t *explain = plan ? jm_plan_json(plan) : NULL, *tools = jianmu_config_tools(config);
        bad += !explain || json_array_size(tools) != 6;
        json_decref(tools);
        json_decref(explain);
        jm_plan_free(plan);
    }
    return (void *)bad;
}

/* A loaded config is read by many threads; what they get shares nothing with it. */
static void threads(void **state)
{
    (void)state;
    pthread_t list[6];
    jianmu_config *config = kit_load("execution: {boxed: {names: [a, b], pairs: {k: v}}}\n"
                                     "tools: {keyed: {names: [c]}}\n");
    for (size_t i = 0; i < jm_countof(list); i++)
        assert_int_equal(pthread_create(&list[i], NULL, many_plans, config), 0);
    for (size_t i = 0; i < jm_countof(list); i++) {
        void *bad;
        assert_int_equal(pthread_join(list[i], &bad), 0);
        assert_null(bad);
    }
    jm_auto_json json_t *explain = kit_explain(config, NULL, "boxed", "keyed", NULL);
    json_t *names = json_object_get(json_object_get(json_object_get(explain, "settings"), "names"), "value");
    json_array_clear(names); /* the caller's own */
    jm_auto_json json_t *again = kit_explain(config, NULL, "boxed", "keyed", NULL);
    assert_string_equal(kit_setting(again, "names"), "[\"c\"] tools jianmu.yaml:2");
    jianmu_config_free(config);
}

static void globs(void **state)
{
    (void)state;
    static const struct {
        const char *glob, *name;
        bool match;
    } list[] = {
        {"*", "", true},         {"*", "abc", true},   {"a*c", "abc", true},   {"a*c", "ac", true},
        {"a*c", "acb", false},   {"a?c", "abc", true}, {"a?c", "ac", false},   {"", "", true},
        {"", "a", false},        {"abc", "abc", true}, {"abc", "abcd", false}, {"*b*d*", "abcd", true},
        {"*b*d*", "adb", false}, {"**a", "a", true},   {"?", "", false},       {"a*b*c", "a-b-b-c", true},
    };
    for (size_t i = 0; i < jm_countof(list); i++)
        assert_int_equal(jm_glob_match(list[i].glob, list[i].name), list[i].match);
    char glob[401], name[2001];
    for (int i = 0; i < 200; i++)
        memcpy(glob + 2 * i, "a*", 2);
    memcpy(glob + 398, "b", 2);
    memset(name, 'a', 2000);
    name[2000] = 0;
    assert_false(jm_glob_match(glob, name)); /* would never end where every "*" is tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings),   cmocka_unit_test(timeouts), cmocka_unit_test(notices),
        cmocka_unit_test(refusals), cmocka_unit_test(fields),   cmocka_unit_test(globs),
        cmocka_unit_test(descriptions), cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, kit_setup, kit_teardown);
}
