/* SPDX-License-Identifier: Apache-2.0
 * Constraints: what is accepted and as what, and the sentence for all else. Single quotes stand for double ones. */
#include "config.h"

#include "kit.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "settings/constraints.h"
#include <string.h>

static const struct row {
    const char *field, *value, *good, *bad; /* good: the value taken; bad: the sentence behind "constraints: " */
} rows[] = {
    /* durations */
    {"timeout_s", "'30s'", "30.0", NULL},
    {"timeout_s", "'2m'", "120.0", NULL},
    {"timeout_s", "'500ms'", "0.5", NULL},
    {"timeout_s", "'35ms'", "0.035", NULL},
    {"timeout_s", "'1h'", "3600.0", NULL},
    {"timeout_s", "'1.5h'", "5400.0", NULL},
    {"timeout_s", "'1m30s'", "90.0", NULL},
    {"timeout_s", "'1h2m3s4ms'", "3723.004", NULL},
    {"timeout_s", "30", "30.0", NULL},
    {"timeout_s", "0.1", "0.1", NULL},
    {"timeout_s", "'2'", "2.0", NULL},
    {"timeout_s", "'1e1'", "10.0", NULL},
    {"timeout_s", "'.5'", "0.5", NULL},
    {"timeout_s", "'01'", "1.0", NULL},
    {"timeout_s", "1e-05", "1e-05", NULL},
    {"timeout_s", "100000000", "100000000.0", NULL},
    {"timeout_s", "0", NULL, "timeout_s: 0 would mean \"no limit\"; to have none, leave it out"},
    {"timeout_s", "-0.0", NULL, "timeout_s: -0.0 would mean \"no limit\"; to have none, leave it out"},
    {"timeout_s", "'0s'", NULL, "timeout_s: \"0s\" would mean \"no limit\"; to have none, leave it out"},
    {"timeout_s", "1e-07", NULL, "timeout_s: 1e-07 is too small, at least 1e-06"},
    {"timeout_s", "1e-320", NULL, "timeout_s: 1e-320 is too small, at least 1e-06"},
    {"timeout_s", "-1", NULL, "timeout_s: -1 is negative"},
    {"timeout_s", "'-1s'", NULL, "timeout_s: \"-1s\" is negative"},
    {"timeout_s", "'nan'", NULL, "timeout_s: \"nan\" is not a finite number"},
    {"timeout_s", "'-inf'", NULL, "timeout_s: \"-inf\" is not a finite number"},
    {"timeout_s", "'Infinity'", NULL, "timeout_s: \"Infinity\" is not a finite number"},
    {"timeout_s", "'.inf'", NULL, "timeout_s: \".inf\" is not a finite number"},
    {"timeout_s", "'1e400'", NULL, "timeout_s: \"1e400\" is too large"},
    {"timeout_s", "1e300", NULL, "timeout_s: 1e+300 is too large, at most 100000000.0"},
    {"timeout_s", "'30 s'", NULL, "timeout_s: \"30 s\" has a blank in it"},
    {"timeout_s", "' 30'", NULL, "timeout_s: \" 30\" has a blank in it"},
    {"timeout_s", "'30\\n'", NULL, "timeout_s: \"30\\x0a\" has a blank in it"},
    {"timeout_s", "''", NULL, "timeout_s: \"\" is empty"},
    {"timeout_s", "'5d'", NULL, "timeout_s: \"5d\" has an unknown unit (there are ms, s, m, h)"},
    {"timeout_s", "'5S'", NULL, "timeout_s: \"5S\" has an unknown unit (there are ms, s, m, h)"},
#define NO_DURATION " is not a duration (like 30, \"30s\", \"2m\", \"500ms\", \"1.5h\", \"1m30s\")"
    {"timeout_s", "'\xef\xbc\x91\xef\xbc\x90s'", NULL, "timeout_s: \"\xef\xbc\x91\xef\xbc\x90s\"" NO_DURATION},
    {"timeout_s", "'0x10'", NULL, "timeout_s: \"0x10\" has an unknown unit (there are ms, s, m, h)"},
    {"timeout_s", "'1_000'", NULL, "timeout_s: \"1_000\"" NO_DURATION},
    {"timeout_s", "'1,5'", NULL, "timeout_s: \"1,5\"" NO_DURATION},
    {"timeout_s", "'s'", NULL, "timeout_s: \"s\"" NO_DURATION},
    {"timeout_s", "'+5'", NULL, "timeout_s: \"+5\"" NO_DURATION},
    {"timeout_s", "'1m30'", NULL, "timeout_s: \"1m30\"" NO_DURATION},
    {"timeout_s", "'30s1m'", NULL, "timeout_s: \"30s1m\"" NO_DURATION},
    {"timeout_s", "'1s1s'", NULL, "timeout_s: \"1s1s\"" NO_DURATION},
    {"timeout_s", "'1.5h30m'", NULL, "timeout_s: \"1.5h30m\"" NO_DURATION},
    {"timeout_s", "'1e3s'", NULL, "timeout_s: \"1e3s\"" NO_DURATION},
    {"timeout_s", "'--1'", NULL, "timeout_s: \"--1\"" NO_DURATION},
    {"timeout_s", "'never'", NULL, "timeout_s: \"never\"" NO_DURATION},
    {"timeout_s", "true", NULL, "timeout_s: true" NO_DURATION},
    {"timeout_s", "[1]", NULL, "timeout_s: a list" NO_DURATION},
    {"timeout_s", "{}", NULL, "timeout_s: a mapping" NO_DURATION},
    {"cpu_time_s", "'1m'", "60.0", NULL},
    {"cpu_time_s", "0", NULL, "cpu_time_s: 0 would mean \"no limit\"; to have none, leave it out"},
    /* sizes */
    {"memory", "'512m'", "536870912", NULL},
    {"memory", "'1g'", "1073741824", NULL},
    {"memory", "'64k'", "65536", NULL},
    {"memory", "'64K'", "65536", NULL},
    {"memory", "'1.5g'", "1610612736", NULL},
    {"memory", "'100'", "100", NULL},
    {"memory", "'100b'", "100", NULL},
    {"memory", "4096", "4096", NULL},
    {"memory", "4096.0", "4096", NULL},
    {"memory", "9007199254740993", NULL, "memory: 9007199254740993 is too large, at most 1125899906842624"},
    {"memory", "'1t'", "1099511627776", NULL},
    {"memory", "'1024t'", "1125899906842624", NULL},
    {"memory", "'1025t'", NULL, "memory: \"1025t\" is too large, at most 1125899906842624"},
    {"memory", "'99999999999999999999999'", NULL, "memory: \"99999999999999999999999\" is too large"},
    {"memory", "'18446744073709551615t'", NULL, "memory: \"18446744073709551615t\" is too large"},
    {"memory", "'9999999999g'", NULL, "memory: \"9999999999g\" is too large"},
    {"memory", "9223372036854775807", NULL, "memory: 9223372036854775807 is too large, at most 1125899906842624"},
    {"memory", "1e300", NULL, "memory: 1e+300 is too large, at most 1125899906842624"},
    {"memory", "0", NULL, "memory: 0 would mean \"no limit\"; to have none, leave it out"},
    {"memory", "'0m'", NULL, "memory: \"0m\" would mean \"no limit\"; to have none, leave it out"},
    {"memory", "-1", NULL, "memory: -1 is negative"},
    {"memory", "'-1m'", NULL, "memory: \"-1m\" is negative"},
    {"memory", "'nan'", NULL, "memory: \"nan\" is not a finite number"},
    {"memory", "'512 m'", NULL, "memory: \"512 m\" has a blank in it"},
    {"memory", "'512mb'", NULL, "memory: \"512mb\" has an unknown unit (there are b, k, m, g, t, in powers of 1024)"},
    {"memory", "'512x'", NULL, "memory: \"512x\" has an unknown unit (there are b, k, m, g, t, in powers of 1024)"},
    {"memory", "'1.5'", NULL, "memory: \"1.5\" is not a whole number of bytes"},
    {"memory", "1.5", NULL, "memory: 1.5 is not a whole number of bytes"},
#define NO_SIZE " is not a size (like 1048576, \"64k\", \"512m\", \"1.5g\")"
    {"memory", "'m'", NULL, "memory: \"m\"" NO_SIZE},
    {"memory", "'1_000'", NULL, "memory: \"1_000\"" NO_SIZE},
    {"memory", "'1.m'", NULL, "memory: \"1.m\"" NO_SIZE},
    {"memory", "'\xef\xbc\x91m'", NULL, "memory: \"\xef\xbc\x91m\"" NO_SIZE},
    {"memory", "false", NULL, "memory: false" NO_SIZE},
    {"memory", "''", NULL, "memory: \"\" is empty"},
    {"capture", "0", "0", NULL},
    {"capture", "'1m'", "1048576", NULL},
    {"output_limit", "0", NULL, "output_limit: 0 would mean \"no limit\"; to have none, leave it out"},
    {"fsize", "'10m'", "10485760", NULL},
    {"disk", "'10m'", "10485760", NULL},
    /* whole numbers */
    {"pids", "64", "64", NULL},
    {"pids", "'64'", "64", NULL},
    {"pids", "64.0", "64", NULL},
    {"pids", "1.5", NULL, "pids: 1.5 is not a whole number"},
    {"pids", "'1.5'", NULL, "pids: \"1.5\" is not a whole number"},
    {"pids", "'64k'", NULL, "pids: \"64k\" is not a whole number"},
    {"pids", "0", NULL, "pids: 0 would mean \"no limit\"; to have none, leave it out"},
    {"pids", "-5", NULL, "pids: -5 is negative"},
    {"pids", "2147483648", NULL, "pids: 2147483648 is too large, at most 4194304"},
    {"pids", "'99999999999999999999'", NULL, "pids: \"99999999999999999999\" is too large"},
    {"pids", "[]", NULL, "pids: a list is not a whole number"},
    {"nofile", "4", NULL, "nofile: 4 is too small, at least 8"},
    {"max_output", "2000", "2000", NULL},
    {"max_output", "0", NULL, "max_output: 0 is too small"},
    /* numbers */
    {"cpus", "0.5", "0.5", NULL},
    {"cpus", "2", "2.0", NULL},
    {"cpus", "'1.5'", "1.5", NULL},
    {"cpus", "'1.5h'", NULL, "cpus: \"1.5h\" is not a number"},
    {"cpus", "0", NULL, "cpus: 0 would mean \"no limit\"; to have none, leave it out"},
    {"cpus", "-1", NULL, "cpus: -1 is negative"},
    {"cpus", "'inf'", NULL, "cpus: \"inf\" is not a finite number"},
    {"cpus", "'1e999'", NULL, "cpus: \"1e999\" is too large"},
    {"cpus", "1e9", NULL, "cpus: 1000000000.0 is too large, at most 4096.0"},
    {"cpus", "{}", NULL, "cpus: a mapping is not a number"},
    /* truth */
    {"tmpfs_noexec", "false", "false", NULL},
    {"tmpfs_noexec", "'true'", "true", NULL},
    {"tmpfs_noexec", "'yes'", NULL, "tmpfs_noexec: \"yes\" is not true or false"},
    {"tmpfs_noexec", "1", NULL, "tmpfs_noexec: 1 is not true or false"},
    /* text */
    {"mode", "' Docker\\t'", "'docker'", NULL},
    {"mode", "'LOCAL'", "'local'", NULL},
    {"mode", "''", NULL, "mode: \"\" is empty"},
    {"mode", "'  '", NULL, "mode: \"  \" is empty"},
    {"mode", "'local\\u0000docker'", NULL, "mode: \"local\" has a NUL in it"},
    {"mode", "3", NULL, "mode: 3 is not text; put it in quotes"},
    {"mode", "[]", NULL, "mode: a list is not text"},
    {"scope", "'tools'", "'tools'", NULL},
    {"scope", "'skill'", "'skill'", NULL},
    {"scope", "'all'", "'all'", NULL},
    {"scope", "'Tools'", NULL, "scope: \"Tools\" is not a scope (there are tools, skill, all)"},
    {"scope", "''", NULL, "scope: \"\" is empty"},
    {"docker_image", "'python:3.12-slim'", "'python:3.12-slim'", NULL},
    {"docker_image", "'--privileged'", NULL, "docker_image: \"--privileged\" begins with \"-\""},
    {"docker_image", "'a b'", NULL, "docker_image: \"a b\" has a blank or a control character in it"},
    {"docker_image", "3.12", NULL, "docker_image: 3.12 is not text; put it in quotes"},
    {"network", "'none'", "'none'", NULL},
    {"network", "'host\\n--privileged'", NULL,
     "network: \"host\\x0a--privileged\" has a blank or a control character in it"},
    {"network", "false", NULL, "network: false is not text; put it in quotes"},
    {"workspace", "'/w:rw'", "'/w:rw'", NULL},
    {"skill", "''", NULL, "skill: \"\" is empty"},
    {"skill", "'/s/\\u6728'", "'/s/\\u6728'", NULL},
    /* maps */
    {"env", "{'A': 'b', 'C': ''}", "{'A':'b','C':''}", NULL},
    {"env", "{'A': 5}", NULL, "env: \"A\" has a value that is not text"},
    {"env", "{'A=B': 'c'}", NULL, "env: \"A=B\" is not the name of an environment variable"},
    {"env", "{'': 'c'}", NULL, "env: \"\" is empty"},
    {"env", "{'A': 'x\\u0000y'}", NULL, "env: \"A\" has a value with a NUL in it"},
    {"env", "'A'", NULL, "env: \"A\" is not a mapping of names to texts"},
    /* names */
    {"netwrok", "'none'", NULL, "unknown field \"netwrok\"; did you mean \"network\"?"},
    {"timeout", "5", NULL, "unknown field \"timeout\"; did you mean \"timeout_s\"?"},
    {"image", "'x'", NULL, "unknown field \"image\""},
    {"max_retries", "3", NULL, "unknown field \"max_retries\""},
    {"plugins.path", "[]", NULL, "unknown field \"plugins.path\""},
    {"", "1", NULL, "unknown field \"\""},
    {"\x1b[2J", "1", NULL, "unknown field \"\\x1b[2J\""},
    {"\xc2\x9b"
     "31m",
     "1", NULL, "unknown field \"\\x9b31m\""},
    {"a\"b\\c", "1", NULL, "unknown field \"a\\\"b\\\\c\""},
    /* silence */
    {"memory", "null", "", NULL},
    {"mode", "null", "", NULL},
};

static void check_taken(const jianmu_constraints *c, const struct row *row)
{
    const json_t *value = jm_constraints_get(c, row->field);
    if (!*row->good) {
        assert_null(value);
        return;
    }
    jm_auto_json json_t *want = kit_json(row->good);
    jm_auto_free char *got_text = jm_json_print(value, 0, NULL), *want_text = jm_json_print(want, 0, NULL);
    assert_non_null(got_text);
    assert_string_equal(got_text, want_text); /* as text: 30.0 is not 30 */
}

static void one_row(const struct row *row, bool wrapped)
{
    jianmu_error *err = NULL;
    char bad[1024];
    jm_auto_json json_t *value = kit_json(row->value);
    jm_auto_json json_t *object = json_object();
    json_object_set(object, row->field, value);
    jm_auto_json json_t *outer = wrapped ? json_pack("{s:O}", "execution", object) : json_incref(object);
    jianmu_constraints *c = jianmu_constraints_from_json(outer, &err);
    snprintf(bad, sizeof bad, "constraints: %s", row->bad ? row->bad : "");
    if (row->bad && (!err || strcmp(jianmu_error_message(err), bad)))
        fail_msg("%s %s\nsays  %s\nmust  %s", row->field, row->value, jianmu_error_message(err), bad);
    if (row->bad)
        assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
    if (row->good && err)
        fail_msg("%s %s: %s", row->field, row->value, jianmu_error_message(err));
    assert_int_equal(!c, !!err);
    if (row->good)
        check_taken(c, row);
    jianmu_error_free(err);
    jianmu_constraints_free(c);
}

static void from_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < jm_countof(rows); i++) {
        one_row(&rows[i], false);
        one_row(&rows[i], true);
    }
}

/* What is text may come as text too, with the same result and the same sentence. */
static void from_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < jm_countof(rows); i++) {
        const struct row *row = &rows[i];
        jianmu_error *err = NULL;
        jm_auto_json json_t *value = kit_json(row->value);
        if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value) ||
            !strcmp(row->field, "env"))
            continue;
        jianmu_constraints *c = jianmu_constraints_new();
        int rc = jianmu_constraints_set(c, row->field, json_string_value(value), &err);
        if (row->good) {
            assert_int_equal(rc, 0);
            check_taken(c, row);
        } else if (row->bad) {
            assert_int_equal(rc, -1);
            assert_string_equal(jianmu_error_message(err) + strlen("constraints: "), row->bad);
        }
        jianmu_error_free(err);
        jianmu_constraints_free(c);
    }
}

static void set_text(jianmu_constraints *c, const char *field, const char *text, const char *bad)
{
    jianmu_error *err = NULL;
    int rc = jianmu_constraints_set(c, field, text, &err);
    assert_int_equal(rc, bad ? -1 : 0);
    assert_string_equal(jianmu_error_message(err), bad ? bad : "");
    jianmu_error_free(err);
}

static void setters(void **state)
{
    (void)state;
    jianmu_constraints *c = jianmu_constraints_new();
    set_text(c, "timeout_s", "2m", NULL);
    set_text(c, "pids", "7", NULL);
    set_text(c, "tmpfs_noexec", "false", NULL);
    set_text(c, "env", "A=1", NULL);
    set_text(c, "env", "B=x=y", NULL);
    set_text(c, "env", "A=2", NULL);
    set_text(c, "env", "C=", NULL);
    set_text(c, "env", "D", "constraints: env: must be NAME=VALUE or a JSON object");
    set_text(c, "env", "=v", "constraints: env: must be NAME=VALUE or a JSON object");
    set_text(c, "skill", "\xff", "constraints: skill: the value is not valid UTF-8");
    set_text(c, "env", "K=\xff", "constraints: env: the value is not valid UTF-8");
    set_text(c, "network", "", "constraints: network: \"\" is empty");
    jm_auto_free char *env = jm_json_print(jm_constraints_get(c, "env"), 0, NULL);
    assert_string_equal(env, "{\"A\":\"2\",\"B\":\"x=y\",\"C\":\"\"}");
    set_text(c, "env", "{\"Z\": \"9\"}", NULL);
    jm_auto_free char *again = jm_json_print(jm_constraints_get(c, "env"), 0, NULL);
    assert_string_equal(again, "{\"Z\":\"9\"}");
    set_text(c, "timeout_s", NULL, NULL); /* silent again */
    assert_null(jm_constraints_get(c, "timeout_s"));
    assert_int_equal(json_integer_value(jm_constraints_get(c, "pids")), 7);
    jianmu_constraints_free(c);
}

/* A bad value may be a secret that was put into the wrong place. */
static void secrets(void **state)
{
    (void)state;
    static const char *const bad[] = {"{'env': {'TOKEN': ['hunter2']}}", "{'env': {'TOKEN': 'hunter2\\u0000'}}",
                                      "{'env': ['hunter2']}"};
    for (size_t i = 0; i < jm_countof(bad); i++) {
        jianmu_error *err = NULL;
        jm_auto_json json_t *object = kit_json(bad[i]);
        assert_null(jianmu_constraints_from_json(object, &err));
        assert_null(strstr(jianmu_error_message(err), "hunter2"));
        jianmu_error_free(err);
    }
}

static void shapes(void **state)
{
    (void)state;
    static const struct {
        const char *object, *bad;
    } bad[] = {
        {"[]", "constraints: a list is not an object"},
        {"'local'", "constraints: \"local\" is not an object"},
        {"null", "constraints: null is not an object"},
        {"{'execution': 5}", "constraints: execution: 5 is not an object"},
        {"{'execution': {'execution': {}}}", "constraints: unknown field \"execution\""},
        {"{'execution': {}, 'mode': 'local'}", "constraints: unknown field \"execution\""},
    };
    for (size_t i = 0; i < jm_countof(bad); i++) {
        jianmu_error *err = NULL;
        jm_auto_json json_t *object = kit_json(bad[i].object);
        assert_null(jianmu_constraints_from_json(object, &err));
        assert_string_equal(jianmu_error_message(err), bad[i].bad);
        jianmu_error_free(err);
    }
    jm_auto_json json_t *empty = json_object();
    jianmu_constraints *c = jianmu_constraints_from_json(empty, NULL);
    assert_non_null(c);
    jianmu_constraints_free(c);
    assert_null(jianmu_constraints_from_json(NULL, NULL));
    jianmu_constraints_free(NULL);
    /* a long value is cut short in the sentence */
    char words[5001] = "";
    memset(words, 'w', 5000);
    jianmu_error *err = NULL;
    c = jianmu_constraints_new();
    assert_int_equal(jianmu_constraints_set(c, "timeout_s", words, &err), -1);
    assert_true(strlen(jianmu_error_message(err)) < 300);
    jianmu_error_free(err);
    jianmu_constraints_free(c);
}

static void parsers(void **state)
{
    (void)state;
    double seconds = 0;
    uint64_t bytes = 0;
    assert_int_equal(jm_parse_seconds("1m30s", &seconds), 0);
    assert_true(seconds == 90);
    assert_int_equal(jm_parse_seconds("0", &seconds), 0);
    assert_int_equal(jm_parse_seconds("1x", &seconds), -1);
    assert_int_equal(jm_parse_size("2k", &bytes), 0);
    assert_int_equal(bytes, 2048);
    assert_int_equal(jm_parse_size("k", &bytes), -1);
    assert_int_equal(jm_parse_size("0.1k", &bytes), 0);
    assert_int_equal(bytes, 102);
    assert_int_equal(jm_parse_size("1.0000000000000000000000000000001k", &bytes), 0);
    assert_int_equal(bytes, 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_json), cmocka_unit_test(from_text), cmocka_unit_test(setters),
        cmocka_unit_test(secrets),   cmocka_unit_test(shapes),    cmocka_unit_test(parsers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
