/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "event/line.h"
#include "base/text.h"
#include "event/rules.h"
#include <stdlib.h>
#include <string.h>

enum { BEHIND = 4096 };

void jm_line_init(struct jm_line *line)
{
    line->rules = NULL;
    line->most = SIZE_MAX;
    line->len = 0;
    line->cap = sizeof line->small;
    line->data = line->small;
    line->work = JM_LINE_WORK;
    line->failed = false;
}

void jm_line_free(struct jm_line *line)
{
    if (line->data != line->small)
        free(line->data);
    const struct jm_rules *rules = line->rules;
    jm_line_init(line);
    line->rules = rules;
}

static bool grow(struct jm_line *line, size_t len)
{
    size_t cap = line->cap;
    while (cap - line->len < len + 1)
        if (__builtin_mul_overflow(cap, 2, &cap))
            return false;
    char *data = line->data == line->small ? malloc(cap) : realloc(line->data, cap);
    if (!data)
        return false;
    if (line->data == line->small)
        memcpy(data, line->small, line->len);
    line->data = data;
    line->cap = cap;
    return true;
}

void jm_line_add(struct jm_line *line, const char *bytes, size_t len)
{
    if (__builtin_expect(line->cap - line->len < len + 1, 0) && (line->failed || !grow(line, len))) {
        line->failed = true;
        return;
    }
    memcpy(line->data + line->len, bytes, len);
    line->len += len;
}

/* Length of the valid character at p; 0: there is none, and *bad bytes make one U+FFFD (Unicode 15, table 3-8). */
static size_t character(const unsigned char *p, size_t left, size_t *bad)
{
    static const unsigned char lowest[] = {[0] = 0xa0, [0xd] = 0x80, [0x10] = 0x90, [0x14] = 0x80},
                               highest[] = {[0] = 0xbf, [0xd] = 0x9f, [0x10] = 0xbf, [0x14] = 0x8f};
    size_t len = p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    unsigned odd = p[0] - 0xe0u;
    bool narrow = odd == 0 || odd == 0xd || odd == 0x10 || odd == 0x14;
    *bad = 1;
    for (size_t i = 1; i < len; i++) {
        unsigned char low = i == 1 && narrow ? lowest[odd] : 0x80, high = i == 1 && narrow ? highest[odd] : 0xbf;
        if (i == left || p[i] < low || p[i] > high) {
            *bad = i;
            return 0;
        }
    }
    return len;
}

static void escape(struct jm_line *line, unsigned char c)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt", hex[] = "0123456789abcdef";
    const char *at = c ? strchr(from, c) : NULL;
    if (at)
        jm_line_add(line, (char[]){'\\', to[at - from]}, 2);
    else
        jm_line_add(line, (char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
}

/* Valid characters that end a line for some readers: NEL and its kind (C1), and the two separators of Unicode. */
static bool ends_line(const unsigned char *p, size_t len)
{
    return (len == 2 && p[0] == 0xc2 && p[1] < 0xa0) || (len == 3 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] & 0xfe) == 0xa8);
}

static void add_escaped(struct jm_line *line, const unsigned char *p, size_t len)
{
    if (len < 2)
        escape(line, *p);
    else if (len == 2)
        escape(line, p[1]);
    else if (p[2] == 0xa8)
        jm_line_lit(line, "\\u2028");
    else
        jm_line_lit(line, "\\u2029");
}

/* Escaped; false: cut behind *most characters, of which the rest is left there. */
static bool add_characters(struct jm_line *line, const char *text, size_t len, size_t *most)
{
    const unsigned char *p = (const unsigned char *)text, *end = p + len, *plain = p;
    size_t bad = 1, n, left = *most < line->most ? *most : line->most;
    for (; p < end && left; left--) {
        bool ordinary = *p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\';
        n = ordinary ? 1 : *p < 0x80 ? 0 : character(p, (size_t)(end - p), &bad);
        if (n && !(n > 1 && ends_line(p, n))) {
            p += n;
            continue;
        }
        jm_line_add(line, (const char *)plain, (size_t)(p - plain));
        if (n || *p < 0x80) {
            add_escaped(line, p, n);
            p += n ? n : 1;
        } else {
            jm_line_lit(line, "\xef\xbf\xbd");
            p += bad;
        }
        plain = p;
    }
    jm_line_add(line, (const char *)plain, (size_t)(p - plain));
    *most = left;
    return p == end;
}

static void end_string(struct jm_line *line, bool whole)
{
    if (!whole)
        jm_line_lit(line, "\xe2\x80\xa6");
    jm_line_lit(line, "\"");
}

void jm_line_string(struct jm_line *line, const char *text, size_t len, size_t most)
{
    jm_line_lit(line, "\"");
    end_string(line, add_characters(line, text, len, &most));
}

static bool add_redacted(struct jm_line *line, const char *text, size_t len, size_t most)
{
    struct jm_search search;
    size_t span[2], from = 0;
    jm_search_init(&search, line->rules, text, len, &line->work);
    while (from < len) {
        int rc = jm_search_next(&search, from, span);
        if (!rc)
            return add_characters(line, text + from, len - from, &most);
        if (rc < 0) { /* what cannot be judged is not shown */
            jm_line_lit(line, "[redacted]");
            return true;
        }
        if (!add_characters(line, text + from, span[0] - from, &most))
            return false;
        jm_line_lit(line, "[redacted]");
        most -= most < sizeof "[redacted]" ? most : sizeof "[redacted]";
        from = span[1];
    }
    return true;
}

void jm_line_text(struct jm_line *line, const char *text, size_t len, size_t most)
{
    if (most > line->most)
        most = line->most;
    size_t window = most < (SIZE_MAX - BEHIND) / 4 ? most * 4 + BEHIND : SIZE_MAX, valid_len;
    bool whole = len <= window;
    if (!whole) /* of a text that is cut, enough to see a secret across the cut */
        for (len = window; len && ((unsigned char)text[len] & 0xc0) == 0x80; len--)
            ;
    jm_line_lit(line, "\"");
    if (jm_utf8_is_valid(text, len)) {
        whole &= add_redacted(line, text, len, most);
    } else {
        char *valid = jm_utf8_repair(text, len, &valid_len);
        line->failed |= !valid;
        whole &= valid && add_redacted(line, valid, valid_len, most);
        free(valid);
    }
    end_string(line, whole);
}

/* The digits of number, at least `least`. */
static void digits(struct jm_line *line, uint64_t number, int least)
{
    char text[20];
    int at = 20;
    while (number || least > 0) {
        text[--at] = (char)('0' + number % 10);
        number /= 10;
        least--;
    }
    jm_line_add(line, text + at, (size_t)(20 - at));
}

void jm_line_integer(struct jm_line *line, int64_t number)
{
    if (number < 0)
        jm_line_lit(line, "-");
    digits(line, number < 0 ? -(uint64_t)number : (uint64_t)number, 1);
}

void jm_line_seconds(struct jm_line *line, int64_t nanoseconds)
{
    uint64_t ns = nanoseconds < 0 ? -(uint64_t)nanoseconds : (uint64_t)nanoseconds, part = ns % 1000000000;
    int places = 9;
    if (nanoseconds < 0)
        jm_line_lit(line, "-");
    digits(line, ns / 1000000000, 1);
    jm_line_lit(line, ".");
    for (; places > 1 && part % 10 == 0; places--)
        part /= 10;
    digits(line, part, places);
}

void jm_line_real(struct jm_line *line, double number)
{
    char text[32];
    jm_print_seconds(number, text);
    jm_line_add(line, text, strlen(text));
}

/* Days since 1970 as a date of the Gregorian calendar; years begin in March here, so that the odd day comes last. */
static void date(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
    int64_t shifted = days + 719468, era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    unsigned of_era = (unsigned)(shifted - era * 146097);
    unsigned y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;
    *day = of_year - (153 * m + 2) / 5 + 1;
    *month = m < 10 ? m + 3 : m - 9;
    *year = (int64_t)y + era * 400 + (*month <= 2);
}

void jm_line_time(struct jm_line *line, int64_t nanoseconds)
{
    int64_t us = nanoseconds / 1000, seconds = us / 1000000, days, year;
    us %= 1000000;
    if (us < 0) {
        us += 1000000;
        seconds--;
    }
    days = seconds / 86400 - (seconds % 86400 < 0);
    unsigned of_day = (unsigned)(seconds - days * 86400), month, day;
    date(days, &year, &month, &day);
    jm_line_lit(line, "\"");
    digits(line, (uint64_t)year, 4);
    jm_line_lit(line, "-");
    digits(line, month, 2);
    jm_line_lit(line, "-");
    digits(line, day, 2);
    jm_line_lit(line, "T");
    digits(line, of_day / 3600, 2);
    jm_line_lit(line, ":");
    digits(line, of_day / 60 % 60, 2);
    jm_line_lit(line, ":");
    digits(line, of_day % 60, 2);
    jm_line_lit(line, ".");
    digits(line, (uint64_t)us, 6);
    jm_line_lit(line, "Z\"");
}
