/* SPDX-License-Identifier: Apache-2.0
 * A tool of an earlier release: calls each service and gives back what it got. */
#include "kept.h"
#include <string.h>

#define HAS(CTX, MEMBER) ((CTX)->services->size >= offsetof(jianmu_services, MEMBER) + sizeof((CTX)->services->MEMBER))

/* One after the other: the order in which arguments are computed is the compiler's. */
static json_t *ask_call(jianmu_context *ctx)
{
    const jianmu_services *s = ctx->services;
    json_t *got = json_object();
    int writable = 0;
    json_object_set_new(got, "deadline", json_integer(s->deadline(ctx)));
    json_object_set_new(got, "cancelled", json_integer(s->cancelled(ctx)));
    json_object_set_new(got, "poll_fd", json_integer(s->poll_fd(ctx)));
    json_object_set(got, "setting", s->setting(ctx, "timeout_s"));
    json_object_set_new(got, "directory", json_integer(s->directory(ctx, "workspace", &writable)));
    json_object_set_new(got, "writable", json_integer(writable));
    return got;
}

static json_t *ask_process(jianmu_context *ctx)
{
    static const char *const argv[] = {"printf", "%s", NULL};
    struct jianmu_process process = JIANMU_PROCESS_INIT;
    struct jianmu_process_end end = JIANMU_PROCESS_END_INIT;
    process.flags = JIANMU_PROCESS_PRIVATE;
    process.argv = argv;
    process.cwd = "/cwd";
    process.input = "input";
    process.input_len = 5;
    process.timeout_s = 1.5;
    process.capture = 77;
    if (ctx->services->process(ctx, &process, &end))
        return NULL;
    return json_pack("[i, i, i, s#, s#, I, I]", (int)end.reason, (int)end.exit_code, (int)end.signal, end.out,
                     (int)end.out_len, end.err, (int)end.err_len, (json_int_t)end.out_dropped, (json_int_t)end.err_dropped);
}

static json_t *ask_workdir(jianmu_context *ctx)
{
    static const char *const prefix[] = {"setpriv", NULL};
    const jianmu_services *s = ctx->services;
    jianmu_workdir *dir = s->workdir_open(ctx);
    const char *const *command = s->job_command(ctx, dir, prefix);
    int ran = s->job_run(ctx, dir, command), collected = s->collect(ctx, dir);
    json_t *got = json_pack("[s, i, s, i, i]", s->workdir_path(dir), s->workdir_fd(dir), command[0], ran, collected);
    s->workdir_close(ctx, dir);
    return got;
}

static json_t *ask_frames(jianmu_context *ctx)
{
    uint32_t type = 0;
    uint64_t id = 0, len = 0;
    void *data = NULL;
    int wrote = ctx->services->frame_write(ctx, 9, 3, 4, "abc", 3);
    int rc = ctx->services->frame_read(ctx, 9, &type, &id, &data, &len);
    return json_pack("[i, i, i, I, s#]", wrote, rc, (int)type, (json_int_t)id, (const char *)data, (int)len);
}

static json_t *run(void *instance, jianmu_context *ctx, json_t *args)
{
    static const char *const prefix[] = {"chroot", NULL};
    (void)instance;
    if (!ctx)
        return json_integer(42);
    if (!HAS(ctx, frame_read)) {
        ctx->services->fail(ctx, 41, "this core is older than %s", "kept_tool");
        return NULL;
    }
    ctx->services->log(ctx, "log %d", 1);
    ctx->services->progress(ctx, 0.5, "half");
    ctx->services->event(ctx, "kept.event", args);
    json_t *got = json_object();
    json_object_set_new(got, "fail", json_integer(ctx->services->fail(ctx, 50, "no %s", "way")));
    json_object_set_new(got, "tool_failed", json_integer(ctx->services->tool_failed(ctx, "bad %d", 2)));
    json_object_set_new(got, "call", ask_call(ctx));
    json_object_set_new(got, "process", ask_process(ctx));
    json_object_set_new(got, "workdir", ask_workdir(ctx));
    json_object_set_new(got, "frames", ask_frames(ctx));
    json_object_set_new(got, "call_tool", ctx->services->call_tool(ctx, args));
    json_object_set_new(got, "host_tool", ctx->services->host_tool(ctx, prefix, args));
    return got;
}

static int open_it(jianmu_context *ctx, void **instance)
{
    static int opened;
    (void)ctx;
    *instance = &opened;
    return 0;
}

static void close_it(void *instance)
{
    ++*(int *)instance;
}

JIANMU_TOOL_WITH(kept_tool, run, open_it, close_it, JIANMU_DANGER_WRITE,
                 JIANMU_READ_ONLY | JIANMU_IDEMPOTENT | JIANMU_OPEN_WORLD | JIANMU_COOPERATES, "Kept for ever.",
                 "{\"type\": \"object\"}")
JIANMU_PLUGIN(JIANMU_ITEM(kept_tool))
