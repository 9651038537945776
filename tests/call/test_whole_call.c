/* SPDX-License-Identifier: Apache-2.0
 * Limits of calls with several processes, and of tools in a tool host; a tool host that cannot or will not answer. */
#include "config.h"
#include "support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A limit holds for the call, not for each of its processes. */
static void test_limits_of_the_whole_call(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, "{\"output_limit\": 2500}");
    jianmu_result *r = call_tool(&w, "loud_starter", "{\"script\": \"printf %01000d 1\", \"times\": 3}", NULL);
    json_t *reasons = jianmu_result_value(r);
    assert_int_equal(json_integer_value(json_array_get(reasons, 0)), JIANMU_EXITED);
    assert_int_equal(json_integer_value(json_array_get(reasons, 1)), JIANMU_EXITED);
    assert_int_equal(json_integer_value(json_array_get(reasons, 2)), JIANMU_OUTPUT);
    jianmu_result_free(r);
    world_close(&w);
    world_open(&w, NULL, "{\"cpu_time_s\": 0.8, \"timeout_s\": 60}");
    r = call_tool(&w, "loud_starter", "{\"script\": \"while :; do :; done\", \"times\": 2}", NULL);
    assert_int_equal(json_integer_value(json_array_get(jianmu_result_value(r), 1)), JIANMU_CPU_TIME);
    assert_true(jianmu_result_seconds(r, "user") + jianmu_result_seconds(r, "system") < 1.5); /* each alone: 1.6 */
    jianmu_result_free(r);
    world_close(&w);
}

static void test_limits_in_a_tool_host(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, "{\"mode\": \"hosted\", \"output_limit\": \"64k\", \"fsize\": \"1m\", \"cpu_time_s\": 30}");
    jianmu_result *r = call_tool(&w, "prints", "{\"kilobytes\": 5}", NULL);
    assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED);
    jianmu_result_free(r);
    r = call_tool(&w, "prints", "{\"kilobytes\": 5000}", NULL);
    assert_int_equal(jianmu_result_reason(r), JIANMU_OUTPUT);
    assert_non_null(strstr(jianmu_result_message(r), "output_limit is 65536"));
    jianmu_result_free(r);
    r = call_tool(&w, "writes", NULL, NULL);
    assert_int_equal(jianmu_result_reason(r), JIANMU_FSIZE);
    jianmu_result_free(r);
    /* the answer is no output */
    r = call_tool(&w, "long_text", "{\"n\": 100000}", NULL);
    assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED);
    jianmu_result_free(r);
    world_close(&w);
}

static void test_values_that_no_frame_holds(void **state)
{
    (void)state;
    struct world w;
    world_open(&w, NULL, "{\"mode\": \"hosted\"}");
    call_refused(&w, "deep", NULL, NULL, JIANMU_INTERNAL, "nested too deeply");
    call_refused(&w, "long_text", "{\"n\": 23000000}", NULL, JIANMU_INTERNAL, "larger than 64 MiB");
    json_t *value = json_object(), *args = value;
    for (int i = 0; i < 3000; i++) {
        args = json_object();
        json_object_set_new(args, "a", value);
        value = args;
    }
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    const jianmu_tool *tool = jianmu_runner_tool(w.runner, "echo_it", &err);
    assert_int_equal(jianmu_run_tool(w.runner, tool, args, NULL, &r, &err), -1);
    assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
    jianmu_error_free(err);
    jianmu_result_free(r);
    json_decref(args);
    world_close(&w);
}

/* A program that stands for the tool host: what it prints is all that the core sees. */
static void write_program(const char *path, const char *script)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\ncat >/dev/null\n%s\n", script);
    fclose(f);
    chmod(path, 0755);
}

static void put_frame(FILE *f, int type, const char *text)
{
    fprintf(f, "printf 'JMF0\\%03o\\0\\0\\0\\1\\0\\0\\0\\0\\0\\0\\0\\%03o\\0\\0\\0\\0\\0\\0\\0%s'\n", type,
            (unsigned)strlen(text), text);
}

static void test_a_tool_host_that_lies(void **state)
{
    (void)state;
    struct world w;
    char dir[] = "/tmp/jianmu-edges.XXXXXX", path[64], *script = NULL, saved[4096];
    size_t len;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/entry", dir);
    snprintf(saved, sizeof saved, "%s", getenv("JIANMU_TOOL_ENTRY"));
    FILE *f = open_memstream(&script, &len);
    put_frame(f, 3, "{\"name\": \"execution.completed\", \"payload\": {}}");
    put_frame(f, 3, "{\"name\": \"execution.log\", \"payload\": {}}"); /* says nothing */
    put_frame(f, 3, "{\"name\": \"execution.log\", \"payload\": {\"text\": \"t\", \"reason\": \"forged\"}}");
    put_frame(f, 2, "{\"ok\": true, \"failed\": \"x\", \"limit\": 999}");
    fclose(f);
    write_program(path, script);
    free(script);
    setenv("JIANMU_TOOL_ENTRY", path, 1);
    world_open(&w, NULL, "{\"mode\": \"hosted\"}");
    jianmu_result *r = call_tool(&w, "echo_it", NULL, NULL);
    assert_int_equal(jianmu_result_reason(r), JIANMU_TOOL_FAILED);
    jianmu_result_free(r);
    assert_int_equal(json_array_size(w.events), 3);
    const json_t *log = json_object_get(json_array_get(w.events, 1), "payload");
    assert_string_equal(json_string_value(json_object_get(log, "text")), "t");
    assert_null(json_object_get(log, "reason"));
    expect_pair(&w, "execution.failed");
    write_program(path, "exit 125");
    call_refused(&w, "echo_it", NULL, NULL, JIANMU_UNAVAILABLE, "could not be started");
    world_close(&w);
    setenv("JIANMU_TOOL_ENTRY", saved, 1);
    unlink(path);
    rmdir(dir);
}

static void test_a_tool_host_needs_no_backend(void **state)
{
    (void)state;
    struct world w = {.events = json_array()};
    jianmu_error *err = NULL;
    char dir[] = "/tmp/jianmu-edges.XXXXXX", command[9000], build_dir[4096];
    const char *build = getenv("JIANMU_BUILD");
    assert_non_null(mkdtemp(dir));
    snprintf(build_dir, sizeof build_dir, "%s/tests/call/dir", build ? build : ".");
    snprintf(command, sizeof command, "mkdir %s/tools && cp '%s/tools/calltools.so' %s/tools/", dir, build_dir, dir);
    assert_int_equal(system(command), 0);
    w.config = jianmu_config_new();
    assert_int_equal(jianmu_config_add_plugin_dir(w.config, dir, &err), 0);
    assert_int_equal(jianmu_config_add_plugin_dir(w.config, build_dir, &err), 0);
    assert_int_equal(jianmu_config_load_text(w.config, "", 0, NULL, &err), 0);
    w.runner = jianmu_runner_take_backend(jianmu_backend_open(w.config, " HOSTED ", &err), NULL, NULL, &err);
    jianmu_result_free(call_tool(&w, "echo_it", NULL, NULL));
    world_close(&w);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits_of_the_whole_call),
        cmocka_unit_test(test_limits_in_a_tool_host),
        cmocka_unit_test(test_values_that_no_frame_holds),
        cmocka_unit_test(test_a_tool_host_that_lies),
        cmocka_unit_test(test_a_tool_host_needs_no_backend),
    };
    return cmocka_run_group_tests(tests, use_build_tree, NULL);
}
