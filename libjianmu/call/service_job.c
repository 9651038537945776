/* SPDX-License-Identifier: Apache-2.0
 * Jobs for backends: a directory with script and inputs, the command, the run, what it left. */
#include "config.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "call/interpreter.h"
#include "call/runner.h"
#include "call/services.h"
#include <stdio.h>
#include <string.h>

/* The public name of the type is opaque; inside it is a struct jm_workdir. */
static struct jm_workdir *inside(jianmu_workdir *dir)
{
    return (struct jm_workdir *)dir;
}

static struct jm_workdir *make_workdir(jm_context *ctx)
{
    const jianmu_job *job = ctx->job;
    const char *parent = json_string_value(jm_service_setting(&ctx->public, "workdir"));
    if (!job)
        return jm_workdir_open(parent, NULL, NULL, 0, NULL, 0, &ctx->error);
    const struct jm_language *language = jm_language_of(job->language, job->script, job->script_len, &ctx->error);
    if (!language)
        return NULL;
    return jm_workdir_open(parent, language->script, job->script, job->script_len, job->inputs, job->input_count,
                           &ctx->error);
}

jianmu_workdir *jm_service_workdir_open(jianmu_context *public)
{
    jm_context *ctx = jm_context_of(public);
    pthread_mutex_lock(&ctx->lock);
    if (!ctx->workdir)
        ctx->workdir = make_workdir(ctx);
    struct jm_workdir *dir = ctx->workdir;
    pthread_mutex_unlock(&ctx->lock);
    return (jianmu_workdir *)dir;
}

/* The one that this call has; else an error that the plug-in may not have meant to make. */
static int check_workdir(jm_context *ctx, jianmu_workdir *dir, const char *service)
{
    if (dir && inside(dir) == ctx->workdir)
        return 0;
    return jm_fail(&ctx->error, JIANMU_INVALID, "%s: this is not the work directory of the call", service);
}

const char *jm_service_workdir_path(jianmu_workdir *dir)
{
    return inside(dir)->work;
}

int jm_service_workdir_fd(jianmu_workdir *dir)
{
    return inside(dir)->work_fd;
}

static void free_command(void *what)
{
    char **argv = what;
    for (size_t i = 0; argv[i]; i++)
        free(argv[i]);
    free(argv);
}

static size_t count_of(const char *const *list)
{
    size_t n = 0;
    while (list && list[n])
        n++;
    return n;
}

static bool append(char **argv, size_t *n, const char *text)
{
    return (argv[*n] = strdup(text)) && ++*n;
}

const char *const *jm_service_job_command(jianmu_context *public, jianmu_workdir *dir, const char *const *prefix)
{
    jm_context *ctx = jm_context_of(public);
    const jianmu_job *job = ctx->job;
    if (!job) {
        jm_fail(&ctx->error, JIANMU_INVALID, "job_command: this call is no job");
        return NULL;
    }
    if (check_workdir(ctx, dir, "job_command"))
        return NULL;
    const struct jm_language *language = jm_language_of(job->language, job->script, job->script_len, &ctx->error);
    jm_auto_free char *program = language ? jm_interpreter_path(ctx, language->program, &ctx->error) : NULL;
    jm_auto_free char *script = NULL;
    if (!program)
        return NULL;
    if (jm_format(&script, "%s/%s", inside(dir)->work, language->script) < 0) {
        script = NULL;
        jm_fail_memory(&ctx->error);
        return NULL;
    }
    char **argv = calloc(count_of(prefix) + jm_countof(language->flags) + job->arg_count + 3, sizeof *argv);
    size_t n = 0;
    bool ok = argv;
    for (size_t i = 0; ok && prefix && prefix[i]; i++)
        ok = append(argv, &n, prefix[i]);
    ok = ok && append(argv, &n, program);
    for (size_t i = 0; ok && i < jm_countof(language->flags) && language->flags[i]; i++)
        ok = append(argv, &n, language->flags[i]);
    ok = ok && append(argv, &n, script);
    for (size_t i = 0; ok && i < job->arg_count; i++)
        ok = append(argv, &n, job->args[i]);
    if (!ok) {
        if (argv)
            free_command(argv);
        jm_fail_memory(&ctx->error);
        return NULL;
    }
    return jm_context_keep(ctx, free_command, argv) ? NULL : (const char *const *)argv;
}

/* Raw pieces on their way to the caller of the job. */
static void pass_on(void *data, int stream, const void *bytes, size_t len)
{
    const jianmu_job *job = data;
    job->output(job->output_data, stream, bytes, len);
}

static int fill_spec(jm_context *ctx, struct jm_workdir *dir, struct jm_process_spec *spec)
{
    const jianmu_job *job = ctx->job;
    if (jm_process_limits(ctx, spec, &ctx->error))
        return -1;
    spec->cwd_fd = dir->work_fd;
    spec->scratch_fd = dir->base_fd;
    spec->stdin_fd = job->stdin_fd;
    spec->input = job->input;
    spec->input_len = job->input_len;
    spec->output = job->output ? pass_on : NULL;
    spec->output_data = (void *)job;
    return 0;
}

int jm_service_job_run(jianmu_context *public, jianmu_workdir *dir, const char *const *command)
{
    jm_context *ctx = jm_context_of(public);
    struct jm_process_spec spec = {0};
    struct jm_process_result process = {0};
    if (!ctx->job || !command || !command[0])
        return jm_fail(&ctx->error, JIANMU_INVALID, "job_run: no job or no command");
    if (check_workdir(ctx, dir, "job_run") || fill_spec(ctx, inside(dir), &spec))
        return -1;
    struct jm_reapers *reapers = jm_runner_reapers(ctx->runner, &ctx->error);
    char **env = reapers ? jm_environment_new(ctx, inside(dir), jm_context_trace(ctx), &ctx->error) : NULL;
    if (!env)
        return -1;
    spec.argv = command;
    spec.env = (const char *const *)env;
    int64_t before = jm_now();
    int status = jm_process_run(reapers, &spec, &process, &ctx->error);
    jm_process_tried(ctx, status, ctx->error);
    jm_environment_free(env);
    if (status)
        return -1;
    ctx->result->queue_s = (double)(before - ctx->attempted) / 1e9;
    jm_process_account(ctx, &process);
    jm_result_take_process(ctx->result, &process);
    jm_process_result_free(&process);
    return 0;
}

int jm_service_collect(jianmu_context *public, jianmu_workdir *dir)
{
    jm_context *ctx = jm_context_of(public);
    const struct jm_plan *plan = ctx->plan;
    struct jm_artifact_caps caps = {plan->artifact_count, plan->artifact_bytes, plan->artifact_total,
                                    plan->artifact_depth};
    int64_t before = jm_now();
    if (!ctx->result)
        return jm_fail(&ctx->error, JIANMU_INVALID, "collect: there is no call");
    if (check_workdir(ctx, dir, "collect"))
        return -1;
    jm_artifact_list_free(&ctx->result->artifacts);
    ctx->result->heavy = true;
    int status = jm_artifacts_collect(inside(dir), &caps, &ctx->result->artifacts, &ctx->error);
    ctx->result->collect_s = (double)(jm_now() - before) / 1e9;
    return status;
}

void jm_service_workdir_close(jianmu_context *public, jianmu_workdir *dir)
{
    jm_context *ctx = jm_context_of(public);
    pthread_mutex_lock(&ctx->lock);
    if (dir && inside(dir) == ctx->workdir) /* twice is as once */
        jm_workdir_close(jm_steal(ctx->workdir));
    pthread_mutex_unlock(&ctx->lock);
}
