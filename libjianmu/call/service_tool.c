/* SPDX-License-Identifier: Apache-2.0
 * A tool call in a tool host: jianmu-tool-entry is started through the backend's launcher, reads one request on its
 * standard input and answers in frames on its standard output. */
#include "config.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/buffer.h"
#include "base/text.h"
#include "call/runner.h"
#include "call/services.h"
#include "call/wire.h"
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#define GRACE (JM_SECOND * 3 / 10)

static const char *entry_path(void)
{
    const char *named = getauxval(AT_SECURE) ? NULL : getenv("JIANMU_TOOL_ENTRY");
    return named && *named == '/' ? named : JM_LIBEXECDIR "/jianmu-tool-entry";
}

/* Values that somebody named: the fields of constraints go to "settings", keys of the tool's own to "own". */
static json_t *make_request(jm_context *ctx, json_t *args)
{
    jm_auto_json json_t *settings = json_object(), *own = json_object();
    for (size_t i = 0; i < ctx->plan->count; i++) {
        const struct jm_plan_entry *e = &ctx->plan->entries[i];
        const struct jm_knob *knob = jm_knob_find(e->name);
        if (!e->setting.value || json_is_null(e->setting.value) || (knob && !(knob->flags & JM_IN_CONSTRAINTS)))
            continue;
        /* limits of the host's backend hold around the tool host; inside, only what tools themselves read counts */
        if (knob ? knob->flags & JM_PER_MODE : !(e->flags & JM_PER_TOOL))
            continue;
        if (json_object_set(knob ? settings : own, e->name, e->setting.value))
            return NULL;
    }
    json_object_del(settings, "mode");
    json_object_del(settings, "scope");
    json_object_del(settings, "timeout_s");
    json_t *request = json_pack("{s:s, s:s, s:O, s:O, s:O}", "tool", ctx->tool->name, "path", ctx->tool->item->path,
                                "args", args, "settings", settings, "own", own);
    if (request && ctx->deadline &&
        json_object_set_new(request, "timeout_s", json_real(ctx->timeout_s))) {
        json_decref(request);
        request = NULL;
    }
    return request;
}

struct answer {
    jm_context *ctx;
    struct jm_frame_reader reader;
    json_t *result;             /* of the first result frame */
};

static void take_frame(struct answer *a)
{
    struct jm_frame *f = &a->reader.frame;
    jm_auto_free char *data = jm_steal(f->data);
    if (f->type == JM_FRAME_EVENT)
        jm_call_forward(a->ctx, data, f->len);
    if (f->type != JM_FRAME_RESULT || a->result)
        return;
    jm_auto_json json_t *json = jm_json_parse(data, f->len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(json))
        a->result = jm_steal(json);
}

static void on_output(void *data, int stream, const void *bytes, size_t len)
{
    struct answer *a = data;
    const char *p = bytes;
    bool ready;
    while (stream == 1 && len) {
        size_t used = jm_frame_feed(&a->reader, p, len, &ready);
        if (ready)
            take_frame(a);
        p += used;
        len -= used;
    }
}

static const char **make_command(const char *const *prefix, const char *const *tail)
{
    size_t n = 0, m = 0;
    while (prefix && prefix[n])
        n++;
    while (tail[m])
        m++;
    const char **argv = calloc(n + m + 1, sizeof *argv);
    for (size_t i = 0; argv && i < n + m; i++)
        argv[i] = i < n ? prefix[i] : tail[i - n];
    return argv;
}

/* Runs the host; its answer is in *a, its standard error the result's. */
static int run_host(jm_context *ctx, const char **argv, char **env, const struct jm_buffer *request, struct answer *a,
                    struct jm_process_result *process)
{
    struct jm_process_spec spec = {0};
    struct jm_reapers *reapers = jm_runner_reapers(ctx->runner, &ctx->error);
    if (!reapers)
        return -1;
    if (jm_process_limits(ctx, &spec, &ctx->error))
        return -1;
    spec.argv = argv;
    spec.env = (const char *const *)env;
    spec.cwd_fd = ctx->workdir->work_fd;
    spec.scratch_fd = ctx->workdir->base_fd;
    spec.input = request->data;
    spec.input_len = request->len;
    spec.output = on_output;
    spec.output_data = a;
    spec.stdout_is_free = true; /* the answer is no output; what the tool prints comes by standard error */
    /* a tool that looks at its deadline meets it inside, and may still say so */
    if (spec.deadline && ctx->tool->cooperates && spec.deadline < INT64_MAX - GRACE)
        spec.deadline += GRACE;
    int status = jm_process_run(reapers, &spec, process, &ctx->error);
    jm_process_tried(ctx, status, ctx->error);
    if (status)
        return -1;
    free(jm_steal(process->out.data));
    process->out = (struct jm_stream){0};
    jm_process_account(ctx, process);
    return 0;
}

static json_t *read_error(jm_context *ctx, json_t *answer)
{
    json_t *error = json_object_get(answer, "error");
    const char *name = json_string_value(json_object_get(error, "code"));
    const char *message = json_string_value(json_object_get(error, "message"));
    jianmu_code code = JIANMU_INTERNAL;
    for (int c = JIANMU_INVALID; name && c <= JIANMU_INTERNAL; c++)
        if (!strcmp(jianmu_code_name((jianmu_code)c), name))
            code = (jianmu_code)c;
    ctx->quoted = true;
    jm_fail(&ctx->error, code, "%s", message ? message : "the tool host failed and gave no reason");
    return NULL;
}

static void say_failed(jm_context *ctx, json_t *failed)
{
    if (!failed)
        return;
    ctx->public.services->tool_failed(&ctx->public, "%s", json_string_value(failed) ? json_string_value(failed) : "");
}

/* The process ended; what does its answer, or the lack of one, mean? */
static json_t *read_answer(jm_context *ctx, struct answer *a, struct jm_process_result *process)
{
    json_t *answer = a->result;
    ctx->died = !answer || json_is_true(json_object_get(answer, "died"));
    ctx->transient = json_is_true(json_object_get(answer, "transient"));
    bool by_time = process->reason == JIANMU_TIMEOUT || process->reason == JIANMU_CANCELLED;
    bool stopped = process->reason != JIANMU_EXITED && process->reason != JIANMU_SIGNALLED;
    if (stopped && !(answer && by_time)) { /* a limit was passed, whatever the tool had to say before */
        ctx->failed = true;
        ctx->limit = by_time ? JIANMU_EXITED : process->reason;
        return json_incref(json_object_get(answer, "result"));
    }
    if (answer && json_is_true(json_object_get(answer, "ok"))) {
        say_failed(ctx, json_object_get(answer, "failed"));
        json_t *limit = json_object_get(answer, "limit");
        ctx->result->value_dropped = (uint64_t)json_integer_value(json_object_get(answer, "dropped"));
        ctx->result->heavy = true;
        if (limit && strcmp(jianmu_reason_name((jianmu_reason)json_integer_value(limit)), "unknown"))
            ctx->limit = (jianmu_reason)json_integer_value(limit);
        return json_incref(json_object_get(answer, "result"));
    }
    if (answer)
        return read_error(ctx, answer);
    size_t len;
    jm_auto_free char *text = jm_utf8_repair(process->err.data, process->err.len, &len);
    if (process->exit_code >= 125 && process->exit_code <= 127)
        jm_fail(&ctx->error, JIANMU_UNAVAILABLE, "the tool host '%s' could not be started: %s", entry_path(),
                text ? text : "");
    else
        say_failed(ctx, json_null());
    ctx->quoted = ctx->error; /* with what was printed */
    if (!ctx->error && ctx->result->message && !*ctx->result->message) {
        free(ctx->result->message);
        if (jm_format(&ctx->result->message, "Tool '%s' ended its tool host (%s %d)", ctx->subject,
                     process->signal ? "signal" : "status", process->signal ? process->signal : process->exit_code) < 0)
            ctx->result->message = NULL;
    }
    return NULL;
}

static void end_answer(struct answer *a)
{
    json_decref(a->result);
    if (!a->reader.broken && a->reader.in_payload)
        free(a->reader.frame.data);
}

/* new: the request as text; what cannot be one is the caller's fault. */
static char *print_request(jm_context *ctx, json_t *args)
{
    jm_auto_json json_t *request = make_request(ctx, args);
    jm_auto_free char *text = request ? jm_json_print(request, 0, NULL) : NULL;
    if (text && strlen(text) <= JM_FRAME_MOST)
        return jm_steal(text);
    if (text)
        jm_fail(&ctx->error, JIANMU_INVALID, "the arguments of tool '%s' are larger than a tool host takes (64 MiB)",
                ctx->subject);
    else if (request && !jm_json_can_print(request))
        jm_fail(&ctx->error, JIANMU_INVALID, "the arguments of tool '%s' are nested too deeply", ctx->subject);
    else
        jm_fail_memory(&ctx->error);
    return NULL;
}

json_t *jm_service_host_tool(jianmu_context *public, const char *const *prefix, json_t *args)
{
    jm_context *ctx = jm_context_of(public);
    if (!ctx->tool) {
        jm_fail(&ctx->error, JIANMU_INVALID, "host_tool: this call is no tool's");
        return NULL;
    }
    if (!ctx->workdir && !jm_service_workdir_open(public))
        return NULL;
    const char *const tail[] = {entry_path(), "serve", NULL};
    jm_auto_free const char **argv = make_command(prefix, tail);
    jm_auto_free char *text = print_request(ctx, args);
    char **env = text ? jm_environment_new(ctx, ctx->workdir, jm_context_trace(ctx), &ctx->error) : NULL;
    struct jm_buffer frame = {0};
    json_t *value = NULL;
    if (argv && text && env) {
        unsigned char header[JM_FRAME_HEADER];
        struct answer answer = {.ctx = ctx};
        struct jm_process_result process = {0};
        jm_frame_header(header, JM_FRAME_REQUEST, 1, strlen(text));
        jm_buffer_add(&frame, header, sizeof header);
        jm_buffer_adds(&frame, text);
        bool ran = !frame.failed && !run_host(ctx, argv, env, &frame, &answer, &process);
        jm_call_forwarded(ctx);
        if (ran) {
            value = read_answer(ctx, &answer, &process);
            jm_result_take_process(ctx->result, &process);
        }
        end_answer(&answer);
        jm_process_result_free(&process);
    }
    if ((!argv || !text || frame.failed) && !ctx->error)
        jm_fail_memory(&ctx->error);
    jm_environment_free(env);
    jm_buffer_free(&frame);
    return value;
}
