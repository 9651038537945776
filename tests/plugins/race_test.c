/* SPDX-License-Identifier: Apache-2.0
 * Files that are swapped while they are loaded, and many threads that load at once. */
#include "config.h"
#include "kit.h"
#include "plugin/loader.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef TRIES
#define TRIES 2000
#endif

struct swap {
    const char *a, *b;
    atomic_bool stop;
    atomic_uint swaps;
};

static void *swap_files(void *data)
{
    struct swap *s = data;
    while (!atomic_load(&s->stop)) {
        for (int i = 0; i < 8; i++)
            if (!renameat2(AT_FDCWD, s->a, AT_FDCWD, s->b, RENAME_EXCHANGE))
                atomic_fetch_add(&s->swaps, 1);
        usleep(10); /* valgrind lets one thread run at a time, and is not fair */
    }
    return NULL;
}

static long run_module(const struct jm_module *module)
{
    const struct jianmu_plugin *plugin = jm_module_entry(module)();
    const struct jianmu_tool_plugin *tool = (const struct jianmu_tool_plugin *)plugin->items[0];
    json_t *value = tool->run(NULL, NULL, NULL);
    long number = (long)json_integer_value(value);
    json_decref(value);
    return number;
}

/* The file at the path is another than the one that was checked: it must not be used. */
static void test_other_file(void **state)
{
    kit_put(*state, "good", "tools/a.so");
    kit_put(*state, "same_good", "tools/b.so");
    const char *a = kit_path(*state, "tools/a.so"), *b = kit_path(*state, "tools/b.so");
    int fd = open(a, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (int loaded = 0; loaded < 2; loaded++) {
        struct jm_refusal r = {0};
        struct jm_module *other = loaded ? jm_module_open(fd, a, &r) : NULL; /* in use, or not */
        assert_null(jm_module_open(fd, b, &r));
        assert_string_equal(r.code, "changed");
        jm_refusal_free(&r);
        jm_module_close(other);
    }
    close(fd);
}

static void test_swapped(void **state)
{
    kit_put(*state, "good", "tools/a.so");
    kit_put(*state, "same_good", "tools/b.so");
    struct swap s = {kit_path(*state, "tools/a.so"), kit_path(*state, "tools/b.so"), false, 0};
    struct stat first, st;
    assert_int_equal(stat(s.a, &first), 0); /* of the one that says 42 */
    pthread_t thread;
    unsigned loaded = 0, refused = 0;
    assert_int_equal(pthread_create(&thread, NULL, swap_files, &s), 0);
    for (int i = 0; i < TRIES; i++) {
        struct jm_refusal r = {0};
        int fd = open(s.a, O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(fstat(fd, &st), 0);
        struct jm_module *module = jm_module_open(fd, s.a, &r);
        if (module) {
            loaded++;
            assert_int_equal(run_module(module), st.st_ino == first.st_ino ? 42 : 7);
        } else {
            refused++;
            assert_string_equal(r.code, "changed");
        }
        jm_module_close(module);
        jm_refusal_free(&r);
        close(fd);
    }
    atomic_store(&s.stop, true);
    pthread_join(thread, NULL);
    print_message("# %d tries, %u swaps: %u loaded, %u refused\n", TRIES, atomic_load(&s.swaps), loaded, refused);
    assert_true(loaded > 0);
    assert_true(atomic_load(&s.swaps) > 10);
}

struct crowd {
    const char *dir;
    jm_registry *shared;
    pthread_barrier_t start;
    atomic_uint wrong;
};

static const struct { const char *name; long value; } usable[] = {
    {"good", 42}, {"other_good", 8}, {"second", 42}, {"third", 42}, {"long_one", 42}};

static void load_all(struct crowd *c, jm_registry *registry)
{
    for (size_t i = 0; i < sizeof usable / sizeof usable[0]; i++) {
        jianmu_error *err = NULL;
        struct jm_item *item = jm_registry_find(registry, JIANMU_KIND_TOOL, usable[i].name, &err);
        if (!item || jm_item_load(registry, item, &err) || kit_run(item) != usable[i].value)
            atomic_fetch_add(&c->wrong, 1);
        jianmu_error_free(err);
    }
    jianmu_error *err = NULL;
    struct jm_item *bad = jm_registry_find(registry, JIANMU_KIND_TOOL, "needs_other", &err);
    if (bad && !jm_item_load(registry, bad, &err))
        atomic_fetch_add(&c->wrong, 1);
    if (jianmu_error_code(err) != JIANMU_UNAVAILABLE)
        atomic_fetch_add(&c->wrong, 1);
    jianmu_error_free(err);
    json_t *list = jm_registry_json(registry);
    if (json_array_size(list) != 7)
        atomic_fetch_add(&c->wrong, 1);
    json_decref(list);
}

static void *one_of_many(void *data)
{
    struct crowd *c = data;
    struct jm_search_dir dir = {c->dir, "user", 0};
    pthread_barrier_wait(&c->start);
    load_all(c, c->shared);
    for (int i = 0; i < 5; i++) {
        jm_registry *own = jm_registry_scan(&dir, 1, NULL);
        if (!own) {
            atomic_fetch_add(&c->wrong, 1);
            continue;
        }
        load_all(c, own);
        jm_item_pin(own, jm_registry_find(own, JIANMU_KIND_TOOL, "third", NULL));
        jm_registry_free(own);
    }
    return NULL;
}

static void test_threads(void **state)
{
    kit_put(*state, "good", "tools/good.so");
    kit_put(*state, "other_good", "tools/other_good.so");
    kit_put(*state, "many", "tools/many.so");
    kit_put(*state, "long", "tools/long.so");
    kit_put(*state, "needs_other", "tools/needs_other.so");
    struct crowd c = {.dir = *state, .shared = kit_scan(*state)};
    pthread_t threads[8];
    pthread_barrier_init(&c.start, NULL, 8);
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, one_of_many, &c), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&c.start);
    jm_registry_free(c.shared);
    assert_int_equal(atomic_load(&c.wrong), 0);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, kit_make_dir, kit_remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_other_file), TEST(test_swapped), TEST(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
