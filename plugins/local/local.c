/* SPDX-License-Identifier: Apache-2.0
 * The local backend: tools in the caller's process, jobs in a process of the same user. It is no security boundary:
 * it holds limits and kills whole trees, and whatever it runs may read and write all that its user may. */
#include <jianmu-plugin.h>

static json_t *run_tool(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    return ctx->services->call_tool(ctx, args);
}

static int run_job(void *self, jianmu_context *ctx)
{
    const jianmu_services *core = ctx->services;
    (void)self;
    jianmu_workdir *dir = core->workdir_open(ctx);
    const char *const *command = dir ? core->job_command(ctx, dir, NULL) : NULL;
    if (!command || core->job_run(ctx, dir, command))
        return -1;
    return core->collect(ctx, dir);
}

JIANMU_BACKEND(local, NULL, run_job, run_tool, NULL, NULL, JIANMU_IN_PROCESS,
    "Runs tools in the caller's process and jobs as processes of the same user: limits and clean-up, no isolation.",
    "{\"keys\": {"
    "\"python\": {\"type\": \"str\", \"default\": null, \"doc\": \"the Python interpreter; unset: the first real python3 on PATH\"},"
    "\"workdir\": {\"type\": \"str\", \"default\": null, \"doc\": \"absolute directory in which work directories are made\"},"
    "\"env_allowlist\": {\"type\": \"list\", \"default\": [], \"doc\": \"variables of the host that are passed on\"},"
    "\"env_allowprefix\": {\"type\": \"list\", \"default\": [], \"doc\": \"prefixes of variables of the host that are passed on\"},"
    "\"max_abandoned\": {\"type\": \"int\", \"default\": 8, \"min\": 0, \"max\": 1000, \"doc\": \"calls that may go on in abandoned threads before further ones are refused\"}"
    "}, \"enforces\": [\"timeout_s\", \"cpu_time_s\", \"fsize\", \"nofile\", \"capture\", \"output_limit\", \"max_output\"]}")
JIANMU_PLUGIN(JIANMU_ITEM(local))
