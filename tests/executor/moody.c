/* SPDX-License-Identifier: Apache-2.0
 * A backend for tests that cannot be had the first times it is asked: $MOODY_TIMES calls fail with $MOODY_CODE before
 * anything has run. */
#include "jianmu-plugin.h"
#include <stdlib.h>

static int calls;

static int in_a_mood(jianmu_context *ctx)
{
    const char *times = getenv("MOODY_TIMES"), *code = getenv("MOODY_CODE");
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) > (times ? atoi(times) : 0))
        return 0;
    return ctx->services->fail(ctx, code ? atoi(code) : 41, "in a mood");
}

static json_t *run_tool(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    return in_a_mood(ctx) ? NULL : ctx->services->call_tool(ctx, args);
}

static int run_job(void *self, jianmu_context *ctx)
{
    static const char *const argv[] = {"sh", "-c", ":", NULL};
    struct jianmu_process p = JIANMU_PROCESS_INIT;
    (void)self;
    if (in_a_mood(ctx))
        return -1;
    p.argv = argv;
    return ctx->services->process(ctx, &p, NULL);
}

static int open_it(jianmu_context *ctx, void **instance)
{
    (void)ctx;
    calls = 0;
    *instance = &calls;
    return 0;
}

JIANMU_BACKEND(moody, open_it, run_job, run_tool, NULL, NULL, JIANMU_IN_PROCESS, "For tests.",
    "{\"keys\": {}, \"enforces\": [\"timeout_s\"]}")
JIANMU_PLUGIN(JIANMU_ITEM(moody))
