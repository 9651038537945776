/* SPDX-License-Identifier: Apache-2.0
 * --events: one line of JSON an event, each written at once, so that several writers can share the file. */
#include "config.h"
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct events {
    int fd;
    atomic_bool told;
};

static void complain(struct events *events, const char *why)
{
    if (!atomic_exchange(&events->told, true))
        say("--events: an event was lost: %s", why);
}

static void write_event(void *data, const jianmu_event *event)
{
    struct events *events = data;
    json_t *object = jianmu_event_json(event);
    char *text = object ? jianmu_json_text(object, 0) : NULL;
    json_decref(object);
    if (!text) {
        complain(events, "out of memory");
        return;
    }
    size_t len = strlen(text);
    text[len] = '\n'; /* in the place of the NUL: one write */
    ssize_t n;
    do
        n = write(events->fd, text, len + 1);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)len + 1)
        complain(events, n < 0 ? strerror(errno) : "no space");
    free(text);
}

struct events *events_open(const char *path, jianmu_bus *bus)
{
    jianmu_error *err = NULL;
    struct events *events = calloc(1, sizeof *events);
    if (!events) {
        say("out of memory");
        return NULL;
    }
    events->fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
    if (events->fd < 0) {
        say("--events %s: %s", path, strerror(errno));
    } else if (jianmu_bus_subscribe(bus, write_event, events, &err)) {
        say("--events %s: %s", path, jianmu_error_message(err));
        jianmu_error_free(err);
    } else {
        return events;
    }
    events_close(events);
    return NULL;
}

void events_close(struct events *events)
{
    if (!events)
        return;
    if (events->fd >= 0)
        close(events->fd);
    free(events);
}
