/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "doctor.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PROBE_SECONDS 20.0

static const char *const verdicts[] = {"ok", "limited", "missing"};
static const char *const shades[] = {"\033[32m", "\033[33m", "\033[31m"};

static const char boundary[] = "local is no security boundary: what runs there can do what you can do. "
                               "Code that you do not trust needs an isolated backend; see jianmu-local(7).";

void doctor_line(struct doctor *d, const char *what, bool needed, enum verdict verdict, const char *advice,
                 const char *evidence, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, evidence);
    vsnprintf(text, sizeof text, evidence, ap);
    va_end(ap);
    d->failed |= needed && verdict == DOCTOR_MISSING;
    json_t *line = json_pack("{s:s, s:s, s:b, s:s*, s:s*}", "check", what, "verdict", verdicts[verdict], "needed",
                             needed,
                             "evidence", text, "advice", advice);
    if (!line) /* text that is not UTF-8: the finding stands all the same */
        line = json_pack("{s:s, s:s, s:b, s:s, s:s}", "check", "?", "verdict", verdicts[verdict], "needed", needed,
                         "evidence", "", "advice", "");
    json_array_append_new(d->lines, line);
    if (d->cli->json)
        return;
    bool colour = colours();
    out("%s%-7s%s  %-20s  ", colour ? shades[verdict] : "", verdicts[verdict], colour ? "\033[0m" : "", what);
    put_clean(text);
    out("\n");
    if (*advice) {
        out("%31s", "");
        put_clean(advice);
        out("\n");
    }
}

jianmu_result *doctor_job(struct doctor *d, const struct probe *probe, jianmu_error **err)
{
    jianmu_result *result = NULL;
    jianmu_job *job = jianmu_job_new(probe->script, strlen(probe->script));
    jianmu_call *call = jianmu_call_new();
    if (job && call && d->runner && !jianmu_job_set_language(job, probe->language, err) &&
        !jianmu_call_set_timeout(call, PROBE_SECONDS, err) &&
        (probe->stdin_fd < 0 || !jianmu_job_set_stdin_fd(job, probe->stdin_fd, err))) {
        if (probe->output)
            jianmu_job_set_output(job, probe->output, probe->data);
        if (jianmu_run_job(d->runner, job, call, &result, err)) {
            jianmu_result_free(result);
            result = NULL;
        }
    }
    jianmu_job_free(job);
    jianmu_call_free(call);
    return result;
}

void doctor_no_job(struct doctor *d, const char *what, bool needed, const char *advice, jianmu_error *err)
{
    if (d->runner)
        doctor_line(d, what, needed, DOCTOR_MISSING, advice, "%s", jianmu_error_message(err));
    else
        doctor_line(d, what, needed, DOCTOR_MISSING, "see the line of the local backend",
                    "not tried: no local backend");
    jianmu_error_free(err);
}

static void open_local(struct doctor *d)
{
    jianmu_error *err = NULL;
    jianmu_constraints *c = jianmu_constraints_new();
    if (c && !jianmu_constraints_set(c, "mode", "local", &err))
        d->runner = jianmu_runner_from_constraints(c, d->config, NULL, NULL, NULL, &err);
    jianmu_constraints_free(c);
    if (!d->runner)
        snprintf(d->refusal, sizeof d->refusal, "%s", jianmu_error_message(err));
    jianmu_error_free(err);
}

static int examine(struct doctor *d)
{
    d->plugins = jianmu_config_plugins(d->config);
    d->tools = jianmu_config_tools(d->config);
    d->backends = jianmu_config_backends(d->config);
    d->lines = json_array();
    if (!d->plugins || !d->tools || !d->backends || !d->lines) {
        say("out of memory");
        return EXIT_COULD_NOT;
    }
    open_local(d);
    doctor_setup(d);
    doctor_kernel(d);
    doctor_jobs(d);
    doctor_surroundings(d);
    if (!d->cli->json) {
        out("\n%s\n", boundary);
        return 0;
    }
    json_t *object = json_pack("{s:b, s:O, s:s}", "ok", !d->failed, "checks", d->lines, "note", boundary);
    int status = put_json(object);
    json_decref(object);
    return status;
}

int command_doctor(struct cli *cli)
{
    struct doctor d = {.cli = cli};
    if (cli->word_count)
        return cli_usage(cli, "doctor takes no argument");
    int status = session_config(cli, &d.config);
    if (status)
        return status;
    status = examine(&d);
    jianmu_runner_free(d.runner);
    json_decref(d.plugins);
    json_decref(d.tools);
    json_decref(d.backends);
    json_decref(d.lines);
    jianmu_config_free(d.config);
    return status ? status : d.failed ? EXIT_TOOL_FAILED : 0;
}
