/* SPDX-License-Identifier: Apache-2.0
 * A backend for tests: tools in a tool host that is started without any launcher; jobs in a process it describes
 * itself, with a struct that is shorter than today's. */
#include "jianmu-plugin.h"
#include <string.h>

static json_t *run_tool(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    return ctx->services->host_tool(ctx, NULL, args);
}

static int run_job(void *self, jianmu_context *ctx)
{
    static const char *const argv[] = {"sh", "-c", "echo from a process; exit 6", NULL};
    struct jianmu_process p = JIANMU_PROCESS_INIT;
    struct jianmu_process_end end = JIANMU_PROCESS_END_INIT;
    (void)self;
    p.argv = argv;
    p.size = offsetof(struct jianmu_process, cwd);
    p.cwd = "/nonexistent"; /* beyond the size: not there */
    end.size = offsetof(struct jianmu_process_end, out);
    end.out = "untouched";
    if (ctx->services->process(ctx, &p, &end))
        return -1;
    if (end.exit_code != 6 || strcmp(end.out, "untouched"))
        return ctx->services->fail(ctx, 70, "the core wrote beyond the size it was given");
    return 0;
}

static int enforces(void *self, const char *limit)
{
    (void)self;
    return strcmp(limit, "nofile") != 0; /* listed, and not to be had here */
}

JIANMU_BACKEND(hosted, NULL, run_job, run_tool, enforces, NULL, 0, "For tests.",
    "{\"keys\": {\"flavour\": {\"type\": \"str\", \"default\": \"plain\"}},"
    " \"enforces\": [\"timeout_s\", \"cpu_time_s\", \"fsize\", \"nofile\", \"max_output\", \"output_limit\"]}")
JIANMU_PLUGIN(JIANMU_ITEM(hosted))
