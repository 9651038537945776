/* SPDX-License-Identifier: Apache-2.0
 * May "strict" be claimed for a schema without $ref? Only if it asks for what strict mode will make of it anyway: an
 * optional argument turned into a required one would be another contract. */
#include "config.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "schema/formats.h"
#include "schema/words.h"
#include <string.h>

static bool against(struct jm_buffer *at, const char *what)
{
    jm_buffer_adds(at, at->len ? ": " : "");
    jm_buffer_adds(at, what);
    return false;
}

static bool is_known(const char *name)
{
    static const char *const known[] = {
        "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "minimum", "maximum",
        "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern", "format", "minItems", "maxItems", "description",
        "title"};
    for (size_t i = 0; i < jm_countof(known); i++)
        if (!strcmp(known[i], name))
            return true;
    return false;
}

static bool is_object_type(const json_t *type)
{
    size_t i;
    json_t *item;
    json_array_foreach(type, i, item)
        if (is_object_type(item))
            return true;
    return json_is_string(type) && !strcmp(json_string_value(type), "object");
}

static bool is_listed(const json_t *list, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
        if (json_is_string(item) && !strcmp(json_string_value(item), name))
            return true;
    return false;
}

static bool is_strict(const json_t *schema, struct jm_buffer *at);

static bool all_strict(const json_t *schemas, struct jm_buffer *at)
{
    size_t len = at->len, i;
    const char *name;
    json_t *item;
    json_object_foreach((json_t *)schemas, name, item) {
        jm_buffer_addf(at, "/%s", name);
        if (!is_strict(item, at))
            return false;
        at->len = len;
    }
    json_array_foreach(schemas, i, item) {
        jm_buffer_addf(at, "/%zu", i);
        if (!is_strict(item, at))
            return false;
        at->len = len;
    }
    return true;
}

static bool is_closed(const json_t *schema, struct jm_buffer *at)
{
    const char *name;
    json_t *item;
    if (!json_is_false(json_object_get(schema, "additionalProperties")))
        return against(at, "additionalProperties is not false");
    json_object_foreach(json_object_get(schema, "properties"), name, item) {
        if (is_listed(json_object_get(schema, "required"), name))
            continue;
        jm_buffer_addf(at, "%sthe property \"%s\" is not required", at->len ? ": " : "", name);
        return false;
    }
    return true;
}

static bool is_strict(const json_t *schema, struct jm_buffer *at)
{
    size_t len = at->len;
    const char *name;
    json_t *item;
    if (!json_is_object(schema))
        return against(at, "true and false are no schemas there");
    json_object_foreach((json_t *)schema, name, item) {
        enum jm_holds holds = jm_keyword_holds(name, item);
        if (!is_known(name)) {
            jm_buffer_addf(at, "%s\"%s\" is not understood there", at->len ? ": " : "", name);
            return false;
        }
        if (holds < JM_HOLDS_SCHEMA || !strcmp(name, "additionalProperties"))
            continue;
        jm_buffer_addf(at, "/%s", name);
        if (!(holds == JM_HOLDS_SCHEMA ? is_strict : all_strict)(item, at))
            return false;
        at->len = len;
    }
    if (!json_object_get(schema, "type") && !json_object_get(schema, "anyOf") && !json_object_get(schema, "enum") &&
        !json_object_get(schema, "const"))
        return against(at, "no type is named");
    return is_object_type(json_object_get(schema, "type")) ? is_closed(schema, at) : true;
}

bool jm_schema_is_strict(const json_t *schema, char **why)
{
    struct jm_buffer at = {0};
    jm_buffer_adds(&at, "");
    bool strict = is_object_type(json_object_get(schema, "type")) || against(&at, "it is no object");
    strict = strict && is_strict(schema, &at);
    *why = jm_buffer_take(&at);
    return strict;
}
