/* SPDX-License-Identifier: Apache-2.0
 * A backend for tests that takes its time to open, and gives how often it was opened and closed for the value of any
 * tool. With $COUNTED_BROKEN it cannot be opened, with $COUNTED_WEAK it does not hold memory. */
#include "jianmu-plugin.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static atomic_int opened, closed;

static int open_counted(jianmu_context *ctx, void **instance)
{
    const struct timespec a_while = {0, 50000000};
    if (getenv("COUNTED_BROKEN"))
        return ctx->services->fail(ctx, 41, "it is broken");
    nanosleep(&a_while, NULL);
    opened++;
    *instance = &opened;
    return 0;
}

static void close_counted(void *instance)
{
    (void)instance;
    closed++;
}

static int run_job(void *instance, jianmu_context *ctx)
{
    (void)instance;
    return ctx->services->fail(ctx, 50, "no jobs here");
}

static json_t *run_tool(void *instance, jianmu_context *ctx, json_t *args)
{
    (void)instance;
    (void)ctx;
    (void)args;
    return json_pack("{s:i, s:i}", "opened", (int)opened, "closed", (int)closed);
}

static int enforces(void *instance, const char *limit)
{
    (void)instance;
    return strcmp(limit, "memory") || !getenv("COUNTED_WEAK");
}

JIANMU_BACKEND(counted, open_counted, run_job, run_tool, enforces, close_counted, 0, "For tests.",
    "{\"keys\": {\"memory\": {\"type\": \"size\", \"default\": \"1m\"}, \"docker_image\": {\"type\": \"str\"}},"
    " \"enforces\": [\"timeout_s\", \"memory\"]}")
JIANMU_PLUGIN(JIANMU_ITEM(counted))
