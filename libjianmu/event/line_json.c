/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "event/line.h"
#include "event/secret.h"
#include <string.h>

enum { DEEPEST = 64 };

static bool print(struct jm_line *line, const json_t *value, size_t end, int levels);

static bool print_list(struct jm_line *line, const json_t *list, size_t end, int levels)
{
    size_t i;
    json_t *item;
    jm_line_lit(line, "[");
    json_array_foreach (list, i, item) {
        if (i)
            jm_line_lit(line, ",");
        if (!print(line, item, end, levels))
            return false;
    }
    jm_line_lit(line, "]");
    return true;
}

static bool print_member(struct jm_line *line, const char *key, const json_t *value, size_t end, int levels)
{
    if (line->len > end || strlen(key) > end - line->len) /* no need to look at all of it */
        return false;
    jm_line_text(line, key, strlen(key), SIZE_MAX);
    jm_line_lit(line, ":");
    if (json_is_null(value) || json_is_boolean(value) || !jm_secret_name(key, strlen(key)))
        return print(line, value, end, levels);
    jm_line_lit(line, "\"[redacted]\"");
    return true;
}

static bool print_object(struct jm_line *line, const json_t *object, size_t end, int levels)
{
    const char *key;
    json_t *item;
    bool more = false;
    jm_line_lit(line, "{");
    json_object_foreach ((json_t *)object, key, item) {
        if (more)
            jm_line_lit(line, ",");
        more = true;
        if (!print_member(line, key, item, end, levels))
            return false;
    }
    jm_line_lit(line, "}");
    return true;
}

static bool print(struct jm_line *line, const json_t *value, size_t end, int levels)
{
    if (levels < 0 || line->failed || line->len > end)
        return false;
    switch (json_typeof(value)) {
    case JSON_OBJECT: return print_object(line, value, end, levels - 1);
    case JSON_ARRAY: return print_list(line, value, end, levels - 1);
    case JSON_STRING:
        if (json_string_length(value) > end - line->len) /* no need to look at all of it */
            return false;
        jm_line_text(line, json_string_value(value), json_string_length(value), SIZE_MAX);
        break;
    case JSON_INTEGER: jm_line_integer(line, json_integer_value(value)); break;
    case JSON_REAL: jm_line_real(line, json_real_value(value)); break;
    case JSON_TRUE: jm_line_lit(line, "true"); break;
    case JSON_FALSE: jm_line_lit(line, "false"); break;
    case JSON_NULL: jm_line_lit(line, "null"); break;
    }
    return !line->failed && line->len <= end;
}

bool jm_line_json(struct jm_line *line, const json_t *value, size_t most)
{
    size_t begin = line->len;
    bool before = line->failed;
    if (print(line, value, begin + most, DEEPEST))
        return true;
    line->len = begin;
    line->failed = before;
    return false;
}

bool jm_line_member(struct jm_line *line, const char *key, const json_t *value, size_t most)
{
    size_t begin = line->len;
    bool before = line->failed;
    jm_line_lit(line, ",");
    if (print_member(line, key, value, begin + most, DEEPEST))
        return true;
    line->len = begin;
    line->failed = before;
    return false;
}
