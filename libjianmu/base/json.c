/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/json.h"
#include "base/buffer.h"
#include "base/text.h"
#include <locale.h>

json_t *jm_json_parse(const char *text, size_t len, size_t flags, json_error_t *error)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* glibc's own constant: no allocation */
    locale_t before = c == (locale_t)0 ? c : uselocale(c);
    json_t *value = json_loadb(text, len, flags, error);
    if (c != (locale_t)0) {
        uselocale(before);
        freelocale(c);
    }
    return value;
}

enum { DEEPEST = 2048 };

static void new_line(struct jm_buffer *b, int indent, int depth)
{
    if (!indent)
        return;
    jm_buffer_add(b, "\n", 1);
    for (int i = 0; i < indent * depth; i++)
        jm_buffer_add(b, " ", 1);
}

static void print_scalar(struct jm_buffer *b, const json_t *value)
{
    char text[256];
    if (json_is_real(value)) {
        jm_buffer_adds(b, jm_print_seconds(json_real_value(value), text));
        return;
    }
    size_t size = json_dumpb(value, text, sizeof text, JSON_ENCODE_ANY);
    if (size && size <= sizeof text) {
        jm_buffer_add(b, text, size);
        return;
    }
    char *longer = json_dumps(value, JSON_ENCODE_ANY);
    if (!longer) {
        b->failed = true;
        return;
    }
    jm_buffer_adds(b, longer);
    json_free_t free_text;
    json_get_alloc_funcs(NULL, &free_text);
    free_text(longer);
}

static void print(struct jm_buffer *b, const json_t *value, int indent, int depth)
{
    bool object = json_is_object(value);
    size_t count = object ? json_object_size(value) : json_array_size(value), i = 0;
    if (b->failed)
        return;
    if (!object && !json_is_array(value)) {
        print_scalar(b, value);
        return;
    }
    if (depth > DEEPEST) {
        b->failed = true;
        return;
    }
    jm_buffer_add(b, object ? "{" : "[", 1);
    for (void *at = object ? json_object_iter((json_t *)value) : NULL; i < count && !b->failed; i++) {
        if (i)
            jm_buffer_add(b, ",", 1);
        new_line(b, indent, depth + 1);
        if (object) {
            json_t *key = json_string(json_object_iter_key(at));
            print_scalar(b, key);
            json_decref(key);
            jm_buffer_add(b, ": ", indent ? 2 : 1);
            print(b, json_object_iter_value(at), indent, depth + 1);
            at = json_object_iter_next((json_t *)value, at);
        } else {
            print(b, json_array_get(value, i), indent, depth + 1);
        }
    }
    if (count)
        new_line(b, indent, depth);
    jm_buffer_add(b, object ? "}" : "]", 1);
}

char *jm_json_print(const json_t *value, int indent, size_t *len)
{
    struct jm_buffer b = {0};
    print(&b, value, indent, 0);
    if (len)
        *len = b.len;
    return jm_buffer_take(&b);
}
