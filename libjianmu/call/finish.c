/* SPDX-License-Identifier: Apache-2.0
 * The one beginning and the one end of every call: time and event; reason, sentence, event. */
#include "config.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/clock.h"
#include "base/text.h"
#include "call/runner.h"
#include <stdio.h>
#include <string.h>

/* Member by member: a struct built aside and copied stalls the processor at every pair of them. */
static void set_event(struct jianmu_event *e, const jm_context *ctx, enum jm_event_kind kind, const char *name,
                      int64_t now)
{
    const jianmu_call *call = ctx->call;
    e->kind = kind;
    e->name = name;
    e->backend = ctx->backend ? ctx->backend->mode : ctx->runner->mode;
    e->tool = ctx->subject;
    e->call = ctx->id;
    e->run_id = call ? call->run_id : NULL;
    e->node_name = call ? call->node_name : NULL;
    e->tool_call_id = call ? call->tool_call_id : NULL;
    e->time = now;
    e->real = 0;
    e->duration = now - ctx->started;
    e->ended_by_error = e->quoted = e->abandoned = false;
    e->code = JIANMU_OK;
    e->reason = JIANMU_EXITED;
    e->error = NULL;
    e->timeout_s = 0;
    e->attempts = 0;
    e->payload = NULL;
    e->decision = NULL;
    e->arguments = ctx->args;
    e->result = NULL;
    e->trace = ctx->traced ? &ctx->trace : NULL;
    e->rules = ctx->runner->listen.rules;
}

void jm_call_say(jm_context *ctx, const char *name, json_t *payload)
{
    struct jianmu_event event;
    set_event(&event, ctx, JM_EVENT_OTHER, name, jm_now());
    event.payload = payload;
    event.arguments = NULL;
    jm_bus_emit(ctx->runner->bus, &event);
}

void jm_call_decided(jm_context *ctx, const struct jm_decision *decision)
{
    struct jianmu_event event;
    set_event(&event, ctx, JM_EVENT_OTHER, "execution.decision", jm_now());
    event.decision = decision;
    event.arguments = NULL;
    jm_bus_emit(ctx->runner->bus, &event);
}

/* Numbers a call, takes the time, says it started: only where somebody needs it. */
void jm_call_begin(jm_context *ctx)
{
    ctx->started = ctx->attempted = jm_now();
    if (ctx->timeout_s > 0)
        ctx->deadline = jm_after(ctx->started, ctx->timeout_s);
    ctx->listening = jm_bus_listening(ctx->runner->bus);
    jm_call_trace(ctx);
    if (!ctx->listening)
        return;
    ctx->id = atomic_fetch_add_explicit(&ctx->runner->calls, 1, memory_order_relaxed) + 1;
    struct jianmu_event event;
    set_event(&event, ctx, JM_EVENT_STARTED, "execution.started", ctx->started);
    jm_bus_emit(ctx->runner->bus, &event);
}

/* True: the call may go on. */
bool jm_call_admit(jm_context *ctx, const struct jm_limits *limits)
{
    bool own = ctx->timeout_s != ctx->plan->timeout_s;
    json_t *enforced = own ? limits->enforced_timed : limits->enforced;
    if (__builtin_expect(own || limits->refused, 0) &&
        jm_limits_check_call(ctx->backend, ctx->plan, limits, own ? ctx->timeout_s : 0, &ctx->error))
        return false;
    /* kept from one call of a tool to its next, so that a result used again costs no reference */
    if (ctx->result->enforced != enforced) {
        json_decref(ctx->result->enforced);
        ctx->result->enforced = json_incref(enforced);
    }
    return __builtin_expect(!ctx->plan->concurrency, 1) || jm_turn_take(ctx);
}

static void say(jianmu_result *r, char *message)
{
    free(r->message);
    r->message = message;
    r->heavy = true;
}

static char *timeout_text(const jm_context *ctx)
{
    char seconds[32], *text;
    jm_print_seconds(ctx->timeout_s, seconds);
    int n = ctx->tool ? jm_format(&text, "Tool '%s' timed out after %ss", ctx->subject, seconds)
                      : jm_format(&text, "Job timed out after %ss", seconds);
    return n < 0 ? NULL : text;
}

static char *limit_text(const jm_context *ctx, const char *limit, const char *what)
{
    const struct jm_plan_entry *entry = jm_plan_find(ctx->plan, limit);
    jm_auto_free char *value = entry && entry->setting.value
                                   ? jm_json_print(entry->setting.value, 0, NULL)
                                   : NULL;
    char *text;
    int n = ctx->tool ? jm_format(&text, "Tool '%s' was stopped: %s (%s is %s)", ctx->subject, what, limit,
                                 value ? value : "set")
                      : jm_format(&text, "Job was stopped: %s (%s is %s)", what, limit, value ? value : "set");
    return n < 0 ? NULL : text;
}

/* The sentence of a reason, unless a tool has given one. */
static char *reason_text(const jm_context *ctx)
{
    jianmu_result *r = ctx->result;
    char *text = NULL;
    switch (r->reason) {
    case JIANMU_EXITED:
        return NULL;
    case JIANMU_TIMEOUT:
        return timeout_text(ctx);
    case JIANMU_CANCELLED:
        return strdup("cancelled by the caller");
    case JIANMU_CPU_TIME:
        return limit_text(ctx, "cpu_time_s", "it used more processor time than allowed");
    case JIANMU_OUTPUT:
        return limit_text(ctx, "output_limit", "it printed more than allowed");
    case JIANMU_FSIZE:
        return limit_text(ctx, "fsize", "it wrote a larger file than allowed");
    case JIANMU_MEMORY:
        return limit_text(ctx, "memory", "it used more memory than allowed");
    case JIANMU_PIDS:
        return limit_text(ctx, "pids", "it made more processes than allowed");
    case JIANMU_DISK:
        return limit_text(ctx, "disk", "it wrote more than allowed");
    case JIANMU_SIGNALLED:
        return jm_format(&text, "ended by signal %d (%s)", r->signal, sigabbrev_np(r->signal) ? sigabbrev_np(r->signal) : "?") < 0
                   ? NULL
                   : text;
    case JIANMU_TOOL_FAILED:
        return jm_format(&text, "Tool '%s' gave no value and no reason", ctx->subject) < 0 ? NULL : text;
    }
    return NULL;
}

/* Text is held to max_output; where that cannot be done nothing is handed over. */
static void clip_value(jm_context *ctx)
{
    jianmu_result *r = ctx->result;
    uint64_t dropped = 0;
    const char *text = json_string_value(r->value);
    size_t len = text ? json_string_length(r->value) : 0;
    if (!text || !ctx->plan->max_output || len <= ctx->plan->max_output)
        return;
    jm_auto_free char *clipped = jm_text_clip(text, len, ctx->plan->max_output, &len, &dropped);
    json_t *value = !clipped ? NULL : dropped ? json_stringn(clipped, len) : json_incref(r->value);
    json_decref(r->value);
    r->value = value;
    r->value_dropped += dropped;
    if (!value)
        jm_fail_memory(&ctx->error);
}

static void settle_tool(jm_context *ctx, bool late)
{
    jianmu_result *r = ctx->result;
    bool failed = ctx->failed || !r->value;
    if (r->abandoned)
        r->reason = jm_context_cancelled_by_caller(ctx) ? JIANMU_CANCELLED : JIANMU_TIMEOUT;
    else if (late)
        r->reason = JIANMU_TIMEOUT;
    else if (failed && jm_context_cancelled_by_caller(ctx))
        r->reason = JIANMU_CANCELLED;
    else if (failed)
        r->reason = ctx->limit != JIANMU_EXITED ? ctx->limit : JIANMU_TOOL_FAILED;
    else
        r->reason = JIANMU_EXITED;
    r->exit_code = r->reason == JIANMU_EXITED ? 0 : 1;
    r->signal = 0;
    clip_value(ctx);
}

static void emit_end(jm_context *ctx, int64_t now)
{
    const jianmu_result *r = ctx->result;
    bool completed = !ctx->error && r && (r->reason == JIANMU_EXITED || r->reason == JIANMU_SIGNALLED);
    struct jianmu_event event;
    set_event(&event, ctx, completed ? JM_EVENT_COMPLETED : JM_EVENT_FAILED,
              completed ? "execution.completed" : "execution.failed", now);
    event.ended_by_error = ctx->error;
    event.code = jianmu_error_code(ctx->error);
    event.error = ctx->error || !r ? jianmu_error_message(ctx->error) : jianmu_result_message(r);
    event.timeout_s = ctx->timeout_s;
    event.attempts = ctx->attempts;
    event.quoted = ctx->quoted;
    if (r) { /* without memory there is none */
        event.reason = r->reason;
        event.result = r->value;
        event.abandoned = r->abandoned;
    }
    jm_bus_emit(ctx->runner->bus, &event);
}

static inline void settle(jm_context *ctx, int64_t now)
{
    jianmu_result *r = ctx->result;
    if (__builtin_expect(ctx->turn, 0))
        jm_turn_release(ctx);
    if (ctx->error)
        return;
    if (ctx->tool)
        settle_tool(ctx, ctx->deadline && now >= ctx->deadline);
    if (__builtin_expect(r->reason != JIANMU_EXITED, 0) && (!r->message || r->reason == JIANMU_TIMEOUT)) {
        say(r, reason_text(ctx));
        ctx->quoted = false;
    }
}

static inline int end(jm_context *ctx, int64_t now, jianmu_error **err)
{
    jianmu_result *r = ctx->result;
    if (r) {
        r->attempts = ctx->attempts;
        r->transient = ctx->transient;
    }
    if (!ctx->error && now) {
        r->wall_s = (double)(now - ctx->started) / 1e9;
        if (!ctx->tool)
            r->heavy = true;
    }
    if (ctx->listening)
        emit_end(ctx, now);
    if (!ctx->error)
        return 0;
    return jm_fail_take(err, ctx->error);
}

void jm_call_settle(jm_context *ctx)
{
    settle(ctx, jm_now());
}

int jm_call_end(jm_context *ctx, jianmu_error **err)
{
    return end(ctx, jm_now(), err);
}

int jm_call_finish(jm_context *ctx, jianmu_error **err)
{
    int64_t now = ctx->started ? jm_now() : 0;
    settle(ctx, now);
    return end(ctx, now, err);
}

void jm_call_attempt(jm_context *ctx)
{
    if (ctx->attempts++) { /* of the one before nothing stays */
        jm_context_clear(ctx);
        jianmu_error_free(jm_steal(ctx->error));
        ctx->result = jm_result_prepare(&ctx->result, &ctx->error);
        ctx->limit = JIANMU_EXITED;
        ctx->failed = ctx->quoted = ctx->reached = ctx->transient = ctx->died = false;
        ctx->output = 0;
    }
    ctx->attempted = jm_now();
    ctx->deadline = ctx->timeout_s > 0 ? jm_after(ctx->attempted, ctx->timeout_s) : 0;
}
