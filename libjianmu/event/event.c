/* SPDX-License-Identifier: Apache-2.0
 * What subscribers may ask of an event. */
#include "config.h"
#include "event/event.h"
#include "base/clock.h"
#include "base/json.h"

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

int64_t jm_event_real(const struct jianmu_event *event)
{
    struct timespec real;
    if (!event->real) {
        clock_gettime(CLOCK_REALTIME, &real);
        ((struct jianmu_event *)event)->real = real.tv_sec * JM_SECOND + real.tv_nsec - (jm_now() - event->time);
    }
    return event->real;
}

const char *jm_event_text(const struct jianmu_event *event, size_t *len)
{
    if (!event->text) {
        struct jianmu_event *printed = (struct jianmu_event *)event; /* ours: callers see it as constant */
        jm_event_print(event, event->line);
        printed->text = event->line->data;
        printed->text_len = event->line->len;
    }
    *len = event->text_len;
    return event->text;
}

json_t *jianmu_event_json(const jianmu_event *event)
{
    size_t len;
    const char *text = jm_event_text(event, &len);
    return jm_json_parse(text, len, JSON_ALLOW_NUL, NULL);
}
