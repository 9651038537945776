/* SPDX-License-Identifier: Apache-2.0
 * base/text.h: numbers as Python prints them, UTF-8 repair against table 3-8, clipping, the nearest word. */
#include "config.h"

#include "base/cleanup.h"
#include "base/text.h"
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void seconds(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0, "0.0"},
        {-0.0, "-0.0"},
        {30, "30.0"},
        {2, "2.0"},
        {0.1, "0.1"},
        {1e-5, "1e-05"},
        {1e-4, "0.0001"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e+16"},
        {9007199254740993.0, "9007199254740992.0"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {5e-324, "5e-324"},
        {-1.5, "-1.5"},
        {100, "100.0"},
        {1e22, "1e+22"},
        {1e100, "1e+100"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {2.5e-8, "2.5e-08"},
        {120, "120.0"},
        {0.2, "0.2"},
        {3.0e-310, "3e-310"},
    };
    for (size_t i = 0; i < jm_countof(rows); i++) {
        char text[32];
        assert_string_equal(jm_print_seconds(rows[i].value, text), rows[i].text);
    }
    char text[32];
    assert_string_equal(jm_print_seconds((double)NAN, text), "nan");
}

static void real(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        double value;
    } rows[] = {
        {"2", 1, 2}, {"1.5h", 3, 1.5}, {".5", 2, 0.5}, {"2.", 2, 2}, {"1e3", 3, 1000}, {"1e", 1, 1}, {"1e+", 1, 1},
        {"1.5E-2x", 6, 0.015}, {"", 0, 0}, {".", 0, 0}, {"-1", 0, 0}, {"+1", 0, 0}, {"e5", 0, 0}, {"inf", 0, 0},
        {"nan", 0, 0}, {"0x10", 1, 0}, {"1_000", 1, 1}, {"1,5", 1, 1}, {" 1", 0, 0}, {"\xef\xbc\x91", 0, 0},
        {"1e400", 5, INFINITY}, {"1e-400", 6, 0}, {"01", 2, 1},
    };
    for (size_t i = 0; i < jm_countof(rows); i++) {
        double value = -7;
        assert_int_equal(jm_parse_real(rows[i].text, strlen(rows[i].text), &value), rows[i].length);
        if (rows[i].length)
            assert_true(value == rows[i].value);
    }
    char digits[1000];
    double value;
    memset(digits, '1', sizeof digits);
    assert_int_equal(jm_parse_real(digits, sizeof digits, &value), 0);
}

#define BAD "\xef\xbf\xbd"
static void repair(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        size_t len;
        const char *out;
    } rows[] = {
        {"", 0, ""},
        {"abc", 3, "abc"},
        {"\xe6\x9c\xa8", 3, "\xe6\x9c\xa8"},
        {"\xff\xfe", 2, BAD BAD},
        {"a\xf0\x9f\x98", 4, "a" BAD},                             /* cut in the middle: one part */
        {"\xf0\x9f\x98\x80z", 5, "\xf0\x9f\x98\x80z"},
        {"\xed\xa0\x80", 3, BAD BAD BAD},                          /* a surrogate */
        {"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", 9, BAD BAD BAD BAD BAD BAD BAD BAD "A"}, /* table 3-8, non-shortest */
        {"\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", 9, BAD BAD BAD BAD BAD BAD BAD BAD "A"}, /* table 3-9 */
        {"\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", 9, BAD BAD BAD BAD BAD "A" BAD BAD "B"}, /* table 3-10 */
        {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", 9, BAD BAD BAD BAD "A"},                 /* table 3-11, truncated */
        {"\xf5\x80", 2, BAD BAD},
        {"\xc3", 1, BAD},
        {"\xc3\xa9\xc3", 3, "\xc3\xa9" BAD},
    };
    for (size_t i = 0; i < jm_countof(rows); i++) {
        size_t len = 99;
        jm_auto_free char *out = jm_utf8_repair(rows[i].in, rows[i].len, &len);
        assert_non_null(out);
        assert_int_equal(len, strlen(rows[i].out));
        assert_string_equal(out, rows[i].out);
    }
    size_t len;
    jm_auto_free char *nul = jm_utf8_repair("a\0b", 3, &len);
    assert_int_equal(len, 3);
    assert_memory_equal(nul, "a\0b", 4);
    assert_int_equal(jm_utf8_count("a\xe6\x9c\xa8\xf0\x9f\x98\x80", 8), 3);
    assert_int_equal(jm_utf8_count("", 0), 0);
}

static void valid(void **state)
{
    (void)state;
    assert_true(jm_utf8_is_valid("", 0));
    assert_true(jm_utf8_is_valid("a\0\xe6\x9c\xa8\xf0\x9f\x98\x80", 9));
    assert_false(jm_utf8_is_valid("\xe6\x9c", 2));
    assert_false(jm_utf8_is_valid("a\x80", 2));
    assert_false(jm_utf8_is_valid("\xed\xa0\x80", 3));
}

static void clip_one(size_t characters, const char *character, uint64_t most, size_t head, size_t tail)
{
    size_t size = strlen(character), len = characters * size, out_len;
    jm_auto_free char *text = malloc(len + 1);
    assert_non_null(text);
    for (size_t i = 0; i < characters; i++)
        memcpy(text + i * size, character, size);
    if (characters) {
        text[0] = 'H';
        text[len - 1] = 'T';
        if (size > 1) { /* the ends stay one character each */
            memmove(text + 1, text + size, len - size);
            len -= size - 1;
            text[len - size] = 'T';
            len -= size - 1;
        }
    }
    uint64_t dropped;
    jm_auto_free char *out = jm_text_clip(text, len, most, &out_len, &dropped);
    assert_non_null(out);
    assert_int_equal(jm_utf8_count(out, out_len), head + tail);
    assert_int_equal(dropped, characters - head - tail);
    assert_int_equal(out[out_len], 0);
    size_t repaired_len;
    jm_auto_free char *repaired = jm_utf8_repair(out, out_len, &repaired_len);
    assert_int_equal(repaired_len, out_len); /* no character was cut */
    assert_memory_equal(repaired, out, out_len);
    if (head)
        assert_int_equal(out[0], 'H');
    if (tail)
        assert_int_equal(out[out_len - 1], 'T');
}

static void clip(void **state)
{
    (void)state;
    clip_one(10, "a", 10, 10, 0);
    clip_one(10, "a", 11, 10, 0);
    clip_one(10, "a", 3, 3, 0);
    clip_one(10, "a", 0, 0, 0);
    clip_one(0, "a", 0, 0, 0);
    clip_one(5000, "a", 255, 255, 0);
    clip_one(5000, "a", 256, 128, 128);
    clip_one(5000, "\xe6\x9c\xa8", 257, 129, 128);
    clip_one(5000, "\xf0\x9f\x98\x80", 2000, 1000, 1000);
    clip_one(5000, "\xf0\x9f\x98\x80", 4999, 2500, 2499);
    clip_one(5000, "\xf0\x9f\x98\x80", 5000, 5000, 0);
    clip_one(5000, "\xc3\xa9", UINT64_MAX, 5000, 0);
}

static void nearest(void **state)
{
    (void)state;
    static const char *const words[] = {"network", "memory", "mode", "cpus", "timeout_s", "docker_image"};
    static const struct {
        const char *word, *nearest;
    } rows[] = {
        {"netwrok", "network"},
        {"Network", "network"},
        {"memroy", "memory"},
        {"timeout", "timeout_s"},
        {"cpu", "cpus"},
        {"dockerimage", "docker_image"},
        {"modes", "mode"},
        {"xyzzy", NULL},
        {"", NULL},
        {"m", NULL},
        {"timeouts", "timeout_s"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", NULL},
    };
    for (size_t i = 0; i < jm_countof(rows); i++) {
        const char *found = jm_text_nearest(rows[i].word, words, jm_countof(words));
        if (rows[i].nearest) {
            assert_non_null(found);
            assert_string_equal(found, rows[i].nearest);
        } else {
            assert_null(found);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seconds), cmocka_unit_test(real),    cmocka_unit_test(repair),
        cmocka_unit_test(clip),    cmocka_unit_test(nearest),
        cmocka_unit_test(valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
