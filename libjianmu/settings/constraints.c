/* SPDX-License-Identifier: Apache-2.0
 * What a caller asks for. A field that is null is silent: what it leaves open comes from the layers below. */
#include "config.h"

#include "settings/constraints.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "settings/values.h"
#include <string.h>

struct jianmu_constraints {
    json_t *fields; /* coerced */
};

jianmu_constraints *jianmu_constraints_new(void)
{
    jianmu_constraints *c = calloc(1, sizeof *c);
    if (c && !(c->fields = json_object())) {
        free(c);
        return NULL;
    }
    return c;
}

void jianmu_constraints_free(jianmu_constraints *c)
{
    if (!c)
        return;
    json_decref(c->fields);
    free(c);
}

json_t *jm_constraints_get(const jianmu_constraints *constraints, const char *field)
{
    return constraints ? json_object_get(constraints->fields, field) : NULL;
}

const json_t *jm_constraints_fields(const jianmu_constraints *constraints)
{
    return constraints ? constraints->fields : NULL;
}

bool jm_constraints_apply(const jianmu_constraints *constraints, const char *subject, bool job)
{
    const char *scope = json_string_value(jm_constraints_get(constraints, "scope"));
    if (!scope || !strcmp(scope, "all"))
        return true;
    if (!subject)
        return false;
    return job ? !strcmp(scope, "skill") : !strcmp(scope, "tools");
}

static int unknown_field(const char *field, jianmu_error **err)
{
    const char *names[64];
    size_t count = 0;
    char shown[JM_SHOWN];
    for (size_t i = 0; i < jm_knob_count && count < jm_countof(names); i++)
        if (jm_knobs[i].flags & JM_IN_CONSTRAINTS)
            names[count++] = jm_knobs[i].name;
    const char *nearest = jm_text_nearest(field, names, count);
    return jm_fail(err, JIANMU_INVALID, "constraints: unknown field %s%s%s%s", jm_show(shown, field),
                   nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

static const struct jm_knob *find_field(const char *field, jianmu_error **err)
{
    const struct jm_knob *knob = jm_knob_find(field);
    if (knob && knob->flags & JM_IN_CONSTRAINTS)
        return knob;
    unknown_field(field, err);
    return NULL;
}

int jianmu_constraints_set_json(jianmu_constraints *c, const char *field, const json_t *value, jianmu_error **err)
{
    jianmu_error *why = NULL;
    const struct jm_knob *knob = find_field(field, err);
    if (!knob)
        return -1;
    if (!value || json_is_null(value)) {
        json_object_del(c->fields, field);
        return 0;
    }
    json_t *coerced = jm_coerce(knob, value, &why);
    if (!coerced) {
        jm_wrap(&why, "constraints");
        return jm_fail_take(err, why);
    }
    return json_object_set_new(c->fields, field, coerced) ? jm_fail_memory(err) : 0;
}

static json_t *text_json(const char *field, const char *text, jianmu_error **err)
{
    json_t *value = NULL;
    if (!jm_utf8_is_valid(text, strlen(text)))
        jm_fail(err, JIANMU_INVALID, "constraints: %s: the value is not valid UTF-8", field);
    else if (!(value = json_string_nocheck(text)))
        jm_fail_memory(err);
    return value;
}

/* "NAME=value" adds one to those that are there; a JSON object replaces them. */
static json_t *map_from_text(const jianmu_constraints *c, const char *field, const char *text, jianmu_error **err)
{
    json_error_t why;
    const char *equals = strchr(text, '=');
    if (*text == '{') {
        json_t *map = jm_json_parse(text, strlen(text), JSON_REJECT_DUPLICATES, &why);
        if (!map && json_error_code(&why) == json_error_out_of_memory)
            jm_fail_memory(err);
        else if (!map)
            jm_fail(err, JIANMU_INVALID, "constraints: %s: not a JSON object: %s", field, why.text);
        return map;
    }
    if (!equals || equals == text) {
        jm_fail(err, JIANMU_INVALID, "constraints: %s: must be NAME=VALUE or a JSON object", field);
        return NULL;
    }
    jm_auto_json json_t *value = text_json(field, equals + 1, err);
    jm_auto_free char *name = strndup(text, (size_t)(equals - text));
    json_t *old = json_object_get(c->fields, field);
    jm_auto_json json_t *map = old ? jm_json_copy(old) : json_object();
    if (!value)
        return NULL;
    jm_auto_json json_t *key = name ? text_json(field, name, err) : NULL;
    if (name && !key)
        return NULL;
    if (!name || json_object_set(map, name, value)) {
        jm_fail_memory(err);
        return NULL;
    }
    return jm_steal(map);
}

int jianmu_constraints_set(jianmu_constraints *c, const char *field, const char *value, jianmu_error **err)
{
    const struct jm_knob *knob = find_field(field, err);
    if (!knob)
        return -1;
    if (!value)
        return jianmu_constraints_set_json(c, field, NULL, err);
    jm_auto_json json_t *json = knob->type == JM_MAP ? map_from_text(c, field, value, err)
                                                     : text_json(field, value, err);
    return json ? jianmu_constraints_set_json(c, field, json, err) : -1;
}

static int set_all(jianmu_constraints *c, const json_t *object, jianmu_error **err)
{
    const char *field;
    json_t *value;
    if (!json_is_object(object)) {
        char shown[JM_SHOWN];
        return jm_fail(err, JIANMU_INVALID, "constraints: %s is not an object",
                       object ? jm_show_value(shown, object) : "nothing");
    }
    if (json_object_size(object) == 1 && (value = json_object_get(object, "execution"))) {
        object = value;
        if (!json_is_object(object)) {
            char shown[JM_SHOWN];
            return jm_fail(err, JIANMU_INVALID, "constraints: execution: %s is not an object",
                           jm_show_value(shown, object));
        }
    }
    json_object_foreach((json_t *)object, field, value)
        if (jianmu_constraints_set_json(c, field, value, err))
            return -1;
    return 0;
}

jianmu_constraints *jianmu_constraints_from_json(const json_t *object, jianmu_error **err)
{
    jianmu_constraints *c = jianmu_constraints_new();
    if (!c) {
        jm_fail_memory(err);
        return NULL;
    }
    if (set_all(c, object, err)) {
        jianmu_constraints_free(c);
        return NULL;
    }
    return c;
}
