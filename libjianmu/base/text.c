/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/text.h"
#include "base/buffer.h"
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Do these digits, read as 0.DIGITS * 10^point, give the value? Written without a point: every locale has its own. */
static bool reads_back(const char *digits, int n, int point, double value)
{
    char text[48];
    snprintf(text, sizeof text, "%.*se%d", n, digits, point - n);
    return strtod(text, NULL) == value;
}

static void next_up(char *digits, int n)
{
    while (n > 0 && digits[n - 1] == '9')
        digits[--n] = '0';
    if (n > 0)
        digits[n - 1]++;
}

/* The shortest decimal that reads back as value, which is finite and above 0: value = 0.DIGITS * 10^point. Just
 * below a power of two doubles lie twice as close, so there the next decimal up may do where the nearest does not. */
static int shortest(double value, char digits[20], int *point)
{
    for (int n = 1;; n++) {
        char text[64], *out = digits;
        snprintf(text, sizeof text, "%.*e", n - 1, value);
        const char *p = text;
        for (; *p != 'e'; p++)
            if (is_digit(*p))
                *out++ = *p;
        *point = atoi(p + 1) + 1;
        if (n == 17 || reads_back(digits, n, *point, value))
            return n;
        next_up(digits, n);
        if (reads_back(digits, n, *point, value))
            return n;
    }
}

const char *jm_print_seconds(double seconds, char text[32])
{
    if (isnan(seconds) || isinf(seconds))
        return strcpy(text, isnan(seconds) ? "nan" : seconds > 0 ? "inf" : "-inf");
    char digits[20], *out = text;
    int point = 1, n = 1;
    digits[0] = '0';
    if (signbit(seconds))
        *out++ = '-';
    if (seconds != 0)
        n = shortest(fabs(seconds), digits, &point);
    if (point > 16 || point < -3) {
        *out++ = digits[0];
        if (n > 1)
            *out++ = '.';
        memcpy(out, digits + 1, (size_t)n - 1);
        char exponent[16];
        snprintf(exponent, sizeof exponent, "e%+03d", point - 1);
        strcpy(out + n - 1, exponent);
        return text;
    }
    for (int i = point < 1 ? point - 1 : 0; i < n || i <= point; i++) {
        if (i == point)
            *out++ = '.';
        *out++ = i >= 0 && i < n ? digits[i] : '0';
    }
    *out = 0;
    return text;
}

/* Length of the number at text: digits, ".digits", exponent; 0: none. */
static size_t real_length(const char *text, size_t len)
{
    size_t i = 0, digits = 0;
    for (; i < len && is_digit(text[i]); i++)
        digits++;
    if (i < len && text[i] == '.')
        for (i++; i < len && is_digit(text[i]); i++)
            digits++;
    if (!digits)
        return 0;
    if (i < len && (text[i] == 'e' || text[i] == 'E')) {
        size_t e = i + 1;
        if (e < len && (text[e] == '+' || text[e] == '-'))
            e++;
        if (e == len || !is_digit(text[e]))
            return i;
        for (i = e; i < len && is_digit(text[i]); i++)
            ;
    }
    return i;
}

size_t jm_parse_real(const char *text, size_t len, double *value)
{
    char copy[400];
    size_t n = real_length(text, len);
    if (!n || n >= sizeof copy)
        return 0;
    memcpy(copy, text, n);
    copy[n] = 0;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* glibc's own constant: no allocation */
    if (c == (locale_t)0)
        return 0;
    *value = strtod_l(copy, NULL, c);
    freelocale(c);
    return n;
}

/* Length of the character at p if it is valid; else 0 and in *bad the length of the maximal invalid part. */
static size_t character(const unsigned char *p, size_t len, size_t *bad)
{
    unsigned char low = 0x80, high = 0xbf;
    size_t n;
    *bad = 1;
    if (p[0] < 0x80)
        return 1;
    if (p[0] >= 0xc2 && p[0] <= 0xdf) {
        n = 2;
    } else if (p[0] >= 0xe0 && p[0] <= 0xef) {
        n = 3;
        if (p[0] == 0xe0)
            low = 0xa0;
        if (p[0] == 0xed)
            high = 0x9f;
    } else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        n = 4;
        if (p[0] == 0xf0)
            low = 0x90;
        if (p[0] == 0xf4)
            high = 0x8f;
    } else {
        return 0;
    }
    for (size_t i = 1; i < n; i++, low = 0x80, high = 0xbf) {
        if (i == len || p[i] < low || p[i] > high) {
            *bad = i;
            return 0;
        }
    }
    return n;
}

char *jm_utf8_repair(const void *bytes, size_t len, size_t *out_len)
{
    struct jm_buffer b = {0};
    const unsigned char *p = bytes;
    size_t i = 0, from = 0, bad;
    while (i < len) {
        size_t n = character(p + i, len - i, &bad);
        if (!n) {
            jm_buffer_add(&b, p + from, i - from);
            jm_buffer_adds(&b, "\xef\xbf\xbd");
            n = bad;
            from = i + n;
        }
        i += n;
    }
    if (len > from)
        jm_buffer_add(&b, p + from, len - from);
    *out_len = b.len;
    return jm_buffer_take(&b);
}

bool jm_utf8_is_valid(const char *text, size_t len)
{
    size_t n, bad;
    for (size_t i = 0; i < len; i += n)
        if (!(n = character((const unsigned char *)text + i, len - i, &bad)))
            return false;
    return true;
}

static bool starts_character(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

size_t jm_utf8_count(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += starts_character(text[i]);
    return n;
}

char *jm_text_clip(const char *text, size_t len, uint64_t most, size_t *out_len, uint64_t *dropped)
{
    size_t count = jm_utf8_count(text, len), head = len, tail = len;
    *dropped = 0;
    if (count > most) {
        *dropped = count - most;
        size_t after = most < 256 ? 0 : (size_t)most / 2, before = (size_t)most - after;
        for (head = 0; head < len; head++)
            if (starts_character(text[head]) && before-- == 0)
                break;
        while (after > 0)
            after -= starts_character(text[--tail]);
    }
    struct jm_buffer b = {0};
    jm_buffer_add(&b, text, head);
    jm_buffer_add(&b, text + tail, len - tail);
    *out_len = b.len;
    return jm_buffer_take(&b);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

enum { LONGEST_WORD = 64 };

/* Edit distance with two neighbours swapped counted once. Both words are at most LONGEST_WORD long. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    size_t rows[3][LONGEST_WORD + 1], *before = rows[0], *last = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_len; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_len; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_len; j++) {
            size_t best = last[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]) &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
        size_t *free_row = before;
        before = last;
        last = row;
        row = free_row;
    }
    return last[b_len];
}

const char *jm_text_nearest(const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t len = strlen(word), best = len / 3 + 1;
    if (len > LONGEST_WORD)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(candidates[i]);
        if (other > LONGEST_WORD)
            continue;
        size_t d = distance(word, len, candidates[i], other);
        if (d < best) {
            best = d;
            nearest = candidates[i];
        }
    }
    return nearest;
}
