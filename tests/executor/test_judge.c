/* SPDX-License-Identifier: Apache-2.0
 * Between the start of a call and its first attempt: guards, and who has to confirm. */
#include "config.h"
#include "kit.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char log_file[64];

/* What the guard was told since the last question. */
static const char *told(void)
{
    static char text[200];
    int fd = open(log_file, O_RDWR | O_CLOEXEC);
    ssize_t n = read(fd, text, sizeof text - 1);
    assert_true(n >= 0);
    text[n] = 0;
    assert_int_equal(ftruncate(fd, 0), 0);
    close(fd);
    return text;
}

static void open_kit(struct kit *k, const char *guard)
{
    kit_guard = guard ? guard : "{use: [asks]}";
    kit_open(k, NULL, NULL);
    told();
}

/* The one event of that name, borrowed; NULL: none. */
static json_t *find_event(struct kit *k, const char *name)
{
    size_t i;
    json_t *event, *found = NULL;
    json_array_foreach (k->w.events, i, event)
        if (!strcmp(kit_text(event, "event"), name)) {
            assert_null(found);
            found = json_object_get(event, "payload");
        }
    return found;
}

static void expect_decision(struct kit *k, const char *verdict, const char *confirmed)
{
    json_t *decision = find_event(k, "execution.decision");
    assert_non_null(decision);
    assert_string_equal(kit_text(decision, "verdict"), verdict);
    assert_string_equal(kit_text(decision, "rule"), "ask");
    assert_string_equal(kit_text(decision, "source"), "asks.c:1");
    json_t *said = json_object_get(decision, "confirmed");
    assert_string_equal(said ? json_is_true(said) ? "yes" : "no" : "", confirmed);
}

static void test_allowed(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    open_kit(&k, NULL);
    jianmu_result_free(kit_call(&k, "echoes", NULL, NULL, &err));
    assert_null(err);
    expect_decision(&k, "allow", "");
    kit_events(&k, 0, "execution.completed");
    assert_string_equal(told(), "ds1");
    kit_close(&k);
}

static void refused(struct kit *k, const char *args, jianmu_code code, const char *part, double retry_after)
{
    jianmu_error *err = NULL;
    assert_null(kit_call(k, "echoes", args, NULL, &err));
    assert_int_equal(jianmu_error_code(err), code);
    if (!strstr(jianmu_error_message(err), part))
        fail_msg("%s", jianmu_error_message(err));
    assert_true(jianmu_error_retry_after(err) == retry_after);
    json_t *json = jianmu_error_json(err);
    if (code != JIANMU_DENIED || strcmp(part, "failed")) {
        assert_string_equal(kit_text(json, "rule"), "ask");
        assert_string_equal(kit_text(json, "source"), "asks.c:1");
    }
    assert_string_equal(kit_text(json, "code"), jianmu_code_name(code));
    assert_true(json_number_value(json_object_get(json, "retry_after_s")) == retry_after);
    json_decref(json);
    jianmu_error_free(err);
    assert_string_equal(kit_text(find_event(k, "execution.decision"), "verdict"), "deny");
    assert_string_equal(kit_text(kit_events(k, 0, "execution.failed"), "code"), jianmu_code_name(code));
    assert_int_equal(kit_runs(k), 0);
    assert_string_equal(told(), "d");
}

static void test_refused(void **state)
{
    (void)state;
    struct kit k;
    open_kit(&k, NULL);
    refused(&k, "\"verdict\": \"deny\"", JIANMU_DENIED, "asks says no (deny)", 0);
    refused(&k, "\"verdict\": \"rate\"", JIANMU_RATE_LIMITED, "asks says no (rate)", 2.5);
    refused(&k, "\"verdict\": \"budget\"", JIANMU_OVER_BUDGET, "asks says no (budget)", 0);
    refused(&k, "\"verdict\": \"broken\"", JIANMU_DENIED, "failed", 0);
    kit_close(&k);
}

/* With the guard's file gone every call is denied: the config was made while it was there. */
static void test_the_guard_is_gone(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    char dir[] = "/tmp/jm_test_gone_XXXXXX", command[9000];
    const char *build = getenv("JIANMU_BUILD");
    assert_non_null(mkdtemp(dir));
    snprintf(command, sizeof command, "cp -r %s/tests/executor/dir/. %s && chmod -R go-w %s", build ? build : ".", dir, dir);
    assert_int_equal(system(command), 0);
    k.w = (struct world){.config = jianmu_config_new(), .events = json_array()};
    static const char yaml[] = "guard: {use: [asks]}\n";
    assert_int_equal(jianmu_config_add_plugin_dir(k.w.config, dir, &err), 0);
    assert_int_equal(jianmu_config_load_text(k.w.config, yaml, sizeof yaml - 1, "test.yaml", &err), 0);
    snprintf(command, sizeof command, "%s/guards/asks.so", dir);
    assert_int_equal(unlink(command), 0);
    k.w.runner = jianmu_runner_from_constraints(NULL, k.w.config, NULL, NULL, NULL, &err);
    assert_non_null(k.w.runner);
    k.executor = jianmu_executor_new(k.w.runner, &err);
    assert_non_null(k.executor);
    strcpy(k.file, "/nowhere/file");
    assert_null(kit_call(&k, "echoes", NULL, NULL, &err));
    assert_int_equal(jianmu_error_code(err), JIANMU_DENIED);
    jianmu_error_free(err);
    jianmu_executor_free(k.executor);
    world_close(&k.w);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

static void test_bad_arguments_never_reach_a_guard(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    json_t *list = json_array();
    open_kit(&k, NULL);
    assert_int_equal(jianmu_execute_tool(k.executor, "echoes", list, NULL, &r, &err), -1);
    assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
    assert_null(find_event(&k, "execution.decision"));
    kit_events(&k, 0, "execution.failed");
    assert_string_equal(told(), "");
    json_decref(list);
    jianmu_error_free(err);
    jianmu_result_free(r);
    kit_close(&k);
}

static int run_text(struct kit *k, const char *tool, const char *args, jianmu_result **r, jianmu_error **err)
{
    json_t *json = args ? json_text(args) : NULL, *before = json_deep_copy(json);
    int status = jianmu_execute_tool(k->executor, tool, json, NULL, r, err);
    assert_true(!json || json_equal(json, before)); /* the caller's are never changed */
    json_decref(before);
    json_decref(json);
    return status;
}

static void test_arguments_meet_the_schema(void **state)
{
    (void)state;
    static const struct {
        const char *args, *part;
    } bad[] = {{NULL, "n"}, {"{\"n\": \"SENTINEL\"}", "/n"}, {"{\"n\": 1, \"SENTINEL\": 2}", "arguments of tool 'strict'"},
               {"{\"n\": 1, \"list\": \"SENTINEL\"}", "/list"}, {"{\"n\": 1, \"list\": \"{}\"}", "/list"}};
    struct kit k;
    open_kit(&k, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        jianmu_error *err = NULL;
        jianmu_result *r = NULL;
        assert_int_equal(run_text(&k, "strict", bad[i].args, &r, &err), -1);
        assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
        if (!strstr(jianmu_error_message(err), bad[i].part))
            fail_msg("%s", jianmu_error_message(err));
        json_t *json = jianmu_error_json(err);
        assert_int_equal(json_array_size(json_object_get(json, "complaints")), 1);
        json_decref(json);
        assert_null(find_event(&k, "execution.decision"));
        const char *said = kit_text(kit_events(&k, 0, "execution.failed"), "error");
        assert_null(strstr(said, "SENTINEL")); /* what came stays with the caller */
        jianmu_error_free(err);
        jianmu_result_free(r);
    }
    assert_string_equal(told(), "");
    kit_close(&k);
}

static void test_arguments_are_repaired(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    open_kit(&k, NULL);
    assert_int_equal(run_text(&k, "strict", "{\"n\": 1, \"list\": \"[1, 2]\"}", &r, &err), 0);
    json_t *want = json_text("{\"n\": 1, \"list\": [1, 2]}");
    assert_true(json_equal(jianmu_result_value(r), want));
    json_decref(want);
    kit_events(&k, 0, "execution.completed");
    /* and only there: a string that is wanted stays one */
    assert_int_equal(run_text(&k, "echoes", "{\"list\": \"[1, 2]\"}", &r, &err), 0);
    assert_true(json_is_string(json_object_get(jianmu_result_value(r), "list")));
    jianmu_result_free(r);
    kit_close(&k);
}

/* As APIs of models hand them over: all in one string. */
static void test_arguments_in_one_string(void **state)
{
    static const char *const bad[] = {"", "x", "1", "[]", "{\"n\": 1", "{\"n\": 1, \"n\": 2}", "\"{}\""};
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    open_kit(&k, NULL);
    json_t *args = json_string(" {\"n\": 1, \"list\": \"[1, 2]\"}"), *want = json_text("{\"n\": 1, \"list\": [1, 2]}");
    assert_int_equal(jianmu_execute_tool(k.executor, "strict", args, NULL, &r, &err), 0);
    assert_true(json_equal(jianmu_result_value(r), want));
    assert_true(json_is_string(args));
    json_decref(args);
    json_decref(want);
    jianmu_result_free(r);
    kit_events(&k, 0, "execution.completed");
    r = NULL;
    args = json_string("{\"list\": \"[1, 2]\"}");
    assert_int_equal(jianmu_execute_tool(k.executor, "echoes", args, NULL, &r, &err), 0);
    assert_true(json_is_string(json_object_get(jianmu_result_value(r), "list")));
    jianmu_result_free(r);
    json_decref(args);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        r = NULL;
        args = json_string(bad[i]);
        assert_int_equal(jianmu_execute_tool(k.executor, "echoes", args, NULL, &r, &err), -1);
        assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
        assert_non_null(strstr(jianmu_error_message(err), "must be a JSON object"));
        jianmu_error_free(err);
        err = NULL;
        jianmu_result_free(r);
        json_decref(args);
    }
    kit_close(&k);
}

static void test_a_schema_that_is_none(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    open_kit(&k, NULL);
    assert_int_equal(run_text(&k, "far", "{}", &r, &err), -1);
    assert_int_equal(jianmu_error_code(err), JIANMU_UNAVAILABLE);
    assert_non_null(strstr(jianmu_error_message(err), "tool 'far' cannot be used: its schema"));
    jianmu_error_free(err);
    kit_events(&k, 0, "execution.failed");
    jianmu_result_free(r);
    kit_close(&k);
}

/* What the backend does not hold is refused, and nothing is charged. */
static void test_unsupported_takes_nothing(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    kit_guard = "{use: [asks]}";
    kit_open(&k, NULL, "{\"memory\": \"64m\"}");
    assert_null(kit_call(&k, "echoes", NULL, NULL, &err));
    assert_int_equal(jianmu_error_code(err), JIANMU_UNSUPPORTED);
    jianmu_error_free(err);
    kit_events(&k, 0, "execution.failed");
    assert_string_equal(told(), "ds0");
    kit_close(&k);
}

static void test_each_attempt_is_charged(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    open_kit(&k, NULL);
    jianmu_result_free(kit_call(&k, "fails", "\"times\": 2, \"how\": \"transient\"", NULL, &err));
    kit_events(&k, 2, "execution.completed");
    assert_string_equal(told(), "daas3");
    kit_runs(&k);
    setenv("ASKS_ONCE", "1", 1);
    jianmu_result *r = kit_call(&k, "fails", "\"times\": 2, \"how\": \"transient\"", NULL, &err);
    unsetenv("ASKS_ONCE");
    assert_int_equal(jianmu_result_reason(r), JIANMU_TOOL_FAILED);
    assert_int_equal(jianmu_result_attempts(r), 1);
    jianmu_result_free(r);
    kit_events(&k, 0, "execution.failed");
    assert_string_equal(told(), "das1");
    kit_close(&k);
}

/* ---- tokens ---- */

/* A refused call, and the token that came of it; new. */
static char *ask_token(struct kit *k, const char *tool, const char *args, jianmu_call *call)
{
    jianmu_error *err = NULL;
    assert_null(kit_call(k, tool, args, call, &err));
    assert_string_equal(jianmu_code_name(jianmu_error_code(err)), "needs_confirmation");
    assert_non_null(jianmu_error_confirmation(err));
    assert_int_equal(strlen(jianmu_error_confirmation(err)), 32);
    char *token = strdup(jianmu_error_confirmation(err));
    json_t *json = jianmu_error_json(err);
    char *text = jianmu_json_text(json, 0);
    assert_null(strstr(text, token)); /* it is the host's, not for logs */
    free(text);
    json_decref(json);
    jianmu_error_free(err);
    expect_decision(k, "confirm", "no");
    kit_events(k, 0, "execution.failed");
    assert_int_equal(kit_runs(k), 0);
    assert_string_equal(told(), "ds0");
    return token;
}

/* Does the token do for this call? */
static bool redeems(struct kit *k, const char *token, const char *tool, const char *args, double timeout)
{
    jianmu_error *err = NULL;
    jianmu_call *call = jianmu_call_new();
    assert_int_equal(jianmu_call_confirm(call, token, &err), 0);
    if (timeout > 0)
        assert_int_equal(jianmu_call_set_timeout(call, timeout, &err), 0);
    jianmu_result *r = kit_call(k, tool, args, call, &err);
    bool ran = r;
    jianmu_result_free(r);
    if (!ran)
        assert_string_equal(jianmu_code_name(jianmu_error_code(err)), "needs_confirmation");
    jianmu_error_free(err);
    jianmu_call_free(call);
    expect_decision(k, "confirm", ran ? "yes" : "no");
    kit_events(k, 0, ran ? "execution.completed" : "execution.failed");
    assert_int_equal(kit_runs(k), ran);
    assert_string_equal(told(), ran ? "ds1" : "ds0");
    return ran;
}

#define ARGS "\"a\": 1, \"b\": {\"c\": \"text\", \"d\": [1, 2]}"
static void test_a_token_is_used_once(void **state)
{
    (void)state;
    struct kit k;
    open_kit(&k, NULL);
    char *token = ask_token(&k, "dangerous", ARGS, NULL);
    assert_true(redeems(&k, token, "dangerous", ARGS, 0));
    assert_false(redeems(&k, token, "dangerous", ARGS, 0));
    free(token);
    assert_false(redeems(&k, "00000000000000000000000000000000", "dangerous", ARGS, 0));
    assert_false(redeems(&k, "", "dangerous", ARGS, 0));
    kit_close(&k);
}

static void test_a_token_is_for_that_call(void **state)
{
    (void)state;
    static const struct {
        const char *tool, *args;
        double timeout;
    } others[] = {
        {"dangerous", "\"a\": 2, \"b\": {\"c\": \"text\", \"d\": [1, 2]}", 0},
        {"dangerous", "\"a\": 1, \"b\": {\"c\": \"texu\", \"d\": [1, 2]}", 0},
        {"dangerous", "\"a\": 1, \"b\": {\"c\": \"text\", \"d\": [2, 1]}", 0},
        {"dangerous", "\"a\": 1, \"b\": {\"c\": \"text\", \"d\": [1, 2], \"e\": null}", 0},
        {"dangerous", "\"a\": \"1\", \"b\": {\"c\": \"text\", \"d\": [1, 2]}", 0},
        {"dangerous", "\"a\": 1.0, \"b\": {\"c\": \"text\", \"d\": [1, 2]}", 0},
        {"dangerous", "\"b\": {\"a\": 1, \"c\": \"text\", \"d\": [1, 2]}", 0},
        {"dangerous_too", ARGS, 0},
        {"dangerous", ARGS, 12},
    };
    struct kit k;
    open_kit(&k, NULL);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char *token = ask_token(&k, "dangerous", ARGS, NULL);
        assert_false(redeems(&k, token, others[i].tool, others[i].args, others[i].timeout));
        assert_false(redeems(&k, token, "dangerous", ARGS, 0)); /* it was void from then on */
        free(token);
    }
    kit_close(&k);
}

static void test_key_order_does_not_matter(void **state)
{
    (void)state;
    struct kit k;
    open_kit(&k, NULL);
    char *token = ask_token(&k, "dangerous", ARGS, NULL);
    assert_true(redeems(&k, token, "dangerous", "\"b\": {\"d\": [1, 2], \"c\": \"text\"}, \"a\": 1", 0));
    free(token);
    kit_close(&k);
}

/* Another plan is another executor's: its tokens are its own, and what the plan holds is in the digest. */
static void test_a_value_of_the_plan(void **state)
{
    (void)state;
    struct kit k, other;
    open_kit(&k, NULL);
    char *token = ask_token(&k, "dangerous", NULL, NULL);
    kit_open(&other, NULL, "{\"capture\": 5}");
    assert_false(redeems(&other, token, "dangerous", NULL, 0));
    free(token);
    kit_close(&other);
    kit_close(&k);
}

static void test_expiry(void **state)
{
    (void)state;
    struct kit k;
    open_kit(&k, "{use: [asks], confirm_expires: 1s}");
    char *token = ask_token(&k, "dangerous", ARGS, NULL);
    usleep(1100000);
    assert_false(redeems(&k, token, "dangerous", ARGS, 0));
    free(token);
    kit_close(&k);
}

/* So many are open that the oldest is void: the table does not grow for ever. */
static void test_the_table_is_bounded(void **state)
{
    (void)state;
    struct kit k;
    open_kit(&k, NULL);
    char *first = ask_token(&k, "dangerous", ARGS, NULL), *second = ask_token(&k, "dangerous", ARGS, NULL);
    for (int i = 0; i < 1023; i++)
        free(ask_token(&k, "dangerous", NULL, NULL));
    assert_false(redeems(&k, first, "dangerous", ARGS, 0)); /* and the new one has thrown out the second */
    assert_false(redeems(&k, second, "dangerous", ARGS, 0));
    free(first);
    free(second);
    kit_close(&k);
}

static void test_operator(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_call *call = jianmu_call_new();
    jianmu_call_set_operator(call, 1);
    open_kit(&k, NULL);
    jianmu_result *r = kit_call(&k, "dangerous", NULL, call, &err);
    assert_non_null(r);
    jianmu_result_free(r);
    kit_events(&k, 0, "execution.completed");
    assert_null(kit_call(&k, "dangerous", "\"verdict\": \"deny\"", call, &err));
    assert_int_equal(jianmu_error_code(err), JIANMU_DENIED);
    jianmu_error_free(err);
    jianmu_call_free(call);
    kit_close(&k);
}

/* ---- the function that asks ---- */

struct asked {
    int answer, count;
    json_t *question, *args; /* args: changed while it is asked */
    unsigned wait_ms;
    jianmu_call *cancel;
};

static int answer(void *data, const json_t *question)
{
    struct asked *a = data;
    a->count++;
    json_decref(a->question);
    a->question = json_deep_copy(question);
    if (a->args)
        json_object_set_new(a->args, "a", json_integer(666));
    if (a->wait_ms)
        usleep(a->wait_ms * 1000);
    if (a->cancel)
        jianmu_call_cancel(a->cancel);
    return a->answer;
}

static jianmu_result *ask(struct kit *k, struct asked *a, const char *tool, jianmu_call *call, jianmu_error **err)
{
    jianmu_result *r = NULL;
    json_t *args = kit_args(k, ARGS);
    if (a->args)
        a->args = args;
    int status = jianmu_execute_tool(k->executor, tool, args, call, &r, err);
    json_decref(args);
    if (!status)
        return r;
    jianmu_result_free(r);
    return NULL;
}

static void test_asked(void **state)
{
    (void)state;
    struct kit k;
    struct asked a = {.answer = 1};
    jianmu_error *err = NULL;
    open_kit(&k, NULL);
    jianmu_executor_set_confirm(k.executor, answer, &a);
    jianmu_result *r = ask(&k, &a, "dangerous", NULL, &err);
    assert_non_null(r);
    jianmu_result_free(r);
    assert_string_equal(kit_text(a.question, "tool"), "dangerous");
    assert_string_equal(kit_text(a.question, "mode"), "local");
    assert_string_equal(kit_text(a.question, "danger"), "dangerous");
    assert_string_equal(kit_text(a.question, "rule"), "ask");
    assert_string_equal(kit_text(a.question, "source"), "asks.c:1");
    assert_true(json_number_value(json_object_get(a.question, "expires_s")) == 300);
    assert_int_equal(json_integer_value(json_object_get(json_object_get(a.question, "arguments"), "a")), 1);
    expect_decision(&k, "confirm", "yes");
    kit_events(&k, 0, "execution.completed");
    assert_string_equal(told(), "ds1");
    /* nobody is asked about what is allowed */
    jianmu_result_free(kit_call(&k, "echoes", NULL, NULL, &err));
    assert_int_equal(a.count, 1);
    kit_events(&k, 0, "execution.completed");
    kit_runs(&k);
    told();
    a.answer = 0;
    assert_null(ask(&k, &a, "dangerous", NULL, &err));
    assert_int_equal(jianmu_error_code(err), JIANMU_DENIED);
    assert_null(jianmu_error_confirmation(err));
    jianmu_error_free(err);
    err = NULL;
    assert_string_equal(told(), "ds0");
    kit_events(&k, 0, "execution.failed");
    a.answer = -1;
    assert_null(ask(&k, &a, "dangerous", NULL, &err));
    assert_int_equal(jianmu_error_code(err), JIANMU_NEEDS_CONFIRMATION);
    assert_non_null(jianmu_error_confirmation(err));
    jianmu_error_free(err);
    kit_events(&k, 0, "execution.failed");
    assert_int_equal(kit_runs(&k), 0);
    json_decref(a.question);
    kit_close(&k);
}

/* A yes is a yes to what was asked, while it is fresh, and to a call that is still wanted. */
static void test_a_yes_that_does_not_count(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    json_t *changed = json_object();
    struct asked a = {.answer = 1, .args = changed};
    open_kit(&k, "{use: [asks], confirm_expires: 1s}");
    jianmu_executor_set_confirm(k.executor, answer, &a);
    assert_null(ask(&k, &a, "dangerous", NULL, &err)); /* changed meanwhile */
    assert_int_equal(jianmu_error_code(err), JIANMU_NEEDS_CONFIRMATION);
    jianmu_error_free(err);
    err = NULL;
    kit_events(&k, 0, "execution.failed");
    a.args = NULL;
    a.wait_ms = 1100;
    assert_null(ask(&k, &a, "dangerous", NULL, &err)); /* too late */
    assert_int_equal(jianmu_error_code(err), JIANMU_NEEDS_CONFIRMATION);
    jianmu_error_free(err);
    err = NULL;
    kit_events(&k, 0, "execution.failed");
    a.wait_ms = 0;
    a.cancel = jianmu_call_new();
    jianmu_result *r = ask(&k, &a, "dangerous", a.cancel, &err);
    assert_non_null(r);
    assert_int_equal(jianmu_result_reason(r), JIANMU_CANCELLED);
    jianmu_result_free(r);
    jianmu_call_free(a.cancel);
    kit_events(&k, 0, "execution.failed");
    assert_int_equal(kit_runs(&k), 0);
    json_decref(a.question);
    json_decref(changed);
    kit_close(&k);
}

/* The time that somebody thinks is no time of the tool's. */
static void test_thinking_is_not_tool_time(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    struct asked a = {.answer = 1, .wait_ms = 300};
    jianmu_call *call = jianmu_call_new();
    open_kit(&k, NULL);
    jianmu_executor_set_confirm(k.executor, answer, &a);
    assert_int_equal(jianmu_call_set_timeout(call, 0.2, &err), 0);
    jianmu_result *r = ask(&k, &a, "dangerous", call, &err);
    assert_non_null(r);
    assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED);
    jianmu_result_free(r);
    jianmu_call_free(call);
    json_decref(a.question);
    kit_close(&k);
}

static void test_jobs_are_dangerous(void **state)
{
    (void)state;
    static const char script[] = "#!/bin/sh\nexit 0\n";
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    jianmu_call *call = jianmu_call_new();
    open_kit(&k, NULL);
    jianmu_job *job = jianmu_job_new(script, sizeof script - 1), *other = jianmu_job_new(script, sizeof script - 1);
    jianmu_job_add_arg(other, "more", &err);
    for (int i = 0; i < 2; i++) { /* the token of one job is not for another */
        assert_int_equal(jianmu_execute_job(k.executor, job, call, &r, &err), -1);
        assert_int_equal(jianmu_error_code(err), JIANMU_NEEDS_CONFIRMATION);
        assert_int_equal(jianmu_call_confirm(call, jianmu_error_confirmation(err), NULL), 0);
        jianmu_error_free(err);
        err = NULL;
        kit_events(&k, 0, "execution.failed");
        int status = jianmu_execute_job(k.executor, i ? other : job, call, &r, &err);
        assert_int_equal(status, i ? -1 : 0);
        jianmu_error_free(err);
        err = NULL;
        kit_events(&k, 0, i ? "execution.failed" : "execution.completed");
    }
    struct asked a = {.answer = 0};
    jianmu_executor_set_confirm(k.executor, answer, &a);
    assert_int_equal(jianmu_execute_job(k.executor, other, call, &r, &err), -1);
    assert_string_equal(kit_text(json_object_get(a.question, "arguments"), "script"), script);
    assert_int_equal(json_array_size(json_object_get(json_object_get(a.question, "arguments"), "arguments")), 1);
    jianmu_error_free(err);
    json_decref(a.question);
    jianmu_result_free(r);
    jianmu_job_free(job);
    jianmu_job_free(other);
    jianmu_call_free(call);
    kit_close(&k);
}

/* In the background a token comes with the error, too, and goes with the next start. */
static void test_in_the_background(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    jianmu_call *call = jianmu_call_new();
    open_kit(&k, NULL);
    for (int i = 0; i < 2; i++) {
        json_t *args = kit_args(&k, ARGS);
        jianmu_handle *h = jianmu_start_tool(k.executor, "dangerous", args, call, &err);
        json_decref(args);
        int status = jianmu_handle_wait(h, -1, &r, &err);
        assert_int_equal(status, i ? 0 : -1);
        if (!i)
            assert_int_equal(jianmu_call_confirm(call, jianmu_error_confirmation(err), NULL), 0);
        jianmu_error_free(err);
        err = NULL;
        jianmu_handle_free(h);
        kit_events(&k, 0, i ? "execution.completed" : "execution.failed");
    }
    jianmu_result_free(r);
    jianmu_call_free(call);
    kit_close(&k);
}

/* What a skill says of a tool that takes the place of another does not make that harmless. */
static void test_a_skill_makes_nothing_harmless(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    char constraints[4200];
    const char *build = getenv("JIANMU_BUILD");
    snprintf(constraints, sizeof constraints, "{\"skill\": \"%s/tests/call/skill\"}", build ? build : ".");
    kit_guard = "{use: [asks]}";
    kit_open(&k, NULL, constraints);
    assert_null(kit_call(&k, "dangerous", NULL, NULL, &err));
    assert_int_equal(jianmu_error_code(err), JIANMU_NEEDS_CONFIRMATION);
    jianmu_error_free(err);
    err = NULL;
    kit_events(&k, 0, "execution.failed");
    static const char *const tools[] = {"fails", "fails_reading"}; /* may not be, and may be repeated */
    for (size_t i = 0; i < 2; i++) {
        assert_null(kit_call(&k, tools[i], NULL, NULL, &err));
        assert_int_equal(jianmu_error_code(err), JIANMU_UNAVAILABLE);
        jianmu_error_free(err);
        err = NULL;
        kit_events(&k, i ? 3 : 0, "execution.failed");
    }
    told();
    kit_close(&k);
}

static void test_explain(void **state)
{
    (void)state;
    struct kit k;
    jianmu_error *err = NULL;
    open_kit(&k, NULL);
    static const char *const tools[][2] = {{"dangerous", "confirm"}, {"echoes", "allow"}, {"job", "confirm"}};
    for (size_t i = 0; i < 3; i++) {
        json_t *plan = jianmu_executor_explain(k.executor, tools[i][0], NULL, NULL, &err);
        if (!plan)
            fail_msg("%s", jianmu_error_message(err));
        json_t *guard = json_object_get(plan, "guard");
        assert_string_equal(kit_text(guard, "verdict"), tools[i][1]);
        assert_string_equal(kit_text(guard, "rule"), "ask");
        assert_string_equal(kit_text(guard, "source"), "asks.c:1");
        assert_non_null(json_object_get(plan, "settings"));
        json_decref(plan);
    }
    json_t *args = json_pack("{s:s}", "verdict", "rate");
    json_t *plan = jianmu_executor_explain(k.executor, "echoes", args, NULL, &err);
    json_t *guard = json_object_get(plan, "guard");
    assert_string_equal(kit_text(guard, "code"), "rate_limited");
    assert_true(json_number_value(json_object_get(guard, "retry_after_s")) == 2.5);
    json_decref(plan);
    json_decref(args);
    args = json_pack("{s:s}", "n", "x");
    plan = jianmu_executor_explain(k.executor, "strict", args, NULL, &err);
    assert_non_null(strstr(kit_text(plan, "arguments"), "/n"));
    assert_string_equal(kit_text(json_object_get(plan, "guard"), "verdict"), "none");
    assert_non_null(strstr(kit_text(json_object_get(plan, "guard"), "message"), "no verdict was reached"));
    json_decref(plan);
    json_decref(args);
    args = json_string("{\"verdict\": \"deny\"}"); /* an object in a string is taken out of it, too */
    plan = jianmu_executor_explain(k.executor, "echoes", args, NULL, &err);
    assert_string_equal(kit_text(json_object_get(plan, "guard"), "verdict"), "deny");
    json_decref(plan);
    json_decref(args);
    args = json_text("[1]");
    plan = jianmu_executor_explain(k.executor, "echoes", args, NULL, &err);
    assert_non_null(strstr(kit_text(plan, "arguments"), "must be a JSON object"));
    assert_string_equal(kit_text(json_object_get(plan, "guard"), "verdict"), "none");
    json_decref(plan);
    json_decref(args);
    args = json_text("{\"n\": 1, \"list\": \"[\\\"refused\\\"]\"}"); /* a call would take the list out of it */
    plan = jianmu_executor_explain(k.executor, "strict", args, NULL, &err);
    assert_string_equal(kit_text(json_object_get(plan, "guard"), "verdict"), "deny");
    assert_true(json_is_null(json_object_get(plan, "arguments")));
    json_decref(plan);
    json_decref(args);
    assert_null(jianmu_executor_explain(k.executor, "nowhere", NULL, NULL, &err));
    assert_int_equal(jianmu_error_code(err), JIANMU_NOT_FOUND);
    jianmu_error_free(err);
    assert_string_equal(told(), ""); /* nothing was taken */
    assert_int_equal(json_array_size(k.w.events), 0);
    kit_close(&k);
}

static void *spend(void *data)
{
    struct kit *k = ((void **)data)[0];
    jianmu_call *call = jianmu_call_new();
    jianmu_error *err = NULL;
    jianmu_result *r = NULL;
    json_t *args = kit_args(k, ARGS);
    jianmu_call_confirm(call, ((void **)data)[1], NULL);
    intptr_t ran = !jianmu_execute_tool(k->executor, "dangerous", args, call, &r, &err);
    json_decref(args);
    jianmu_result_free(r);
    jianmu_error_free(err);
    jianmu_call_free(call);
    return (void *)ran;
}

static void test_many_threads_one_token(void **state)
{
    (void)state;
    struct kit k;
    pthread_t threads[8];
    open_kit(&k, NULL);
    for (int round = 0; round < 20; round++) {
        char *token = ask_token(&k, "dangerous", ARGS, NULL);
        void *data[] = {&k, token}, *ran;
        intptr_t sum = 0;
        for (int i = 0; i < 8; i++)
            pthread_create(&threads[i], NULL, spend, data);
        for (int i = 0; i < 8; i++) {
            pthread_join(threads[i], &ran);
            sum += (intptr_t)ran;
        }
        assert_int_equal(sum, 1);
        assert_int_equal(kit_runs(&k), 1);
        json_array_clear(k.w.events);
        told();
        free(token);
    }
    kit_close(&k);
}

static int prepare(void **state)
{
    snprintf(log_file, sizeof log_file, "/tmp/jm_test_asks_XXXXXX");
    int fd = mkstemp(log_file);
    if (fd < 0)
        return -1;
    close(fd);
    setenv("ASKS_LOG", log_file, 1);
    return use_build_tree(state);
}

static int tidy(void **state)
{
    (void)state;
    return unlink(log_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allowed),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_the_guard_is_gone),
        cmocka_unit_test(test_bad_arguments_never_reach_a_guard),
        cmocka_unit_test(test_arguments_meet_the_schema),
        cmocka_unit_test(test_arguments_are_repaired),
        cmocka_unit_test(test_arguments_in_one_string),
        cmocka_unit_test(test_a_schema_that_is_none),
        cmocka_unit_test(test_unsupported_takes_nothing),
        cmocka_unit_test(test_each_attempt_is_charged),
        cmocka_unit_test(test_a_token_is_used_once),
        cmocka_unit_test(test_a_token_is_for_that_call),
        cmocka_unit_test(test_key_order_does_not_matter),
        cmocka_unit_test(test_a_value_of_the_plan),
        cmocka_unit_test(test_expiry),
        cmocka_unit_test(test_the_table_is_bounded),
        cmocka_unit_test(test_operator),
        cmocka_unit_test(test_asked),
        cmocka_unit_test(test_a_yes_that_does_not_count),
        cmocka_unit_test(test_thinking_is_not_tool_time),
        cmocka_unit_test(test_jobs_are_dangerous),
        cmocka_unit_test(test_in_the_background),
        cmocka_unit_test(test_a_skill_makes_nothing_harmless),
        cmocka_unit_test(test_explain),
        cmocka_unit_test(test_many_threads_one_token),
    };
    return cmocka_run_group_tests(tests, prepare, tidy);
}
