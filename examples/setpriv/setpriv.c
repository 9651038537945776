/* SPDX-License-Identifier: Apache-2.0
 * A backend in one file: jobs and tool calls run through setpriv(1), without capabilities to gain and with no new
 * privileges. Build:  cc -shared -fPIC $(pkg-config --cflags jianmu) setpriv.c -o setpriv.so $(pkg-config --libs jansson)
 * Use:  mkdir -p backends && mv setpriv.so backends/ && jianmu --plugin-dir "$PWD" --mode setpriv job script.py
 *
 * The launcher is all that is its own. Directories, limits, the clock, killing, output, artifacts and the tool host
 * are services of the core. */
#include <jianmu-plugin.h>
#include <unistd.h>

static const char *const launcher[] = {"/usr/bin/setpriv", "--no-new-privs", "--inh-caps=-all", "--", NULL};

/* Once per runner: a mode that cannot be had is an error, not a weaker run. */
static int open_setpriv(jianmu_context *ctx, void **instance)
{
    (void)instance;
    if (access(launcher[0], X_OK) == 0)
        return 0;
    return ctx->services->fail(ctx, 41, "%s is missing (Debian: util-linux)", launcher[0]);
}

static int run_job(void *self, jianmu_context *ctx)
{
    const jianmu_services *core = ctx->services;
    (void)self;
    jianmu_workdir *dir = core->workdir_open(ctx);
    const char *const *command = dir ? core->job_command(ctx, dir, launcher) : NULL;
    if (!command || core->job_run(ctx, dir, command))
        return -1;
    return core->collect(ctx, dir);
}

static json_t *run_tool(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    return ctx->services->host_tool(ctx, launcher, args);
}

JIANMU_BACKEND(setpriv, open_setpriv, run_job, run_tool, NULL, NULL, 0,
    "Runs jobs and tools as processes that can gain no privileges.",
    "{\"keys\": {\"python\": {\"type\": \"str\", \"default\": null, \"doc\": \"the Python interpreter\"}},"
    " \"enforces\": [\"timeout_s\", \"cpu_time_s\", \"fsize\", \"nofile\", \"capture\", \"output_limit\", \"max_output\"]}")
JIANMU_PLUGIN(JIANMU_ITEM(setpriv))
