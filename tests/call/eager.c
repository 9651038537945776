/* SPDX-License-Identifier: Apache-2.0
 * A backend for tests: tools in this process, after it has asked the core for all that a call can have. */
#include "jianmu-plugin.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_t *run_tool(void *self, jianmu_context *ctx, json_t *args)
{
    const jianmu_services *core = ctx->services;
    (void)self;
    core->setting(ctx, "timeout_s");
    core->poll_fd(ctx);
    core->directory(ctx, "workspace", NULL);
    if (!core->workdir_open(ctx))
        return NULL;
    return core->call_tool(ctx, args);
}

/* Says into a pipe without a reader: a host must live on. */
static int run_job(void *self, jianmu_context *ctx)
{
    int ends[2];
    (void)self;
    if (pipe(ends))
        return -1;
    close(ends[0]);
    int status = ctx->services->frame_write(ctx, ends[1], 1, 1, "x", 1);
    close(ends[1]);
    return status;
}

static int enforces(void *self, const char *limit)
{
    (void)self;
    return strcmp(limit, "timeout_s") || !getenv("EAGER_UNTIMED");
}

JIANMU_BACKEND(eager, NULL, run_job, run_tool, enforces, NULL, JIANMU_IN_PROCESS, "For tests.",
    "{\"keys\": {}, \"enforces\": [\"timeout_s\"]}")
JIANMU_PLUGIN(JIANMU_ITEM(eager))
