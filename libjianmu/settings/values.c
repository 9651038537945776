/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "settings/values.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* What durations and sizes have in common; NULL: go on. */
static const char *not_a_number(const char *text)
{
    if (!*text)
        return "is empty";
    if (strpbrk(text, " \t\n\v\f\r"))
        return "has a blank in it";
    const char *p = text + (*text == '-' || *text == '+');
    if (*p == '.' && is_letter(p[1]))
        p++;
    if (!strcasecmp(p, "nan") || !strcasecmp(p, "inf") || !strcasecmp(p, "infinity"))
        return "is not a finite number";
    if (*text == '-' && (is_digit(text[1]) || text[1] == '.'))
        return "is negative";
    return NULL;
}

static const struct {
    const char *name;
    double times, divided;
} time_units[] = {{"h", 3600, 1}, {"m", 60, 1}, {"s", 1, 1}, {"ms", 1, 1000}};

/* One part such as "1.5h". *last: the unit before it, units must come down. *part: its length. */
static const char *time_part(const char *text, size_t *part, size_t *last, double *seconds)
{
    static const char wrong[] = "is not a duration (like 30, \"30s\", \"2m\", \"500ms\", \"1.5h\", \"1m30s\")";
    double number = 0;
    size_t digits = jm_parse_real(text, strlen(text), &number), letters = 0, u;
    while (is_letter(text[digits + letters]))
        letters++;
    *part = digits + letters;
    if (!digits || (!letters && *last))
        return wrong;
    if (!letters) {
        *seconds += number;
        return text[digits] ? wrong : NULL;
    }
    for (u = 0; u < jm_countof(time_units); u++)
        if (strlen(time_units[u].name) == letters && !memcmp(time_units[u].name, text + digits, letters))
            break;
    if (u == jm_countof(time_units))
        return "has an unknown unit (there are ms, s, m, h)";
    bool whole = strspn(text, "0123456789") == digits;
    if (u < *last || (text[*part] && !whole) || memchr(text, 'e', digits) || memchr(text, 'E', digits))
        return wrong;
    *last = u + 1;
    *seconds += number * time_units[u].times / time_units[u].divided;
    return NULL;
}

const char *jm_seconds_from_text(const char *text, double *seconds)
{
    double sum = 0;
    size_t part, last = 0;
    const char *why = not_a_number(text);
    for (const char *p = text; !why && (p == text || *p); p += part)
        why = time_part(p, &part, &last, &sum);
    if (!why && isinf(sum))
        why = "is too large";
    if (!why)
        *seconds = sum;
    return why;
}

const char *jm_size_from_text(const char *text, uint64_t *bytes)
{
    static const char wrong[] = "is not a size (like 1048576, \"64k\", \"512m\", \"1.5g\")", units[] = "bkmgt";
    unsigned __int128 number = 0, unit = 1;
    uint64_t parts = 1; /* the number counts 1/parts */
    const char *p = text, *why = not_a_number(text);
    if (why)
        return why;
    for (; is_digit(*p); p++)
        if ((number = number * 10 + (unsigned)(*p - '0')) > UINT64_MAX)
            return "is too large";
    if (p == text)
        return wrong;
    if (*p == '.') {
        if (!is_digit(p[1]))
            return wrong;
        for (p++; is_digit(*p); p++)
            if (parts < 1000000) {
                number = number * 10 + (unsigned)(*p - '0');
                parts *= 10;
            }
    }
    if (is_letter(*p)) {
        const char *u = strchr(units, *p | 0x20);
        if (!u || is_letter(p[1]))
            return "has an unknown unit (there are b, k, m, g, t, in powers of 1024)";
        unit <<= 10 * (u - units);
        p++;
    }
    if (*p)
        return wrong;
    if (unit == 1 && parts != 1)
        return "is not a whole number of bytes";
    if ((number = number * unit / parts) > INT64_MAX)
        return "is too large";
    *bytes = (uint64_t)number;
    return NULL;
}

const char *jm_real_from_text(const char *text, double *number)
{
    const char *why = not_a_number(text);
    if (why)
        return why;
    size_t used = jm_parse_real(text, strlen(text), number);
    if (!used || text[used])
        return "is not a number";
    return isinf(*number) ? "is too large" : NULL;
}

const char *jm_whole_from_text(const char *text, uint64_t *number)
{
    const char *why = not_a_number(text);
    if (why)
        return why;
    if (text[strspn(text, "0123456789")])
        return "is not a whole number";
    return jm_size_from_text(text, number);
}

int jm_parse_seconds(const char *text, double *seconds)
{
    return jm_seconds_from_text(text, seconds) ? -1 : 0;
}

int jm_parse_size(const char *text, uint64_t *bytes)
{
    return jm_size_from_text(text, bytes) ? -1 : 0;
}

char *jm_mode_normalise(const char *mode, jianmu_error **err)
{
    static const char blanks[] = " \t\n\v\f\r";
    mode += strspn(mode, blanks);
    size_t len = strlen(mode);
    while (len && strchr(blanks, mode[len - 1]))
        len--;
    char *normal = strndup(mode, len);
    if (!normal) {
        jm_fail_memory(err);
        return NULL;
    }
    for (char *p = normal; *p; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
    return normal;
}

const char *jm_show(char out[JM_SHOWN], const char *text)
{
    char *p = out;
    int shown = 0;
    *p++ = '"';
    for (; *text; shown++) {
        const unsigned char *t = (const unsigned char *)text;
        if (shown == 60 || p - out > JM_SHOWN - 20) {
            p = stpcpy(p, "...");
            break;
        }
        bool c1 = t[0] == 0xc2 && t[1] >= 0x80 && t[1] < 0xa0; /* control characters of terminals, in UTF-8 */
        if (*t == '"' || *t == '\\')
            *p++ = '\\';
        if (*t < 0x20 || *t == 0x7f || c1) {
            p += snprintf(p, 8, "\\x%02x", c1 ? t[1] : t[0]);
            text += 1 + c1;
            continue;
        }
        do
            *p++ = *text++;
        while (((unsigned char)*text & 0xc0) == 0x80 && p - out < JM_SHOWN - 8);
    }
    *p++ = '"';
    *p = 0;
    return out;
}

const char *jm_show_value(char out[JM_SHOWN], const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING: return jm_show(out, json_string_value(value));
    case JSON_REAL: return jm_print_seconds(json_real_value(value), out);
    case JSON_INTEGER: snprintf(out, JM_SHOWN, "%" JSON_INTEGER_FORMAT, json_integer_value(value)); return out;
    case JSON_TRUE: return "true";
    case JSON_FALSE: return "false";
    case JSON_NULL: return "null";
    case JSON_ARRAY: return "a list";
    case JSON_OBJECT: return "a mapping";
    }
    return "?";
}
