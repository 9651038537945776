/* SPDX-License-Identifier: Apache-2.0
 * One tool call through the public interface, for tests:
 *   call [-c CANCEL_AFTER_MS] [-n TIMES] [-t OWN_TIMEOUT] PLUGIN_DIR TOOL ARGS CONSTRAINTS CONFIG
 * (ARGS "-": from standard input) prints {"reason", "message", "value", ...} or {"could_not": {"code", "message"}} of
 * the last call, and how many descriptors were opened and not closed after the first. */
#include "config.h"
#include "jianmu.h"
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static json_t *parse(const char *what, const char *text)
{
    json_error_t why;
    json_t *value = strcmp(text, "-") ? json_loads(text, JSON_ALLOW_NUL, &why)
                                      : json_loadf(stdin, JSON_ALLOW_NUL, &why);
    if (!value) {
        fprintf(stderr, "call: %s: %s\n", what, why.text);
        exit(2);
    }
    return value;
}

static json_t *report(const jianmu_result *r, const jianmu_error *err)
{
    if (err)
        return json_pack("{s:{s:s, s:s}}", "could_not", "code", jianmu_code_name(jianmu_error_code(err)), "message",
                         jianmu_error_message(err));
    return json_pack("{s:s, s:s, s:O?, s:I, s:i}", "reason", jianmu_reason_name(jianmu_result_reason(r)), "message",
                     jianmu_result_message(r), "value", jianmu_result_value(r), "value_dropped",
                     (json_int_t)jianmu_result_value_dropped(r), "exit_code", jianmu_result_exit_code(r));
}

struct setup {
    jianmu_config *config;
    jianmu_constraints *constraints;
    jianmu_runner *runner;
};

static const jianmu_tool *set_up(struct setup *s, char **words, jianmu_error **err)
{
    json_t *constraints = parse("constraints", words[3]);
    s->config = jianmu_config_new();
    if (jianmu_config_add_plugin_dir(s->config, words[0], err) == 0 &&
        jianmu_config_load_text(s->config, words[4], strlen(words[4]), "test.yaml", err) == 0 &&
        (s->constraints = jianmu_constraints_from_json(constraints, err)))
        s->runner = jianmu_runner_from_constraints(s->constraints, s->config, NULL, NULL, NULL, err);
    json_decref(constraints);
    return s->runner ? jianmu_runner_tool(s->runner, words[1], err) : NULL;
}

int main(int argc, char **argv)
{
    struct cancel cancel = {.call = jianmu_call_new()};
    struct setup setup = {0};
    jianmu_result *result = NULL;
    jianmu_error *err = NULL;
    pthread_t thread;
    int option, times = 1, before = 0;
    while ((option = getopt(argc, argv, "c:n:t:")) != -1) {
        if (option == 't' && jianmu_call_set_timeout(cancel.call, atof(optarg), NULL))
            return 2;
        if (option == 'c' || option == 'n')
            *(option == 'c' ? &cancel.after_ms : &times) = atoi(optarg);
    }
    if (argc - optind != 5 || !cancel.call)
        return fprintf(stderr, "usage: call [-c MS] [-n TIMES] [-t S] PLUGIN_DIR TOOL ARGS CONSTRAINTS CONFIG\n"), 2;
    char **words = argv + optind;
    json_t *args = parse("arguments", words[2]);
    const jianmu_tool *tool = set_up(&setup, words, &err);
    if (cancel.after_ms && pthread_create(&thread, NULL, cancel_later, &cancel))
        return 2;
    double start = now();
    for (int i = 0; tool && i < times; i++) {
        jianmu_error_free(err);
        err = NULL;
        jianmu_run_tool(setup.runner, tool, args, cancel.call, &result, &err);
        if (i == 0)
            before = descriptors();
    }
    double seconds = now() - start;
    json_t *out = report(result, err);
    json_object_set_new(out, "seconds", json_real(seconds));
    json_object_set_new(out, "descriptors_grown", json_integer(tool ? descriptors() - before : 0));
    json_dumpf(out, stdout, JSON_REAL_PRECISION(9));
    puts("");
    if (cancel.after_ms)
        pthread_join(thread, NULL);
    json_decref(out);
    json_decref(args);
    jianmu_error_free(err);
    jianmu_result_free(result);
    jianmu_call_free(cancel.call);
    jianmu_runner_free(setup.runner);
    jianmu_constraints_free(setup.constraints);
    jianmu_config_free(setup.config);
    return 0;
}
