/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "call/context.h"
#include "base/cleanup.h"
#include "call/runner.h"
#include "call/services.h"

void jm_context_init(jm_context *ctx, jianmu_runner *runner, const struct jm_plan *plan, jianmu_call *call)
{
    *ctx = (jm_context){.public = {&jm_services},
                        .runner = runner,
                        .plan = plan,
                        .call = call,
                        .directory_fd = {-1, -1},
                        .own_timer_fd = -1};
}

void jm_context_end(jm_context *ctx)
{
    if (ctx->workdir)
        jm_workdir_close(jm_steal(ctx->workdir));
    while (ctx->garbage) {
        struct jm_garbage *g = ctx->garbage;
        ctx->garbage = g->next;
        g->release(g->what);
        free(g);
    }
    for (int i = 0; i < 2; i++)
        if (ctx->directory_fd[i] >= 0)
            close(ctx->directory_fd[i]);
    if (ctx->own_timer_fd >= 0)
        close(ctx->own_timer_fd);
}

int jm_context_keep(jm_context *ctx, void (*release)(void *), void *what)
{
    struct jm_garbage *g = malloc(sizeof *g);
    if (!g) {
        release(what);
        return jm_fail_memory(&ctx->error);
    }
    *g = (struct jm_garbage){ctx->garbage, release, what};
    ctx->garbage = g;
    return 0;
}
