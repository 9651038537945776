/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "event/event.h"

struct subscriber {
    jianmu_subscriber fn;
    void *data;
};

struct jianmu_bus {
    size_t count;
    struct subscriber *subscribers;
};

jianmu_bus *jianmu_bus_new(void)
{
    return calloc(1, sizeof(jianmu_bus));
}

int jianmu_bus_subscribe(jianmu_bus *bus, jianmu_subscriber fn, void *data, jianmu_error **err)
{
    if (!bus || !fn)
        return jm_fail(err, JIANMU_INVALID, "subscribe: no bus or no function");
    struct subscriber *more = realloc(bus->subscribers, (bus->count + 1) * sizeof *more);
    if (!more)
        return jm_fail_memory(err);
    bus->subscribers = more;
    bus->subscribers[bus->count++] = (struct subscriber){fn, data};
    return 0;
}

void jianmu_bus_free(jianmu_bus *bus)
{
    if (!bus)
        return;
    free(bus->subscribers);
    free(bus);
}

bool jm_bus_listening(const jianmu_bus *bus)
{
    return bus && bus->count;
}

/* The clock of the wall at a monotonic instant. */
static int64_t real_time(int64_t monotonic)
{
    struct timespec real;
    clock_gettime(CLOCK_REALTIME, &real);
    return real.tv_sec * JM_SECOND + real.tv_nsec - (jm_now() - monotonic);
}

void jm_bus_emit(const jianmu_bus *bus, struct jianmu_event *event)
{
    struct jm_line line;
    jm_line_init(&line);
    event->line = &line;
    event->real = real_time(event->time);
    for (size_t i = 0; i < bus->count; i++)
        bus->subscribers[i].fn(bus->subscribers[i].data, event);
    jm_line_free(&line);
    event->line = NULL;
}
