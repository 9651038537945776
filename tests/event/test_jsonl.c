/* SPDX-License-Identifier: Apache-2.0
 * The sink jsonl where files move, disks are full, pipes are closed, and many write. */
#include "config.h"
#include "sinks.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static off_t size_of(const char *file)
{
    struct stat st;
    return stat(file, &st) ? -1 : st.st_size;
}

static void expect_count(const char *file, size_t count)
{
    json_t *lines = place_lines(file);
    assert_int_equal(json_array_size(lines), count);
    json_decref(lines);
}

static void test_lines(void **state)
{
    struct place *p = *state;
    struct stat st;
    mode_t old = umask(0);
    place_open(p, "  jsonl: {file: %s/lines}\n");
    umask(old);
    place_call(p, 2);
    assert_int_equal(stat(p->file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    json_t *lines = place_lines(p->file);
    assert_true(json_equal(lines, p->w.events)); /* what subscribers get */
    json_decref(lines);
    world_close(&p->w);
}

static void test_rotation(void **state)
{
    struct place *p = *state;
    char old[140];
    snprintf(old, sizeof old, "%s.1", p->file);
    place_open(p, "  jsonl: {file: %s/lines}\n");
    place_call(p, 3);
    assert_int_equal(rename(p->file, old), 0);
    place_call(p, 2);
    expect_count(old, 6);
    expect_count(p->file, 4);
    assert_int_equal(unlink(p->file), 0);
    place_call(p, 1);
    expect_count(p->file, 2);
    assert_int_equal(place_lost(p, "jsonl", NULL), 0);
    world_close(&p->w);
}

static void test_an_unfinished_line_is_ended(void **state)
{
    struct place *p = *state;
    FILE *f = fopen(p->file, "we");
    fputs("{\"event\": \"half", f);
    fclose(f);
    place_open(p, "  jsonl: {file: %s/lines}\n");
    place_call(p, 1);
    world_close(&p->w);
    char first[64];
    f = fopen(p->file, "re");
    assert_non_null(fgets(first, sizeof first, f));
    assert_string_equal(first, "{\"event\": \"half\n");
    assert_non_null(fgets(first, sizeof first, f));
    assert_int_equal(strncmp(first, "{\"event\":\"execution.started\"", 28), 0);
    fclose(f);
}

/* What stands there after a loss: the number, then whole lines. */
static void expect_notice(const char *file, size_t before, json_int_t lost)
{
    json_t *lines = place_lines(file), *notice = json_array_get(lines, before);
    assert_int_equal(json_array_size(lines), before + 3);
    assert_string_equal(member(notice, "event"), "events.lost");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(notice, "payload"), "lost")), lost);
    assert_int_equal(strlen(member(notice, "time")), 27);
    assert_string_equal(member(json_array_get(lines, before + 1), "event"), "execution.started");
    json_decref(lines);
}

static void test_the_largest_file(void **state)
{
    struct place *p = *state;
    struct rlimit old, limit;
    place_open(p, "  jsonl: {file: %s/lines}\n");
    place_call(p, 1);
    off_t size = size_of(p->file);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    for (int room = 0; room < 200; room += 66) { /* none, and some for a piece of a line */
        limit.rlim_cur = (rlim_t)(size + room);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        jianmu_result *r = call_tool(&p->w, "echo_it", NULL, NULL);
        setrlimit(RLIMIT_FSIZE, &old);
        assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED);
        jianmu_result_free(r);
        assert_int_equal(size_of(p->file), size);
    }
    assert_int_equal(place_lost(p, "jsonl", NULL), 8);
    place_call(p, 1);
    expect_notice(p->file, 2, 8);
    world_close(&p->w);
}

static void fill_disk(const char *dir, char name[160])
{
    char zeros[512] = {0};
    snprintf(name, 160, "%s/filler", dir);
    int fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    for (size_t size = sizeof zeros; size; size /= 2)
        while (write(fd, zeros, size) == (ssize_t)size)
            ;
    close(fd);
}

static int on_small_disk(struct place *p)
{
    char name[160];
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("tmpfs", p->dir, "tmpfs", MS_NOSUID | MS_NODEV, "size=16k,mode=700"))
        return 77;
    place_open(p, "  jsonl: {file: %s/lines}\n");
    place_call(p, 2);
    json_t *lines = place_lines(p->file);
    assert_int_equal(json_array_size(lines), 4);
    json_decref(lines);
    fill_disk(p->dir, name);
    place_call(p, 30); /* until the last page is full, too */
    json_int_t lost = place_lost(p, "jsonl", NULL);
    assert_true(lost > 0);
    lines = place_lines(p->file);
    size_t before = json_array_size(lines);
    json_decref(lines);
    assert_int_equal((json_int_t)before + lost, 64);
    assert_int_equal(unlink(name), 0);
    place_call(p, 1);
    expect_notice(p->file, before, lost);
    world_close(&p->w);
    umount(p->dir);
    return 0;
}

static void test_a_full_disk(void **state)
{
    struct place *p = *state;
    if (geteuid())
        skip();
    pid_t child = fork(); /* its mounts are its own */
    if (!child)
        _exit(on_small_disk(p));
    int status;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static void test_a_pipe_that_nobody_reads(void **state)
{
    struct place *p = *state;
    assert_int_equal(mkfifo(p->file, 0600), 0);
    int reader = open(p->file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    place_open(p, "  jsonl: {file: %s/lines}\n");
    place_call(p, 1);
    assert_int_equal(place_lost(p, "jsonl", NULL), 0);
    place_call(p, 1000); /* full: nobody waits */
    json_int_t lost = place_lost(p, "jsonl", NULL);
    assert_true(lost > 0);
    close(reader);
    place_call(p, 1); /* and no signal comes */
    assert_int_equal(place_lost(p, "jsonl", NULL), lost + 2);
    world_close(&p->w);
}

static void test_what_cannot_be_opened(void **state)
{
    struct place *p = *state;
    char yaml[200];
    world_refused("events: {jsonl: {file: /nonexistent/x}}", NULL, JIANMU_UNAVAILABLE, "/nonexistent/x: No such file");
    snprintf(yaml, sizeof yaml, "events: {jsonl: {file: %s}}", p->dir);
    world_refused(yaml, NULL, JIANMU_UNAVAILABLE, "Is a directory");
    world_refused("events: {use: [jsonl]}", NULL, JIANMU_INVALID, "no file is named (events.jsonl.file)");
}

enum { THREADS = 4, CALLS = 150 };

static void *call_many(void *data)
{
    place_call(data, CALLS);
    return NULL;
}

static void quiet(void *data, const jianmu_event *event)
{
    (void)event;
    atomic_fetch_add((atomic_int *)data, 1);
}

/* Every line is whole and in one of the files, whatever is renamed and whoever subscribes meanwhile. */
static void test_many_writers(void **state)
{
    struct place *p = *state;
    pthread_t threads[THREADS];
    atomic_int heard = 0;
    char old[140];
    size_t count = 0;
    place_open(p, "  jsonl: {file: %s/lines}\n");
    jianmu_runner_free(p->w.runner); /* the world's own subscriber is for one thread */
    jianmu_bus *bus = jianmu_bus_new(), *first = p->w.bus;
    p->w.bus = bus;
    p->w.runner = jianmu_runner_from_constraints(p->w.constraints, p->w.config, NULL, NULL, bus, NULL);
    assert_non_null(p->w.runner);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, call_many, p);
    for (int i = 0; i < 20; i++) {
        snprintf(old, sizeof old, "%s.%d", p->file, i);
        rename(p->file, old);
        assert_int_equal(jianmu_bus_subscribe(bus, quiet, &heard, NULL), 0);
        usleep(500);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(place_lost(p, "jsonl", NULL), 0);
    for (int i = -1; i < 20; i++) {
        snprintf(old, sizeof old, i < 0 ? "%s" : "%s.%d", p->file, i);
        json_t *lines = place_lines(old);
        count += json_array_size(lines);
        json_decref(lines);
    }
    assert_int_equal(count, 2 * THREADS * CALLS);
    world_close(&p->w);
    jianmu_bus_free(first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lines, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_rotation, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_an_unfinished_line_is_ended, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_the_largest_file, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_a_full_disk, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_a_pipe_that_nobody_reads, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_opened, place_make, place_remove),
        cmocka_unit_test_setup_teardown(test_many_writers, place_make, place_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
