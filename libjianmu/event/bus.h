/* SPDX-License-Identifier: Apache-2.0
 * The bus: a list that only grows, so that events pass without a lock. */
#ifndef JM_BUS_H
#define JM_BUS_H

#include "event/event.h"
#include <pthread.h>

/* One that listens. All but fn and data may be NULL. */
struct jm_listener {
    jianmu_subscriber fn; /* on the thread of the call */
    void *data;
    void (*end)(void *data, bool forked); /* when the bus is freed; forked: in a child, whose threads are gone */
    json_t *(*report)(const void *data);  /* new: an object for jianmu_bus_report */
    bool traces;                          /* has a use for spans */
};

int jm_bus_add(jianmu_bus *bus, const struct jm_listener *listener, jianmu_error **err);
pthread_mutex_t *jm_bus_opening(jianmu_bus *bus); /* held over find, open and add by those who want one listener only */
bool jm_bus_listening(const jianmu_bus *bus); /* bus may be NULL */
bool jm_bus_traces(const jianmu_bus *bus);
/* The first listener with that end for which match says yes; NULL: none. */
void *jm_bus_find(const jianmu_bus *bus, void (*end)(void *, bool), bool (*match)(const void *data, const void *what),
                  const void *what);
/* Lends the event a line while subscribers look at it. */
void jm_bus_emit(const jianmu_bus *bus, struct jianmu_event *event);

#endif
