/* SPDX-License-Identifier: Apache-2.0
 * The line of a call's end as a span, by the GenAI conventions of OpenTelemetry. */
#include "config.h"
#include "otlp/otlp.h"
#include "base/json.h"
#include "jianmu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *hex(const uint8_t *bytes, int count)
{
    char text[33];
    for (int i = 0; i < count; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return json_string(text);
}

static json_t *nanoseconds(int64_t ns)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)ns);
    return json_string(text);
}

static const char *error_type(const char *code, const char *reason)
{
    static const char *const denied[] = {"denied", "needs_confirmation", "rate_limited", "over_budget"};
    for (size_t i = 0; code && i < sizeof denied / sizeof *denied; i++)
        if (!strcmp(code, denied[i]))
            return "denied";
    if (code)
        return strcmp(code, "invalid") ? "backend_error" : "invalid_arguments";
    if (reason && (!strcmp(reason, "timeout") || !strcmp(reason, "cancelled")))
        return reason;
    return reason && !strcmp(reason, "memory") ? "oom_killed" : "tool_error";
}

/* value: taken; NULL: there is none. */
static int add(json_t *list, json_t *value)
{
    return value ? json_array_append_new(list, value) : 0;
}

static int add_json(json_t *list, const char *name, const json_t *value)
{
    char *text = value ? jm_json_print(value, 0, NULL) : NULL;
    int bad = value && (!text || json_array_append_new(list, attribute(name, text)));
    free(text);
    return bad;
}

static const char *text_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static json_t *attributes(const struct ended *e, const json_t *event)
{
    json_t *payload = json_object_get(event, "payload"), *list = json_array();
    const char *tool = text_of(payload, "tool"), *code = text_of(payload, "code"), *reason = text_of(payload, "reason");
    int bad = !list || add(list, attribute("gen_ai.operation.name", "execute_tool")) ||
              add(list, attribute("gen_ai.tool.name", tool)) || add(list, attribute("gen_ai.tool.type", "function")) ||
              add(list, attribute("gen_ai.tool.call.id", text_of(event, "tool_call_id"))) ||
              add(list, attribute("error.type", e->failed ? error_type(code, reason) : NULL)) ||
              add(list, attribute("jianmu.run_id", text_of(event, "run_id"))) ||
              add(list, attribute("jianmu.node", text_of(event, "node_name"))) ||
              add(list, attribute("jianmu.backend", text_of(payload, "backend"))) ||
              add(list, attribute(code ? "jianmu.code" : "jianmu.reason", code ? code : reason)) ||
              add(list, attribute_number("jianmu.attempts", json_integer_value(json_object_get(payload, "attempts")))) ||
              add_json(list, "gen_ai.tool.call.arguments", json_object_get(payload, "arguments")) ||
              add_json(list, "gen_ai.tool.call.result", json_object_get(payload, "result"));
    if (!bad)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *status(const struct ended *e, const json_t *event)
{
    const char *error = text_of(json_object_get(event, "payload"), "error");
    return e->failed ? json_pack("{s:i, s:s}", "code", 2, "message", error ? error : "") : json_pack("{s:i}", "code", 1);
}

/* new: NULL without memory. */
static json_t *span(const struct ended *e)
{
    static const uint8_t none[8];
    json_t *event = jm_json_parse(e->line, e->line_len, JSON_ALLOW_NUL, NULL);
    const char *tool = text_of(json_object_get(event, "payload"), "tool");
    json_t *s = json_object(), *name = json_sprintf("execute_tool %s", tool ? tool : "");
    int bad = !event || json_object_set_new(s, "traceId", hex(e->trace_id, 16)) ||
              json_object_set_new(s, "spanId", hex(e->span_id, 8)) ||
              (memcmp(e->parent_id, none, 8) && json_object_set_new(s, "parentSpanId", hex(e->parent_id, 8))) ||
              (e->state && json_object_set_new(s, "traceState", json_string(e->state))) ||
              json_object_set_new(s, "flags", json_integer(e->flags)) || json_object_set(s, "name", name) ||
              json_object_set_new(s, "kind", json_integer(1)) ||
              json_object_set_new(s, "startTimeUnixNano", nanoseconds(e->start_ns)) ||
              json_object_set_new(s, "endTimeUnixNano", nanoseconds(e->end_ns)) ||
              json_object_set_new(s, "attributes", attributes(e, event)) ||
              json_object_set_new(s, "status", status(e, event));
    json_decref(event);
    json_decref(name);
    if (!bad)
        return s;
    json_decref(s);
    return NULL;
}

char *spans_print(const json_t *resource, const struct ended *batch, size_t *len, size_t *count)
{
    json_t *spans = json_array();
    *count = 0;
    for (; batch; batch = batch->next) {
        json_t *one = span(batch);
        if (one && !json_array_append_new(spans, one))
            ++*count;
    }
    json_t *all = json_pack("{s:[{s:O, s:[{s:{s:s, s:s}, s:o}]}]}", "resourceSpans", "resource", resource, "scopeSpans",
                            "scope", "name", "jianmu", "version", JIANMU_VERSION, "spans", spans);
    char *text = all && *count ? jm_json_print(all, 0, len) : NULL;
    json_decref(all);
    if (text)
        text[(*len)++] = '\n'; /* in the place of the NUL */
    else
        *count = 0;
    return text;
}
