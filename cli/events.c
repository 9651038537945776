/* SPDX-License-Identifier: Apache-2.0
 * --events: the jsonl sink on the bus of the session; and what any sink has lost is said at the end. */
#include "config.h"
#include "cli.h"

int events_open(const struct cli *cli, struct session *s)
{
    jianmu_error *err = NULL;
    const char *file = cli_value(cli, "events");
    s->bus = jianmu_bus_new();
    json_t *settings = file ? json_pack("{s:s}", "file", file) : NULL;
    int rc = 0;
    if (!s->bus || (file && !settings)) {
        say("--events: %s", s->bus ? "the name of the file is not valid UTF-8" : "out of memory");
        rc = -1;
    } else if (file && jianmu_bus_open_sink(s->bus, s->config, "jsonl", settings, &err)) {
        say("--events: %s", jianmu_error_message(err));
        jianmu_error_free(err);
        rc = -1;
    }
    json_decref(settings);
    return rc;
}

void events_close(struct session *s)
{
    json_t *report = s->bus ? jianmu_bus_report(s->bus) : NULL, *sink;
    size_t i;
    json_array_foreach (report, i, sink) {
        const char *name = json_string_value(json_object_get(sink, "sink"));
        json_int_t lost = json_integer_value(json_object_get(sink, "lost"));
        if (json_is_true(json_object_get(sink, "abandoned")))
            say("events: the sink '%s' did not come back and was left alone", name);
        if (lost)
            say("events: %" JSON_INTEGER_FORMAT " %s lost (%s)", lost, lost == 1 ? "event was" : "events were", name);
    }
    json_decref(report);
    jianmu_bus_free(s->bus);
}
