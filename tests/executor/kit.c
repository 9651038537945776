/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "kit.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *kit_guard = "{use: [asks]}";

void kit_open(struct kit *k, const char *yaml, const char *constraints)
{
    jianmu_error *err = NULL;
    char text[2048];
    snprintf(text, sizeof text, "execution: {retry_backoff: 0.01%s%s}\nguard: %s\n", yaml ? ", " : "", yaml ? yaml : "",
             kit_guard);
    world_dir = "tests/executor/dir";
    world_open(&k->w, text, constraints);
    k->executor = jianmu_executor_new(k->w.runner, &err);
    if (!k->executor)
        fail_msg("%s", jianmu_error_message(err));
    snprintf(k->file, sizeof k->file, "/tmp/jm_test_exec_XXXXXX");
    int fd = mkstemp(k->file);
    assert_true(fd >= 0);
    close(fd);
}

void kit_close(struct kit *k)
{
    unlink(k->file);
    jianmu_executor_free(k->executor);
    world_close(&k->w);
}

json_t *kit_args(struct kit *k, const char *args)
{
    char text[1024];
    snprintf(text, sizeof text, "{\"file\": \"%s\"%s%s}", k->file, args ? ", " : "", args ? args : "");
    return json_text(text);
}

jianmu_result *kit_call(struct kit *k, const char *tool, const char *args, jianmu_call *call, jianmu_error **err)
{
    jianmu_result *result = NULL;
    json_t *json = kit_args(k, args);
    int status = jianmu_execute_tool(k->executor, tool, json, call, &result, err);
    json_decref(json);
    if ((status != 0) != (err && *err))
        fail_msg("%s: status %d and %s", tool, status, err && *err ? jianmu_error_message(*err) : "no error");
    if (!status)
        return result;
    jianmu_result_free(result);
    return NULL;
}

int kit_runs(struct kit *k)
{
    struct stat st;
    assert_int_equal(stat(k->file, &st), 0);
    assert_int_equal(truncate(k->file, 0), 0);
    return (int)st.st_size;
}

const char *kit_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

json_t *kit_events(struct kit *k, size_t repeats, const char *end)
{
    size_t seen = 0, i;
    json_t *event, *list = json_copy(k->w.events);
    json_array_foreach (list, i, event)
        if (!strcmp(kit_text(event, "event"), "execution.attempt")) {
            assert_true(i > 0 && i + 1 < json_array_size(list));
            json_t *payload = json_object_get(event, "payload");
            assert_int_equal(json_integer_value(json_object_get(payload, "attempt")), ++seen + 1);
            assert_true(json_is_real(json_object_get(payload, "wait_s")));
        }
    json_decref(list);
    assert_int_equal(seen, repeats);
    return json_object_get(expect_pair(&k->w, end), "payload");
}
