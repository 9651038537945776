/* SPDX-License-Identifier: Apache-2.0
 * Calls as spans: an end is put into a bounded queue, the rest is done by a thread. */
#include "config.h"
#include "otlp/otlp.h"
#include "common/append.h"
#include "jianmu.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_BYTES = 16777216, TRIES = 4 };
#define SECOND INT64_C(1000000000)

struct otlp {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    struct ended *first, *last;
    size_t count, bytes, most, batch;
    int64_t delay;       /* how long a batch that is not full waits */
    int64_t flush;       /* how long the end may take */
    int64_t until;       /* the end; 0: it has not come */
    uint64_t lost;
    bool disabled, finished, orphan;
    json_t *resource;
    struct append file;  /* path NULL: none */
    struct post post;    /* url NULL: none */
};

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static struct ended *copy(const struct jianmu_sink_event *e)
{
    size_t state = e->tracestate ? strlen(e->tracestate) + 1 : 0, size = sizeof(struct ended) + e->line_len + 1 + state;
    struct ended *c = malloc(size);
    if (!c)
        return NULL;
    *c = (struct ended){.start_ns = e->time_ns - e->duration_ns, .end_ns = e->time_ns, .flags = e->trace_flags,
                        .failed = e->kind == JIANMU_EVENT_FAILED, .size = size, .line_len = e->line_len};
    memcpy(c->trace_id, e->trace_id, sizeof c->trace_id);
    memcpy(c->span_id, e->span_id, sizeof c->span_id);
    memcpy(c->parent_id, e->parent_id, sizeof c->parent_id);
    memcpy(c->line, e->line, e->line_len + 1);
    if (state)
        c->state = strcpy(c->line + e->line_len + 1, e->tracestate);
    return c;
}

static void event(void *instance, const struct jianmu_sink_event *e)
{
    struct otlp *o = instance;
    static const uint8_t none[16];
    bool end = e->kind == JIANMU_EVENT_COMPLETED || e->kind == JIANMU_EVENT_FAILED;
    if (!end || o->disabled || !(e->trace_flags & 1) || !memcmp(e->trace_id, none, 16))
        return;
    struct ended *c = copy(e);
    pthread_mutex_lock(&o->lock);
    if (!c || o->count >= o->most || o->bytes + c->size > MOST_BYTES) {
        o->lost++;
    } else {
        *(o->last ? &o->last->next : &o->first) = c;
        o->last = c;
        o->bytes += c->size;
        c = NULL;
        if (++o->count == 1 || o->count == o->batch)
            pthread_cond_signal(&o->changed);
    }
    pthread_mutex_unlock(&o->lock);
    free(c);
}

static void wait_until(struct otlp *o, int64_t at)
{
    struct timespec t = {(time_t)(at / SECOND), (long)(at % SECOND)};
    pthread_cond_timedwait(&o->changed, &o->lock, &t);
}

/* Under the lock: a batch once it is full, has waited, or the end has come; NULL: the end, and nothing is left. */
static struct ended *take_batch(struct otlp *o, size_t *count)
{
    while (!o->first && !o->until)
        pthread_cond_wait(&o->changed, &o->lock);
    int64_t at = now() + (o->post.url ? o->delay : 0);
    while (o->first && o->count < o->batch && !o->until && now() < at)
        wait_until(o, at);
    struct ended *first = o->first, *last = first;
    for (*count = 0; last; last = last->next) {
        o->bytes -= last->size;
        if (++*count == o->batch || !last->next)
            break;
    }
    o->count -= *count;
    o->first = last ? last->next : NULL;
    if (!o->first)
        o->last = NULL;
    if (last)
        last->next = NULL;
    return first;
}

/* Of the transfer that is going on: has the end come, and its time passed? */
static bool give_up(void *data)
{
    struct otlp *o = data;
    pthread_mutex_lock(&o->lock);
    bool late = o->until && now() >= o->until;
    pthread_mutex_unlock(&o->lock);
    return late;
}

/* Waits between tries; false: there shall be no other. */
static bool wait_again(struct otlp *o, int try)
{
    pthread_mutex_lock(&o->lock);
    int64_t at = now() + (SECOND << try);
    while (now() < at && !o->until)
        wait_until(o, at);
    bool again = !o->until;
    pthread_mutex_unlock(&o->lock);
    return again;
}

static bool deliver(struct otlp *o, const char *text, size_t len)
{
    enum post_end end = POST_DONE;
    for (int try = 0; o->post.url && try < TRIES; try++) {
        end = post_send(&o->post, text, len);
        if (end != POST_AGAIN || !wait_again(o, try))
            break;
    }
    if (!o->file.path)
        return end == POST_DONE;
    uint64_t before = append_lost(&o->file);
    append_line(&o->file, text, len, true, NULL);
    return end == POST_DONE && append_lost(&o->file) == before;
}

static void free_batch(struct ended *batch)
{
    while (batch) {
        struct ended *next = batch->next;
        free(batch);
        batch = next;
    }
}

static void send_batch(struct otlp *o, struct ended *batch, size_t count)
{
    size_t len = 0, printed = 0;
    char *text = spans_print(o->resource, batch, &len, &printed);
    bool done = text && deliver(o, text, len);
    free(text);
    free_batch(batch);
    pthread_mutex_lock(&o->lock);
    o->lost += done ? count - printed : count;
    pthread_mutex_unlock(&o->lock);
}

static void destroy(struct otlp *o)
{
    append_close(&o->file);
    post_end(&o->post);
    json_decref(o->resource);
    pthread_cond_destroy(&o->changed);
    pthread_mutex_destroy(&o->lock);
    free(o);
}

static void *serve(void *data)
{
    struct otlp *o = data;
    size_t count;
    pthread_mutex_lock(&o->lock);
    for (struct ended *batch; (batch = take_batch(o, &count));) {
        if (o->until && now() >= o->until) { /* too late for more */
            o->lost += count;
            free_batch(batch);
            continue;
        }
        pthread_mutex_unlock(&o->lock);
        send_batch(o, batch, count);
        pthread_mutex_lock(&o->lock);
    }
    o->finished = true;
    bool orphan = o->orphan;
    pthread_cond_broadcast(&o->changed);
    pthread_mutex_unlock(&o->lock);
    if (orphan)
        destroy(o);
    return NULL;
}

/* A thread that does not come back in time is left to itself: this file is never unloaded. */
static void close_it(void *instance)
{
    struct otlp *o = instance;
    pthread_mutex_lock(&o->lock);
    o->until = now() + o->flush;
    pthread_cond_broadcast(&o->changed);
    while (!o->finished && now() < o->until + SECOND)
        wait_until(o, o->until + SECOND);
    bool finished = o->finished;
    pthread_t thread = o->thread;
    if (!finished) {
        o->orphan = true;
        pthread_detach(thread);
    }
    pthread_mutex_unlock(&o->lock);
    if (!finished)
        return;
    pthread_join(thread, NULL);
    destroy(o);
}

static uint64_t lost(void *instance)
{
    struct otlp *o = instance;
    pthread_mutex_lock(&o->lock);
    uint64_t n = o->lost;
    pthread_mutex_unlock(&o->lock);
    return n;
}

/* Deaf to the host's signals. */
static int start(struct otlp *o)
{
    sigset_t all, old;
    pthread_condattr_t monotonic;
    pthread_mutex_init(&o->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&o->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&o->thread, NULL, serve, o);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return failed;
}

static int open_it(jianmu_context *ctx, void **instance)
{
    struct otlp *o = calloc(1, sizeof *o);
    const struct jianmu_services *s = ctx->services;
    if (!o)
        return s->fail(ctx, JIANMU_INTERNAL, "out of memory");
    const char *file = json_string_value(s->setting(ctx, "file"));
    o->resource = resource_new();
    o->post.stop = give_up;
    o->post.data = o;
    int why = 0, bad = !o->resource ? s->fail(ctx, JIANMU_INTERNAL, "out of memory")
                                    : settings_read(ctx, &o->post, file != NULL);
    if (!bad && file && (why = append_open(&o->file, file)))
        bad = s->fail(ctx, JIANMU_UNAVAILABLE, "%s: %s", file, strerrordesc_np(why));
    o->disabled = settings_disabled();
    o->most = settings_count(ctx, "queue", "OTEL_BSP_MAX_QUEUE_SIZE");
    o->batch = settings_count(ctx, "batch", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE");
    o->delay = (int64_t)(settings_time(ctx, "delay", "OTEL_BSP_SCHEDULE_DELAY", NULL) * 1e9);
    o->flush = (int64_t)(settings_time(ctx, "flush", NULL, NULL) * 1e9);
    if (o->batch > o->most)
        o->batch = o->most;
    if (!bad && (why = start(o)))
        bad = s->fail(ctx, JIANMU_UNAVAILABLE, "no thread can be started: %s", strerrordesc_np(why));
    if (!bad) {
        *instance = o;
        return 0;
    }
    append_close(&o->file);
    post_end(&o->post);
    json_decref(o->resource);
    free(o);
    return -1;
}

JIANMU_SINK(otlp, event, open_it, close_it, lost, JIANMU_COOPERATES | JIANMU_TRACES,
            "Sends calls as spans of OpenTelemetry, or writes them to a file.",
            "{\"keys\": {"
            "\"file\": {\"type\": \"str\", \"default\": null, \"doc\": \"a file of OTLP/JSON, one resourceSpans object a line\"},"
            "\"endpoint\": {\"type\": \"str\", \"default\": null, \"doc\": \"base of the address; /v1/traces is added\"},"
            "\"headers\": {\"type\": \"map\", \"default\": {}, \"doc\": \"headers of each request\"},"
            "\"timeout\": {\"type\": \"seconds\", \"default\": null, \"doc\": \"of one request, seconds; unset: 10\"},"
            "\"queue\": {\"type\": \"int\", \"min\": 1, \"max\": 1000000, \"default\": null, \"doc\": \"spans that wait; unset: 2048\"},"
            "\"batch\": {\"type\": \"int\", \"min\": 1, \"max\": 100000, \"default\": null, \"doc\": \"spans of one request; unset: 512\"},"
            "\"delay\": {\"type\": \"seconds\", \"default\": null, \"doc\": \"how long a batch that is not full waits, seconds; unset: 5\"},"
            "\"flush\": {\"type\": \"seconds\", \"default\": 2, \"doc\": \"how long the end may take, seconds\"}}}")
JIANMU_PLUGIN(JIANMU_ITEM(otlp))
