/* SPDX-License-Identifier: Apache-2.0
 * The table of services, and those about the call itself. */
#include "config.h"
#include "call/services.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "call/runner.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/timerfd.h>

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
    if (ctx->own_timer_fd >= 0)
        return ctx->own_timer_fd;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct itimerspec at = {.it_value = {(time_t)(ctx->deadline / JM_SECOND), (long)(ctx->deadline % JM_SECOND)}};
    if (fd >= 0)
        timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL);
    return ctx->own_timer_fd = fd;
}

int jm_service_poll_fd(jianmu_context *public)
{
    jm_context *ctx = jm_context_of(public);
    /* the descriptors of a call object may be closed once its caller has gone */
    if (!ctx->call || ctx->gate)
        return own_timer(ctx);
    return jm_call_timer_fd(ctx->call, ctx->deadline);
}

static void release_json(void *json)
{
    json_decref(json);
}

/* A timeout of the call's own stands above the plan's; NULL without memory. */
static json_t *own_timeout(jm_context *ctx)
{
    json_t *seconds = json_real(ctx->timeout_s);
    return seconds && jm_context_keep(ctx, release_json, seconds) == 0 ? seconds : NULL;
}

json_t *jm_service_setting(jianmu_context *public, const char *name)
{
    jm_context *ctx = jm_context_of(public);
    if (ctx->timeout_s > 0 && ctx->timeout_s != ctx->plan->timeout_s && !strcmp(name, "timeout_s"))
        return own_timeout(ctx);
    const struct jm_plan_entry *entry = jm_plan_find(ctx->plan, name);
    return entry && !json_is_null(entry->setting.value) ? entry->setting.value : NULL;
}

/* "DIR", "DIR:ro", "DIR:rw": the length of DIR. */
static size_t split_grant(const char *grant, int *writable)
{
    size_t len = strlen(grant);
    *writable = len > 3 && !strcmp(grant + len - 3, ":rw");
    return *writable || (len > 3 && !strcmp(grant + len - 3, ":ro")) ? len - 3 : len;
}

int jm_service_directory(jianmu_context *public, const char *which, int *writable)
{
    jm_context *ctx = jm_context_of(public);
    int skill = !strcmp(which, "skill"), rw;
    const char *grant = json_string_value(jm_service_setting(public, which));
    if (!grant || (!skill && strcmp(which, "workspace")))
        return -1;
    size_t len = split_grant(grant, &rw);
    if (writable)
        *writable = rw && !skill;
    if (ctx->directory_fd[skill] >= 0)
        return ctx->directory_fd[skill];
    jm_auto_free char *path = strndup(grant, len);
    int fd = path ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0)
        jm_fail_errno(&ctx->error, JIANMU_INVALID, path ? errno : ENOMEM, "%s '%.*s'", which, (int)len, grant);
    return ctx->directory_fd[skill] = fd;
}

__attribute__((format(printf, 3, 4))) static int service_fail(jianmu_context *public, int code, const char *format, ...)
{
    jm_context *ctx = jm_context_of(public);
    va_list ap;
    va_start(ap, format);
    jm_vfail(&ctx->error, (jianmu_code)code, format, ap);
    va_end(ap);
    return -1;
}

__attribute__((format(printf, 2, 3))) static int service_tool_failed(jianmu_context *public, const char *format, ...)
{
    jm_context *ctx = jm_context_of(public);
    char *text;
    va_list ap;
    va_start(ap, format);
    int n = vasprintf(&text, format, ap);
    va_end(ap);
    ctx->failed = true;
    if (n < 0 || !ctx->result)
        return -1;
    free(ctx->result->message);
    ctx->result->message = text;
    ctx->result->heavy = true;
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
    char *text;
    if (!ctx->listening)
        return;
    va_list ap;
    va_start(ap, format);
    int n = vasprintf(&text, format, ap);
    va_end(ap);
    if (n < 0)
        return;
    emit(ctx, "execution.log", json_pack("{s:s}", "text", text));
    free(text);
}

static void service_progress(jianmu_context *public, double fraction, const char *text)
{
    jm_context *ctx = jm_context_of(public);
    if (!ctx->listening)
        return;
    json_t *known = fraction >= 0 && fraction <= 1 ? json_real(fraction) : json_null();
    emit(ctx, "execution.progress", json_pack("{s:o, s:s}", "fraction", known, "text", text ? text : ""));
}

/* A plug-in may not say that a call began or ended. */
static bool own_name(const char *name)
{
    return name && strchr(name, '.') && strncmp(name, "execution.", 10);
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
};
