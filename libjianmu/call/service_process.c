/* SPDX-License-Identifier: Apache-2.0
 * Processes for plug-ins: the plan's limits around the process service. */
#include "config.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "call/interpreter.h"
#include "call/runner.h"
#include "call/services.h"
#include <fcntl.h>
#include <math.h>
#include <string.h>

static double left_of(double limit, const jianmu_result *r)
{
    double used = (r->user_s > 0 ? r->user_s : 0) + (r->system_s > 0 ? r->system_s : 0);
    double left = limit > 0 ? limit - used : 0;
    return limit > 0 && left < 1e-6 ? 1e-6 : left; /* 0 would be no limit */
}

int jm_process_limits(jm_context *ctx, struct jm_process_spec *spec, jianmu_error **err)
{
    const struct jm_plan *plan = ctx->plan;
    spec->deadline = ctx->deadline;
    spec->fsize = plan->fsize;
    spec->nofile = plan->nofile;
    spec->output_limit = plan->output_limit;
    spec->capture = plan->capture;
    spec->cancel_fd = spec->stdin_fd = spec->scratch_fd = spec->cwd_fd = -1;
    pthread_mutex_lock(&ctx->lock);
    spec->cpu_time_s = left_of(plan->cpu_time_s, ctx->result);
    spec->output_before = ctx->output;
    pthread_mutex_unlock(&ctx->lock);
    if ((ctx->call || ctx->gate) && (spec->cancel_fd = jm_context_cancel_fd(ctx)) < 0)
        return jm_fail_errno(err, JIANMU_INTERNAL, errno, "a process that could not be cancelled is not started");
    return 0;
}

void jm_process_tried(jm_context *ctx, int status, const jianmu_error *err)
{
    jianmu_code code = jianmu_error_code(err);
    if (status && (code == JIANMU_UNAVAILABLE || code == JIANMU_NOT_FOUND || code == JIANMU_INVALID))
        return;
    pthread_mutex_lock(&ctx->lock);
    ctx->reached = true;
    pthread_mutex_unlock(&ctx->lock);
}

static void add(double *sum, double more)
{
    *sum = (*sum < 0 ? 0 : *sum) + more;
}

void jm_process_account(jm_context *ctx, const struct jm_process_result *p)
{
    jianmu_result *r = ctx->result;
    r->heavy = true;
    ctx->output += p->out.len + p->out.dropped + p->err.len + p->err.dropped;
    add(&r->start_s, p->start_s);
    add(&r->run_s, p->wall_s); /* from exec on */
    add(&r->user_s, p->user_s);
    add(&r->system_s, p->system_s);
    if (p->peak_memory > r->peak_memory)
        r->peak_memory = p->peak_memory;
}

char *jm_interpreter_path(jm_context *ctx, const char *program, jianmu_error **err)
{
    const char *set = strcmp(program, "python3") ? NULL
                                                 : json_string_value(jm_service_setting(&ctx->public, "python"));
    const char *path = getenv("PATH");
    if (!set || !*set)
        return jm_interpreter_find(program, path && *path ? path : "/usr/local/bin:/usr/bin:/bin", err);
    if (*set != '/')
        return jm_interpreter_find(set, path, err);
    char *copy = NULL;
    if (access(set, X_OK))
        jm_fail_errno(err, JIANMU_NOT_FOUND, errno, "the interpreter '%s' (setting python)", set);
    else if (!(copy = strdup(set)))
        jm_fail_memory(err);
    return copy;
}

const char **jm_command_resolve(jm_context *ctx, const char *const *argv, char **program, jianmu_error **err)
{
    size_t count = 0;
    while (argv[count])
        count++;
    const char **copy = calloc(count + 1, sizeof *copy);
    if (!copy) {
        jm_fail_memory(err);
        return NULL;
    }
    memcpy(copy, argv, count * sizeof *copy);
    if (strcmp(argv[0], "python3"))
        return copy;
    *program = jm_interpreter_path(ctx, argv[0], err);
    if (!*program) {
        free(copy);
        return NULL;
    }
    copy[0] = *program;
    return copy;
}

static void release_process(void *p)
{
    jm_process_result_free(p);
    free(p);
}

static void fill_end(struct jianmu_process_end *end, const struct jm_process_result *p)
{
    struct jianmu_process_end full = JIANMU_PROCESS_END_INIT;
    full.size = end->size;
    full.reason = (uint32_t)p->reason;
    full.exit_code = p->exit_code;
    full.signal = p->signal;
    full.out = p->out.data ? p->out.data : "";
    full.err = p->err.data ? p->err.data : "";
    full.out_len = p->out.len;
    full.err_len = p->err.len;
    full.out_dropped = p->out.dropped;
    full.err_dropped = p->err.dropped;
    memcpy(end, &full, end->size < sizeof full ? end->size : sizeof full);
}

/* The result of a process into the call's, and kept for the plug-in to read. */
static int account(jm_context *ctx, const struct jianmu_process *p, struct jm_process_result *result,
                   struct jianmu_process_end *end)
{
    pthread_mutex_lock(&ctx->lock);
    jm_process_account(ctx, result);
    if (result->reason != JIANMU_EXITED && result->reason != JIANMU_SIGNALLED && result->reason != JIANMU_TIMEOUT)
        ctx->limit = result->reason;
    if (!(p->flags & JIANMU_PROCESS_PRIVATE))
        jm_result_take_process(ctx->result, result);
    pthread_mutex_unlock(&ctx->lock);
    if (jm_context_keep(ctx, release_process, result))
        return -1;
    if (end)
        fill_end(end, result);
    return 0;
}

static int fill_spec(jm_context *ctx, const struct jianmu_process *p, struct jm_process_spec *spec, jianmu_error **err)
{
    if (jm_process_limits(ctx, spec, err))
        return -1;
    int64_t own = p->timeout_s > 0 ? jm_after(jm_now(), p->timeout_s) : 0;
    if (own && (!spec->deadline || own < spec->deadline))
        spec->deadline = own;
    if (ctx->workdir) {
        spec->cwd_fd = ctx->workdir->work_fd;
        spec->scratch_fd = ctx->workdir->base_fd;
    }
    spec->input = p->input;
    spec->input_len = p->input_len;
    if (p->capture)
        spec->capture = p->capture;
    return 0;
}

static int run(jm_context *ctx, const struct jianmu_process *p, const char *const *env, struct jianmu_process_end *end,
               jianmu_error **err)
{
    struct jm_process_spec spec = {0};
    jm_auto_free char *program = NULL;
    jm_auto_fd int cwd = p->cwd ? open(p->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (p->cwd && cwd < 0)
        return jm_fail_errno(err, JIANMU_INVALID, errno, "directory '%s'", p->cwd);
    jm_auto_free const char **argv = jm_command_resolve(ctx, p->argv, &program, err);
    struct jm_reapers *reapers = argv ? jm_runner_reapers(ctx->runner, err) : NULL;
    if (!reapers || fill_spec(ctx, p, &spec, err))
        return -1;
    spec.argv = argv;
    spec.env = env;
    if (p->cwd)
        spec.cwd_fd = cwd;
    struct jm_process_result *result = calloc(1, sizeof *result);
    if (!result)
        return jm_fail_memory(err);
    int status = jm_process_run(reapers, &spec, result, err);
    jm_process_tried(ctx, status, err ? *err : NULL);
    if (status) {
        free(result);
        return -1;
    }
    return account(ctx, p, result, end);
}

/* What the struct of a plug-in says, whatever its size. */
static int read_request(jm_context *ctx, const struct jianmu_process *given, struct jianmu_process *p, jianmu_error **err)
{
    if (given->size < offsetof(struct jianmu_process, argv) + sizeof p->argv)
        return jm_fail(err, JIANMU_INVALID, "process: the size %u of its description is too small", given->size);
    memcpy(p, given, given->size < sizeof *p ? given->size : sizeof *p);
    if (p->flags & ~(uint64_t)JIANMU_PROCESS_PRIVATE)
        return jm_fail(err, JIANMU_UNSUPPORTED, "process: unknown flags %#llx", (unsigned long long)p->flags);
    if (p->timeout_s < 0 || isnan(p->timeout_s))
        return jm_fail(err, JIANMU_INVALID, "process: its timeout is no time");
    if (!p->argv || !p->argv[0])
        return jm_fail(err, JIANMU_INVALID, "process: no program");
    if (!ctx->result)
        return jm_fail(err, JIANMU_INVALID, "process: there is no call");
    return 0;
}

int jm_service_process(jianmu_context *public, const struct jianmu_process *given, struct jianmu_process_end *end)
{
    jm_context *ctx = jm_context_of(public);
    struct jianmu_process p = {0};
    jianmu_error *err = NULL;
    if (read_request(ctx, given, &p, &err))
        return jm_context_fail(ctx, err);
    /* the call's own environment names a private HOME and TMPDIR, so there must be one */
    if (!p.env && !jm_service_workdir_open(public))
        return -1;
    char **own = p.env ? NULL : jm_environment_new(ctx, ctx->workdir, jm_context_trace(ctx), &err);
    int status = p.env || own ? run(ctx, &p, p.env ? p.env : (const char *const *)own, end, &err) : -1;
    jm_environment_free(own);
    return err ? jm_context_fail(ctx, err) : status;
}
