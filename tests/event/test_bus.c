/* SPDX-License-Identifier: Apache-2.0
 * The bus: who hears what, who is left behind, what is never told. */
#include "config.h"
#include "sinks.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void make_file(const char *dir, const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static bool wait_for_file(const char *dir, const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    for (int i = 0; i < 20000 && access(path, F_OK); i++)
        usleep(1000);
    return !access(path, F_OK);
}

/* The sink does not come back while these calls are made: none waits for it. */
static void test_a_sink_that_hangs_is_left_behind(void **state)
{
    struct place *p = *state;
    bool abandoned = false;
    place_open(p, "  gated: {dir: \"%s\"}\n  patience: 0.05\n");
    place_call(p, 5);
    for (int i = 0; i < 2000 && !abandoned; i++) {
        usleep(1000);
        place_call(p, 1);
        place_lost(p, "gated", &abandoned);
    }
    assert_true(abandoned);
    json_int_t lost = place_lost(p, "gated", NULL);
    place_call(p, 10);
    assert_int_equal(place_lost(p, "gated", NULL), lost + 20);
    world_close(&p->w); /* does not wait either */
    make_file(p->dir, "gate");
    assert_true(wait_for_file(p->dir, "log.closed")); /* it came back after all: nothing of it is gone */
}

static void test_a_sink_of_others_gets_everything_in_order(void **state)
{
    struct place *p = *state;
    char log[100];
    make_file(p->dir, "gate");
    place_open(p, "  gated: {dir: \"%s\"}\n  patience: 60\n");
    place_call(p, 50);
    json_t *events = json_incref(p->w.events);
    world_close(&p->w); /* waits for the queue */
    snprintf(log, sizeof log, "%s/log", p->dir);
    json_t *lines = place_lines(log);
    assert_true(json_equal(lines, events));
    assert_true(wait_for_file(p->dir, "log.closed"));
    json_decref(lines);
    json_decref(events);
}

static void test_what_the_queue_has_no_room_for_is_counted(void **state)
{
    struct place *p = *state;
    bool abandoned = true;
    place_open(p, "  gated: {dir: \"%s\"}\n  patience: 60\n");
    place_call(p, 1000);
    json_int_t lost = place_lost(p, "gated", &abandoned);
    assert_false(abandoned);
    assert_in_range(lost, 2000 - 1024 - 1, 2000 - 1024);
    make_file(p->dir, "gate");
    world_close(&p->w);
    char log[100];
    snprintf(log, sizeof log, "%s/log", p->dir);
    json_t *lines = place_lines(log);
    assert_int_equal(json_array_size(lines), 2000 - lost);
    json_decref(lines);
}

struct slow {
    sem_t go;
    int heard;
    char last[64];
};

static void slowly(void *data, const jianmu_event *event)
{
    struct slow *s = data;
    sem_wait(&s->go);
    sem_post(&s->go);
    json_t *json = jianmu_event_json(event);
    if (json && !strcmp(member(json, "event"), jianmu_event_name(event)) && !strcmp(jianmu_event_tool(event), "echo_it") &&
        jianmu_event_call(event))
        s->heard++;
    json_decref(json);
}

static void test_a_subscriber_apart(void **state)
{
    struct place *p = *state;
    struct slow s = {.heard = 0};
    jianmu_error *err = NULL;
    sem_init(&s.go, 0, 0);
    place_open(p, "  patience: 1\n");
    assert_int_equal(jianmu_bus_subscribe_apart(p->w.bus, slowly, &s, 0, &err), -1);
    assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
    jianmu_error_free(err);
    assert_int_equal(jianmu_bus_subscribe_apart(p->w.bus, slowly, &s, 60, NULL), 0);
    place_call(p, 20);
    assert_int_equal(place_lost(p, "", NULL), 0);
    sem_post(&s.go);
    world_close(&p->w);
    assert_int_equal(s.heard, 40);
    sem_destroy(&s.go);
}

/* Any number of them, and each hears everything. */
static void count(void *data, const jianmu_event *event)
{
    (void)event;
    ++*(int *)data;
}

static void test_many_subscribers(void **state)
{
    struct place *p = *state;
    static int heard[5000];
    memset(heard, 0, sizeof heard);
    place_open(p, "  patience: 1\n");
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(jianmu_bus_subscribe(p->w.bus, count, &heard[i], NULL), 0);
    place_call(p, 2);
    for (size_t i = 0; i < 5000; i++)
        assert_int_equal(heard[i], 4);
    world_close(&p->w);
}

static void test_the_same_sink_is_opened_once(void **state)
{
    struct place *p = *state;
    jianmu_error *err = NULL;
    place_open(p, "  jsonl: {file: \"%s/lines\"}\n");
    json_t *same = json_pack("{s:s}", "file", p->file), *wrong = json_pack("{s:s}", "fiel", p->file);
    assert_int_equal(jianmu_bus_open_sink(p->w.bus, p->w.config, "jsonl", same, NULL), 0);
    jianmu_runner *second = jianmu_runner_from_constraints(NULL, p->w.config, NULL, NULL, p->w.bus, NULL);
    assert_non_null(second);
    place_call(p, 1);
    json_t *lines = place_lines(p->file);
    assert_int_equal(json_array_size(lines), 2);
    assert_int_equal(jianmu_bus_open_sink(p->w.bus, p->w.config, "jsonl", wrong, &err), -1);
    assert_non_null(strstr(jianmu_error_message(err), "no setting \"fiel\"; did you mean \"file\"?"));
    jianmu_error_free(err);
    err = NULL;
    assert_int_equal(jianmu_bus_open_sink(p->w.bus, p->w.config, "jsonll", same, &err), -1);
    assert_non_null(strstr(jianmu_error_message(err), "unknown sink"));
    jianmu_error_free(err);
    json_decref(same);
    json_decref(wrong);
    json_decref(lines);
    jianmu_runner_free(second);
    world_close(&p->w);
}

struct opener {
    struct place *p;
    pthread_barrier_t *gate;
    json_t *settings;
};

static void *open_too(void *data)
{
    struct opener *o = data;
    pthread_barrier_wait(o->gate);
    return jianmu_bus_open_sink(o->p->w.bus, o->p->w.config, "gated", o->settings, NULL) ? o : NULL;
}

/* By runners that are made at once, too. */
static void test_the_same_sink_is_opened_once_by_many(void **state)
{
    struct place *p = *state;
    enum { THREADS = 8 };
    pthread_barrier_t gate;
    pthread_t threads[THREADS];
    struct opener o = {p, &gate, json_pack("{s:s}", "dir", p->dir)};
    pthread_barrier_init(&gate, NULL, THREADS);
    make_file(p->dir, "gate");
    for (int round = 0; round < 20; round++) {
        place_open(p, "  patience: 60\n");
        for (size_t i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, open_too, &o), 0);
        for (size_t i = 0; i < THREADS; i++) {
            void *failed = &o;
            pthread_join(threads[i], &failed);
            assert_null(failed);
        }
        json_t *report = jianmu_bus_report(p->w.bus);
        assert_int_equal(json_array_size(report), 1);
        json_decref(report);
        world_close(&p->w);
    }
    json_decref(o.settings);
    pthread_barrier_destroy(&gate);
}

/* Without a bus of the caller's. */
static void test_a_runner_has_its_own_bus(void **state)
{
    struct place *p = *state;
    place_open(p, "  jsonl: {file: \"%s/lines\"}\n");
    jianmu_runner_free(p->w.runner);
    p->w.runner = jianmu_runner_from_constraints(p->w.constraints, p->w.config, NULL, NULL, NULL, NULL);
    place_call(p, 3);
    world_close(&p->w);
    json_t *lines = place_lines(p->file);
    assert_int_equal(json_array_size(lines), 6);
    json_decref(lines);
}

static void test_spans_that_nobody_takes_are_counted(void **state)
{
    struct place *p = *state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    char events[200];
    int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(silent, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(silent, 8), 0);
    assert_int_equal(getsockname(silent, (struct sockaddr *)&at, &len), 0);
    snprintf(events, sizeof events, "  otlp: {endpoint: \"http://127.0.0.1:%d\", queue: 3, batch: 1, flush: 0.05}\n",
             ntohs(at.sin_port));
    setenv("no_proxy", "*", 1);
    unsetenv("OTEL_SDK_DISABLED");
    place_open(p, events);
    place_call(p, 100);
    assert_true(place_lost(p, "otlp", NULL) >= 96);
    world_close(&p->w); /* gives the transfer up */
    close(silent);
}

static bool told(struct world *w, const char *word)
{
    char *text = jianmu_json_text(w->events, 0);
    bool found = strstr(text, word);
    free(text);
    json_array_clear(w->events);
    return found;
}

/* Whatever becomes of it. */
static void call_any(struct world *w, const char *tool, const char *args)
{
    jianmu_error *err = NULL;
    jianmu_result *result = NULL;
    json_t *json = json_loads(args, 0, NULL);
    const jianmu_tool *t = jianmu_runner_tool(w->runner, tool, NULL);
    assert_non_null(t);
    int status = jianmu_run_tool(w->runner, t, json, NULL, &result, &err);
    assert_int_equal(status, err ? -1 : 0);
    json_decref(json);
    jianmu_error_free(err);
    jianmu_result_free(result);
}

static void test_what_is_asked_for(void **state)
{
    struct place *p = *state;
    static const struct {
        const char *events, *tool, *args, *word;
        bool told;
    } rows[] = {{"  patience: 1\n", "echo_it", "{\"a\": \"SENTINEL\"}", "SENTINEL", false},
                {"  include: [arguments]\n", "echo_it", "{\"a\": \"SENTINEL\"}", "SENTINEL", true},
                {"  include: [result]\n", "echo_it", "{\"a\": \"SENTINEL\"}", "SENTINEL", true},
                {"  include: [error]\n", "echo_it", "{\"a\": \"SENTINEL\"}", "SENTINEL", false},
                {"  include: [arguments, result]\n", "failing", "{}", "it went wrong", false},
                {"  include: [error]\n", "failing", "{}", "it went wrong: 7", true},
                {"  patience: 1\n", "starter", "{\"argv\": [\"SENTINEL\"]}", "SENTINEL", false},
                {"  patience: 1\n", "starter", "{\"argv\": [\"true\"], \"cwd\": \"/SENTINEL\"}", "SENTINEL", false},
                {"  include: [error]\n", "starter", "{\"argv\": [\"SENTINEL\"]}", "SENTINEL", true},
                {"  include: [error]\n", "starter", "{\"argv\": [\"true\"], \"cwd\": \"/SENTINEL\"}", "SENTINEL", true},
                {"  include: [arguments, result]\n", "echo_it", "{\"password\": \"SENTINEL\"}", "SENTINEL", false},
                {"  include: [arguments]\n", "echo_it", "{\"a\": \"--key=sk-abcdefghij0123456789\"}", "sk-a", false},
                {"  include: [arguments]\n", "echo_it", "{\"sk-abcdefghij0123456789\": 1}", "sk-a", false},
                {"  include: [arguments]\n", "echo_it", "{\"a\": \"sk-short\"}", "sk-short", true},
                {"  include: [arguments]\n  redact: [\"SENT[A-Z]+\"]\n", "echo_it", "{\"a\": \"SENTINEL\"}", "SENT", false},
                {"  include: [arguments]\n  redact: [\"(a+)+$\"]\n", "echo_it",
                 "{\"a\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"}", "aab", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        place_open(p, rows[i].events);
        call_any(&p->w, rows[i].tool, rows[i].args);
        if (told(&p->w, rows[i].word) != rows[i].told)
            fail_msg("%s%s %s: '%s' is %stold", rows[i].events, rows[i].tool, rows[i].args, rows[i].word,
                     rows[i].told ? "not " : "");
        world_close(&p->w);
    }
}

static const char *const bad_parents[] = {
    "", "00-zz", "00-00000000000000000000000000000000-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0",
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x",
    "00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01x"};

static void test_the_callers_span(void **state)
{
    struct place *p = *state;
    jianmu_error *err = NULL;
    jianmu_call *call = jianmu_call_new();
    place_open(p, "  patience: 1\n");
    jianmu_result_free(call_tool(&p->w, "echo_it", NULL, call));
    json_t *first = json_array_get(p->w.events, 0);
    assert_null(json_object_get(first, "trace_id"));
    json_array_clear(p->w.events);
    assert_int_equal(jianmu_call_set_trace(call, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=b", &err), 0);
    for (int i = 0; i < 2; i++)
        jianmu_result_free(call_tool(&p->w, "echo_it", NULL, call));
    for (size_t i = 0; i < 4; i++) {
        json_t *event = json_array_get(p->w.events, i);
        assert_string_equal(member(event, "trace_id"), "0af7651916cd43dd8448eb211c80319c");
        assert_string_equal(member(event, "parent_span_id"), "b7ad6b7169203331");
    }
    const char *spans[] = {member(json_array_get(p->w.events, 0), "span_id"), member(json_array_get(p->w.events, 1), "span_id"),
                           member(json_array_get(p->w.events, 2), "span_id")};
    assert_string_equal(spans[0], spans[1]);
    assert_string_not_equal(spans[0], spans[2]);
    for (size_t i = 0; i < sizeof bad_parents / sizeof *bad_parents; i++) {
        err = NULL;
        if (!jianmu_call_set_trace(call, bad_parents[i], NULL, &err))
            fail_msg("'%s' was taken", bad_parents[i]);
        assert_int_equal(jianmu_error_code(err), JIANMU_INVALID);
        jianmu_error_free(err);
    }
    /* a later version may have more behind it */
    assert_int_equal(jianmu_call_set_trace(call, "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x", NULL, NULL), 0);
    assert_int_equal(jianmu_call_set_trace(call, NULL, NULL, NULL), 0);
    json_array_clear(p->w.events);
    jianmu_result_free(call_tool(&p->w, "echo_it", NULL, call));
    assert_null(json_object_get(json_array_get(p->w.events, 0), "trace_id"));
    jianmu_call_free(call);
    world_close(&p->w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_sink_that_hangs_is_left_behind, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_a_sink_of_others_gets_everything_in_order, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_what_the_queue_has_no_room_for_is_counted, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_a_subscriber_apart, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_many_subscribers, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_the_same_sink_is_opened_once, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_the_same_sink_is_opened_once_by_many, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_a_runner_has_its_own_bus, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_spans_that_nobody_takes_are_counted, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_what_is_asked_for, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_the_callers_span, place_make, place_remove),
    };
    unsetenv("TRACEPARENT");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
