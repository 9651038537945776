/* SPDX-License-Identifier: Apache-2.0
 * What models and their APIs will stumble over in the specifications of tools. */
#include "config.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "schema/formats.h"
#include "schema/words.h"
#include <string.h>

enum { DEEPEST = 64, LONGEST_TEXT = 1024 /* OpenAI's limit of a description */ };

struct lint {
    json_t *found;
    const char *tool;
    struct jm_buffer at; /* pointer into its parameters */
    bool failed;
};

static void report(struct lint *l, const char *level, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void report(struct lint *l, const char *level, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    jm_auto_free char *text = jm_vformat(format, ap);
    va_end(ap);
    if (!text || l->at.failed ||
        json_array_append_new(l->found, json_pack("{s:s, s:s, s:s, s:s}", "tool", l->tool, "level", level, "at",
                                                  l->at.len ? l->at.data : "", "text", text)))
        l->failed = true;
}

static bool is_of(const char *name, const char *more, size_t longest)
{
    size_t i = 0;
    for (; name[i]; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", name[i]) &&
            !strchr(more, name[i]))
            return false;
    return i > 0 && i <= longest;
}

/* Goes to name below where we are; returns the length to come back to. */
static size_t enter(struct lint *l, const char *name)
{
    size_t len = l->at.len;
    jm_buffer_addf(&l->at, "/%s", name);
    return len;
}

static void leave(struct lint *l, size_t len)
{
    l->at.len = len;
    if (l->at.data)
        l->at.data[len] = 0;
}

static void check_words(struct lint *l, const json_t *schema)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)schema, name, value) {
        if (jm_keyword_holds(name, value) != JM_HOLDS_UNKNOWN || !strncmp(name, "x-", 2))
            continue;
        const char *nearest = jm_keyword_nearest(name);
        report(l, "warning", "\"%.100s\" is no keyword and has no effect%s%s%s", name,
               nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
    }
}

static void check_required(struct lint *l, const json_t *schema)
{
    const json_t *properties = json_object_get(schema, "properties");
    size_t i;
    json_t *name;
    if (!properties)
        return;
    json_array_foreach(json_object_get(schema, "required"), i, name)
        if (json_is_string(name) && !json_object_get(properties, json_string_value(name)))
            report(l, "error", "\"required\" names \"%.100s\", which is not among \"properties\"",
                   json_string_value(name));
}

static void check_schema(struct lint *l, const json_t *schema, int depth);

static void check_properties(struct lint *l, const json_t *properties, int depth)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)properties, name, value) {
        size_t len = enter(l, name);
        if (!is_of(name, "_.-", 64))
            report(l, "error", "the name of a property is 1 to 64 of A-Z, a-z, 0-9, \"_\", \".\" and \"-\"");
        if (json_is_boolean(value))
            report(l, "error", "%s is no schema where APIs want an object", json_is_true(value) ? "true" : "false");
        else if (json_is_object(value) && !json_string_length(json_object_get(value, "description")) &&
                 !json_object_get(value, "$ref"))
            report(l, "warning", "no \"description\" tells a model what it is for");
        check_schema(l, value, depth);
        leave(l, len);
    }
}

static void check_below(struct lint *l, const json_t *schema, int depth)
{
    const char *name, *key;
    json_t *value, *item;
    size_t i;
    json_object_foreach((json_t *)schema, name, value) {
        enum jm_holds holds = jm_keyword_holds(name, value);
        size_t len = enter(l, name);
        if (!strcmp(name, "properties"))
            check_properties(l, value, depth);
        else if (holds == JM_HOLDS_SCHEMA)
            check_schema(l, value, depth);
        else if (holds >= JM_HOLDS_SCHEMAS) {
            json_object_foreach(value, key, item) {
                size_t inner = enter(l, key);
                check_schema(l, item, depth);
                leave(l, inner);
            }
            json_array_foreach(value, i, item)
                check_schema(l, item, depth);
        }
        leave(l, len);
    }
}

static void check_schema(struct lint *l, const json_t *schema, int depth)
{
    static const char *const says_type[] = {"type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "not", "if"};
    bool typed = false;
    if (!json_is_object(schema) || depth > DEEPEST)
        return;
    for (size_t i = 0; i < jm_countof(says_type); i++)
        typed |= json_object_get(schema, says_type[i]) != NULL;
    if (!typed)
        report(l, "warning", "no type is named");
    if (json_is_array(json_object_get(schema, "type")))
        report(l, "warning", "a list of types is not understood everywhere; \"anyOf\" is");
    if (json_object_get(schema, "$ref"))
        report(l, "warning", "a \"$ref\" is written out for formats of others");
    check_words(l, schema);
    check_required(l, schema);
    check_below(l, schema, depth + 1);
}

static void check_root(struct lint *l, const json_t *schema)
{
    static const char *const refused[] = {"allOf", "anyOf", "oneOf", "not", "if", "enum", "const", "$ref"};
    const char *type = json_string_value(json_object_get(schema, "type"));
    const char *dialect = json_string_value(json_object_get(schema, "$schema"));
    for (size_t i = 0; i < jm_countof(refused); i++)
        if (json_object_get(schema, refused[i]))
            report(l, "error", "\"%s\" at the top is refused by the APIs of models", refused[i]);
    if (!type || strcmp(type, "object"))
        report(l, "error", "the top must be of \"type\": \"object\"");
    if (!json_is_object(json_object_get(schema, "properties")))
        report(l, "error", "\"properties\" is missing; where there are none, it is {}");
    if (dialect && strstr(dialect, "draft-07"))
        report(l, "warning", "clients refuse \"$schema\" of draft-07; formats of others are written as 2020-12, without "
               "saying so");
}

/* 0, or -1 without memory */
static int check_parameters(struct lint *l, const json_t *schema)
{
    jianmu_error *err = NULL;
    if (!json_is_object(schema)) {
        report(l, "error", "its parameters are no object");
        return 0;
    }
    jianmu_schema *compiled = jianmu_schema_new(schema, &err);
    jm_auto_json json_t *inlined = compiled ? jm_schema_inline(schema, &err) : NULL;
    int code = (int)jianmu_error_code(err);
    if (code == JIANMU_INVALID)
        report(l, "error", "%s", jianmu_error_message(err));
    jianmu_error_free(err);
    jianmu_schema_free(compiled);
    check_root(l, schema);
    check_schema(l, schema, 0);
    return inlined || code == JIANMU_INVALID ? 0 : -1;
}

static int check_tool(struct lint *l, const json_t *tool)
{
    const char *name = json_string_value(json_object_get(tool, "name"));
    const char *text = json_string_value(json_object_get(tool, "description"));
    l->tool = name ? name : "";
    if (!name || !is_of(name, "_-", 64))
        report(l, "error", "the name of a tool is 1 to 64 of A-Z, a-z, 0-9, \"_\" and \"-\"");
    if (!text || !*text)
        report(l, "error", "no \"description\" tells a model what it does");
    else if (strlen(text) > LONGEST_TEXT)
        report(l, "warning", "its description has %zu bytes, and some APIs take %d", strlen(text), LONGEST_TEXT);
    return check_parameters(l, json_object_get(tool, "parameters"));
}

json_t *jianmu_tools_lint(const json_t *tools, jianmu_error **err)
{
    struct lint l = {.found = json_array()};
    size_t i;
    json_t *tool;
    l.failed = !l.found;
    json_array_foreach(tools, i, tool)
        if (!l.failed && check_tool(&l, tool))
            l.failed = true;
    l.failed |= l.at.failed;
    jm_buffer_free(&l.at);
    if (!l.failed)
        return l.found;
    json_decref(l.found);
    jm_fail_memory(err);
    return NULL;
}
