/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "call/event.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "base/clock.h"
#include <stdio.h>
#include <time.h>

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

void jm_bus_emit(const jianmu_bus *bus, const struct jianmu_event *event)
{
    for (size_t i = 0; i < bus->count; i++)
        bus->subscribers[i].fn(bus->subscribers[i].data, event);
}

const char *jianmu_event_name(const jianmu_event *event)
{
    return event->name;
}

const char *jianmu_event_tool(const jianmu_event *event)
{
    return event->tool;
}

uint64_t jianmu_event_call(const jianmu_event *event)
{
    return event->call;
}

jianmu_reason jianmu_event_reason(const jianmu_event *event)
{
    return event->reason;
}

/* Wall-clock time of a monotonic instant, as RFC 3339 in UTC. */
static void print_time(int64_t monotonic, char text[40])
{
    struct timespec real;
    clock_gettime(CLOCK_REALTIME, &real);
    int64_t at = real.tv_sec * JM_SECOND + real.tv_nsec - (jm_now() - monotonic);
    time_t seconds = (time_t)(at / JM_SECOND);
    struct tm tm;
    gmtime_r(&seconds, &tm);
    size_t n = strftime(text, 40, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + n, 40 - n, ".%06uZ", (unsigned)(at % JM_SECOND / 1000) % 1000000);
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

static int set_failure(json_t *payload, const struct jianmu_event *e)
{
    int bad = json_object_set_new(payload, e->ended_by_error ? "code" : "reason",
                                  json_string(e->ended_by_error ? jianmu_code_name(e->code)
                                                                : jianmu_reason_name(e->reason)));
    bool timeout = !e->ended_by_error && e->reason == JIANMU_TIMEOUT;
    if (timeout) {
        char seconds[32], text[80];
        snprintf(text, sizeof text, "tool_timeout: timed out after %ss", jm_print_seconds(e->timeout_s, seconds));
        bad |= json_object_set_new(payload, "error", json_string(text));
        bad |= json_object_set_new(payload, "timeout_s", json_real(e->timeout_s));
    } else {
        bad |= json_object_set_new(payload, "error", json_string(e->error ? e->error : ""));
    }
    if (e->abandoned)
        bad |= json_object_set_new(payload, "abandoned", json_true());
    return bad;
}

static json_t *make_payload(const struct jianmu_event *e)
{
    if (e->kind == JM_EVENT_OTHER && e->payload && !json_is_object(e->payload))
        return json_pack("{s:s, s:s, s:O}", "backend", e->backend, "tool", e->tool, "value", e->payload);
    json_t *payload = json_pack("{s:s, s:s}", "backend", e->backend, "tool", e->tool);
    int bad = !payload;
    if (!bad && (e->kind == JM_EVENT_COMPLETED || e->kind == JM_EVENT_FAILED))
        bad |= json_object_set_new(payload, "duration_s", json_real((double)e->duration / 1e9)) |
               json_object_set_new(payload, "attempts", json_integer(e->attempts));
    if (!bad && e->kind == JM_EVENT_COMPLETED)
        bad |= json_object_set_new(payload, "reason", json_string(jianmu_reason_name(e->reason)));
    if (!bad && e->kind == JM_EVENT_FAILED)
        bad |= set_failure(payload, e);
    if (!bad && e->payload)
        bad |= json_object_update_missing(payload, e->payload);
    if (bad) {
        json_decref(payload);
        return NULL;
    }
    return payload;
}

json_t *jianmu_event_json(const jianmu_event *event)
{
    char time[40];
    print_time(event->time, time);
    json_t *payload = make_payload(event);
    if (!payload)
        return NULL;
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "event", event->name, "time", time, "run_id",
                     text_or_null(event->run_id), "node_name", text_or_null(event->node_name), "tool_call_id",
                     text_or_null(event->tool_call_id), "payload", payload);
}
