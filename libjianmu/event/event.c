/* SPDX-License-Identifier: Apache-2.0
 * What subscribers may ask of an event. */
#include "config.h"
#include "event/event.h"
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

const struct jm_line *jm_event_line(const struct jianmu_event *event)
{
    if (!event->line->len)
        jm_event_print(event, event->line);
    return event->line;
}

json_t *jianmu_event_json(const jianmu_event *event)
{
    const struct jm_line *line = jm_event_line(event);
    return jm_json_parse(line->data, line->len, 0, NULL);
}
