/* SPDX-License-Identifier: Apache-2.0
 * One value against one knob. */
#include "config.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "settings/values.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *words;
} types[] = {
    [JM_STR] = {"str", "text"},
    [JM_BOOL] = {"bool", "true or false"},
    [JM_INT] = {"int", "a whole number"},
    [JM_REAL] = {"real", "a number"},
    [JM_SECONDS] = {"seconds", "a duration (like 30, \"30s\", \"2m\", \"500ms\", \"1.5h\", \"1m30s\")"},
    [JM_SIZE] = {"size", "a size (like 1048576, \"64k\", \"512m\", \"1.5g\")"},
    [JM_LIST] = {"list", "a list of texts"},
    [JM_MAP] = {"map", "a mapping of names to texts"},
};

const char *jm_type_name(enum jm_type type)
{
    return types[type].name;
}

int jm_type_from_name(const char *name, enum jm_type *type)
{
    for (size_t i = 0; i < jm_countof(types); i++) {
        if (!strcmp(types[i].name, name)) {
            *type = (enum jm_type)i;
            return 0;
        }
    }
    return -1;
}

struct subject {
    const char *label;
    const struct jm_knob *knob;
    const json_t *value;
    jianmu_error **err;
};

static json_t *refuse(const struct subject *s, const char *what)
{
    char shown[JM_SHOWN];
    jm_fail(s->err, JIANMU_INVALID, "%s: %s %s", s->label, jm_show_value(shown, s->value), what);
    return NULL;
}

static json_t *wrong_type(const struct subject *s)
{
    char shown[JM_SHOWN];
    bool quote = s->knob->type == JM_STR && (json_is_number(s->value) || json_is_boolean(s->value));
    jm_fail(s->err, JIANMU_INVALID, "%s: %s is not %s%s", s->label, jm_show_value(shown, s->value),
            types[s->knob->type].words, quote ? "; put it in quotes" : "");
    return NULL;
}

static json_t *made(const struct subject *s, json_t *value)
{
    if (!value)
        jm_fail_memory(s->err);
    return value;
}

/* NULL, or what is wrong with a number for this knob. text: room for the sentence. */
static const char *out_of_range(const struct jm_knob *knob, double number, char text[JM_SHOWN])
{
    char bound[32];
    if (isnan(number) || isinf(number))
        return "is not a finite number";
    if (number < 0)
        return "is negative";
    if (number == 0 && knob->min > 0)
        return knob->flags & JM_LIMIT ? "would mean \"no limit\"; to have none, leave it out" : "is too small";
    bool low = number < knob->min;
    if (!low && number <= knob->max)
        return NULL;
    double limit = low ? knob->min : knob->max;
    if (knob->type == JM_REAL || knob->type == JM_SECONDS)
        jm_print_seconds(limit, bound);
    else
        snprintf(bound, sizeof bound, "%.0f", limit);
    snprintf(text, JM_SHOWN, low ? "is too small, at least %s" : "is too large, at most %s", bound);
    return text;
}

static json_t *coerce_real(const struct subject *s)
{
    char text[JM_SHOWN];
    double number = json_number_value(s->value);
    const char *why = NULL;
    if (json_is_string(s->value)) {
        const char *string = json_string_value(s->value);
        why = s->knob->type == JM_REAL ? jm_real_from_text(string, &number) : jm_seconds_from_text(string, &number);
    } else if (!json_is_number(s->value)) {
        return wrong_type(s);
    }
    if (!why)
        why = out_of_range(s->knob, number, text);
    return why ? refuse(s, why) : made(s, json_real(number));
}

static json_t *coerce_whole(const struct subject *s)
{
    char text[JM_SHOWN];
    uint64_t number = 0;
    const char *why = NULL;
    if (json_is_string(s->value)) {
        const char *string = json_string_value(s->value);
        why = s->knob->type == JM_INT ? jm_whole_from_text(string, &number) : jm_size_from_text(string, &number);
    } else if (json_is_integer(s->value)) {
        json_int_t integer = json_integer_value(s->value);
        why = integer < 0 ? "is negative" : NULL;
        number = (uint64_t)integer;
    } else if (json_is_real(s->value)) {
        double real = json_real_value(s->value);
        why = out_of_range(s->knob, real, text);
        if (!why && real != (double)(uint64_t)real)
            why = s->knob->type == JM_INT ? "is not a whole number" : "is not a whole number of bytes";
        number = why ? 0 : (uint64_t)real;
    } else {
        return wrong_type(s);
    }
    if (!why)
        why = out_of_range(s->knob, (double)number, text);
    return why ? refuse(s, why) : made(s, json_integer((json_int_t)number));
}

static json_t *coerce_bool(const struct subject *s)
{
    const char *text = json_string_value(s->value);
    if (json_is_boolean(s->value))
        return json_boolean(json_is_true(s->value));
    if (text && (!strcmp(text, "true") || !strcmp(text, "false")))
        return json_boolean(text[0] == 't');
    return wrong_type(s);
}

static bool has_nul(const json_t *string)
{
    return strlen(json_string_value(string)) != json_string_length(string);
}

static bool has_control(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return true;
    return false;
}

/* Rules of single knobs beyond their type; NULL: good. */
static const char *text_fault(const char *name, const char *text)
{
    if (!*text)
        return "is empty";
    if (!strcmp(name, "scope") && strcmp(text, "tools") && strcmp(text, "skill") && strcmp(text, "all"))
        return "is not a scope (there are tools, skill, all)";
    if (!strcmp(name, "docker_image") || !strcmp(name, "network")) {
        if (*text == '-')
            return "begins with \"-\"";
        if (strchr(text, ' ') || has_control(text))
            return "has a blank or a control character in it";
    }
    if (!strcmp(name, "plugins.path") && *text != '/')
        return "is not an absolute path";
    if (!strncmp(name, "env", 3) && (strchr(text, '=') || strchr(text, ' ') || has_control(text)))
        return "is not the name of an environment variable";
    return NULL;
}

static json_t *coerce_text(const struct subject *s)
{
    if (!json_is_string(s->value))
        return wrong_type(s);
    if (has_nul(s->value))
        return refuse(s, "has a NUL in it");
    if (strcmp(s->knob->name, "mode")) {
        const char *why = text_fault(s->knob->name, json_string_value(s->value));
        return why ? refuse(s, why) : made(s, json_string(json_string_value(s->value)));
    }
    jm_auto_free char *mode = jm_mode_normalise(json_string_value(s->value), s->err);
    if (!mode)
        return NULL;
    return *mode ? made(s, json_string(mode)) : refuse(s, "is empty");
}

static json_t *coerce_list(const struct subject *s)
{
    size_t i;
    json_t *item;
    if (!json_is_array(s->value))
        return wrong_type(s);
    jm_auto_json json_t *list = json_array();
    json_array_foreach(s->value, i, item) {
        struct subject one = {s->label, s->knob, item, s->err};
        if (!json_is_string(item))
            return refuse(&one, "is not text, and every item must be");
        if (has_nul(item))
            return refuse(&one, "has a NUL in it");
        const char *why = text_fault(s->knob->name, json_string_value(item));
        if (why)
            return refuse(&one, why);
        if (json_array_append_new(list, json_string(json_string_value(item))))
            return made(s, NULL);
    }
    return made(s, jm_steal(list));
}

/* Values may be secrets: complaints name the member, never its value. */
static json_t *coerce_map(const struct subject *s)
{
    char shown[JM_SHOWN];
    const char *name;
    json_t *item;
    if (!json_is_object(s->value))
        return wrong_type(s);
    jm_auto_json json_t *map = json_object();
    json_object_foreach((json_t *)s->value, name, item) {
        const char *why = text_fault(s->knob->name, name);
        if (!why && !json_is_string(item))
            why = "has a value that is not text";
        if (!why && has_nul(item))
            why = "has a value with a NUL in it";
        if (why) {
            jm_fail(s->err, JIANMU_INVALID, "%s: %s %s", s->label, jm_show(shown, name), why);
            return NULL;
        }
        if (json_object_set_new(map, name, json_string(json_string_value(item))))
            return made(s, NULL);
    }
    return made(s, jm_steal(map));
}

json_t *jm_coerce_as(const char *label, const struct jm_knob *knob, const json_t *value, jianmu_error **err)
{
    struct subject s = {label, knob, value, err};
    switch (knob->type) {
    case JM_STR: return coerce_text(&s);
    case JM_BOOL: return coerce_bool(&s);
    case JM_INT:
    case JM_SIZE: return coerce_whole(&s);
    case JM_REAL:
    case JM_SECONDS: return coerce_real(&s);
    case JM_LIST: return coerce_list(&s);
    case JM_MAP: return coerce_map(&s);
    }
    return NULL;
}

json_t *jm_coerce(const struct jm_knob *knob, const json_t *value, jianmu_error **err)
{
    return jm_coerce_as(knob->name, knob, value, err);
}
