/* SPDX-License-Identifier: Apache-2.0
 * The table of services, and those about the call itself. */
#include "config.h"
#include "call/services.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "call/runner.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>

enum { MOST_FORWARDED = 1000, MOST_FORWARDED_BYTES = 1 << 20 }; /* of one call */

int64_t jm_service_deadline(jianmu_context *public)
{
    return jm_context_of(public)->deadline;
}

bool jm_service_past(const jm_context *ctx)
{
    return ctx->deadline && jm_now() >= ctx->deadline;
}

/* A call that may be abandoned changes hands under its gate; others have none. */
static void enter(jm_context *ctx)
{
    if (ctx->gate)
        pthread_mutex_lock(ctx->gate);
}

static void leave(jm_context *ctx)
{
    if (ctx->gate)
        pthread_mutex_unlock(ctx->gate);
}

int jm_service_cancelled(jianmu_context *public)
{
    jm_context *ctx = jm_context_of(public);
    enter(ctx);
    int cancelled = ctx->abandoned || jm_context_cancelled_by_caller(ctx);
    leave(ctx);
    return cancelled || jm_service_past(ctx);
}

static int own_timer(jm_context *ctx)
{
    struct itimerspec at = {.it_value = {(time_t)(ctx->deadline / JM_SECOND), (long)(ctx->deadline % JM_SECOND)}};
    enter(ctx);
    pthread_mutex_lock(&ctx->lock);
    if (ctx->own_timer_fd < 0) {
        ctx->own_timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (ctx->own_timer_fd >= 0)
            timerfd_settime(ctx->own_timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
        if (ctx->abandoned)
            jm_context_tell_abandoned(ctx);
    }
    int fd = ctx->own_timer_fd;
    pthread_mutex_unlock(&ctx->lock);
    leave(ctx);
    return fd;
}

int jm_service_poll_fd(jianmu_context *public)
{
    jm_context *ctx = jm_context_of(public);
    /* the descriptors of a call object may be closed once its caller has gone */
    if (ctx->gate || !ctx->call)
        return own_timer(ctx);
    return jm_call_timer_fd(ctx->call, ctx->deadline);
}

/* A timeout of the call's own stands above the plan's; NULL without memory. */
static json_t *own_timeout(jm_context *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    if (!ctx->own_timeout)
        ctx->own_timeout = json_real(ctx->timeout_s);
    json_t *seconds = ctx->own_timeout;
    pthread_mutex_unlock(&ctx->lock);
    return seconds;
}

json_t *jm_service_setting(jianmu_context *public, const char *name)
{
    jm_context *ctx = jm_context_of(public);
    if (ctx->timeout_s > 0 && ctx->timeout_s != ctx->plan->timeout_s && !strcmp(name, "timeout_s"))
        return own_timeout(ctx);
    const struct jm_plan_entry *entry = jm_plan_find(ctx->plan, name);
    return entry && !json_is_null(entry->setting.value) ? entry->setting.value : NULL;
}

size_t jm_grant_length(const char *grant, int *writable)
{
    size_t len = strlen(grant);
    *writable = len > 3 && !strcmp(grant + len - 3, ":rw");
    return *writable || (len > 3 && !strcmp(grant + len - 3, ":ro")) ? len - 3 : len;
}

static int open_directory(jm_context *ctx, const char *which, const char *grant, int len)
{
    jm_auto_free char *path = strndup(grant, (size_t)len);
    int fd = path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0)
        jm_fail_errno(&ctx->error, JIANMU_INVALID, path ? errno : ENOMEM, "%s '%.*s'", which, len, grant);
    return fd;
}

int jm_service_directory(jianmu_context *public, const char *which, int *writable)
{
    jm_context *ctx = jm_context_of(public);
    int skill = !strcmp(which, "skill"), rw;
    const char *grant = json_string_value(jm_service_setting(public, which));
    if (!grant || (!skill && strcmp(which, "workspace")))
        return -1;
    size_t len = jm_grant_length(grant, &rw);
    if (writable)
        *writable = rw && !skill;
    pthread_mutex_lock(&ctx->lock);
    if (ctx->directory_fd[skill] < 0)
        ctx->directory_fd[skill] = open_directory(ctx, which, grant, (int)len);
    int fd = ctx->directory_fd[skill];
    pthread_mutex_unlock(&ctx->lock);
    return fd;
}

/* What is no code of ours would have no name, and no way through a tool host. */
static jianmu_code known_code(int code)
{
    bool named = code != JIANMU_OK && strcmp(jianmu_code_name((jianmu_code)code), "unknown");
    return named ? (jianmu_code)code : JIANMU_INTERNAL;
}

__attribute__((format(printf, 3, 4))) static int service_fail(jianmu_context *public, int code, const char *format, ...)
{
    jianmu_error *err = NULL;
    va_list ap;
    va_start(ap, format);
    jm_vfail(&err, known_code(code), format, ap);
    va_end(ap);
    jm_context *ctx = jm_context_of(public);
    pthread_mutex_lock(&ctx->lock);
    ctx->quoted |= ctx->in_tool;
    pthread_mutex_unlock(&ctx->lock);
    return jm_context_fail(ctx, err);
}

static void service_transient(jianmu_context *public)
{
    jm_context *ctx = jm_context_of(public);
    pthread_mutex_lock(&ctx->lock);
    ctx->transient = true;
    pthread_mutex_unlock(&ctx->lock);
}

__attribute__((format(printf, 2, 3))) static int service_tool_failed(jianmu_context *public, const char *format, ...)
{
    jm_context *ctx = jm_context_of(public);
    va_list ap;
    va_start(ap, format);
    char *text = jm_vsentence(0, format, ap);
    va_end(ap);
    pthread_mutex_lock(&ctx->lock);
    ctx->failed = ctx->quoted = true;
    if (ctx->result && text) {
        free(ctx->result->message);
        ctx->result->message = jm_steal(text);
        ctx->result->heavy = true;
    }
    pthread_mutex_unlock(&ctx->lock);
    free(text);
    return -1;
}

/* payload: taken. */
static void emit(jm_context *ctx, const char *name, json_t *payload)
{
    enter(ctx);
    if (ctx->listening && !ctx->abandoned)
        jm_call_say(ctx, name, payload);
    leave(ctx);
    json_decref(payload);
}

__attribute__((format(printf, 2, 3))) static void service_log(jianmu_context *public, const char *format, ...)
{
    jm_context *ctx = jm_context_of(public);
    if (!ctx->listening)
        return;
    va_list ap;
    va_start(ap, format);
    char *text = jm_vsentence(0, format, ap);
    va_end(ap);
    if (!text)
        return;
    emit(ctx, "execution.log", json_pack("{s:s}", "text", text));
    free(text);
}

static void service_progress(jianmu_context *public, double fraction, const char *text)
{
    jm_context *ctx = jm_context_of(public);
    if (!ctx->listening)
        return;
    size_t len;
    json_t *known = fraction >= 0 && fraction <= 1 ? json_real(fraction) : json_null();
    jm_auto_free char *valid = text ? jm_utf8_repair(text, strlen(text), &len) : NULL;
    emit(ctx, "execution.progress", json_pack("{s:o, s:s}", "fraction", known, "text", valid ? valid : ""));
}

/* A plug-in may not say that a call began or ended. */
static bool own_name(const char *name)
{
    return name && strchr(name, '.') && strncmp(name, "execution.", 10) && jm_utf8_is_valid(name, strlen(name));
}

/* new: of the core's own events no more than the core itself would say; NULL: not to be said. */
static json_t *forwarded_payload(const char *name, json_t *payload)
{
    bool progress = !strcmp(name, "execution.progress");
    if (own_name(name))
        return payload ? json_incref(payload) : json_object();
    json_t *text = json_object_get(payload, "text"), *fraction = json_object_get(payload, "fraction");
    if (!json_is_string(text) || (!progress && strcmp(name, "execution.log")))
        return NULL;
    double known = json_is_number(fraction) ? json_number_value(fraction) : -1;
    if (!progress)
        return json_pack("{s:O}", "text", text);
    return json_pack("{s:o, s:O}", "fraction", known >= 0 && known <= 1 ? json_real(known) : json_null(), "text", text);
}

/* One more, unless it is too many or too much. */
static bool may_forward(jm_context *ctx, size_t len)
{
    pthread_mutex_lock(&ctx->lock);
    bool may = ctx->forwarded < MOST_FORWARDED && len <= MOST_FORWARDED_BYTES - ctx->forwarded_bytes;
    if (may) {
        ctx->forwarded++;
        ctx->forwarded_bytes += len;
    } else {
        ctx->dropped++;
    }
    pthread_mutex_unlock(&ctx->lock);
    return may;
}

void jm_call_forward(jm_context *ctx, const char *text, size_t len)
{
    if (!ctx->listening || !may_forward(ctx, len))
        return;
    jm_auto_json json_t *json = jm_json_parse(text, len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);
    const char *name = json_string_value(json_object_get(json, "name"));
    json_t *payload = name ? forwarded_payload(name, json_object_get(json, "payload")) : NULL;
    if (payload)
        emit(ctx, name, payload);
}

void jm_call_forwarded(jm_context *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    unsigned dropped = ctx->dropped;
    ctx->dropped = 0;
    pthread_mutex_unlock(&ctx->lock);
    if (dropped)
        emit(ctx, "execution.log", json_pack("{s:s, s:I}", "text", "events of its process were dropped", "dropped",
                                             (json_int_t)dropped));
}

static void service_event(jianmu_context *public, const char *name, json_t *payload)
{
    jm_context *ctx = jm_context_of(public);
    if (ctx->listening && own_name(name))
        emit(ctx, name, json_incref(payload));
}

const struct jianmu_services jm_services = {
    .size = sizeof jm_services,
    .abi = JIANMU_ABI,
    .deadline = jm_service_deadline,
    .cancelled = jm_service_cancelled,
    .poll_fd = jm_service_poll_fd,
    .setting = jm_service_setting,
    .directory = jm_service_directory,
    .fail = service_fail,
    .tool_failed = service_tool_failed,
    .log = service_log,
    .progress = service_progress,
    .event = service_event,
    .process = jm_service_process,
    .workdir_open = jm_service_workdir_open,
    .workdir_path = jm_service_workdir_path,
    .workdir_fd = jm_service_workdir_fd,
    .job_command = jm_service_job_command,
    .job_run = jm_service_job_run,
    .collect = jm_service_collect,
    .workdir_close = jm_service_workdir_close,
    .call_tool = jm_service_call_tool,
    .host_tool = jm_service_host_tool,
    .frame_write = jm_service_frame_write,
    .frame_read = jm_service_frame_read,
    .ask = jm_service_ask,
    .transient = service_transient,
};
