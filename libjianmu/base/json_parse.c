/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/json.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

struct reader {
    const char *text, *at, *end;
    size_t flags;
    int depth;
    const char *why;            /* what is wrong at `at` */
    enum json_error_code code;
};

static json_t *value(struct reader *r);

static void *wrong(struct reader *r, enum json_error_code code, const char *why)
{
    if (!r->why) {
        r->why = why;
        r->code = code;
    }
    return NULL;
}

static void *no_memory(struct reader *r)
{
    return wrong(r, json_error_out_of_memory, "out of memory");
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && strchr(" \t\n\r", *r->at) && *r->at)
        r->at++;
}

/* 0: the text ends here. A NUL byte is no token, so it is not mistaken for the end. */
static char peek(struct reader *r)
{
    skip_blanks(r);
    return r->at == r->end ? 0 : *r->at ? *r->at : 1;
}

static void *unexpected(struct reader *r, const char *why)
{
    return peek(r) ? wrong(r, json_error_invalid_syntax, why)
                   : wrong(r, json_error_premature_end_of_input, "the text ends too early");
}

/* Four hexadecimal digits; -1: they are not. */
static long hex4(struct reader *r)
{
    long n = 0;
    if (r->end - r->at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        int c = r->at[i] >= 'A' && r->at[i] <= 'F' ? r->at[i] | 0x20 : r->at[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return -1;
        n = n * 16 + digit;
    }
    r->at += 4;
    return n;
}

static bool unicode(struct reader *r, struct jm_buffer *b)
{
    long c = hex4(r);
    if (c >= 0xd800 && c < 0xdc00 && r->end - r->at > 6 && r->at[0] == '\\' && r->at[1] == 'u') {
        r->at += 2;
        long low = hex4(r);
        c = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : -1;
    }
    if (c < 0 || (c >= 0xd800 && c < 0xe000))
        return wrong(r, json_error_invalid_syntax, "\\u must be followed by four hexadecimal digits of a character");
    if (c == 0 && !(r->flags & JSON_ALLOW_NUL))
        return wrong(r, json_error_null_character, "\\u0000 is not allowed");
    char out[4];
    int n = 0;
    if (c < 0x80) {
        out[n++] = (char)c;
    } else if (c < 0x800) {
        out[n++] = (char)(0xc0 | c >> 6);
    } else {
        out[n++] = c < 0x10000 ? (char)(0xe0 | c >> 12) : (char)(0xf0 | c >> 18);
        if (c >= 0x10000)
            out[n++] = (char)(0x80 | (c >> 12 & 0x3f));
        out[n++] = (char)(0x80 | (c >> 6 & 0x3f));
    }
    if (c >= 0x80)
        out[n++] = (char)(0x80 | (c & 0x3f));
    jm_buffer_add(b, out, (size_t)n);
    return true;
}

static bool escape(struct reader *r, struct jm_buffer *b)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *c = r->at < r->end && *r->at ? strchr(from, *r->at) : NULL;
    if (c) {
        r->at++;
        jm_buffer_add(b, &to[c - from], 1);
        return true;
    }
    if (r->at == r->end || *r->at != 'u')
        return wrong(r, json_error_invalid_syntax, "unknown escape in a string");
    r->at++;
    return unicode(r, b);
}

/* The string that begins at a quote, decoded into b. */
static bool string(struct reader *r, struct jm_buffer *b)
{
    const char *from = ++r->at;
    for (;;) {
        while (r->at < r->end && *r->at != '"' && *r->at != '\\' && (unsigned char)*r->at >= 0x20)
            r->at++;
        jm_buffer_add(b, from, (size_t)(r->at - from));
        if (r->at == r->end)
            return wrong(r, json_error_premature_end_of_input, "a string does not end");
        if ((unsigned char)*r->at < 0x20)
            return wrong(r, json_error_invalid_syntax, "a control character in a string");
        if (*r->at++ == '"')
            break;
        if (!escape(r, b))
            return false;
        from = r->at;
    }
    if (b->failed)
        return no_memory(r);
    if (!jm_utf8_is_valid(b->data, b->len))
        return wrong(r, json_error_invalid_utf8, "a string is not valid UTF-8");
    return true;
}

static json_t *string_value(struct reader *r)
{
    struct jm_buffer b = {0};
    json_t *json = NULL;
    if (string(r, &b) && !(json = json_stringn_nocheck(b.data, b.len)))
        no_memory(r);
    jm_buffer_free(&b);
    return json;
}

static const char *digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* The end of the number by JSON's grammar, or NULL. */
static const char *number_end(const struct reader *r, bool *is_real)
{
    const char *from = r->at + (*r->at == '-'), *at = digits(from, r->end);
    *is_real = false;
    if (at == from || (*from == '0' && at > from + 1))
        return NULL;
    if (at < r->end && *at == '.') {
        *is_real = true;
        from = at + 1;
        if ((at = digits(from, r->end)) == from)
            return NULL;
    }
    if (at < r->end && (*at == 'e' || *at == 'E')) {
        *is_real = true;
        from = at + 1;
        if (from < r->end && (*from == '+' || *from == '-'))
            from++;
        if ((at = digits(from, r->end)) == from)
            return NULL;
    }
    return at;
}

static json_t *number(struct reader *r)
{
    bool is_real, minus = *r->at == '-';
    const char *end = number_end(r, &is_real), *p = r->at + minus;
    uint64_t whole = 0, most = (uint64_t)INT64_MAX + minus;
    double real = 0;
    if (!end)
        return wrong(r, json_error_invalid_syntax, "not a number");
    if (is_real && jm_parse_real(p, (size_t)(end - p), &real) != (size_t)(end - p))
        return wrong(r, json_error_numeric_overflow, "a number has too many digits");
    for (; !is_real && p < end; p++) {
        unsigned digit = (unsigned)(*p - '0');
        if (whole > (most - digit) / 10)
            return wrong(r, json_error_numeric_overflow, "a number is too large");
        whole = whole * 10 + digit;
    }
    if (isinf(real))
        return wrong(r, json_error_numeric_overflow, "a number is too large");
    json_t *json = is_real ? json_real(minus ? -real : real) : json_integer((json_int_t)(minus ? -whole : whole));
    r->at = end;
    return json ? json : no_memory(r);
}

static json_t *literal(struct reader *r)
{
    static const struct {
        const char *word;
        json_t *(*make)(void);
    } words[] = {{"true", json_true}, {"false", json_false}, {"null", json_null}};
    for (size_t i = 0; i < jm_countof(words); i++) {
        size_t len = strlen(words[i].word);
        if ((size_t)(r->end - r->at) >= len && !memcmp(r->at, words[i].word, len)) {
            r->at += len;
            return words[i].make();
        }
    }
    return unexpected(r, "not a value");
}

static json_t *array(struct reader *r)
{
    jm_auto_json json_t *list = json_array();
    r->at++;
    if (!list)
        return no_memory(r);
    for (bool first = true;; first = false) {
        char c = peek(r);
        if (c == ']' && first)
            break;
        json_t *item = value(r);
        if (!item)
            return NULL;
        if (json_array_append_new(list, item))
            return no_memory(r);
        c = peek(r);
        if (c != ',' && c != ']')
            return unexpected(r, "\",\" or \"]\" must follow");
        if (c == ']')
            break;
        r->at++;
    }
    r->at++;
    return jm_steal(list);
}

static bool member(struct reader *r, json_t *map)
{
    __attribute__((cleanup(jm_buffer_free))) struct jm_buffer name = {0};
    if (peek(r) != '"')
        return unexpected(r, "a name in quotes must stand here");
    if (!string(r, &name))
        return false;
    if (strlen(name.data) != name.len)
        return wrong(r, json_error_null_byte_in_key, "a name has a NUL in it");
    if (r->flags & JSON_REJECT_DUPLICATES && json_object_get(map, name.data))
        return wrong(r, json_error_duplicate_key, "a name stands here twice");
    if (peek(r) != ':')
        return unexpected(r, "\":\" must follow");
    r->at++;
    json_t *item = value(r);
    if (!item)
        return false;
    if (json_object_set_new_nocheck(map, name.data, item))
        return no_memory(r);
    return true;
}

static json_t *object(struct reader *r)
{
    jm_auto_json json_t *map = json_object();
    r->at++;
    if (!map)
        return no_memory(r);
    for (bool first = true;; first = false) {
        char c = peek(r);
        if (c == '}' && first)
            break;
        if (!member(r, map))
            return NULL;
        c = peek(r);
        if (c != ',' && c != '}')
            return unexpected(r, "\",\" or \"}\" must follow");
        if (c == '}')
            break;
        r->at++;
    }
    r->at++;
    return jm_steal(map);
}

static json_t *value(struct reader *r)
{
    json_t *json;
    char c = peek(r);
    if (c != '{' && c != '[')
        return c == '"' ? string_value(r) : c == '-' || (c >= '0' && c <= '9') ? number(r) : literal(r);
    if (++r->depth > JM_JSON_DEEPEST)
        return wrong(r, json_error_stack_overflow, "nested too deep");
    json = c == '{' ? object(r) : array(r);
    r->depth--;
    return json;
}

static void tell(const struct reader *r, json_error_t *error)
{
    int line = 1, column = 1;
    for (const char *p = r->text; p < r->at; p++) {
        column = *p == '\n' ? 1 : column + (((unsigned char)*p & 0xc0) != 0x80);
        line += *p == '\n';
    }
    *error = (json_error_t){.line = line, .column = column, .position = (int)(r->at - r->text)};
    snprintf(error->text, sizeof error->text - 1, "%s", r->why);
    error->text[JSON_ERROR_TEXT_LENGTH - 1] = (char)r->code; /* where json_error_code looks */
}

json_t *jm_json_parse(const char *text, size_t len, size_t flags, json_error_t *error)
{
    struct reader r = {.text = text, .at = text, .end = text + len, .flags = flags};
    char c = peek(&r);
    json_t *json = flags & JSON_DECODE_ANY || c == '{' || c == '[' ? value(&r)
                                                                   : unexpected(&r, "not an object or a list");
    if (json && peek(&r)) {
        wrong(&r, json_error_end_of_input_expected, "more text behind the value");
        json_decref(json);
        json = NULL;
    }
    if (!json && error)
        tell(&r, error);
    return json;
}
