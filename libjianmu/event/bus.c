/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "event/bus.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "event/apart.h"
#include <pthread.h>
#include <stdatomic.h>

/* Lists that became too short stay until the bus is freed: somebody may be reading them. */
struct list {
    struct list *before;
    size_t cap;
    atomic_size_t count;
    struct jm_listener items[];
};

struct jianmu_bus {
    _Atomic(struct list *) list;
    pthread_mutex_t lock; /* for those who add */
    pthread_mutex_t opening;
    pid_t owner;
    atomic_bool traces;
};

jianmu_bus *jianmu_bus_new(void)
{
    jianmu_bus *bus = calloc(1, sizeof *bus);
    if (bus) {
        pthread_mutex_init(&bus->lock, NULL);
        pthread_mutex_init(&bus->opening, NULL);
        bus->owner = getpid();
    }
    return bus;
}

static struct list *longer(struct list *old, size_t count)
{
    size_t cap = old ? old->cap * 2 : 4;
    struct list *list = calloc(1, sizeof *list + cap * sizeof *list->items);
    if (!list)
        return NULL;
    list->before = old;
    list->cap = cap;
    for (size_t i = 0; i < count; i++)
        list->items[i] = old->items[i];
    atomic_init(&list->count, count);
    return list;
}

int jm_bus_add(jianmu_bus *bus, const struct jm_listener *listener, jianmu_error **err)
{
    pthread_mutex_lock(&bus->lock);
    struct list *list = atomic_load(&bus->list);
    size_t count = list ? atomic_load(&list->count) : 0;
    struct list *use = list && count < list->cap ? list : longer(list, count);
    if (use) {
        use->items[count] = *listener;
        atomic_store(&use->count, count + 1);
        atomic_store(&bus->list, use);
        if (listener->traces)
            atomic_store(&bus->traces, true);
    }
    pthread_mutex_unlock(&bus->lock);
    return use ? 0 : jm_fail_memory(err);
}

int jianmu_bus_subscribe(jianmu_bus *bus, jianmu_subscriber fn, void *data, jianmu_error **err)
{
    if (!bus || !fn)
        return jm_fail(err, JIANMU_INVALID, "subscribe: no bus or no function");
    return jm_bus_add(bus, &(struct jm_listener){.fn = fn, .data = data}, err);
}

int jianmu_bus_subscribe_apart(jianmu_bus *bus, jianmu_subscriber fn, void *data, double patience, jianmu_error **err)
{
    if (!bus || !fn)
        return jm_fail(err, JIANMU_INVALID, "subscribe: no bus or no function");
    if (!(patience > 0 && patience <= 1e8))
        return jm_fail(err, JIANMU_INVALID, "subscribe: the patience must be a number of seconds above zero");
    struct jm_apart *apart = jm_apart_new("", fn, data, patience, NULL, err);
    if (!apart)
        return -1;
    struct jm_listener listener = {jm_apart_take, apart, jm_apart_end, jm_apart_report, false};
    if (!jm_bus_add(bus, &listener, err))
        return 0;
    jm_apart_end(apart, false);
    return -1;
}

void jianmu_bus_free(jianmu_bus *bus)
{
    if (!bus)
        return;
    struct list *list = atomic_load(&bus->list);
    bool forked = bus->owner != getpid();
    for (size_t i = 0; list && i < list->count; i++)
        if (list->items[i].end)
            list->items[i].end(list->items[i].data, forked);
    while (list) {
        struct list *before = list->before;
        free(list);
        list = before;
    }
    pthread_mutex_destroy(&bus->opening);
    pthread_mutex_destroy(&bus->lock);
    free(bus);
}

pthread_mutex_t *jm_bus_opening(jianmu_bus *bus)
{
    return &bus->opening;
}

bool jm_bus_listening(const jianmu_bus *bus)
{
    return bus && atomic_load_explicit(&bus->list, memory_order_relaxed);
}

bool jm_bus_traces(const jianmu_bus *bus)
{
    return bus && atomic_load_explicit(&bus->traces, memory_order_relaxed);
}

void *jm_bus_find(const jianmu_bus *bus, void (*end)(void *, bool), bool (*match)(const void *, const void *),
                  const void *what)
{
    struct list *list = atomic_load(&bus->list);
    for (size_t i = 0; list && i < list->count; i++)
        if (list->items[i].end == end && match(list->items[i].data, what))
            return list->items[i].data;
    return NULL;
}

json_t *jianmu_bus_report(const jianmu_bus *bus)
{
    struct list *list = atomic_load(&bus->list);
    json_t *report = json_array();
    for (size_t i = 0; report && list && i < list->count; i++) {
        const struct jm_listener *l = &list->items[i];
        if (l->report && json_array_append_new(report, l->report(l->data))) {
            json_decref(report);
            return NULL;
        }
    }
    return report;
}

void jm_bus_emit(const jianmu_bus *bus, struct jianmu_event *event)
{
    struct list *list = atomic_load_explicit(&bus->list, memory_order_acquire);
    struct jm_line line;
    jm_line_init(&line);
    event->line = &line;
    event->text = NULL;
    size_t count = list ? atomic_load_explicit(&list->count, memory_order_acquire) : 0;
    for (size_t i = 0; i < count; i++)
        list->items[i].fn(list->items[i].data, event);
    jm_line_free(&line);
    event->line = NULL;
    event->text = NULL;
}
