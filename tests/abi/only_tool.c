/* SPDX-License-Identifier: Apache-2.0
 * Two tools from the one header. Valid C and C++. */
#include <jianmu-plugin.h>
#include <jianmu-plugin.h>

static json_t *run(void *instance, jianmu_context *ctx, json_t *args)
{
    struct jianmu_process process = JIANMU_PROCESS_INIT;
    struct jianmu_process_end end = JIANMU_PROCESS_END_INIT;
    (void)instance;
    if (!ctx)
        return json_integer(42);
    if (ctx->services->cancelled(ctx) || ctx->services->process(ctx, &process, &end))
        ctx->services->tool_failed(ctx, "no %s for %p", "process", (void *)args);
    return NULL;
}

static int open_it(jianmu_context *ctx, void **instance)
{
    *instance = ctx;
    return 0;
}

static void close_it(void *instance)
{
    (void)instance;
}

JIANMU_TOOL(only_tool, run, JIANMU_DANGER_READ, 0, "Small.", "{\"type\": \"object\"}")
JIANMU_TOOL_WITH(only_other, run, open_it, close_it, JIANMU_DANGER_DANGEROUS, JIANMU_READ_ONLY | JIANMU_COOPERATES,
                 "Has state.", "{}")
JIANMU_PLUGIN(JIANMU_ITEM(only_tool), JIANMU_ITEM(only_other))
