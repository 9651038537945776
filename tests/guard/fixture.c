/* SPDX-License-Identifier: Apache-2.0
 * A foreign guard that does what its settings say, and writes down what it is told at the end. */
#include "jianmu-plugin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fixture {
    char act[32], log[512];
};

static int fixture_open(jianmu_context *ctx, void **instance)
{
    const char *act = json_string_value(ctx->services->setting(ctx, "act"));
    const char *log = json_string_value(ctx->services->setting(ctx, "log"));
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        return ctx->services->fail(ctx, 70, "out of memory");
    if (act && !strcmp(act, "closed")) {
        free(f);
        return ctx->services->fail(ctx, 41, "today it does not open");
    }
    snprintf(f->act, sizeof f->act, "%s", act ? act : "allow");
    snprintf(f->log, sizeof f->log, "%s", log ? log : "");
    *instance = f;
    return 0;
}

static void say(const struct fixture *f, const char *what, unsigned long ticket, unsigned attempts)
{
    FILE *out = f->log[0] ? fopen(f->log, "ae") : NULL;
    if (!out)
        return;
    fprintf(out, "%s %lu %u\n", what, ticket, attempts);
    fclose(out);
}

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static int decide(void *instance, jianmu_context *ctx, const struct jianmu_guard_request *request,
                  struct jianmu_guard_decision *d)
{
    const struct fixture *f = instance;
    const char *act = f->act;
    d->verdict = JIANMU_ALLOW;
    d->ticket = 7;
    d->rule = "its rule";
    d->source = "its file:1";
    if (!strcmp(act, "deny"))
        d->verdict = JIANMU_DENY;
    else if (!strcmp(act, "confirm"))
        d->verdict = JIANMU_CONFIRM;
    else if (!strcmp(act, "nothing"))
        d->verdict = 0;
    else if (!strcmp(act, "nine"))
        d->verdict = 9;
    else if (!strcmp(act, "odd")) {
        d->verdict = JIANMU_DENY;
        d->code = 4711;
        d->retry_after_s = -1.0;
        d->rule = "\xff";
        memset(d->message, 'x', sizeof d->message); /* no end */
        d->message[0] = (char)0xfe;
    } else if (!strcmp(act, "fail"))
        return ctx->services->fail(ctx, 41, "it has no opinion on %s", request->tool);
    else if (!strcmp(act, "silent"))
        return -1;
    else if (!strcmp(act, "said"))
        ctx->services->fail(ctx, 41, "it says so, and returns 0");
    else if (!strcmp(act, "sleep")) {
        while (!ctx->services->cancelled(ctx))
            pause_ms(5);
        pause_ms(100);
    }
    return 0;
}

static int again(void *instance, uint64_t ticket)
{
    say(instance, "again", (unsigned long)ticket, 0);
    return strcmp(((struct fixture *)instance)->act, "once") ? 0 : -1;
}

static void settle(void *instance, uint64_t ticket, const struct jianmu_guard_usage *usage)
{
    say(instance, "settle", (unsigned long)ticket, usage->attempts);
    if (!strcmp(((struct fixture *)instance)->act, "slow settle"))
        pause_ms(1500);
}

static void fixture_close(void *instance)
{
    say(instance, "close", 0, 0);
    free(instance);
}

JIANMU_GUARD(fixture, decide, fixture_open, again, settle, fixture_close, 0, "does what its settings say",
             "{\"keys\":{\"act\":{\"type\":\"str\",\"default\":\"allow\"},\"log\":{\"type\":\"str\",\"default\":null}}}")
JIANMU_PLUGIN(JIANMU_ITEM(fixture))
