/* SPDX-License-Identifier: Apache-2.0
 * A backend that promises a limit which its host may lack: $HALF says so. */
#include "jianmu-plugin.h"
#include <stdlib.h>
#include <string.h>

static int is(const char *word)
{
    const char *half = getenv("HALF");
    return half && !strcmp(half, word);
}

static int open_half(jianmu_context *ctx, void **instance)
{
    (void)instance;
    return is("none") ? ctx->services->fail(ctx, 41, "not here today") : 0;
}

static int run_job(void *instance, jianmu_context *ctx)
{
    (void)instance;
    return ctx->services->fail(ctx, 41, "no jobs here");
}

static json_t *run_tool(void *instance, jianmu_context *ctx, json_t *args)
{
    (void)instance;
    return ctx->services->call_tool(ctx, args);
}

static int enforces(void *instance, const char *limit)
{
    (void)instance;
    return strcmp(limit, "memory") || is("whole");
}

JIANMU_BACKEND(half, open_half, run_job, run_tool, enforces, NULL, JIANMU_IN_PROCESS, "Promises memory.",
    "{\"enforces\": [\"timeout_s\", \"memory\"]}")
JIANMU_PLUGIN(JIANMU_ITEM(half))
