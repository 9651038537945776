/* SPDX-License-Identifier: Apache-2.0
 * Calls of one runner through the public interface, for tests:  session PLUGIN_DIR MODE CONSTRAINTS CONFIG
 * Each line of standard input is one of
 *   {"id", "tool", "args", "session"?, "timeout"?, "cancel_ms"?, "thread"?}   a call; with thread: beside the next ones
 *   {"id", "do": "descriptors" | "fork" | "free"}
 * and is answered by a line with the same id. */
#include "config.h"
#include "jianmu.h"
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST 64

static struct {
    jianmu_config *config;
    jianmu_constraints *constraints;
    jianmu_runner *runner;
    pthread_mutex_t lock;
    pthread_t threads[MOST];
    int thread_count;
} s = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* answer is taken. */
static void say(json_t *request, json_t *answer)
{
    json_object_set(answer, "id", json_object_get(request, "id"));
    pthread_mutex_lock(&s.lock);
    json_dumpf(answer, stdout, JSON_REAL_PRECISION(9));
    puts("");
    fflush(stdout);
    pthread_mutex_unlock(&s.lock);
    json_decref(answer);
}

struct cancel {
    jianmu_call *call;
    int after_ms;
};

static void *cancel_later(void *data)
{
    struct cancel *c = data;
    struct timespec pause = {c->after_ms / 1000, c->after_ms % 1000 * 1000000L};
    nanosleep(&pause, NULL);
    jianmu_call_cancel(c->call);
    return NULL;
}

static json_t *report(const jianmu_result *r, const jianmu_error *err)
{
    if (err)
        return json_pack("{s:{s:s, s:s}}", "could_not", "code", jianmu_code_name(jianmu_error_code(err)), "message",
                         jianmu_error_message(err));
    return json_pack("{s:s, s:s, s:O?, s:I}", "reason", jianmu_reason_name(jianmu_result_reason(r)), "message",
                     jianmu_result_message(r), "value", jianmu_result_value(r), "value_dropped",
                     (json_int_t)jianmu_result_value_dropped(r));
}

static jianmu_call *make_call(json_t *request, jianmu_error **err)
{
    jianmu_call *call = jianmu_call_new();
    json_t *timeout = json_object_get(request, "timeout");
    if (timeout && jianmu_call_set_timeout(call, json_number_value(timeout), err))
        return call;
    jianmu_call_set_session(call, "overwritten by the next", NULL);
    jianmu_call_set_session(call, json_string_value(json_object_get(request, "session")), err);
    return call;
}

static void *run(void *data)
{
    json_t *request = data;
    jianmu_error *err = NULL;
    jianmu_result *result = NULL;
    pthread_t thread;
    struct cancel cancel = {.call = make_call(request, &err),
                            .after_ms = (int)json_integer_value(json_object_get(request, "cancel_ms"))};
    const char *name = json_string_value(json_object_get(request, "tool"));
    const jianmu_tool *tool = err ? NULL : jianmu_runner_tool(s.runner, name, &err);
    if (cancel.after_ms && pthread_create(&thread, NULL, cancel_later, &cancel))
        abort();
    if (tool)
        jianmu_run_tool(s.runner, tool, json_object_get(request, "args"), cancel.call, &result, &err);
    if (cancel.after_ms)
        pthread_join(thread, NULL);
    say(request, report(result, err));
    jianmu_result_free(result);
    jianmu_error_free(err);
    jianmu_call_free(cancel.call);
    json_decref(request);
    return NULL;
}

static int descriptors(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        count++;
    if (dir)
        closedir(dir);
    return count;
}

/* The child is refused, and frees its copy of the runner. */
static int forked(void)
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        jianmu_error *err = NULL;
        jianmu_runner_tool(s.runner, "python_repl", &err);
        jianmu_code code = jianmu_error_code(err);
        jianmu_runner_free(s.runner);
        jianmu_error_free(err);
        _exit(code == JIANMU_FORKED ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    return status;
}

static void join_all(void)
{
    while (s.thread_count)
        pthread_join(s.threads[--s.thread_count], NULL);
}

static void release(void)
{
    join_all();
    jianmu_runner_free(s.runner);
    jianmu_constraints_free(s.constraints);
    jianmu_config_free(s.config);
    s.runner = NULL;
    s.constraints = NULL;
    s.config = NULL;
}

static void serve(json_t *request)
{
    const char *what = json_string_value(json_object_get(request, "do"));
    if (!what && !json_is_true(json_object_get(request, "thread"))) {
        run(request);
        return;
    }
    if (!what && s.thread_count < MOST && pthread_create(&s.threads[s.thread_count], NULL, run, request) == 0) {
        s.thread_count++;
        return;
    }
    if (what && !strcmp(what, "free"))
        release();
    int number = what && !strcmp(what, "fork") ? forked() : descriptors();
    say(request, json_pack("{s:i}", "value", number));
    json_decref(request);
}

int main(int argc, char **argv)
{
    jianmu_error *err = NULL;
    char *line = NULL;
    size_t size = 0;
    json_t *constraints = argc == 5 ? json_loads(argv[3], 0, NULL) : NULL;
    if (!constraints)
        return fprintf(stderr, "usage: session PLUGIN_DIR MODE CONSTRAINTS CONFIG\n"), 2;
    s.config = jianmu_config_new();
    json_object_set_new(constraints, "mode", json_string(argv[2]));
    if (jianmu_config_add_plugin_dir(s.config, argv[1], &err) == 0 &&
        jianmu_config_load_text(s.config, argv[4], strlen(argv[4]), "test.yaml", &err) == 0 &&
        (s.constraints = jianmu_constraints_from_json(constraints, &err)))
        s.runner = jianmu_runner_from_constraints(s.constraints, s.config, NULL, NULL, NULL, &err);
    json_decref(constraints);
    if (!s.runner)
        return fprintf(stderr, "session: %s\n", jianmu_error_message(err)), 2;
    while (s.runner && getline(&line, &size, stdin) > 0)
        serve(json_loads(line, JSON_ALLOW_NUL, NULL));
    free(line);
    release();
    return 0;
}
