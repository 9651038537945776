/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "scratch.h"
#include <stdlib.h>
#include <string.h>

static void expect(const char *path, size_t len, const char *wanted)
{
    jianmu_error *err = NULL;
    char *got = jm_path_normalise(path, len, &err);
    if (err)
        fail_msg("\"%s\": %s", path, jianmu_error_message(err));
    assert_string_equal(got, wanted);
    free(got);
}

static void refuse(const char *path, size_t len, const char *why)
{
    jianmu_error *err = NULL;
    char *got = jm_path_normalise(path, len, &err);
    if (got)
        fail_msg("\"%s\" was taken as \"%s\"", path, got);
    assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
    if (!strstr(jianmu_error_message(err), why))
        fail_msg("\"%s\": got \"%s\", wanted \"…%s\"", path, jianmu_error_message(err), why);
    jianmu_error_free(err);
}

static void test_paths_are_normalised(void **state)
{
    static const char *const pairs[][2] = {
        {"a", "a"},         {"./x", "x"},       {"a//b", "a/b"}, {"a/./b", "a/b"},     {".//./a/.//b", "a/b"},
        {"..a", "..a"},     {"a..", "a.."},     {"...", "..."},  {".hidden", ".hidden"}, {"a/...", "a/..."},
        {"a b\n", "a b\n"}, {"\xff", "\xff"},   {"é", "é"},      {"-rf", "-rf"},       {"a\\..\\b", "a\\..\\b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        expect(pairs[i][0], strlen(pairs[i][0]), pairs[i][1]);
}

static void test_what_leaves_or_names_no_file_is_refused(void **state)
{
    static const char *const rows[][2] = {
        {"../x", ".."},          {"a/../../x", ".."}, {"./../x", ".."},   {"a//..//../x", ".."},
        {"a/..", ".."},          {"..", ".."},        {"/etc/x", "absolute"}, {"/", "absolute"},
        {"//x", "absolute"},     {"", "empty"},       {".", "itself"},    {"./", "itself"},
        {"main.py/", "as a directory"}, {"main.py/.", "as a directory"}, {"a//", "as a directory"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        refuse(rows[i][0], strlen(rows[i][0]), rows[i][1]);
    refuse("a\0b", 3, "NUL");
    refuse("a\0", 2, "NUL");
}

static void test_the_sentence_names_the_path(void **state)
{
    (void)state;
    refuse("a/../secret", 11, "\"a/../secret\"");
    refuse("\xff/..", 4, "\"\xef\xbf\xbd/..\"");
}

static void test_lengths(void **state)
{
    char text[9000];
    (void)state;
    memset(text, 'n', sizeof text);
    text[255] = 0;
    expect(text, 255, text);
    text[255] = 'n';
    text[256] = 0;
    refuse(text, 256, "255");
    memset(text, 'n', sizeof text);
    for (size_t i = 1; i < sizeof text; i += 2)
        text[i] = '/';
    text[4095] = 0;
    expect(text, 4094 + 1 - 2, strndupa(text, 4093));
    text[4095] = '/';
    refuse(text, 4097, "4095");
    refuse(text, sizeof text - 1, "4095");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths_are_normalised),
        cmocka_unit_test(test_what_leaves_or_names_no_file_is_refused),
        cmocka_unit_test(test_the_sentence_names_the_path),
        cmocka_unit_test(test_lengths),
    };
    return cmocka_run_group_tests_name("files/path", tests, NULL, NULL);
}
