/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/clock.h"
#include "base/error.h"
#include "plugin/plain.h"
#include <stddef.h>

static struct jm_plain_context *of(jianmu_context *ctx)
{
    return (struct jm_plain_context *)ctx;
}

static int64_t deadline(jianmu_context *ctx)
{
    return of(ctx)->deadline;
}

static int cancelled(jianmu_context *ctx)
{
    return of(ctx)->abandoned || (of(ctx)->deadline && jm_now() >= of(ctx)->deadline);
}

static int poll_fd(jianmu_context *ctx)
{
    (void)ctx;
    return -1;
}

static json_t *setting(jianmu_context *ctx, const char *name)
{
    json_t *value = json_object_get(of(ctx)->settings, name);
    return json_is_null(value) ? NULL : value;
}

static int directory(jianmu_context *ctx, const char *which, int *writable)
{
    (void)ctx;
    (void)which;
    (void)writable;
    return -1;
}

__attribute__((format(printf, 3, 4))) static int fail(jianmu_context *ctx, int code, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    jm_vfail(&of(ctx)->error, (jianmu_code)code, format, ap);
    va_end(ap);
    return -1;
}

__attribute__((format(printf, 2, 3))) static int tool_failed(jianmu_context *ctx, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    jm_vfail(&of(ctx)->error, JIANMU_UNAVAILABLE, format, ap);
    va_end(ap);
    return -1;
}

/* There is no call whose events these could be. */
__attribute__((format(printf, 2, 3))) static void say(jianmu_context *ctx, const char *format, ...)
{
    (void)ctx;
    (void)format;
}

static void progress(jianmu_context *ctx, double fraction, const char *text)
{
    (void)ctx;
    (void)fraction;
    (void)text;
}

static void event(jianmu_context *ctx, const char *name, json_t *payload)
{
    (void)ctx;
    (void)name;
    (void)payload;
}

static int no_call(jianmu_context *ctx)
{
    return jm_fail(&of(ctx)->error, JIANMU_UNSUPPORTED, "there is no call in which this service could be had");
}

static int process(jianmu_context *ctx, const struct jianmu_process *what, struct jianmu_process_end *end)
{
    (void)what;
    (void)end;
    return no_call(ctx);
}

static jianmu_workdir *workdir_open(jianmu_context *ctx)
{
    no_call(ctx);
    return NULL;
}

static const char *workdir_path(jianmu_workdir *dir)
{
    (void)dir;
    return NULL;
}

static int workdir_fd(jianmu_workdir *dir)
{
    (void)dir;
    return -1;
}

static const char *const *job_command(jianmu_context *ctx, jianmu_workdir *dir, const char *const *prefix)
{
    (void)dir;
    (void)prefix;
    no_call(ctx);
    return NULL;
}

static int job_run(jianmu_context *ctx, jianmu_workdir *dir, const char *const *command)
{
    (void)dir;
    (void)command;
    return no_call(ctx);
}

static int collect(jianmu_context *ctx, jianmu_workdir *dir)
{
    (void)dir;
    return no_call(ctx);
}

static void workdir_close(jianmu_context *ctx, jianmu_workdir *dir)
{
    (void)ctx;
    (void)dir;
}

static json_t *call_tool(jianmu_context *ctx, json_t *args)
{
    (void)args;
    no_call(ctx);
    return NULL;
}

static json_t *host_tool(jianmu_context *ctx, const char *const *prefix, json_t *args)
{
    (void)prefix;
    (void)args;
    no_call(ctx);
    return NULL;
}

static int frame_write(jianmu_context *ctx, int fd, uint32_t type, uint64_t id, const void *data, uint64_t len)
{
    (void)fd;
    (void)type;
    (void)id;
    (void)data;
    (void)len;
    return no_call(ctx);
}

static int frame_read(jianmu_context *ctx, int fd, uint32_t *type, uint64_t *id, void **data, uint64_t *len)
{
    (void)fd;
    (void)type;
    (void)id;
    (void)data;
    (void)len;
    return no_call(ctx);
}

/* A service that comes later stands behind these: by its size the table says that it has none. */
static const jianmu_services services = {
    .size = offsetof(jianmu_services, frame_read) + sizeof services.frame_read, .abi = JIANMU_ABI,
    .deadline = deadline, .cancelled = cancelled, .poll_fd = poll_fd, .setting = setting, .directory = directory,
    .fail = fail, .tool_failed = tool_failed, .log = say, .progress = progress, .event = event, .process = process,
    .workdir_open = workdir_open, .workdir_path = workdir_path, .workdir_fd = workdir_fd, .job_command = job_command,
    .job_run = job_run, .collect = collect, .workdir_close = workdir_close, .call_tool = call_tool,
    .host_tool = host_tool, .frame_write = frame_write, .frame_read = frame_read};

void jm_plain_context_init(struct jm_plain_context *ctx, const json_t *settings)
{
    *ctx = (struct jm_plain_context){.public = {&services}, .settings = settings};
}
