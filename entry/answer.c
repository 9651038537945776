/* SPDX-License-Identifier: Apache-2.0
 * One request in its own process: the library's usual way to a tool, in process. */
#include "config.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "call/runner.h"
#include "serve.h"
#include <libgen.h>
#include <stdio.h>
#include <string.h>

struct request {
    const char *tool, *path;
    json_t *json, *args, *settings, *own;
    uint64_t id;
    int out;
    bool transient;
};

/* json is taken. False: it is no text, or a longer one than a frame may hold. */
static bool send_json(int out, uint32_t type, uint64_t id, json_t *json)
{
    jm_auto_free char *text = json ? jm_json_print(json, 0, NULL) : NULL;
    bool fits = text && strlen(text) <= JM_FRAME_MOST;
    if (fits)
        jm_frame_write(out, type, id, text, strlen(text));
    json_decref(json);
    return fits;
}

static void send_error(const struct request *r, const jianmu_error *err)
{
    send_json(r->out, JM_FRAME_RESULT, r->id,
              json_pack("{s:b, s:{s:s, s:s}, s:b}", "ok", 0, "error", "code", jianmu_code_name(jianmu_error_code(err)),
                        "message", jianmu_error_message(err), "transient", r->transient));
}

/* The call's start and end are the host's to say; the rest goes through. */
static void forward(void *data, const jianmu_event *event)
{
    const struct request *r = data;
    if (event->kind != JM_EVENT_OTHER)
        return;
    json_t *payload = event->payload ? json_incref(event->payload) : json_null();
    send_json(r->out, JM_FRAME_EVENT, r->id, json_pack("{s:s, s:o}", "name", event->name, "payload", payload));
}

static int parse(const struct jm_frame *frame, struct request *r, jianmu_error **err)
{
    json_error_t why;
    r->json = jm_json_parse(frame->data, frame->len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, &why);
    if (!r->json)
        return jm_fail(err, JIANMU_INVALID, "request: %s", why.text);
    r->tool = json_string_value(json_object_get(r->json, "tool"));
    r->path = json_string_value(json_object_get(r->json, "path"));
    r->args = json_object_get(r->json, "args");
    r->settings = json_object_get(r->json, "settings");
    r->own = json_object_get(r->json, "own");
    if (!r->tool || !r->path || *r->path != '/' || !json_is_object(r->args) || !json_is_object(r->settings) ||
        !json_is_object(r->own))
        return jm_fail(err, JIANMU_INVALID, "request: tool, path, args, settings and own are needed");
    return 0;
}

/* A config that knows just the directory of that tool; DIR/tools/NAME.so stands for DIR. JSON is YAML. */
static jianmu_config *make_config(const struct request *r, jianmu_error **err)
{
    jm_auto_free char *path = strdup(r->path);
    jm_auto_json json_t *tree = json_object_size(r->own) ? json_pack("{s:{s:O}}", "tools", r->tool, r->own) : json_object();
    jm_auto_free char *text = tree ? jm_json_print(tree, 0, NULL) : NULL;
    jianmu_config *config = path && text ? jianmu_config_new() : NULL;
    if (!config) {
        jm_fail_memory(err);
        return NULL;
    }
    if (jianmu_config_add_plugin_dir(config, dirname(dirname(path)), err) ||
        jianmu_config_load_text(config, text, strlen(text), "request", err)) {
        jianmu_config_free(config);
        return NULL;
    }
    return config;
}

static void send_result(const struct request *r, const jianmu_result *result)
{
    json_t *value = jianmu_result_value(result);
    json_t *answer = json_pack("{s:b, s:O*, s:I, s:b}", "ok", 1, "result", value, "dropped",
                               (json_int_t)jianmu_result_value_dropped(result), "transient", r->transient);
    jianmu_reason reason = jianmu_result_reason(result);
    if (answer && reason != JIANMU_EXITED)
        json_object_set_new(answer, "failed", json_string(jianmu_result_message(result)));
    if (answer && reason != JIANMU_EXITED && reason != JIANMU_TOOL_FAILED)
        json_object_set_new(answer, "limit", json_integer(reason));
    if (send_json(r->out, JM_FRAME_RESULT, r->id, answer))
        return;
    jianmu_error *err = NULL;
    jm_fail(&err, JIANMU_INTERNAL, "tool '%s' gave a value that a tool host cannot hand over: %s", r->tool,
            jm_json_can_print(value) ? "it is larger than 64 MiB, or there was no memory" : "it is nested too deeply");
    send_error(r, err);
    jianmu_error_free(err);
}

static int run(struct request *r, jianmu_error **err)
{
    jianmu_config *config = make_config(r, err);
    jianmu_constraints *constraints = config ? jianmu_constraints_from_json(r->settings, err) : NULL;
    jianmu_bus *bus = jianmu_bus_new();
    jianmu_call *call = jianmu_call_new();
    jianmu_runner *runner = NULL;
    jianmu_result *result = NULL;
    const jianmu_tool *tool = NULL;
    double seconds = json_number_value(json_object_get(r->json, "timeout_s"));
    if (!bus || !call)
        jm_fail_memory(err);
    if (constraints && bus && call && !jianmu_bus_subscribe(bus, forward, r, err) &&
        (seconds <= 0 || !jianmu_call_set_timeout(call, seconds, err))) {
        jianmu_backend *backend = jm_backend_in_process(config, err);
        runner = backend ? jianmu_runner_take_backend(backend, constraints, bus, err) : NULL;
        tool = runner ? jianmu_runner_tool(runner, r->tool, err) : NULL;
    }
    int status = tool ? jianmu_run_tool(runner, tool, r->args, call, &result, err) : -1;
    r->transient = result && result->transient;
    if (!status)
        send_result(r, result);
    jianmu_result_free(result);
    jianmu_runner_free(runner);
    jianmu_call_free(call);
    jianmu_bus_free(bus);
    jianmu_constraints_free(constraints);
    jianmu_config_free(config);
    return status;
}

void entry_answer(const struct jm_frame *request, int out)
{
    struct request r = {.id = request->id, .out = out};
    jianmu_error *err = NULL;
    if (parse(request, &r, &err) || run(&r, &err))
        send_error(&r, err);
    jianmu_error_free(err);
    json_decref(r.json);
}
