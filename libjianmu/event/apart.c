/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "event/apart.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/thread.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { MOST_EVENTS = 1024, MOST_BYTES = 4194304 };

/* An event that owns what it points at. */
struct copy {
    struct copy *next;
    struct jianmu_event event;
    struct jm_trace trace;
    size_t size;
    char text[];
};

struct jm_apart {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    struct copy *first, *last;
    size_t count, bytes;
    int64_t busy_since;       /* 0: it waits for work */
    double patience;
    uint64_t lost;
    bool stop;                /* the bus goes: what is queued is the last */
    bool abandoned;           /* it is never called again */
    bool orphan;              /* the bus has gone: its thread frees it */
    bool finished;
    jianmu_subscriber fn;
    void *data;
    void (*gone)(void *data);
    char name[];
};

static const char *keep(struct copy *c, size_t *at, const char *text)
{
    if (!text)
        return NULL;
    char *to = c->text + *at;
    *at += (size_t)(stpcpy(to, text) - to) + 1;
    return to;
}

static size_t room(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

/* With the line, from which all else can be had. */
static struct copy *copy_event(const struct jianmu_event *e)
{
    size_t len, at = 0;
    const char *text = jm_event_text(e, &len), *state = e->trace ? e->trace->state : NULL;
    size_t size = sizeof(struct copy) + len + 1 + room(e->name) + room(e->tool) + room(state);
    struct copy *c = malloc(size);
    if (!c)
        return NULL;
    c->next = NULL;
    c->size = size;
    c->event = *e;
    c->event.text = c->text;
    memcpy(c->text, text, len + 1);
    at = len + 1;
    c->event.name = keep(c, &at, e->name);
    c->event.tool = keep(c, &at, e->tool);
    c->event.backend = c->event.run_id = c->event.node_name = c->event.tool_call_id = c->event.error = NULL;
    c->event.payload = NULL;
    c->event.arguments = c->event.result = NULL;
    c->event.rules = NULL;
    c->event.line = NULL;
    c->event.trace = NULL;
    if (e->trace) {
        c->trace = *e->trace;
        c->trace.state = keep(c, &at, state);
        c->event.trace = &c->trace;
    }
    return c;
}

static void drop_all(struct jm_apart *a)
{
    a->lost += a->count;
    while (a->first) {
        struct copy *c = a->first;
        a->first = c->next;
        free(c);
    }
    a->last = NULL;
    a->count = a->bytes = 0;
}

static void destroy(struct jm_apart *a)
{
    drop_all(a);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

static struct copy *take_first(struct jm_apart *a)
{
    struct copy *c = a->first;
    if (!(a->first = c->next))
        a->last = NULL;
    a->count--;
    a->bytes -= c->size;
    return c;
}

static void *serve(void *arg)
{
    struct jm_apart *a = arg;
    pthread_mutex_lock(&a->lock);
    while (!a->abandoned) {
        while (!a->first && !a->stop)
            pthread_cond_wait(&a->changed, &a->lock);
        if (!a->first)
            break;
        struct copy *c = take_first(a);
        a->busy_since = jm_now();
        pthread_mutex_unlock(&a->lock);
        a->fn(a->data, &c->event);
        free(c);
        pthread_mutex_lock(&a->lock);
        a->busy_since = 0;
    }
    a->busy_since = jm_now();
    pthread_mutex_unlock(&a->lock);
    if (a->gone)
        a->gone(a->data);
    pthread_mutex_lock(&a->lock);
    a->busy_since = 0;
    a->finished = true;
    bool orphan = a->orphan;
    pthread_cond_broadcast(&a->changed);
    pthread_mutex_unlock(&a->lock);
    if (orphan)
        destroy(a);
    return NULL;
}

struct jm_apart *jm_apart_new(const char *name, jianmu_subscriber fn, void *data, double patience, void (*gone)(void *),
                              jianmu_error **err)
{
    struct jm_apart *a = calloc(1, sizeof *a + strlen(name) + 1);
    pthread_condattr_t monotonic;
    if (!a) {
        jm_fail_memory(err);
        return NULL;
    }
    strcpy(a->name, name);
    a->fn = fn;
    a->data = data;
    a->gone = gone;
    a->patience = patience;
    pthread_mutex_init(&a->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&a->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int failed = jm_thread_start(&a->thread, 0, serve, a);
    if (!failed)
        return a;
    destroy(a);
    jm_fail_errno(err, JIANMU_UNAVAILABLE, failed, "no thread can be started for a subscriber");
    return NULL;
}

void jm_apart_take(void *apart, const jianmu_event *event)
{
    struct jm_apart *a = apart;
    struct copy *c = copy_event(event);
    pthread_mutex_lock(&a->lock);
    if (!a->abandoned && a->busy_since && event->time > jm_after(a->busy_since, a->patience)) {
        a->abandoned = true;
        drop_all(a);
    }
    if (!c || a->abandoned || a->count == MOST_EVENTS || a->bytes > MOST_BYTES - c->size) {
        a->lost++;
    } else {
        *(a->last ? &a->last->next : &a->first) = c;
        a->last = c;
        a->count++;
        a->bytes += c->size;
        c = NULL;
        pthread_cond_broadcast(&a->changed);
    }
    pthread_mutex_unlock(&a->lock);
    free(c);
}

/* True: the thread is at its end. */
static bool wait_finished(struct jm_apart *a, int64_t until)
{
    struct timespec at = {(time_t)(until / JM_SECOND), (long)(until % JM_SECOND)};
    while (!a->finished && jm_now() < until)
        pthread_cond_timedwait(&a->changed, &a->lock, &at);
    return a->finished;
}

void jm_apart_end(void *apart, bool forked)
{
    struct jm_apart *a = apart;
    if (forked)
        return;
    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_broadcast(&a->changed);
    bool finished = wait_finished(a, a->abandoned ? 0 : jm_after(jm_now(), a->patience));
    if (!finished) {
        a->abandoned = a->orphan = true;
        drop_all(a);
        pthread_detach(a->thread);
    }
    pthread_t thread = a->thread;
    pthread_mutex_unlock(&a->lock);
    if (!finished)
        return;
    pthread_join(thread, NULL);
    destroy(a);
}

json_t *jm_apart_report(const void *apart)
{
    struct jm_apart *a = (struct jm_apart *)apart;
    pthread_mutex_lock(&a->lock);
    json_t *report = json_pack("{s:s, s:I, s:b}", "sink", a->name, "lost", (json_int_t)a->lost, "abandoned", a->abandoned);
    pthread_mutex_unlock(&a->lock);
    return report;
}
