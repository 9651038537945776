/* SPDX-License-Identifier: Apache-2.0
 * jianmu.yaml: what is taken, and for all else one sentence with file, line and column. */
#include "config.h"

#include "kit.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The block of the source, byte for byte. */
static const char sample[] = "execution:\n"
                             "  max_retries: 3\n"
                             "  retry_backoff: 0.2\n"
                             "  tool_runner: local\n"
                             "  docker:\n"
                             "    image: jianmu-tools:latest\n"
                             "    timeout: 60.0\n"
                             "    network: none\n";

static void the_sample(void **state)
{
    (void)state;
    static const struct {
        const char *path, *value;
        int line;
    } rows[] = {
        {"execution.max_retries", "3", 2},          {"execution.retry_backoff", "0.2", 3},
        {"execution.tool_runner", "\"local\"", 4},  {"execution.docker.image", "\"jianmu-tools:latest\"", 6},
        {"execution.docker.timeout", "60.0", 7},    {"execution.docker.network", "\"none\"", 8},
    };
    jianmu_config *config = kit_load(sample);
    assert_int_equal(config->value_count, jm_countof(rows));
    for (size_t i = 0; i < jm_countof(rows); i++) {
        const struct jm_setting *s = jm_config_value(config, rows[i].path);
        assert_non_null(s);
        jm_auto_free char *text = jm_json_print(s->value, 0, NULL);
        assert_string_equal(text, rows[i].value);
        assert_int_equal(s->line, rows[i].line);
        assert_string_equal(s->file, "jianmu.yaml");
        assert_int_equal(s->layer, JM_YAML);
    }
    jianmu_config_free(config);
}

/* One value of one key, as YAML writes it; NULL: silent. */
static const struct {
    const char *path, *yaml, *value;
} good[] = {
    {"execution.timeout_s", "30", "30.0"},
    {"execution.timeout_s", "+30", "30.0"},
    {"execution.timeout_s", "30.5", "30.5"},
    {"execution.timeout_s", "30.", "30.0"},
    {"execution.timeout_s", ".5", "0.5"},
    {"execution.timeout_s", "3e1", "30.0"},
    {"execution.timeout_s", "30s", "30.0"},
    {"execution.timeout_s", "\"2m\"", "120.0"},
    {"execution.timeout_s", "'1.5h'", "5400.0"},
    {"execution.timeout_s", "\"30\"", "30.0"},
    {"execution.timeout_s", "01", "1.0"},    /* 1.2: no octal without the o */
    {"execution.timeout_s", "010", "10.0"},
    {"execution.timeout_s", "0x10", "16.0"}, /* 1.2's */
    {"execution.timeout_s", "0o17", "15.0"},
    {"execution.timeout_s", "null", NULL},
    {"execution.timeout_s", "Null", NULL},
    {"execution.timeout_s", "~", NULL},
    {"execution.timeout_s", "", NULL},
    {"execution.timeout_s", "  # what is left out", NULL},
    {"execution.tool_args_max", "null", NULL},
    {"execution.tool_args_max", "131054", "131054"},
    {"execution.capture", "64k", "65536"},
    {"execution.capture", "0", "0"},
    {"execution.fsize", "1.5g", "1610612736"},
    {"execution.max_retries", "0", "0"},
    {"execution.max_retries", "\"4\"", "4"},
    {"execution.retry_backoff", "0", "0.0"},
    {"execution.retry_backoff", "200ms", "0.2"},
    {"execution.tool_runner", "' LOCAL '", "\"local\""},
    {"execution.tool_runner", "nowhere", "\"nowhere\""}, /* an error where it is used */
    {"execution.docker.image", "\"3.12\"", "\"3.12\""},
    {"execution.docker.image", "python:3.12-slim", "\"python:3.12-slim\""},
    {"execution.docker.reuse_container", "TRUE", "true"},
    {"execution.docker.reuse_container", "False", "false"},
    {"execution.docker.env_allowlist", "[]", "[]"},
    {"execution.docker.env_allowlist", "[A, 'b', \"C_1\"]", "[\"A\",\"b\",\"C_1\"]"},
    {"execution.docker.env_allowprefix", "[AWS_]", "[\"AWS_\"]"},
    {"execution.boxed.network", "none", "\"none\""},
    {"execution.boxed.memory", "1g", "1073741824"},
    {"execution.boxed.wait", "1m", "60.0"},
    {"execution.boxed.pairs", "{a: b, c: \"1\"}", "{\"a\":\"b\",\"c\":\"1\"}"},
    {"execution.boxed.names", "\n      - x\n      - y", "[\"x\",\"y\"]"},
    {"execution.boxed.word", "|\n      two\n      lines", "\"two\\nlines\\n\""},
    {"execution.boxed.open", "null", NULL},
    {"execution.artifacts.count", "5", "5"},
    {"plugins.path", "[/a, /b/c]", "[\"/a\",\"/b/c\"]"},
};

static void write_key(struct jm_buffer *b, const char *path, const char *value)
{
    int depth = 0;
    for (const char *dot; (dot = strchr(path, '.')); path = dot + 1, depth++)
        jm_buffer_addf(b, "%*s%.*s:\n", 2 * depth, "", (int)(dot - path), path);
    jm_buffer_addf(b, "%*s%s: %s\n", 2 * depth, "", path, value);
}

static void good_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < jm_countof(good); i++) {
        struct jm_buffer b = {0};
        write_key(&b, good[i].path, good[i].yaml);
        jm_auto_free char *yaml = jm_buffer_take(&b);
        jianmu_config *config = kit_load(yaml);
        const struct jm_setting *s = jm_config_value(config, good[i].path);
        if (!good[i].value) {
            assert_null(s);
        } else {
            assert_non_null(s);
            jm_auto_free char *text = jm_json_print(s->value, 0, NULL);
            if (strcmp(text, good[i].value))
                fail_msg("%s\n%s", yaml, text);
        }
        jianmu_config_free(config);
    }
}

#define AS_DURATION " is not a duration (like 30, \"30s\", \"2m\", \"500ms\", \"1.5h\", \"1m30s\")"
#define TRUTH " may be meant as true or false, or as text: write true, false, or put it in quotes"
static const struct {
    const char *yaml, *sentence; /* behind "jianmu.yaml:" */
} bad[] = {
    /* values */
    {"execution:\n  timeout_s: yes\n", "2:14: execution.timeout_s: \"yes\"" TRUTH},
    {"execution:\n  docker: {reuse_container: On}\n", "2:29: execution.docker.reuse_container: \"On\"" TRUTH},
    {"execution:\n  docker: {network: no}\n", "2:21: execution.docker.network: \"no\"" TRUTH},
    {"execution:\n  docker: {env_allowlist: [OFF]}\n", "2:28: execution.docker.env_allowlist: \"OFF\"" TRUTH},
    {"execution:\n  timeout_s: 1e400\n", "2:14: execution.timeout_s: \"1e400\" is too large"},
    {"execution:\n  timeout_s: 99999999999999999999\n",
     "2:14: execution.timeout_s: \"99999999999999999999\" is too large"},
    {"execution:\n  timeout_s: 0xffffffffffffffff\n", "2:14: execution.timeout_s: \"0xffffffffffffffff\" is too large"},
    {"execution:\n  timeout_s: .nan\n", "2:14: execution.timeout_s: \".nan\" is not a finite number"},
    {"execution:\n  timeout_s: .inf\n", "2:14: execution.timeout_s: \".inf\" is not a finite number"},
    {"execution:\n  timeout_s: -.Inf\n", "2:14: execution.timeout_s: \"-.Inf\" is not a finite number"},
    {"execution:\n  timeout_s: nan\n", "2:14: execution.timeout_s: \"nan\" is not a finite number"},
    {"execution:\n  timeout_s: 1_000\n", "2:14: execution.timeout_s: \"1_000\"" AS_DURATION},
    {"execution:\n  timeout_s: 1,5\n", "2:14: execution.timeout_s: \"1,5\"" AS_DURATION},
    {"execution:\n  timeout_s: \"-1s\"\n", "2:14: execution.timeout_s: \"-1s\" is negative"},
    {"execution:\n  timeout_s: -1\n", "2:14: execution.timeout_s: -1 is negative"},
    {"execution:\n  timeout_s: -0x1\n", "2:14: execution.timeout_s: \"-0x1\" is negative"},
    {"execution:\n  timeout_s: 30 s\n", "2:14: execution.timeout_s: \"30 s\" has a blank in it"},
    {"execution:\n  timeout_s: \xef\xbc\x91\xef\xbc\x90s\n",
     "2:14: execution.timeout_s: \"\xef\xbc\x91\xef\xbc\x90s\"" AS_DURATION},
    {"execution:\n  timeout_s: \"\"\n", "2:14: execution.timeout_s: \"\" is empty"},
    {"execution:\n  timeout_s: [1]\n", "2:14: execution.timeout_s: a list" AS_DURATION},
    {"execution:\n  timeout_s: {a: 1}\n", "2:14: execution.timeout_s: a mapping" AS_DURATION},
    {"execution:\n  timeout_s: true\n", "2:14: execution.timeout_s: true" AS_DURATION},
    {"execution:\n  timeout_s: 0\n",
     "2:14: execution.timeout_s: 0 would mean \"no limit\"; to have none, leave it out"},
    {"execution:\n  timeout_s: 5d\n", "2:14: execution.timeout_s: \"5d\" has an unknown unit (there are ms, s, m, h)"},
    {"execution:\n  max_retries: null\n", "2:16: execution.max_retries: null is not a whole number"},
    {"execution:\n  max_retries: 2147483648\n", "2:16: execution.max_retries: 2147483648 is too large, at most 1000"},
    {"execution:\n  max_retries: -1\n", "2:16: execution.max_retries: -1 is negative"},
    {"execution:\n  max_retries: 1.5\n", "2:16: execution.max_retries: 1.5 is not a whole number"},
    {"execution:\n  retry_backoff: .nan\n", "2:18: execution.retry_backoff: \".nan\" is not a finite number"},
    {"execution:\n  retry_backoff: 11\n", "2:18: execution.retry_backoff: 11 is too large, at most 10.0"},
    {"execution:\n  tool_args_max: 131055\n", "2:18: execution.tool_args_max: 131055 is too large, at most 131054"},
    {"execution:\n  tool_args_max: 0\n", "2:18: execution.tool_args_max: 0 is too small"},
    {"execution:\n  capture: 1mb\n",
     "2:12: execution.capture: \"1mb\" has an unknown unit (there are b, k, m, g, t, in powers of 1024)"},
    {"execution:\n  docker:\n    image: 3.12\n", "3:12: execution.docker.image: 3.12 is not text; put it in quotes"},
    {"execution:\n  docker:\n    image: \"\"\n", "3:12: execution.docker.image: \"\" is empty"},
    {"execution:\n  docker:\n    image: \"-v/:/h\"\n", "3:12: execution.docker.image: \"-v/:/h\" begins with \"-\""},
    {"execution:\n  docker:\n    reuse_container: 1\n",
     "3:22: execution.docker.reuse_container: 1 is not true or false"},
    {"execution:\n  docker:\n    env_allowlist: PATH\n",
     "3:20: execution.docker.env_allowlist: \"PATH\" is not a list of texts"},
    {"execution:\n  docker:\n    env_allowlist: [A, 5]\n",
     "3:20: execution.docker.env_allowlist: 5 is not text, and every item must be"},
    {"execution:\n  docker:\n    env_allowprefix: [\"\"]\n", "3:22: execution.docker.env_allowprefix: \"\" is empty"},
    {"execution:\n  docker:\n    env_allowlist: [A=b]\n",
     "3:20: execution.docker.env_allowlist: \"A=b\" is not the name of an environment variable"},
    {"execution:\n  tool_runner: \"\"\n", "2:16: execution.tool_runner: \"\" is empty"},
    {"execution:\n  tool_runner: \"a\\0b\"\n", "2:16: a NUL cannot stand here"},
    {"plugins:\n  path: [plugins]\n", "2:9: plugins.path: \"plugins\" is not an absolute path"},
    {"plugins:\n  path: /a\n", "2:9: plugins.path: \"/a\" is not a list of texts"},
    {"execution:\n  boxed:\n    whole: 101\n", "3:12: execution.boxed.whole: 101 is too large, at most 100"},
    {"execution:\n  boxed:\n    memory: 0\n",
     "3:13: execution.boxed.memory: 0 would mean \"no limit\"; to have none, leave it out"},
    {"execution:\n  boxed:\n    pairs: {a: secret, b: 5}\n",
     "3:12: execution.boxed.pairs: \"b\" has a value that is not text"},
    /* keys */
    {"execution:\n  netwrok: none\n",
     "2:3: unknown key \"netwrok\" in execution; \"network\" stands below a backend, as in execution.docker"},
    {"execution:\n  memory: 5m\n",
     "2:3: unknown key \"memory\" in execution; \"memory\" stands below a backend, as in execution.docker"},
    {"execution:\n  docker:\n    netwrok: none\n",
     "3:5: unknown key \"netwrok\" in execution.docker: it would be the backend plug-in's, which cannot be had: "
     "unknown mode \"docker\"; available: boxed, local, sick"},
    {"execution:\n  docker:\n    engine: podman\n",
     "3:5: unknown key \"engine\" in execution.docker: it would be the backend plug-in's, which cannot be had: "
     "unknown mode \"docker\"; available: boxed, local, sick"},
    {"execution:\n  boxed:\n    wrod: x\n", "3:5: unknown key \"wrod\" in execution.boxed; did you mean \"word\"?"},
    {"execution:\n  local:\n    memory: 1g\n", "3:5: unknown key \"memory\" in execution.local"},
    {"execution:\n  native:\n    x: 1\n", "2:3: unknown key \"native\" in execution, and no backend has that name: "
                                          "unknown mode \"native\"; available: boxed, local, sick"},
    {"execution:\n  boxd:\n    x: 1\n", "2:3: unknown key \"boxd\" in execution, and no backend has that name: unknown "
                                        "mode \"boxd\", did you mean \"boxed\"? "
                                        "Available: boxed, local, sick"},
    {"execution:\n  timout_s: 1\n", "2:3: unknown key \"timout_s\" in execution; did you mean \"timeout_s\"?"},
    {"execution:\n  scope: all\n", "2:3: unknown key \"scope\" in execution"},
    {"execution:\n  timeout_s.x: 1\n", "2:3: unknown key \"timeout_s.x\" in execution; did you mean \"timeout_s\"?"},
    {"execution:\n  artifacts:\n    cuont: 1\n",
     "3:5: unknown key \"cuont\" in execution.artifacts; did you mean \"count\"?"},
    {"execution.timeout_s: 5\n", "1:1: unknown key \"execution.timeout_s\""},
    {"exection:\n  timeout_s: 1\n", "1:1: unknown key \"exection\"; did you mean \"execution\"?"},
    {"plugins:\n  pth: [/a]\n", "2:3: unknown key \"pth\" in plugins; did you mean \"path\"?"},
    {"events:\n  redact:\n  - a+\n  - \"b(\"\n",
     "4:5: events.redact: the pattern \"b(\" is no regular expression: missing closing parenthesis, at byte 2"},
    {"events:\n  redact: [x*]\n", "2:12: events.redact: the pattern matches nothing at all, so it would blot nothing out"},
    {"events:\n  include: [result, everything]\n",
     "2:21: events.include: \"everything\" cannot be included; there are arguments, result, error"},
    {"events:\n  use: [nosuch]\n", "2:9: events.use: unknown sink \"nosuch\""},
    {"events:\n  jsonll:\n    file: x\n", "2:3: unknown key \"jsonll\" in events"},
    {"events:\n  patience: 0\n", "2:13: events.patience: 0 is too small"},
    {"\"a\\u001bb\\nc\": 1\n", "1:1: unknown key \"a\\x1bb\\x0ac\""},
    {"execution:\n  sick:\n    odd: red\n", "3:5: execution.sick.odd cannot be set: the plug-in's note is wrong about "
                                            "it: its type must be one of str, bool, int, "
                                            "real, seconds, size, list, map"},
    {"execution:\n  sick:\n    other: red\n", "3:5: unknown key \"other\" in execution.sick"},
    /* tools */
    {"tools:\n  bare:\n    timeout: 1\n", "3:5: unknown key \"timeout\" in tools.bare; did you mean \"timeout_s\"?"},
    {"tools:\n  bare:\n    word: x\n", "3:5: unknown key \"word\" in tools.bare"},
    {"tools:\n  bare:\n    scope: all\n", "3:5: unknown key \"scope\" in tools.bare"},
    {"tools:\n  bare:\n    mode: 5\n", "3:11: tools.bare.mode: 5 is not text; put it in quotes"},
    {"tools:\n  bare:\n    memory: 0\n",
     "3:13: tools.bare.memory: 0 would mean \"no limit\"; to have none, leave it out"},
    {"tools:\n  keyed:\n    wrod: x\n", "3:5: unknown key \"wrod\" in tools.keyed; did you mean \"word\"?"},
    {"tools:\n  keyd:\n    timeout_s: 1\n", "2:3: tools.keyd: unknown tool \"keyd\", did you mean \"keyed\"?"},
    {"tools:\n  keyed:\n    timeout_s: 0\n",
     "3:16: tools.keyed.timeout_s: 0 would mean \"no limit\"; to have none, leave it out"},
    {"tools:\n  \"keyed*\":\n    word: x\n",
     "3:11: tools.keyed*.word: \"x\" is not a whole number"}, /* keyed_too's is */
    {"tools:\n  keyed: 5\n", "2:10: what stands below a tool must be a mapping of keys to values"},
    {"tools: []\n", "1:8: tools must be a mapping of keys to values"},
    {"tools:\n  \"a b\": {}\n", "2:3: a tool's name holds letters, digits and _ - . : / only; * and ? stand for any"},
    {"tools:\n  \"*\":\n    tool_args_max: 5\n", "3:5: unknown key \"tool_args_max\" in tools.*"},
    {"tools:\n  ill:\n    size: 5\n",
     "3:5: tools.ill.size cannot be set: the note of ill is wrong about it: its default: \"12 m\" has a blank in it"},
    {"tools:\n  *:\n    timeout_s: 1\n",
     "2:4: did not find expected alphabetic or numeric character, while scanning an alias"},
    /* shape */
    {"- a\n", "1:1: a config file must be a mapping of keys to values"},
    {"local\n", "1:1: a config file must be a mapping of keys to values"},
    {"execution: local\n", "1:12: execution must be a mapping of keys to values"},
    {"execution:\n  docker: []\n", "2:11: execution.docker must be a mapping of keys to values"},
    {"execution:\n  timeout_s: 1\n  timeout_s: 2\n", "3:3: the key \"timeout_s\" stands here twice, first in line 2"},
    {"execution: {}\n\"execution\": {}\n", "2:1: the key \"execution\" stands here twice, first in line 1"},
    {"execution: {}\n---\nexecution: {}\n", "2:1: a second document; there can be one only"},
    {"execution: &a {}\n", "1:12: an anchor (\"&...\") cannot stand here"},
    {"execution: &a 5\n", "1:12: an anchor (\"&...\") cannot stand here"},
    {"execution: *a\n", "1:12: an alias (\"*...\") cannot stand here; a text that begins with * needs quotes"},
    {"&x [*x]\n", "1:1: an anchor (\"&...\") cannot stand here"},
    {"execution:\n  <<: *base\n", "2:7: an alias (\"*...\") cannot stand here; a text that begins with * needs quotes"},
    {"execution:\n  <<: {timeout_s: 1}\n", "2:3: unknown key \"<<\" in execution, and no backend has that name: "
                                           "unknown mode \"<<\"; available: boxed, local, sick"},
    {"execution: !!map {}\n", "1:12: a tag (\"!...\") cannot stand here"},
    {"execution:\n  timeout_s: !!float 5\n", "2:14: a tag (\"!...\") cannot stand here"},
    {"execution:\n  timeout_s: ! 5\n", "2:14: a tag (\"!...\") cannot stand here"},
    {"? [a]\n: b\n", "1:3: a key must be text"},
    {"? {a: b}\n: c\n", "1:3: a key must be text"},
    {"\"\": 5\n", "1:1: a key is empty"},
    {"execution: {\n", "2:1: did not find expected node content, while parsing a flow node"},
    {"execution:\n\ttimeout_s: 5\n",
     "2:1: found character that cannot start any token, while scanning for the next token"},
    {"execution:\n  a: b: c\n", "2:7: mapping values are not allowed in this context"},
    {"execution: \"open\n", "2:1: found unexpected end of stream, while scanning a quoted scalar"},
    {"execution: @x\n", "1:12: found character that cannot start any token, while scanning for the next token"},
    {"%YAML 3.0\n---\n{}\n", "1:1: found incompatible YAML document"},
    {"a: \"\\ud800\"\n", "1:7: found invalid Unicode character escape code, while parsing a quoted scalar"},
    {"execution:\n  \xe6\x9c\xa8: \xff\n", "2:6: invalid leading UTF-8 octet"},
    {"# \x07\n", "1:3: control characters are not allowed"},
};

static void bad_files(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < jm_countof(bad); i++) {
        char sentence[1024];
        snprintf(sentence, sizeof sentence, "jianmu.yaml:%s", bad[i].sentence);
        wrong += kit_refuse(bad[i].yaml, strlen(bad[i].yaml), sentence);
    }
    wrong += kit_refuse("a: \0b\n", 6, "jianmu.yaml:1:4: control characters are not allowed");
    wrong += kit_refuse("\xff\xfe" "a\0", 4, "jianmu.yaml:1:1: invalid leading UTF-8 octet"); /* UTF-16 is not read */
    assert_int_equal(wrong, 0);
}

static void empty_files(void **state)
{
    (void)state;
    static const char *const empty[] = {"",
                                        "\n\n",
                                        "# nothing\n",
                                        "---\n",
                                        "---\n...\n",
                                        "{}",
                                        "null",
                                        "~",
                                        "execution:\n",
                                        "execution: {}\n",
                                        "execution:\n  docker:\n  boxed: {}\n",
                                        "tools:\n  bare:\n",
                                        "plugins:\n",
                                        "\xef\xbb\xbf{}",
                                        "%YAML 1.2\n---\n{}\n"};
    for (size_t i = 0; i < jm_countof(empty); i++) {
        jianmu_config *config = kit_load(empty[i]);
        assert_int_equal(config->value_count, 0);
        jianmu_config_free(config);
    }
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static char *repeat(const char *before, const char *part, size_t times, const char *after)
{
    struct jm_buffer b = {0};
    jm_buffer_adds(&b, before);
    for (size_t i = 0; i < times; i++)
        jm_buffer_adds(&b, part);
    jm_buffer_adds(&b, after);
    char *text = jm_buffer_take(&b);
    assert_non_null(text);
    return text;
}

/* Text that grows, or that is deep, is refused long before it costs anything. */
static void bombs(void **state)
{
    (void)state;
    static const struct {
        const char *before, *part;
        size_t times;
        const char *after, *sentence;
    } rows[] = {
        {"a: &a [l,l,l,l,l,l,l,l,l]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n", "", 0,
         "", "jianmu.yaml:1:4: an anchor (\"&...\") cannot stand here"},
        {"a: [x", ",*x", 100000, "]",
         "jianmu.yaml:1:7: an alias (\"*...\") cannot stand here; a text that begins with * needs quotes"},
        {"", "[", 100000, "", "jianmu.yaml:1:65: nested more than 64 deep"},
        {"", "{a: ", 100000, "", "jianmu.yaml:1:257: nested more than 64 deep"},
        {"", "- ", 100000, "", "jianmu.yaml:1:129: nested more than 64 deep"},
        {"a: [", "1,", 200000, "]", "jianmu.yaml:1:20001: more than 10000 values in one file"},
        {"a: \"", "x", JM_YAML_BYTES, "\"", "jianmu.yaml:1:1: the file is larger than 1 MiB"},
    };
    for (size_t i = 0; i < jm_countof(rows); i++) {
        jm_auto_free char *text = repeat(rows[i].before, rows[i].part, rows[i].times, rows[i].after);
        jianmu_error *err = NULL;
        double start = seconds();
        assert_null(jm_yaml_parse(text, strlen(text), "jianmu.yaml", &err));
        assert_string_equal(jianmu_error_message(err), rows[i].sentence);
        jianmu_error_free(err);
        assert_true(seconds() - start < 1);
    }
    /* the most work that is allowed: mappings of 500 keys, all compared with each other; and one key more */
    struct jm_buffer b = {0};
    for (int map = 0; map < 19; map++) {
        jm_buffer_addf(&b, "m%d:\n", map);
        for (int i = 0; i < JM_YAML_KEYS; i++)
            jm_buffer_addf(&b, " key_%d: 1\n", i);
    }
    jm_buffer_adds(&b, " "); /* so that the next one is the last mapping's */
    jm_auto_free char *wide = jm_buffer_take(&b);
    double start = seconds();
    struct jm_node *root = jm_yaml_parse(wide, strlen(wide), "jianmu.yaml", NULL);
    assert_non_null(root);
    assert_true(seconds() - start < 5);
    jm_node_free(root);
    jm_auto_free char *wider = repeat(wide, "more: 1\n", 1, "");
    jianmu_error *err = NULL;
    assert_null(jm_yaml_parse(wider, strlen(wider), "jianmu.yaml", &err));
    assert_string_equal(jianmu_error_message(err), "jianmu.yaml:9520:2: more than 500 keys in one mapping");
    jianmu_error_free(err);
    jm_auto_free char *deep = repeat("", "[", 64, "");
    jm_auto_free char *closed = repeat(deep, "]", 64, "");
    root = jm_yaml_parse(closed, strlen(closed), "jianmu.yaml", NULL);
    assert_non_null(root);
    jm_node_free(root);
}

/* No file makes it do anything but answer: every file cut off at every byte, and every byte of it replaced. */
static void mutilated(void **state)
{
    (void)state;
    static const char text[] = "execution:\n  timeout_s: \"1.5h\"\n  docker: {image: 'a', env_allowlist: [A, B]}\n"
                               "tools:\n  \"k*\": {timeout_s: 2}\n  bare:\n    max_output: |\n      5\n";
    static const char bytes[] = "\0\t\n \"#&'*,-:?@[]{|}~\x80\xff";
    for (size_t at = 0; at < sizeof text - 1; at++) {
        for (size_t i = 0; i <= sizeof bytes; i++) {
            char copy[sizeof text];
            jianmu_error *err = NULL;
            memcpy(copy, text, sizeof text);
            if (i < sizeof bytes)
                copy[at] = bytes[i];
            struct jm_node *root = jm_yaml_parse(copy, i < sizeof bytes ? sizeof text - 1 : at, "f", &err);
            assert_int_equal(!root, !!err);
            if (err)
                assert_memory_equal(jianmu_error_message(err), "f:", 2);
            jianmu_error_free(err);
            jm_node_free(root);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sample),  cmocka_unit_test(good_values), cmocka_unit_test(bad_files),
        cmocka_unit_test(empty_files), cmocka_unit_test(bombs),       cmocka_unit_test(mutilated),
    };
    return cmocka_run_group_tests(tests, kit_setup, kit_teardown);
}
