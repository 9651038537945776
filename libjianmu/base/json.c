/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/json.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/text.h"
#include <string.h>

static void new_line(struct jm_buffer *b, int indent, int depth)
{
    if (!indent)
        return;
    jm_buffer_add(b, "\n", 1);
    for (int i = 0; i < indent * depth; i++)
        jm_buffer_add(b, " ", 1);
}

static void print_string(struct jm_buffer *b, const char *text, size_t len)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
    size_t plain = 0;
    jm_buffer_add(b, "\"", 1);
    for (size_t i = 0; i < len; i++) {
        const char *c = text[i] ? strchr(from, text[i]) : NULL;
        if (!c && (unsigned char)text[i] >= 0x20)
            continue;
        jm_buffer_add(b, text + plain, i - plain);
        plain = i + 1;
        if (c)
            jm_buffer_add(b, (char[]){'\\', to[c - from]}, 2);
        else
            jm_buffer_addf(b, "\\u%04x", (unsigned)text[i]);
    }
    jm_buffer_add(b, text + plain, len - plain);
    jm_buffer_add(b, "\"", 1);
}

/* How a value is written: with so many blanks a level, or so that equal values are equal text. */
struct style {
    int indent;
    bool canonical;
};

static void print_scalar(struct jm_buffer *b, const json_t *value, struct style style)
{
    char text[32];
    double real = json_real_value(value);
    if (style.canonical && json_is_real(value) && real >= -0x1p53 && real <= 0x1p53 && real == (double)(int64_t)real) {
        jm_buffer_addf(b, "%lld", (long long)real);
        return;
    }
    switch (json_typeof(value)) {
    case JSON_STRING: print_string(b, json_string_value(value), json_string_length(value)); break;
    case JSON_INTEGER: jm_buffer_addf(b, "%" JSON_INTEGER_FORMAT, json_integer_value(value)); break;
    case JSON_REAL: jm_buffer_adds(b, jm_print_seconds(real, text)); break;
    default: jm_buffer_adds(b, json_is_true(value) ? "true" : json_is_false(value) ? "false" : "null"); break;
    }
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void print(struct jm_buffer *b, const json_t *value, struct style style, int depth);

static void print_member(struct jm_buffer *b, const char *key, const json_t *item, size_t i, struct style style, int depth)
{
    if (i)
        jm_buffer_add(b, ",", 1);
    new_line(b, style.indent, depth + 1);
    print_string(b, key, strlen(key));
    jm_buffer_add(b, ": ", style.indent ? 2 : 1);
    print(b, item, style, depth + 1);
}

static void print_members(struct jm_buffer *b, const json_t *object, struct style style, int depth)
{
    void *at = json_object_iter((json_t *)object);
    for (size_t i = 0; at && !b->failed; i++, at = json_object_iter_next((json_t *)object, at))
        print_member(b, json_object_iter_key(at), json_object_iter_value(at), i, style, depth);
}

static void print_sorted(struct jm_buffer *b, const json_t *object, struct style style, int depth)
{
    size_t count = json_object_size(object), i = 0;
    const char *key;
    json_t *item;
    jm_auto_free const char **keys = calloc(count + 1, sizeof *keys);
    if (!keys) {
        b->failed = true;
        return;
    }
    json_object_foreach((json_t *)object, key, item)
        keys[i++] = key;
    qsort(keys, count, sizeof *keys, by_bytes);
    for (i = 0; i < count && !b->failed; i++)
        print_member(b, keys[i], json_object_get(object, keys[i]), i, style, depth);
}

static void print_items(struct jm_buffer *b, const json_t *list, struct style style, int depth)
{
    for (size_t i = 0; i < json_array_size(list) && !b->failed; i++) {
        if (i)
            jm_buffer_add(b, ",", 1);
        new_line(b, style.indent, depth + 1);
        print(b, json_array_get(list, i), style, depth + 1);
    }
}

static void print(struct jm_buffer *b, const json_t *value, struct style style, int depth)
{
    bool object = json_is_object(value);
    if (b->failed || !value) {
        b->failed = true;
        return;
    }
    if (!object && !json_is_array(value)) {
        print_scalar(b, value, style);
        return;
    }
    if (depth > JM_JSON_DEEPEST) {
        b->failed = true;
        return;
    }
    jm_buffer_add(b, object ? "{" : "[", 1);
    if (object)
        (style.canonical ? print_sorted : print_members)(b, value, style, depth);
    else
        print_items(b, value, style, depth);
    if (object ? json_object_size(value) : json_array_size(value))
        new_line(b, style.indent, depth);
    jm_buffer_add(b, object ? "}" : "]", 1);
}

static bool deeper_than(const json_t *value, int levels)
{
    const char *key;
    json_t *item;
    size_t i;
    if (!json_is_object(value) && !json_is_array(value))
        return false;
    if (levels < 0)
        return true;
    json_object_foreach ((json_t *)value, key, item)
        if (deeper_than(item, levels - 1))
            return true;
    json_array_foreach (value, i, item)
        if (deeper_than(item, levels - 1))
            return true;
    return false;
}

bool jm_json_can_print(const json_t *value)
{
    return !deeper_than(value, JM_JSON_DEEPEST);
}

char *jm_json_print(const json_t *value, int indent, size_t *len)
{
    struct jm_buffer b = {0};
    print(&b, value, (struct style){indent, false}, 0);
    if (len)
        *len = b.len;
    return jm_buffer_take(&b);
}

char *jm_json_canonical(const json_t *value, size_t *len)
{
    struct jm_buffer b = {0};
    print(&b, value, (struct style){0, true}, 0);
    *len = b.len;
    return jm_buffer_take(&b);
}

json_t *jm_json_copy(const json_t *value)
{
    json_t *copy = json_is_object(value) ? json_object() : json_array(), *item;
    int bad = copy ? 0 : -1;
    const char *name;
    size_t i;
    json_object_foreach((json_t *)value, name, item)
        if (!bad)
            bad = json_object_set_nocheck(copy, name, item);
    json_array_foreach(value, i, item)
        if (!bad)
            bad = json_array_append(copy, item);
    if (!bad)
        return copy;
    json_decref(copy);
    return NULL;
}

static json_t *copy_within(const json_t *value, int levels)
{
    if (json_is_string(value))
        return json_stringn_nocheck(json_string_value(value), json_string_length(value));
    if (!json_is_object(value) && !json_is_array(value))
        return json_deep_copy(value); /* a number, true, false, null */
    json_t *copy = levels < 0 ? NULL : json_is_object(value) ? json_object() : json_array(), *item;
    int bad = copy ? 0 : -1;
    const char *name;
    size_t i;
    json_object_foreach((json_t *)value, name, item)
        if (!bad)
            bad = json_object_set_new_nocheck(copy, name, copy_within(item, levels - 1));
    json_array_foreach(value, i, item)
        if (!bad)
            bad = json_array_append_new(copy, copy_within(item, levels - 1));
    if (!bad)
        return copy;
    json_decref(copy);
    return NULL;
}

json_t *jm_json_deep_copy(const json_t *value)
{
    return copy_within(value, JM_JSON_DEEPEST);
}
