/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "schema/value.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include <math.h>
#include <string.h>

static const struct {
    unsigned bit;
    const char *name, *text;
} kinds[] = {{JM_NULL, "null", "null"},         {JM_BOOLEAN, "boolean", "true or false"},
             {JM_OBJECT, "object", "an object"}, {JM_ARRAY, "array", "an array"},
             {JM_STRING, "string", "a string"},  {JM_NUMBER, "number", "a number"},
             {JM_INTEGER, "integer", "an integer"}};

void jm_kinds_print(struct jm_buffer *b, unsigned types)
{
    unsigned rest = types & JM_NUMBER ? types & ~(unsigned)JM_INTEGER : types;
    for (size_t i = 1; i <= jm_countof(kinds); i++) { /* null comes last */
        unsigned bit = kinds[i % jm_countof(kinds)].bit;
        if (!(rest & bit))
            continue;
        rest &= ~bit;
        jm_buffer_adds(b, b->len ? rest ? ", " : " or " : "");
        jm_buffer_adds(b, kinds[i % jm_countof(kinds)].text);
    }
}

unsigned jm_kind_of_name(const char *name)
{
    for (size_t i = 0; i < jm_countof(kinds); i++)
        if (!strcmp(kinds[i].name, name))
            return kinds[i].bit;
    return 0;
}

unsigned jm_value_kinds(const json_t *value)
{
    double real;
    switch (json_typeof(value)) {
    case JSON_OBJECT: return JM_OBJECT;
    case JSON_ARRAY: return JM_ARRAY;
    case JSON_STRING: return JM_STRING;
    case JSON_INTEGER: return JM_NUMBER | JM_INTEGER;
    case JSON_REAL:
        real = json_real_value(value);
        return isfinite(real) && floor(real) == real ? JM_NUMBER | JM_INTEGER : JM_NUMBER;
    case JSON_NULL: return JM_NULL;
    default: return JM_BOOLEAN;
    }
}

static int compare_mixed(json_int_t i, double d)
{
    if (isnan(d))
        return 2;
    if (d >= 0x1p63)
        return -1;
    if (d < -0x1p63)
        return 1;
    json_int_t whole = (json_int_t)d; /* towards 0 */
    if (i != whole)
        return i < whole ? -1 : 1;
    double fraction = d - (double)whole;
    return fraction > 0 ? -1 : fraction < 0;
}

int jm_number_compare(const json_t *a, const json_t *b)
{
    if (json_is_integer(a) && json_is_integer(b))
        return (json_integer_value(a) > json_integer_value(b)) - (json_integer_value(a) < json_integer_value(b));
    if (json_is_integer(a))
        return compare_mixed(json_integer_value(a), json_real_value(b));
    if (json_is_integer(b))
        return -compare_mixed(json_integer_value(b), json_real_value(a));
    double x = json_real_value(a), y = json_real_value(b);
    return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
}

/* value = digits * 10^power, by the shortest decimal that reads back. */
struct decimal {
    uint64_t digits;
    int power;
};

static struct decimal decimal_of(const json_t *number)
{
    struct decimal d = {0, 0};
    char text[32];
    if (json_is_integer(number)) {
        json_int_t i = json_integer_value(number);
        d.digits = i < 0 ? -(uint64_t)i : (uint64_t)i;
        return d;
    }
    bool fraction = false;
    jm_print_seconds(json_real_value(number), text);
    for (const char *p = text; *p; p++) {
        if (*p == 'e') {
            d.power += atoi(p + 1);
            break;
        }
        if (*p >= '0' && *p <= '9') {
            d.digits = d.digits * 10 + (uint64_t)(*p - '0');
            d.power -= fraction;
        }
        fraction |= *p == '.';
    }
    while (d.digits && d.digits % 10 == 0) {
        d.digits /= 10;
        d.power++;
    }
    return d;
}

bool jm_number_is_multiple(const json_t *number, const json_t *step)
{
    if (json_is_integer(number) && json_is_integer(step))
        return json_integer_value(number) % json_integer_value(step) == 0;
    struct decimal n = decimal_of(number), s = decimal_of(step);
    unsigned __int128 divisor = s.digits, rest;
    int shift = n.power - s.power;
    if (!n.digits || !s.digits)
        return !n.digits;
    if (shift >= 0) {
        rest = n.digits % divisor;
        for (; shift > 0 && rest; shift--)
            rest = rest * 10 % divisor;
        return rest == 0;
    }
    for (; shift < 0; shift++) {
        if (divisor > n.digits)
            return false;
        divisor *= 10;
    }
    return n.digits % divisor == 0;
}

static bool same_members(const json_t *a, const json_t *b, long *steps)
{
    const char *key;
    json_t *item;
    if (json_object_size(a) != json_object_size(b))
        return false;
    json_object_foreach((json_t *)a, key, item) {
        *steps -= (long)(strlen(key) / 16);
        const json_t *other = json_object_get(b, key);
        if (!other || !jm_value_same(item, other, steps))
            return false;
    }
    return true;
}

bool jm_value_same(const json_t *a, const json_t *b, long *steps)
{
    if (--*steps < 0)
        return false;
    if (json_is_number(a) && json_is_number(b))
        return jm_number_compare(a, b) == 0;
    if (json_typeof(a) != json_typeof(b))
        return false;
    switch (json_typeof(a)) {
    case JSON_STRING:
        *steps -= (long)(json_string_length(a) / 64);
        return json_string_length(a) == json_string_length(b) &&
               !memcmp(json_string_value(a), json_string_value(b), json_string_length(a));
    case JSON_ARRAY:
        if (json_array_size(a) != json_array_size(b))
            return false;
        for (size_t i = 0; i < json_array_size(a); i++)
            if (!jm_value_same(json_array_get(a, i), json_array_get(b, i), steps))
                return false;
        return true;
    case JSON_OBJECT: return same_members(a, b, steps);
    default: return true;
    }
}

static uint64_t mix(uint64_t h)
{
    h ^= h >> 33;
    h *= UINT64_C(0xff51afd7ed558ccd);
    h ^= h >> 33;
    h *= UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

static uint64_t hash_bytes(const char *bytes, size_t len, long *steps)
{
    *steps -= (long)(len / 16);
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return mix(h + len);
}

static uint64_t hash_number(const json_t *number)
{
    double d = json_is_integer(number) ? 0 : json_real_value(number);
    uint64_t bits;
    if (json_is_integer(number))
        return mix((uint64_t)json_integer_value(number) + 7);
    if (d >= -0x1p63 && d < 0x1p63 && floor(d) == d)
        return mix((uint64_t)(json_int_t)d + 7);
    memcpy(&bits, &d, sizeof bits);
    return mix(bits + 8);
}

static uint64_t hash(const json_t *value, int depth, long *steps)
{
    uint64_t h = 11;
    const char *key;
    json_t *item;
    size_t i;
    if (depth > JM_JSON_DEEPEST) /* cyclic, perhaps */
        *steps = 0;
    if (--*steps < 0)
        return 0;
    switch (json_typeof(value)) {
    case JSON_STRING: return hash_bytes(json_string_value(value), json_string_length(value), steps);
    case JSON_INTEGER:
    case JSON_REAL: return hash_number(value);
    case JSON_ARRAY:
        json_array_foreach(value, i, item)
            h = mix(h * 31 + hash(item, depth + 1, steps));
        return h;
    case JSON_OBJECT:
        json_object_foreach((json_t *)value, key, item) /* in any order: so by sum */
            h += mix(hash_bytes(key, strlen(key), steps) * 3 + hash(item, depth + 1, steps));
        return mix(h);
    default: return mix((uint64_t)json_typeof(value) + 1);
    }
}

uint64_t jm_value_hash(const json_t *value, long *steps)
{
    return hash(value, 0, steps);
}

enum { SHOWN = 80 }; /* characters */

/* Bytes of at most so many characters; what is behind them is not looked at. */
static size_t bytes_of(const char *text, size_t len, size_t most)
{
    size_t end = 0, count = 0;
    while (end < len && (((unsigned char)text[end] & 0xc0) == 0x80 || count++ < most))
        end++;
    return end;
}

static void add_string(struct jm_buffer *b, const char *text, size_t len)
{
    /* one more than is shown, so that it is seen to be cut */
    jm_auto_json json_t *start = json_stringn_nocheck(text, bytes_of(text, len, SHOWN + 1));
    jm_auto_free char *quoted = start ? jm_json_print(start, 0, NULL) : NULL;
    if (quoted)
        jm_buffer_adds(b, quoted);
    else
        b->failed = true;
}

/* The value's text, or as much of its start as is shown at most. */
static void add_start(struct jm_buffer *b, const json_t *value)
{
    bool object = json_is_object(value), list = json_is_array(value);
    size_t count = object ? json_object_size(value) : json_array_size(value);
    if (json_is_string(value)) {
        add_string(b, json_string_value(value), json_string_length(value));
    } else if (!object && !list) {
        jm_auto_free char *text = jm_json_print(value, 0, NULL);
        b->failed |= !text;
        jm_buffer_adds(b, text ? text : "");
    } else {
        void *at = object ? json_object_iter((json_t *)value) : NULL;
        jm_buffer_adds(b, object ? "{" : "[");
        for (size_t i = 0; i < count && b->len <= SHOWN * 4 && !b->failed; i++) {
            const char *key = object ? json_object_iter_key(at) : NULL;
            jm_buffer_adds(b, i ? "," : "");
            if (key)
                add_string(b, key, strlen(key));
            jm_buffer_adds(b, key ? ":" : "");
            add_start(b, key ? json_object_iter_value(at) : json_array_get(value, i));
            at = key ? json_object_iter_next((json_t *)value, at) : NULL;
        }
        jm_buffer_adds(b, object ? "}" : "]");
    }
}

static void add_cut(struct jm_buffer *b, struct jm_buffer *whole)
{
    size_t end = whole->failed ? 0 : bytes_of(whole->data, whole->len, SHOWN);
    b->failed |= whole->failed;
    jm_buffer_add(b, whole->data, end);
    if (end < whole->len)
        jm_buffer_adds(b, "...");
    jm_buffer_free(whole);
}

void jm_value_print(struct jm_buffer *b, const json_t *value)
{
    struct jm_buffer whole = {0};
    add_start(&whole, value);
    add_cut(b, &whole);
}

void jm_text_quote(struct jm_buffer *b, const char *text, size_t len)
{
    struct jm_buffer whole = {0};
    add_string(&whole, text, len);
    add_cut(b, &whole);
}

void jm_value_describe(struct jm_buffer *b, const json_t *value)
{
    size_t size = json_is_array(value) ? json_array_size(value) : 0;
    unsigned bits = jm_value_kinds(value);
    if (bits == JM_ARRAY) {
        jm_buffer_addf(b, "an array of %zu item%s", size, size == 1 ? "" : "s");
    } else if (bits == JM_OBJECT) {
        jm_buffer_adds(b, "an object");
    } else {
        jm_buffer_adds(b, bits == JM_STRING ? "the string " : bits & JM_NUMBER ? "the number " : "");
        jm_value_print(b, value);
    }
}
