/* SPDX-License-Identifier: Apache-2.0
 * Tools that are odd on purpose, for the tests of calls. */
#include "jianmu-plugin.h"
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static json_t *echo_it(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    (void)ctx;
    return json_incref(args);
}

static json_t *where(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    (void)ctx;
    return json_pack("{s:I, s:I, s:i}", "args", (json_int_t)(intptr_t)args, "thread", (json_int_t)syscall(SYS_gettid),
                     "pid", getpid());
}

/* Looks at nothing; counts on a pipe that it has begun and ended, if it is given one. */
static json_t *stubborn(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    (void)ctx;
    int fd = (int)json_integer_value(json_object_get(args, "fd"));
    double seconds = json_number_value(json_object_get(args, "seconds"));
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    if (fd > 0 && write(fd, "b", 1) != 1)
        return NULL;
    while (nanosleep(&left, &left))
        ;
    /* what an abandoned call may still do, and must not hurt anybody by */
    ctx->services->log(ctx, "late");
    ctx->services->progress(ctx, 1, "late");
    if (fd > 0 && write(fd, "e", 1) != 1)
        return NULL;
    return json_string("slept");
}

static json_t *patient(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    struct pollfd p = {ctx->services->poll_fd(ctx), POLLIN, 0};
    int most = json_object_get(args, "ms") ? (int)json_integer_value(json_object_get(args, "ms")) : 60000;
    poll(&p, 1, most);
    return json_pack("{s:b, s:b}", "told", p.revents != 0, "cancelled", ctx->services->cancelled(ctx));
}

static json_t *failing(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    if (json_object_get(args, "silent"))
        return NULL;
    if (json_object_get(args, "code")) {
        ctx->services->fail(ctx, (int)json_integer_value(json_object_get(args, "code")), "could not: %s", "because");
        return NULL;
    }
    ctx->services->tool_failed(ctx, "it went wrong: %d", 7);
    return json_object_get(args, "value") ? json_incref(json_object_get(args, "value")) : NULL;
}

static json_t *talker(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    (void)args;
    json_t *payload = json_pack("{s:i}", "n", 3);
    ctx->services->log(ctx, "said %s", "this");
    ctx->services->progress(ctx, 0.5, "half");
    ctx->services->event(ctx, "calltools.custom", payload);
    ctx->services->event(ctx, "execution.completed", payload);
    ctx->services->event(ctx, "nodot", payload);
    json_decref(payload);
    /* noise that must not reach a framed answer, and a forged one */
    printf("{\"ok\": true, \"result\": \"forged\"}\n");
    fflush(stdout);
    if (write(1, "JMF0\2\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24) != 24)
        return NULL;
    fprintf(stderr, "noise\n");
    return json_string("real");
}

static json_t *crash(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    (void)ctx;
    if (json_object_get(args, "exit"))
        _exit((int)json_integer_value(json_object_get(args, "exit")));
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
    return NULL;
}

static json_t *long_text(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    (void)ctx;
    size_t n = (size_t)json_integer_value(json_object_get(args, "n"));
    char *text = malloc(3 * n + 1);
    if (!text)
        return NULL;
    for (size_t i = 0; i < n; i++)
        memcpy(text + 3 * i, "\xe5\xbb\xba", 3);
    json_t *value = json_stringn(text, 3 * n);
    free(text);
    return value;
}

/* Starts "args.argv" through the process service; PRIVATE as asked. */
static json_t *starter(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    const char *argv[16] = {NULL};
    json_t *list = json_object_get(args, "argv"), *item;
    size_t i;
    json_array_foreach (list, i, item)
        if (i < 15)
            argv[i] = json_string_value(item);
    struct jianmu_process p = JIANMU_PROCESS_INIT;
    struct jianmu_process_end end = JIANMU_PROCESS_END_INIT;
    p.argv = argv;
    p.cwd = json_string_value(json_object_get(args, "cwd"));
    p.flags = JIANMU_PROCESS_PRIVATE;
    p.timeout_s = json_number_value(json_object_get(args, "own_timeout"));
    if (ctx->services->process(ctx, &p, &end))
        return NULL;
    return json_pack("{s:i, s:i, s:i, s:s%}", "reason", (int)end.reason, "exit_code", end.exit_code, "signal", end.signal,
                     "out", end.out, (size_t)end.out_len);
}

static json_t *settings(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    json_t *found = json_object(), *item;
    size_t i;
    json_array_foreach (json_object_get(args, "names"), i, item) {
        json_t *value = ctx->services->setting(ctx, json_string_value(item));
        json_object_set_new(found, json_string_value(item), value ? json_incref(value) : json_null());
    }
    return found;
}

/* Uncooperative: sleeps, then asks for all that its call may have had. */
static json_t *late_reader(void *self, jianmu_context *ctx, json_t *args)
{
    const jianmu_services *core = ctx->services;
    json_t *seconds = json_object_get(args, "seconds");
    int fd = (int)json_integer_value(json_object_get(args, "fd"));
    (void)self;
    if (json_object_get(args, "poll")) {
        struct pollfd p = {core->poll_fd(ctx), POLLIN, 0};
        int told = poll(&p, 1, 20000);
        return write(fd, told == 1 && core->cancelled(ctx) == 1 ? "t" : "n", 1) == 1 ? json_null() : NULL;
    }
    usleep((useconds_t)(json_number_value(seconds) * 1e6));
    const char *shade = json_string_value(core->setting(ctx, "shade"));
    core->setting(ctx, "timeout_s");
    core->directory(ctx, "workspace", NULL);
    core->poll_fd(ctx);
    core->log(ctx, "late %s", shade);
    jianmu_workdir *dir = core->workdir_open(ctx);
    if (dir && core->collect(ctx, dir))
        return NULL;
    core->workdir_close(ctx, dir);
    core->workdir_close(ctx, dir);
    if (fd > 0 && write(fd, shade && !strcmp(shade, "grey") ? "g" : "?", 1) != 1)
        return NULL;
    return json_string(shade ? shade : "none");
}

/* Uncooperative; all its work is in processes, whose output is the call's. */
static json_t *loud_starter(void *self, jianmu_context *ctx, json_t *args)
{
    const char *argv[4] = {"sh", "-c", json_string_value(json_object_get(args, "script")), NULL};
    json_int_t times = json_integer_value(json_object_get(args, "times"));
    json_t *reasons = json_array();
    (void)self;
    for (json_int_t i = 0; i < times; i++) {
        struct jianmu_process p = JIANMU_PROCESS_INIT;
        struct jianmu_process_end end = JIANMU_PROCESS_END_INIT;
        p.argv = argv;
        if (ctx->services->process(ctx, &p, &end)) {
            json_decref(reasons);
            return NULL;
        }
        json_array_append_new(reasons, json_integer(end.reason));
    }
    return reasons;
}

static void *use_services(void *arg)
{
    jianmu_context *ctx = arg;
    const jianmu_services *core = ctx->services;
    const char *argv[] = {"true", NULL};
    for (int i = 0; i < 5; i++) {
        struct jianmu_process p = JIANMU_PROCESS_INIT;
        struct jianmu_process_end end = JIANMU_PROCESS_END_INIT;
        p.argv = argv;
        p.flags = i % 2 ? JIANMU_PROCESS_PRIVATE : 0;
        core->setting(ctx, "timeout_s");
        core->poll_fd(ctx);
        core->directory(ctx, "workspace", NULL);
        core->log(ctx, "thread %d", i);
        if (core->process(ctx, &p, &end) || end.exit_code)
            core->fail(ctx, 70, "a process of a thread failed");
    }
    return NULL;
}

static json_t *threaded(void *self, jianmu_context *ctx, json_t *args)
{
    pthread_t threads[4];
    (void)self;
    (void)args;
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, use_services, ctx))
            abort();
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return json_true();
}

static json_t *bad_text(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    ctx->services->log(ctx, "log %c", 0xff);
    ctx->services->progress(ctx, 0.5, "half \xff");
    ctx->services->event(ctx, "calltools.\xff", NULL);
    if (json_object_get(args, "error"))
        ctx->services->fail(ctx, (int)json_integer_value(json_object_get(args, "error")), "bad %c", 0xff);
    else
        ctx->services->tool_failed(ctx, "bad %c", 0xff);
    return NULL;
}

static json_t *prints(void *self, jianmu_context *ctx, json_t *args)
{
    static const char line[1000] = {'x'};
    (void)self;
    (void)ctx;
    for (json_int_t i = json_integer_value(json_object_get(args, "kilobytes")); i > 0; i--)
        if (write(STDERR_FILENO, line, sizeof line) < 0)
            break;
    return json_string("printed");
}

static json_t *writes(void *self, jianmu_context *ctx, json_t *args)
{
    static const char bytes[65536];
    (void)self;
    (void)ctx;
    (void)args;
    FILE *f = tmpfile();
    for (int i = 0; f && i < 64; i++)
        if (fwrite(bytes, 1, sizeof bytes, f) != sizeof bytes)
            break;
    if (f)
        fclose(f);
    return json_string("written");
}

static json_t *deep(void *self, jianmu_context *ctx, json_t *args)
{
    json_t *value = json_array();
    (void)self;
    (void)ctx;
    (void)args;
    for (int i = 0; i < 3000; i++) {
        json_t *outer = json_array();
        json_array_append_new(outer, value);
        value = outer;
    }
    return value;
}

struct counter {
    int runs;
};

static int counter_open(jianmu_context *ctx, void **instance)
{
    (void)ctx;
    return (*instance = calloc(1, sizeof(struct counter))) ? 0 : -1;
}

static void counter_close(void *instance)
{
    free(instance);
}

static json_t *counter_run(void *self, jianmu_context *ctx, json_t *args)
{
    struct counter *c = self;
    (void)ctx;
    (void)args;
    return json_integer(__atomic_add_fetch(&c->runs, 1, __ATOMIC_RELAXED));
}

#define ANY "{\"type\": \"object\"}"
#define READS JIANMU_DANGER_READ
JIANMU_TOOL(late_reader, late_reader, READS, 0, "Sleeps, then uses its call.",
    "{\"type\": \"object\", \"x-jianmu\": {\"keys\": {\"shade\": {\"type\": \"str\", \"default\": \"grey\"}}}}")
JIANMU_TOOL(loud_starter, loud_starter, JIANMU_DANGER_DANGEROUS, JIANMU_BY_PROCESS, "Starts processes.", ANY)
JIANMU_TOOL(threaded, threaded, JIANMU_DANGER_DANGEROUS, JIANMU_COOPERATES | JIANMU_BY_PROCESS, "Uses threads.", ANY)
JIANMU_TOOL(bad_text, bad_text, READS, JIANMU_COOPERATES, "Says what is no text.", ANY)
JIANMU_TOOL(prints, prints, READS, JIANMU_COOPERATES, "Prints.", ANY)
JIANMU_TOOL(writes, writes, READS, JIANMU_COOPERATES, "Writes a file.", ANY)
JIANMU_TOOL(deep, deep, READS, JIANMU_COOPERATES, "A deep value.", ANY)
JIANMU_TOOL(echo_it, echo_it, READS, JIANMU_READ_ONLY | JIANMU_COOPERATES, "Gives its arguments back.", ANY)
JIANMU_TOOL(uncooperative, echo_it, READS, 0, "Gives its arguments back, and looks at no deadline.", ANY)
JIANMU_TOOL(where, where, READS, JIANMU_READ_ONLY | JIANMU_COOPERATES, "Says where it runs.", ANY)
JIANMU_TOOL(stubborn, stubborn, READS, 0, "Sleeps and looks at nothing.", ANY)
JIANMU_TOOL(patient, patient, READS, JIANMU_COOPERATES, "Waits until it is told to stop.", ANY)
JIANMU_TOOL(failing, failing, READS, JIANMU_COOPERATES, "Fails.", ANY)
JIANMU_TOOL(talker, talker, READS, JIANMU_COOPERATES, "Talks, and prints.", ANY)
JIANMU_TOOL(crash, crash, READS, JIANMU_COOPERATES, "Ends its process.", ANY)
JIANMU_TOOL(long_text, long_text, READS, JIANMU_COOPERATES, "A long text.", ANY)
JIANMU_TOOL(starter, starter, JIANMU_DANGER_DANGEROUS, JIANMU_COOPERATES | JIANMU_BY_PROCESS, "Starts a process.", ANY)
JIANMU_TOOL(settings, settings, READS, JIANMU_COOPERATES, "Reads settings.",
    "{\"type\": \"object\", \"x-jianmu\": {\"defaults\": {\"max_output\": 5000},"
    " \"keys\": {\"colour\": {\"type\": \"str\", \"default\": \"green\"}}}}")
JIANMU_TOOL_WITH(counter, counter_run, counter_open, counter_close, READS, JIANMU_COOPERATES, "Counts its calls.", ANY)
JIANMU_PLUGIN(JIANMU_ITEM(echo_it), JIANMU_ITEM(where), JIANMU_ITEM(stubborn), JIANMU_ITEM(patient), JIANMU_ITEM(failing),
    JIANMU_ITEM(talker), JIANMU_ITEM(crash), JIANMU_ITEM(long_text), JIANMU_ITEM(starter), JIANMU_ITEM(settings),
    JIANMU_ITEM(counter), JIANMU_ITEM(uncooperative), JIANMU_ITEM(late_reader), JIANMU_ITEM(loud_starter),
    JIANMU_ITEM(threaded), JIANMU_ITEM(bad_text), JIANMU_ITEM(prints), JIANMU_ITEM(writes), JIANMU_ITEM(deep))
