/* SPDX-License-Identifier: Apache-2.0
 * A backend of an earlier release. */
#include "kept.h"
#include <string.h>

static int open_it(jianmu_context *ctx, void **instance)
{
    static char name[] = "kept";
    (void)ctx;
    *instance = name;
    return 0;
}

static int run_job(void *instance, jianmu_context *ctx)
{
    ctx->services->log(ctx, "job in %s", (const char *)instance);
    return 7;
}

static json_t *run_tool(void *instance, jianmu_context *ctx, json_t *args)
{
    (void)ctx;
    return json_pack("[s, O]", (const char *)instance, args);
}

static int enforces(void *instance, const char *limit)
{
    (void)instance;
    return !strcmp(limit, "timeout_s");
}

static void close_it(void *instance)
{
    ((char *)instance)[0] = 'K';
}

JIANMU_BACKEND(kept_backend, open_it, run_job, run_tool, enforces, close_it, JIANMU_IN_PROCESS, "Kept for ever.",
               "{\"keys\": {\"depth\": {\"type\": \"int\", \"default\": 3}}, \"enforces\": [\"timeout_s\"]}")
JIANMU_PLUGIN(JIANMU_ITEM(kept_backend))
