/* SPDX-License-Identifier: Apache-2.0
 * A backend from the one header. Valid C and C++. */
#include <jianmu-plugin.h>

static int run_job(void *instance, jianmu_context *ctx)
{
    const jianmu_services *s = ctx->services;
    jianmu_workdir *dir = s->workdir_open(ctx);
    int rc;
    (void)instance;
    if (!dir)
        return -1;
    rc = s->job_run(ctx, dir, s->job_command(ctx, dir, NULL));
    if (!rc)
        rc = s->collect(ctx, dir);
    s->workdir_close(ctx, dir);
    return rc;
}

static json_t *run_tool(void *instance, jianmu_context *ctx, json_t *args)
{
    (void)instance;
    return ctx->services->host_tool(ctx, NULL, args);
}

JIANMU_BACKEND(only_backend, NULL, run_job, run_tool, NULL, NULL, JIANMU_ISOLATED, "Small.", "{\"keys\": {}}")
JIANMU_PLUGIN(JIANMU_ITEM(only_backend))
