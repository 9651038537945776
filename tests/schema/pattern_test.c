/* SPDX-License-Identifier: Apache-2.0
 * Regular expressions: what is found, what is refused, and that no pattern and no text take long. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/pattern.h"
#include <pthread.h>
#include <string.h>

static struct jm_pattern *good(const char *text)
{
    jianmu_error *err = NULL;
    struct jm_pattern *p = jm_pattern_new(text, strlen(text), &err);
    if (!p)
        fail_msg("%s", jianmu_error_message(err));
    return p;
}

static void found(void **state)
{
    static const struct { const char *pattern, *text; int want; } row[] = {
        {"b", "abc", 1}, {"^b", "abc", 0}, {"^a.c$", "abc", 1}, {"^abc$", "abc\n", 0}, {"^.$", "\u00e9", 1},
        {"^\\u00e9$", "\u00e9", 1}, {"^\\u{1F600}$", "\U0001f600", 1}, {"^\\d$", "\u0667", 0}, {"^\\p{L}+$", "\u00e9a", 1},
        {"^\\p{Letter}\\P{Decimal_Number}$", "\u00e9a", 1}, {"\\\\p{Letter}", "a", 0},
        {"a|b", "b", 1}, {"^(?:a|b)$", "ab", 0}, {"(?i)ABC", "xabc", 1}, {"(?x) a # c", "a", 1}, {"\\Qa.c", "a.c", 1},
        {"\\Qa.c", "abc", 0}, {"^(a)\\1$", "aa", 1}, {"[^]", "a", 1}, {"^.$", "\r", 0}, {"", "", 1}, {"x(?C1)y", "xy", 1}};
    (void)state;
    for (size_t i = 0; i < jm_countof(row); i++) {
        struct jm_pattern *p = good(row[i].pattern);
        for (int again = 0; again < 2; again++)
            if (jm_pattern_matches(p, row[i].text, strlen(row[i].text), NULL) != row[i].want)
                fail_msg("%s in %s", row[i].pattern, row[i].text);
        assert_string_equal(jm_pattern_text(p), row[i].pattern);
        jm_pattern_free(p);
    }
}

static void spans(void **state)
{
    (void)state;
    size_t span[2];
    struct jm_pattern *p = good("[0-9]+");
    assert_int_equal(jm_pattern_find(p, "a12b345", 7, 0, span, NULL), 1);
    assert_true(span[0] == 1 && span[1] == 3);
    assert_int_equal(jm_pattern_find(p, "a12b345", 7, span[1], span, NULL), 1);
    assert_true(span[0] == 4 && span[1] == 7);
    assert_int_equal(jm_pattern_find(p, "a12b345", 7, 7, span, NULL), 0);
    jm_pattern_free(p);
    p = good("\\x00b");
    assert_int_equal(jm_pattern_find(p, "a\0b", 3, 0, span, NULL), 1);
    assert_true(span[0] == 1 && span[1] == 3);
    jm_pattern_free(p);
    p = jm_pattern_new("a\0b", 3, NULL);
    assert_int_equal(jm_pattern_matches(p, "a\0b", 3, NULL), 1);
    assert_int_equal(jm_pattern_matches(p, "ab", 2, NULL), 0);
    jm_pattern_free(p);
}

static void refused(void **state)
{
    static const struct { const char *pattern, *at; } row[] = {
        {"(a", "at byte 2"}, {"a)(b", "at byte 1"}, {"[z-a]", "at byte 3"}, {"*", "at byte 0"}, {"\\C", "at byte"},
        {"(*LIMIT_MATCH=1)a", "at byte"}, {"\xff", "at byte 0"}, {"(?:(?:[^a]{1000}){1000}){9}", "too large"}};
    (void)state;
    for (size_t i = 0; i < jm_countof(row); i++) {
        jianmu_error *err = NULL;
        assert_null(jm_pattern_new(row[i].pattern, strlen(row[i].pattern), &err));
        assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
        if (!strstr(jianmu_error_message(err), row[i].at))
            fail_msg("%s", jianmu_error_message(err));
        jianmu_error_free(err);
    }
    jianmu_error *err = NULL;
    jm_auto_free char *longest = calloc(1, 20001);
    memset(longest, 'a', 20000);
    assert_null(jm_pattern_new(longest, 20000, &err));
    assert_non_null(strstr(jianmu_error_message(err), "20000 bytes"));
    jianmu_error_free(err);
    struct jm_pattern *p = good("a");
    err = NULL;
    assert_int_equal(jm_pattern_matches(p, "a\xff", 2, &err), -1);
    assert_non_null(strstr(jianmu_error_message(err), "UTF-8"));
    jianmu_error_free(err);
    jm_pattern_free(p);
}

/* Exponential in one start; cheap in each of a million starts that PCRE2's limit counts one by one; a nest of groups
 * that would take a gigabyte. The bound is a quarter of a second of processor time. */
static void bounded(void **state)
{
    static const char *const evil[] = {"^(a+)+$", "(a|aa)+$", "[ab]*+c|[ab]*+d", "(?:[ab]{1,200}[ab]{1,200}c)|d",
                                       "^(?:(?:a|b)(?:a|b))*$"};
    enum { LEN = 1000001 };
    (void)state;
    jm_auto_free char *text = malloc(LEN + 1);
    memset(text, 'a', LEN);
    text[LEN - 1] = '!';
    text[LEN] = 0;
    for (size_t i = 0; i < jm_countof(evil); i++) {
        jianmu_error *err = NULL;
        struct jm_pattern *p = good(evil[i]);
        struct timespec from, to;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
        int rc = jm_pattern_matches(p, text, LEN, &err);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        print_message("# %s: %d, %.3f s\n", evil[i], rc,
                      (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9);
        assert_true(to.tv_sec - from.tv_sec < 30); /* unbounded they take hours */
        if (rc != -1 || !strstr(jianmu_error_message(err), "too many steps"))
            fail_msg("%s: %d %s", evil[i], rc, jianmu_error_message(err));
        jianmu_error_free(err);
        assert_int_equal(jm_pattern_matches(p, "c", 1, NULL) >= 0, 1); /* and is as good as before */
        jm_pattern_free(p);
    }
    struct jm_pattern *p = good("sk-[a-z]+");
    assert_int_equal(jm_pattern_matches(p, text, LEN, NULL), 0);
    jm_pattern_free(p);
}

static void *search(void *p)
{
    for (long i = 0; i < 2000; i++) {
        size_t span[2];
        if (jm_pattern_find(p, "xxabcabcxx", 10, 0, span, NULL) != 1 || span[0] != 2 || span[1] != 8)
            return p;
        if (jm_pattern_matches(p, "xxx", 3, NULL))
            return p;
    }
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    struct jm_pattern *p = good("(abc)+");
    pthread_t thread[4];
    for (size_t i = 0; i < jm_countof(thread); i++)
        assert_int_equal(pthread_create(&thread[i], NULL, search, p), 0);
    for (size_t i = 0; i < jm_countof(thread); i++) {
        void *wrong = p;
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    jm_pattern_free(p);
    jm_pattern_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found), cmocka_unit_test(spans), cmocka_unit_test(refused),
        cmocka_unit_test(bounded), cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
