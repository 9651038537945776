/* SPDX-License-Identifier: Apache-2.0
 * A sink that makes no promise: it takes its first event only once a file is there. */
#include "jianmu-plugin.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gated {
    char gate[256], log[256];
};

static void event(void *instance, const struct jianmu_sink_event *e)
{
    struct gated *g = instance;
    while (access(g->gate, F_OK))
        usleep(1000);
    FILE *f = fopen(g->log, "ae");
    if (!f)
        return;
    fwrite(e->line, 1, e->line_len, f);
    fclose(f);
}

static int open_it(jianmu_context *ctx, void **instance)
{
    const char *dir = json_string_value(ctx->services->setting(ctx, "dir"));
    struct gated *g = calloc(1, sizeof *g);
    if (!dir || !g)
        return ctx->services->fail(ctx, 10, "no directory");
    snprintf(g->gate, sizeof g->gate, "%s/gate", dir);
    snprintf(g->log, sizeof g->log, "%s/log", dir);
    *instance = g;
    return 0;
}

static void close_it(void *instance)
{
    struct gated *g = instance;
    char name[300];
    snprintf(name, sizeof name, "%s.closed", g->log);
    close(open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    free(g);
}

JIANMU_SINK(gated, event, open_it, close_it, NULL, 0, "Waits.", "{\"keys\": {\"dir\": {\"type\": \"str\", \"default\": null}}}")
JIANMU_PLUGIN(JIANMU_ITEM(gated))
