/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "call/interpreter.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void expect_language(const char *name, const char *script, const char *expected)
{
    jianmu_error *err = NULL;
    const struct jm_language *l = jm_language_of(name, script, strlen(script), &err);
    if (!l)
        fail_msg("%s: %s", script, jianmu_error_message(err));
    assert_string_equal(l->name, expected);
}

static void test_languages(void **state)
{
    (void)state;
    expect_language(NULL, "print(1)", "python");
    expect_language(NULL, "", "python");
    expect_language(NULL, "#!", "python");
    expect_language(NULL, "#!/usr/bin/env python3\n", "python");
    expect_language(NULL, "#!/usr/bin/python3.11 -O\n", "python");
    expect_language(NULL, "#!/bin/sh -e\n", "sh");
    expect_language(NULL, "#! /bin/dash\n", "sh");
    expect_language(NULL, "#!/usr/bin/env -S bash -e\n", "bash");
    expect_language(NULL, "#!/usr/bin/perl", "perl");
    expect_language("sh", "#!/usr/bin/python3\n", "sh");
}

static void test_unknown_languages(void **state)
{
    (void)state;
    jianmu_error *err = NULL;
    assert_null(jm_language_of(NULL, "#!/usr/bin/fish\n", 16, &err));
    assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
    assert_non_null(strstr(jianmu_error_message(err), "#! line"));
    assert_non_null(strstr(jianmu_error_message(err), "'fish'"));
    assert_non_null(strstr(jianmu_error_message(err), "python, sh"));
    jianmu_error_free(err);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    chmod(path, 0755);
}

static void expect_program(const char *path, const char *expected)
{
    jianmu_error *err = NULL;
    char *found = jm_interpreter_find("prog", path, &err);
    if (!found)
        fail_msg("%s", jianmu_error_message(err));
    assert_string_equal(found, expected);
    free(found);
}

static void test_programs(void **state)
{
    (void)state;
    char base[] = "/tmp/jm_programs_XXXXXX", a[64], b[64], path[300], command[400];
    jianmu_error *err = NULL;
    assert_non_null(mkdtemp(base));
    snprintf(command, sizeof command, "mkdir -p %s/a %s/b %s/env/shims %s/env/versions/3.1/bin && cp /bin/true %s/b/prog",
             base, base, base, base, base);
    assert_int_equal(system(command), 0);
    snprintf(a, sizeof a, "%s/a/prog", base);
    snprintf(b, sizeof b, "%s/b/prog", base);
    /* a wrapper script before a real program: the real one; alone: the wrapper */
    write_file(a, "#!/bin/sh\n");
    snprintf(path, sizeof path, "relative:%s/a:%s/b", base, base);
    expect_program(path, b);
    snprintf(path, sizeof path, "%s/a", base);
    expect_program(path, a);
    /* not executable: passed over */
    chmod(a, 0644);
    snprintf(path, sizeof path, "%s/a:%s/b", base, base);
    expect_program(path, b);
    /* the shim of a version manager: what it would start */
    snprintf(command, sizeof command, "cp /bin/true %s/env/versions/3.1/bin/prog; echo 3.1 > %s/env/version", base, base);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/env/shims/prog", base);
    write_file(path, "#!/usr/bin/env bash\nexec pyenv exec\n");
    snprintf(path, sizeof path, "%s/env/shims:%s/b", base, base);
    char real[200];
    snprintf(real, sizeof real, "%s/env/versions/3.1/bin/prog", base);
    unsetenv("PYENV_VERSION");
    expect_program(path, real);
    assert_null(jm_interpreter_find("prog", "/nonexistent", &err));
    assert_int_equal(jianmu_error_code(err), JIANMU_NOT_FOUND);
    assert_string_equal(jianmu_error_message(err), "no 'prog' on PATH (/nonexistent)");
    jianmu_error_free(err);
    snprintf(command, sizeof command, "rm -rf %s", base);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_languages),
        cmocka_unit_test(test_unknown_languages),
        cmocka_unit_test(test_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
