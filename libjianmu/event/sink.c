/* SPDX-License-Identifier: Apache-2.0
 * A sink that promises to come back at once (its note says COOPERATES) is called on the thread of the call; any other has
 * a thread of its own. */
#include "config.h"
#include "event/sink.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "event/apart.h"
#include "jianmu-plugin.h"
#include "plugin/plain.h"
#include "plugin/registry.h"
#include "settings/settings.h"
#include <string.h>

struct sink {
    jianmu_config *config; /* held: its plug-in must stay */
    const struct jm_item *item;
    json_t *settings;
    void *instance;
    struct jm_apart *apart; /* NULL: called on the thread of the call */
};

static uint32_t kind_of(const jianmu_event *event)
{
    static const uint32_t kinds[] = {[JM_EVENT_STARTED] = JIANMU_EVENT_STARTED,
                                     [JM_EVENT_COMPLETED] = JIANMU_EVENT_COMPLETED,
                                     [JM_EVENT_FAILED] = JIANMU_EVENT_FAILED,
                                     [JM_EVENT_OTHER] = JIANMU_EVENT_OTHER};
    return kinds[event->kind];
}

static void give(void *data, const jianmu_event *event)
{
    struct sink *sink = data;
    size_t len;
    const char *line = jm_event_text(event, &len);
    struct jianmu_sink_event given = {.size = sizeof given,
                                      .kind = kind_of(event),
                                      .call = event->call,
                                      .name = event->name,
                                      .line = line,
                                      .line_len = len,
                                      .time_ns = jm_event_real(event),
                                      .duration_ns = event->duration};
    if (event->trace) {
        memcpy(given.trace_id, event->trace->trace_id, sizeof given.trace_id);
        memcpy(given.span_id, event->trace->span_id, sizeof given.span_id);
        memcpy(given.parent_id, event->trace->parent_id, sizeof given.parent_id);
        given.trace_flags = event->trace->flags;
        given.tracestate = event->trace->state;
    }
    sink->item->plugin.sink.event(sink->instance, &given);
}

static void free_sink(struct sink *sink)
{
    json_decref(sink->settings);
    jianmu_config_free(sink->config);
    free(sink);
}

static void close_sink(void *data)
{
    struct sink *sink = data;
    if (sink->item->plugin.sink.close)
        sink->item->plugin.sink.close(sink->instance);
    free_sink(sink);
}

static void end_sink(void *data, bool forked)
{
    struct sink *sink = data;
    if (sink->apart)
        jm_apart_end(sink->apart, forked); /* its thread closes it */
    else if (forked)
        free_sink(sink); /* what the instance holds is the parent's */
    else
        close_sink(sink);
}

static json_t *report_sink(const void *data)
{
    const struct sink *sink = data;
    if (sink->apart)
        return jm_apart_report(sink->apart);
    uint64_t (*lost)(void *) = sink->item->plugin.sink.lost;
    return json_pack("{s:s, s:I, s:b}", "sink", sink->item->name, "lost", (json_int_t)(lost ? lost(sink->instance) : 0),
                     "abandoned", 0);
}

static void take(void *data, const jianmu_event *event)
{
    const struct sink *sink = data;
    jm_apart_take(sink->apart, event);
}

static bool is_same(const void *data, const void *what)
{
    const struct sink *a = data, *b = what;
    return !strcmp(a->item->path, b->item->path) && json_equal(a->settings, b->settings);
}

static int open_instance(struct sink *sink, jianmu_error **err)
{
    const struct jianmu_sink_plugin *plugin = &sink->item->plugin.sink;
    struct jm_plain_context ctx;
    jm_plain_context_init(&ctx, sink->settings);
    int failed = plugin->open ? plugin->open(&ctx.public, &sink->instance) : 0;
    if (failed && !ctx.error)
        jm_fail(&ctx.error, JIANMU_UNAVAILABLE, "it gave no reason");
    if (!failed) {
        jianmu_error_free(ctx.error);
        return 0;
    }
    jm_wrap(&ctx.error, "sink '%s' could not be opened", sink->item->name);
    return jm_fail_take(err, ctx.error);
}

static int open_apart(struct sink *sink, jianmu_error **err)
{
    const struct jm_setting *patience = jm_config_value(sink->config, "events.patience");
    if (sink->item->flags & JIANMU_COOPERATES)
        return 0;
    jm_item_pin(jm_config_registry(sink->config), (struct jm_item *)sink->item); /* it may never come back */
    sink->apart = jm_apart_new(sink->item->name, give, sink, patience ? json_number_value(patience->value) : 2, close_sink,
                               err);
    return sink->apart ? 0 : -1;
}

/* sink: taken. Under the bus's lock of openers: two runners may be made at once. */
static int add_locked(jianmu_bus *bus, struct sink *sink, jianmu_error **err)
{
    if (jm_bus_find(bus, end_sink, is_same, sink)) { /* one is enough: it gets every event of the bus */
        free_sink(sink);
        return 0;
    }
    if (open_instance(sink, err)) {
        free_sink(sink);
        return -1;
    }
    if (open_apart(sink, err)) {
        close_sink(sink);
        return -1;
    }
    struct jm_listener listener = {sink->apart ? take : give, sink, end_sink, report_sink,
                                   sink->item->flags & JIANMU_TRACES};
    if (!jm_bus_add(bus, &listener, err))
        return 0;
    end_sink(sink, false);
    return -1;
}

static int add_sink(jianmu_bus *bus, struct sink *sink, jianmu_error **err)
{
    pthread_mutex_t *opening = jm_bus_opening(bus);
    pthread_mutex_lock(opening);
    int rc = add_locked(bus, sink, err);
    pthread_mutex_unlock(opening);
    return rc;
}

/* new: what the config says, with `given` above it. */
static json_t *settings_of(const jianmu_config *config, const char *name, const json_t *given, jianmu_error **err)
{
    json_t *settings = jm_config_plugin(config, "events", name, err);
    const char *key;
    json_t *value;
    json_object_foreach ((json_t *)given, key, value) {
        json_t *checked = settings ? jm_config_sink_value(config, name, key, value, err) : NULL;
        if (!checked || json_object_set_new(settings, key, checked)) {
            if (checked)
                jm_fail_memory(err);
            json_decref(settings);
            return NULL;
        }
    }
    return settings;
}

int jianmu_bus_open_sink(jianmu_bus *bus, const jianmu_config *config, const char *name, const json_t *settings,
                         jianmu_error **err)
{
    jianmu_config *own = NULL;
    if (!config && !(config = own = jm_config_default(err)))
        return -1;
    int rc = -1;
    struct jm_registry *registry = jm_config_registry(config);
    struct jm_item *item = registry ? jm_registry_find(registry, JIANMU_KIND_SINK, name, err) : NULL;
    struct sink *sink = calloc(1, sizeof *sink);
    if (!registry)
        jm_fail(err, JIANMU_INVALID, "the config is not loaded");
    if (!sink)
        jm_fail_memory(err);
    if (sink && item && !jm_item_load(registry, item, err)) {
        sink->item = item;
        sink->settings = settings_of(config, name, settings, err);
        sink->config = jm_config_hold(config);
        rc = sink->settings ? add_sink(bus, jm_steal(sink), err) : -1;
    }
    if (sink)
        free_sink(sink);
    jianmu_config_free(own);
    return rc;
}

static int open_named(jianmu_bus *bus, const jianmu_config *config, const char *name, jianmu_bus **own, jianmu_error **err)
{
    if (!bus && !*own && !(*own = jianmu_bus_new()))
        return jm_fail_memory(err);
    return jianmu_bus_open_sink(bus ? bus : *own, config, name, NULL, err);
}

int jm_sinks_open(jianmu_bus *bus, const jianmu_config *config, jianmu_bus **own, jianmu_error **err)
{
    jm_auto_json json_t *names = jm_config_sinks(config, err);
    size_t i;
    json_t *name;
    *own = NULL;
    int rc = names ? 0 : -1;
    json_array_foreach (names, i, name)
        if (!rc)
            rc = open_named(bus, config, json_string_value(name), own, err);
    if (rc) {
        jianmu_bus_free(*own);
        *own = NULL;
    }
    return rc;
}
