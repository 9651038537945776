/* SPDX-License-Identifier: Apache-2.0
 * A guard for tests: what is dangerous needs confirmation, arguments may ask for another verdict ("verdict"), and all it
 * is told goes into $ASKS_LOG: d decided, a again, sN settled after N attempts. */
#include "jianmu-plugin.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void note(const char *text)
{
    const char *file = getenv("ASKS_LOG");
    int fd = file ? open(file, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        return;
    close(fd);
}

static int decide(void *self, jianmu_context *ctx, const struct jianmu_guard_request *request,
                  struct jianmu_guard_decision *d)
{
    (void)self;
    (void)ctx;
    const char *verdict = json_string_value(json_object_get(request->args, "verdict"));
    if (json_array_size(json_object_get(request->args, "list")) == 1)
        verdict = "deny"; /* a list of one: a text is none */
    if (!(request->options & JIANMU_GUARD_EXPLAIN))
        note("d");
    d->rule = "ask";
    d->source = "asks.c:1";
    d->ticket = 7;
    d->verdict = request->danger == JIANMU_DANGER_DANGEROUS && !(request->options & JIANMU_GUARD_OPERATOR)
                     ? JIANMU_CONFIRM : JIANMU_ALLOW;
    if (!verdict)
        return 0;
    d->verdict = JIANMU_DENY;
    d->code = !strcmp(verdict, "rate") ? 32 : !strcmp(verdict, "budget") ? 33 : 30;
    d->retry_after_s = !strcmp(verdict, "rate") ? 2.5 : 0;
    snprintf(d->message, sizeof d->message, "asks says no (%s)", verdict);
    return !strcmp(verdict, "broken") ? -1 : 0;
}

static int again(void *self, uint64_t ticket)
{
    (void)self;
    note(ticket == 7 ? "a" : "?");
    return getenv("ASKS_ONCE") ? -1 : 0;
}

static void settle(void *self, uint64_t ticket, const struct jianmu_guard_usage *usage)
{
    char text[16];
    (void)self;
    snprintf(text, sizeof text, ticket == 7 ? "s%u" : "?%u", (unsigned)usage->attempts);
    note(text);
}

JIANMU_GUARD(asks, decide, NULL, again, settle, NULL, JIANMU_COOPERATES, "For tests.", "{\"keys\": {}}")
JIANMU_PLUGIN(JIANMU_ITEM(asks))
