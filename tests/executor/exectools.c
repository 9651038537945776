/* SPDX-License-Identifier: Apache-2.0
 * Tools that fail on purpose, and leave a byte in "file" each time they have done something. */
#include "jianmu-plugin.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How often this file's tool has run, this time included; 0: no file. */
static long leave_byte(json_t *args)
{
    struct stat st = {0};
    const char *file = json_string_value(json_object_get(args, "file"));
    int fd = file ? open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (fd >= 0 && (write(fd, ".", 1) != 1 || fstat(fd, &st)))
        st.st_size = 0;
    if (fd >= 0)
        close(fd);
    return (long)st.st_size;
}

/* Its side effect is done, its answer never comes: for the first "times" runs. */
static json_t *dies(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    (void)ctx;
    if (leave_byte(args) <= json_integer_value(json_object_get(args, "times")))
        raise(SIGKILL);
    return json_string("lived");
}

/* Fails the first "times" runs, as "how" says. */
static json_t *fails(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    const char *how = json_string_value(json_object_get(args, "how"));
    json_t *code = json_object_get(args, "code");
    if (leave_byte(args) > json_integer_value(json_object_get(args, "times")))
        return json_string("worked");
    if (how && strstr(how, "transient"))
        ctx->services->transient(ctx);
    if (code)
        ctx->services->fail(ctx, (int)json_integer_value(code), "not now");
    else
        ctx->services->tool_failed(ctx, "it went wrong");
    return NULL;
}

/* Waits for its deadline the first "times" runs; at most "ms". */
static json_t *hangs(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    struct pollfd p = {ctx->services->poll_fd(ctx), POLLIN, 0};
    json_t *most = json_object_get(args, "ms");
    if (leave_byte(args) <= json_integer_value(json_object_get(args, "times")))
        poll(&p, 1, most ? (int)json_integer_value(most) : 60000);
    return ctx->services->cancelled(ctx) ? NULL : json_string("done");
}

/* Says transient, then hangs; for the total deadline. */
static json_t *fails_then_hangs(void *self, jianmu_context *ctx, json_t *args)
{
    struct pollfd p = {-1, POLLIN, 0};
    (void)self;
    if (leave_byte(args) == 1) {
        ctx->services->transient(ctx);
        ctx->services->tool_failed(ctx, "not now");
        return NULL;
    }
    p.fd = ctx->services->poll_fd(ctx);
    poll(&p, 1, 60000);
    return ctx->services->cancelled(ctx) ? NULL : json_string("done");
}

static json_t *echoes(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    (void)ctx;
    leave_byte(args);
    return json_incref(args);
}

/* Looks at nothing. */
static json_t *deaf(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    (void)ctx;
    double seconds = json_number_value(json_object_get(args, "seconds"));
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left))
        ;
    return json_string("slept");
}

#define ANY "{\"type\": \"object\"}"
#define STRICT "{\"type\": \"object\", \"properties\": {\"n\": {\"type\": \"integer\"}, \"list\": {\"type\": \"array\"}}, \"required\": [\"n\"], \"additionalProperties\": false}"
#define FAR "{\"type\": \"object\", \"properties\": {\"a\": {\"$ref\": \"https://example.org/schema\"}}}"
#define READS JIANMU_DANGER_READ
#define WRITES JIANMU_DANGER_WRITE
JIANMU_TOOL(dies, dies, WRITES, JIANMU_COOPERATES, "Dies.", ANY)
JIANMU_TOOL(dies_idempotent, dies, WRITES, JIANMU_COOPERATES | JIANMU_IDEMPOTENT, "Dies, and twice is as once.", ANY)
JIANMU_TOOL(fails, fails, WRITES, JIANMU_COOPERATES, "Fails.", ANY)
JIANMU_TOOL(fails_idempotent, fails, WRITES, JIANMU_COOPERATES | JIANMU_IDEMPOTENT, "Fails, and twice is as once.", ANY)
JIANMU_TOOL(fails_reading, fails, READS, JIANMU_COOPERATES | JIANMU_READ_ONLY, "Fails, and only reads.", ANY)
JIANMU_TOOL(hangs, hangs, WRITES, JIANMU_COOPERATES, "Hangs.", ANY)
JIANMU_TOOL(hangs_idempotent, hangs, WRITES, JIANMU_COOPERATES | JIANMU_IDEMPOTENT, "Hangs, and twice is as once.", ANY)
JIANMU_TOOL(fails_then_hangs, fails_then_hangs, READS, JIANMU_COOPERATES, "Fails, then hangs.", ANY)
JIANMU_TOOL(echoes, echoes, READS, JIANMU_COOPERATES | JIANMU_READ_ONLY, "Gives its arguments back.", ANY)
JIANMU_TOOL(strict, echoes, READS, JIANMU_COOPERATES | JIANMU_READ_ONLY, "Takes a number.", STRICT)
JIANMU_TOOL(far, echoes, READS, JIANMU_COOPERATES, "Its schema is elsewhere.", FAR)
JIANMU_TOOL(dangerous, echoes, JIANMU_DANGER_DANGEROUS, JIANMU_COOPERATES, "Dangerous.", ANY)
JIANMU_TOOL(dangerous_too, echoes, JIANMU_DANGER_DANGEROUS, JIANMU_COOPERATES, "Dangerous.", ANY)
JIANMU_TOOL(deaf, deaf, READS, 0, "Looks at nothing.", ANY)
JIANMU_PLUGIN(JIANMU_ITEM(dies), JIANMU_ITEM(dies_idempotent), JIANMU_ITEM(fails), JIANMU_ITEM(fails_idempotent),
    JIANMU_ITEM(fails_reading), JIANMU_ITEM(hangs), JIANMU_ITEM(hangs_idempotent), JIANMU_ITEM(fails_then_hangs),
    JIANMU_ITEM(echoes), JIANMU_ITEM(strict), JIANMU_ITEM(far), JIANMU_ITEM(dangerous), JIANMU_ITEM(dangerous_too), JIANMU_ITEM(deaf))
