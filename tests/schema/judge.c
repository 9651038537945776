/* SPDX-License-Identifier: Apache-2.0
 * Lines {"schema": S, "values": [...]} in; lines {"verdicts": [1, 0, -1...], "complaints": [...]} or {"error": "..."}
 * out: for the tests in Python. */
#include "config.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "schema/schema.h"
#include <stdio.h>
#include <string.h>

static json_t *judge(const json_t *line)
{
    jianmu_error *err = NULL;
    jianmu_schema *schema = jianmu_schema_new(json_object_get(line, "schema"), &err);
    json_t *answer = json_object(), *verdicts = json_array(), *all = json_array(), *value;
    size_t i;
    json_array_foreach(json_object_get(line, "values"), i, value) {
        json_t *complaints = NULL;
        int rc = schema ? jianmu_schema_check(schema, value, &complaints, &err) : -1;
        if (schema && rc != jianmu_schema_check(schema, value, NULL, NULL)) /* listening changes nothing */
            abort();
        json_array_append_new(verdicts, json_integer(rc));
        json_array_append_new(all, complaints ? complaints : json_null());
    }
    if (err)
        json_object_set_new(answer, "error", json_string(jianmu_error_message(err)));
    json_object_set_new(answer, "verdicts", verdicts);
    json_object_set_new(answer, "complaints", all);
    jianmu_error_free(err);
    jianmu_schema_free(schema);
    return answer;
}

int main(void)
{
    jm_auto_free char *text = NULL;
    size_t room = 0;
    ssize_t len;
    while ((len = getline(&text, &room, stdin)) > 0) {
        json_error_t why;
        jm_auto_json json_t *line = jm_json_parse(text, (size_t)len, JSON_ALLOW_NUL, &why);
        jm_auto_json json_t *answer = line ? judge(line) : json_pack("{s:s}", "unreadable", why.text);
        jm_auto_free char *out = jm_json_print(answer, 0, NULL);
        if (!out || puts(out) < 0 || fflush(stdout))
            return 1;
    }
    return 0;
}
