/* SPDX-License-Identifier: Apache-2.0
 * Each allocation fails once: no crash, no leak, nothing left on disk, and the sentence says what it was. */
#include "config.h"
#include "collected.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void *__real_malloc(size_t n);
void *__real_calloc(size_t count, size_t n);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t count, size_t n);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

#define MOST 4096
static long countdown = -1; /* the allocation to fail; below 0: none */
static bool counting, failed_one;
static void *live[MOST]; /* what was allocated while counting, and not freed */
static int live_count;

static bool fails(void)
{
    if (!counting || countdown < 0 || countdown-- > 0)
        return false;
    failed_one = true;
    return true;
}

static void *remember(void *p)
{
    if (counting && p) {
        CHECK(live_count < MOST);
        live[live_count++] = p;
    }
    return p;
}

static void forget(const void *p)
{
    for (int i = live_count; p && i-- > 0;) {
        if (live[i] == p) {
            live[i] = live[--live_count];
            return;
        }
    }
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : remember(__real_malloc(n));
}

void *__wrap_calloc(size_t count, size_t n)
{
    return fails() ? NULL : remember(__real_calloc(count, n));
}

void *__wrap_realloc(void *p, size_t n)
{
    if (fails())
        return NULL;
    forget(p);
    return remember(__real_realloc(p, n));
}

void __wrap_free(void *p)
{
    forget(p);
    __real_free(p);
}

/* What a job might do between opening and collecting: no memory is taken for it. */
static void work(int dir)
{
    static const char *const names[] = {"one", "two", "d/three", "\xff", "in/put"};
    mkdirat(dir, "d", 0700);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int fd = openat(dir, names[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        CHECK(fd >= 0 && write(fd, "bytes", 5) == 5);
        CHECK(i != 1 || ftruncate(fd, 100000) == 0); /* has memory of its own */
        close(fd);
    }
    for (int i = 0; i < 40; i++) {
        char name[16] = {'l', (char)('a' + i / 10), (char)('0' + i % 10)};
        CHECK(symlinkat("x", dir, name) == 0);
        name[0] = 'f';
        CHECK(mkdirat(dir, name, 0700) == 0);
        name[0] = 'g';
        int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        CHECK(fd >= 0);
        close(fd);
    }
    CHECK(symlinkat("x", dir, "\xfe") == 0);
}

static bool one_run(const struct scratch *s)
{
    jianmu_error *err = NULL;
    struct jm_artifact_list list = {0};
    struct jm_workdir *dir = NULL;
    char *path = jm_path_normalise("./in//put", 9, &err);
    struct jm_input in[] = {{path, "input", 5}, {"other", "x", 1}};
    if (path)
        dir = jm_workdir_open(s->parent, "main.py", "script", 6, in, 2, &err);
    if (dir) {
        work(dir->work_fd);
        if (jm_artifacts_collect(dir, &generous, &list, &err) == 0)
            CHECK(list.count == 45 && json_array_size(list.skipped) == 41);
        else
            CHECK(!list.items && !list.skipped && !list.modified_inputs);
    }
    jm_artifact_list_free(&list);
    CHECK(jm_workdir_close(dir) == 0);
    free(path);
    bool well = !err;
    if (err) {
        CHECK(jianmu_error_code(err) == JIANMU_INTERNAL);
        const char *text = jianmu_error_message(err);
        CHECK(strstr(text, "out of memory") || strstr(text, "Cannot allocate"));
    }
    jianmu_error_free(err);
    return well;
}

static void each_allocation(const struct scratch *s)
{
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    int failures = 0;
    for (long n = 0;; n++) {
        counting = true;
        failed_one = false;
        countdown = n;
        bool well = one_run(s);
        counting = false;
        CHECK(live_count == 0);
        CHECK(count_entries(s->parent) == 0);
        if (!failed_one) {
            CHECK(well);
            break;
        }
        CHECK(!well); /* whatever failed was needed */
        failures++;
    }
    fprintf(stderr, "# %d allocations\n", failures);
    CHECK(failures > 100);
}

/* The same for errors: a clash and a bad place need memory for their sentences. */
static void each_allocation_of_errors(const struct scratch *s)
{
    struct jm_input in[] = {{"a", "", 0}, {"a/b", "", 0}};
    for (int what = 0; what < 3; what++) {
        for (long n = 0;; n++) {
            jianmu_error *err = NULL;
            counting = true;
            failed_one = false;
            countdown = n;
            if (what == 0)
                CHECK(!jm_workdir_open(s->parent, "main.py", "", 0, in, 2, &err));
            if (what == 1)
                CHECK(!jm_workdir_open("/dev/null", "main.py", "", 0, NULL, 0, &err));
            if (what == 2)
                CHECK(!jm_path_normalise("a/../b", 6, &err));
            CHECK(err && *jianmu_error_message(err));
            jianmu_error_free(err);
            counting = false;
            CHECK(live_count == 0 && count_entries(s->parent) == 0);
            if (!failed_one)
                break;
        }
    }
}

BOTH(test_each_allocation_fails_once, each_allocation, IN_MEMORY)
BOTH(test_each_allocation_of_an_error, each_allocation_of_errors, IN_MEMORY)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_allocation_fails_once),
        cmocka_unit_test(test_each_allocation_of_an_error),
    };
    return cmocka_run_group_tests_name("files/memory", tests, NULL, NULL);
}
