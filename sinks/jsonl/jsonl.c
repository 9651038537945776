/* SPDX-License-Identifier: Apache-2.0
 * Events into a file, a line each. */
#include "config.h"
#include "common/append.h"
#include "jianmu-plugin.h"
#include "jianmu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The time of the line that follows is good enough for the notice. */
static size_t notice(uint64_t untold, const char *line, char text[512])
{
    const char *time = strstr(line, "\"time\":\"");
    int len = snprintf(text, 512,
                       "{\"event\":\"events.lost\",\"time\":\"%.27s\",\"run_id\":null,\"node_name\":null,"
                       "\"tool_call_id\":null,\"payload\":{\"sink\":\"jsonl\",\"lost\":%llu}}\n",
                       time ? time + 8 : "", (unsigned long long)untold);
    return (size_t)len;
}

static void event(void *instance, const struct jianmu_sink_event *e)
{
    append_line(instance, e->line, e->line_len, e->kind == JIANMU_EVENT_STARTED, notice);
}

static int open_it(jianmu_context *ctx, void **instance)
{
    const char *path = json_string_value(ctx->services->setting(ctx, "file"));
    struct append *a = calloc(1, sizeof *a);
    if (!a)
        return ctx->services->fail(ctx, JIANMU_INTERNAL, "out of memory");
    int why = path ? append_open(a, path) : 0;
    if (path && !why) {
        *instance = a;
        return 0;
    }
    free(a);
    if (!path)
        return ctx->services->fail(ctx, JIANMU_INVALID, "no file is named (events.jsonl.file)");
    return ctx->services->fail(ctx, JIANMU_UNAVAILABLE, "%s: %s", path, strerrordesc_np(why));
}

static void close_it(void *instance)
{
    append_close(instance);
    free(instance);
}

static uint64_t lost(void *instance)
{
    return append_lost(instance);
}

JIANMU_SINK(jsonl, event, open_it, close_it, lost, JIANMU_COOPERATES, "Writes events to a file, a line of JSON each.",
            "{\"keys\": {\"file\": {\"type\": \"str\", \"default\": null, \"doc\": \"the file the lines are appended to\"}}}")
JIANMU_PLUGIN(JIANMU_ITEM(jsonl))
