/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "support.h"
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *world_dir = "tests/call/dir";

static void keep(void *data, const jianmu_event *event)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct world *w = data;
    json_t *json = jianmu_event_json(event);
    assert_non_null(json);
    pthread_mutex_lock(&lock);
    json_array_append_new(w->events, json);
    pthread_mutex_unlock(&lock);
}

json_t *json_text(const char *text)
{
    json_error_t why;
    json_t *json = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    if (!json)
        fail_msg("%s: %s", text, why.text);
    return json;
}

static int open_world(struct world *w, const char *yaml, const char *constraints, jianmu_error **err)
{
    char dir[4096];
    const char *build = getenv("JIANMU_BUILD");
    *w = (struct world){.config = jianmu_config_new(), .bus = jianmu_bus_new(), .events = json_array()};
    snprintf(dir, sizeof dir, "%s/%s", build ? build : ".", world_dir);
    json_t *json = json_text(constraints ? constraints : "{}");
    assert_int_equal(jianmu_bus_subscribe(w->bus, keep, w, err), 0);
    if (jianmu_config_add_plugin_dir(w->config, dir, err) ||
        jianmu_config_load_text(w->config, yaml ? yaml : "", strlen(yaml ? yaml : ""), "test.yaml", err) ||
        !(w->constraints = jianmu_constraints_from_json(json, err)) ||
        !(w->runner = jianmu_runner_from_constraints(w->constraints, w->config, NULL, NULL, w->bus, err))) {
        json_decref(json);
        return -1;
    }
    json_decref(json);
    return 0;
}

void world_open(struct world *w, const char *yaml, const char *constraints)
{
    jianmu_error *err = NULL;
    if (open_world(w, yaml, constraints, &err))
        fail_msg("%s", jianmu_error_message(err));
    assert_null(err);
}

void world_close(struct world *w)
{
    jianmu_runner_free(w->runner);
    jianmu_bus_free(w->bus);
    jianmu_constraints_free(w->constraints);
    jianmu_config_free(w->config);
    json_decref(w->events);
    json_decref(w->last);
}

static void expect_error(jianmu_error *err, jianmu_code code, const char *part)
{
    if (jianmu_error_code(err) != code || !strstr(jianmu_error_message(err), part))
        fail_msg("expected %s with '%s', got %s: %s", jianmu_code_name(code), part,
                 jianmu_code_name(jianmu_error_code(err)), jianmu_error_message(err));
    jianmu_error_free(err);
}

void world_refused(const char *yaml, const char *constraints, jianmu_code code, const char *part)
{
    struct world w;
    jianmu_error *err = NULL;
    assert_int_equal(open_world(&w, yaml, constraints, &err), -1);
    expect_error(err, code, part);
    world_close(&w);
}

jianmu_result *call_tool(struct world *w, const char *tool, const char *args, jianmu_call *call)
{
    jianmu_error *err = NULL;
    jianmu_result *result = NULL;
    const jianmu_tool *t = jianmu_runner_tool(w->runner, tool, &err);
    if (!t)
        fail_msg("%s", jianmu_error_message(err));
    json_t *json = args ? json_text(args) : NULL;
    int status = jianmu_run_tool(w->runner, t, json, call, &result, &err);
    json_decref(json);
    if (status)
        fail_msg("%s: %s", tool, jianmu_error_message(err));
    assert_null(err);
    return result;
}

void call_refused(struct world *w, const char *tool, const char *args, jianmu_call *call, jianmu_code code,
                  const char *part)
{
    jianmu_error *err = NULL;
    jianmu_result *result = NULL;
    const jianmu_tool *t = jianmu_runner_tool(w->runner, tool, &err);
    json_t *json = args ? json_text(args) : NULL;
    if (t)
        assert_int_equal(jianmu_run_tool(w->runner, t, json, call, &result, &err), -1);
    json_decref(json);
    jianmu_result_free(result);
    expect_error(err, code, part);
}

jianmu_result *run_script(struct world *w, const char *language, const char *script)
{
    jianmu_error *err = NULL;
    jianmu_result *result = NULL;
    jianmu_job *job = jianmu_job_new(script, strlen(script));
    assert_non_null(job);
    if ((language && jianmu_job_set_language(job, language, &err)) ||
        jianmu_run_job(w->runner, job, NULL, &result, &err))
        fail_msg("%s", jianmu_error_message(err));
    jianmu_job_free(job);
    return result;
}

json_t *expect_pair(struct world *w, const char *end)
{
    size_t n = json_array_size(w->events), started = 0, ended = 0;
    json_t *last = json_array_get(w->events, n - 1);
    for (size_t i = 0; i < n; i++) {
        const char *name = json_string_value(json_object_get(json_array_get(w->events, i), "event"));
        started += !strcmp(name, "execution.started");
        ended += !strcmp(name, "execution.completed") || !strcmp(name, "execution.failed");
    }
    assert_int_equal(started, 1);
    assert_int_equal(ended, 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(w->events, 0), "event")), "execution.started");
    assert_string_equal(json_string_value(json_object_get(last, "event")), end);
    json_decref(w->last);
    w->last = json_incref(last);
    json_array_clear(w->events);
    return w->last;
}

double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int count_entries(const char *path)
{
    int n = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

int count_fds(void)
{
    return count_entries("/proc/self/fd");
}

int count_threads(void)
{
    return count_entries("/proc/self/task");
}

bool process_gone(int pid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return true;
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    fclose(f);
    return state == 'Z' || state == 'X' || !state;
}

int use_build_tree(void **state)
{
    (void)state;
    char path[4096];
    const char *build = getenv("JIANMU_BUILD");
    snprintf(path, sizeof path, "%s/entry/jianmu-tool-entry", build ? build : ".");
    return setenv("JIANMU_TOOL_ENTRY", path, 1);
}
