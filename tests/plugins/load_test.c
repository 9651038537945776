/* SPDX-License-Identifier: Apache-2.0
 * Loading: structs of other sizes, files that change between the look and the load, unloading. */
#include "config.h"
#include "kit.h"
#include "plugin/loader.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOOL JIANMU_KIND_TOOL

static bool is_mapped(const char *path)
{
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (handle)
        dlclose(handle);
    return handle;
}

/* The load must fail, with that code, and say so again. */
static void must_refuse(jm_registry *registry, struct jm_item *item, const char *code, const char *part)
{
    for (int i = 0; i < 2; i++) {
        jianmu_error *err = NULL;
        assert_int_equal(jm_item_load(registry, item, &err), -1);
        assert_int_equal(jianmu_error_code(err), JIANMU_UNAVAILABLE);
        assert_non_null(strstr(jianmu_error_message(err), part));
        assert_int_equal(item->state, JM_REFUSED);
        assert_string_equal(item->code, code);
        assert_string_equal(item->sentence, jianmu_error_message(err));
        assert_false(item->loaded);
        jianmu_error_free(err);
    }
}

static void test_shorter(void **state)
{
    kit_put(*state, "short", "tools/short.so");
    kit_put(*state, "edge", "tools/edge.so"); /* with unmapped memory right behind it */
    jm_registry *registry = kit_scan(*state);
    static const char *const names[] = {"short_one", "edge"};
    for (size_t i = 0; i < 2; i++) {
        struct jm_item *item = kit_load(registry, TOOL, names[i]);
        assert_true(item->plugin.head.size < sizeof(struct jianmu_tool_plugin));
        assert_int_equal(kit_run(item), 42);
        assert_null(item->plugin.tool.open);
        assert_null(item->plugin.tool.close);
    }
    jm_registry_free(registry);
}

static void test_longer(void **state)
{
    kit_put(*state, "long", "tools/long.so");
    kit_put(*state, "plugin_long", "tools/plugin_long.so");
    jm_registry *registry = kit_scan(*state);
    struct jm_item *item = kit_load(registry, TOOL, "long_one");
    assert_true(item->plugin.head.size > sizeof(struct jianmu_tool_plugin));
    assert_int_equal(kit_run(item), 42);
    assert_non_null(item->plugin.tool.open);
    assert_non_null(item->plugin.tool.close);
    static const char zero[sizeof item->plugin] = {0};
    assert_memory_equal((char *)&item->plugin + sizeof item->plugin.tool, zero,
                        sizeof item->plugin - sizeof item->plugin.tool);
    assert_int_equal(kit_run(kit_load(registry, TOOL, "plugin_long")), 42);
    jm_registry_free(registry);
}

static void test_many_in_one_file(void **state)
{
    kit_put(*state, "many", "tools/many.so");
    kit_put(*state, "boxed", "backends/boxed.so");
    jm_registry *registry = kit_scan(*state);
    struct jm_item *third = kit_load(registry, TOOL, "third"), *second = kit_load(registry, TOOL, "second");
    assert_true(third->flags == (0x8000000000000000u | JIANMU_OPEN_WORLD));
    assert_int_equal(third->danger, JIANMU_DANGER_DANGEROUS);
    assert_ptr_equal(third->module, second->module);
    assert_int_equal(strlen(second->text), 1024);
    assert_int_equal(json_string_length(json_object_get(second->json, "description")), 3072);
    struct jm_item *boxed = kit_load(registry, JIANMU_KIND_BACKEND, "boxed");
    assert_int_equal(boxed->plugin.backend.run_job(NULL, NULL), 42);
    assert_null(boxed->plugin.backend.enforces);
    jm_registry_free(registry);
}

static void test_local_and_unloaded(void **state)
{
    kit_put(*state, "good", "tools/good.so");
    kit_put(*state, "other_good", "tools/other.so");
    const char *path = kit_path(*state, "tools/good.so");
    jm_registry *registry = kit_scan(*state);
    assert_false(is_mapped(path));
    struct jm_item *item = kit_load(registry, TOOL, "good");
    struct jm_item *other = kit_load(registry, TOOL, "other_good");
    assert_true(is_mapped(path));
    assert_null(dlsym(RTLD_DEFAULT, "jianmu_plugin_entry"));
    assert_int_equal(kit_run(item), 42);
    assert_int_equal(kit_run(other), 8);
    jm_registry_free(registry);
    assert_false(is_mapped(path));
}

static void test_pinned(void **state)
{
    kit_put(*state, "good", "tools/good.so");
    const char *path = kit_path(*state, "tools/good.so");
    jm_registry *registry = kit_scan(*state);
    struct jm_item *item = kit_load(registry, TOOL, "good");
    struct jm_item kept = *item;
    jm_item_pin(registry, item);
    jm_registry_free(registry);
    assert_true(is_mapped(path));
    assert_int_equal(kit_run(&kept), 42);
}

static void test_undefined_symbol(void **state)
{
    kit_put(*state, "needs_other", "tools/needs_other.so");
    jm_registry *registry = kit_scan(*state);
    struct jm_item *item = jm_registry_find(registry, TOOL, "needs_other", NULL);
    must_refuse(registry, item, "undefined_symbol", "nowhere_to_be_found");
    jianmu_error *err = NULL;
    assert_null(jm_registry_find(registry, TOOL, "needs_other", &err));
    assert_int_equal(jianmu_error_code(err), JIANMU_UNAVAILABLE);
    jianmu_error_free(err);
    json_t *list = jm_registry_json(registry);
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "code")), "undefined_symbol");
    json_decref(list);
    jm_registry_free(registry);
}

/* Between listing and loading the file becomes another; none of the new one's code may run. */
static void test_changed(void **state)
{
    char mark[4200];
    snprintf(mark, sizeof mark, "%s/mark", (char *)*state);
    kit_put(*state, "good", "tools/good.so");
    jm_registry *registry = kit_scan(*state);
    struct jm_item *item = jm_registry_find(registry, TOOL, "good", NULL);
    kit_put(*state, "other_good", "tools/good.so");
    setenv("JIANMU_TEST_MARK", mark, 1);
    must_refuse(registry, item, "changed", "has changed since it was listed");
    assert_int_equal(access(kit_path(*state, "mark.other_good"), F_OK), -1);
    jm_registry_free(registry);

    registry = kit_scan(*state);
    kit_load(registry, TOOL, "other_good");
    assert_int_equal(access(kit_path(*state, "mark.other_good"), F_OK), 0);
    unsetenv("JIANMU_TEST_MARK");
    jm_registry_free(registry);
}

static void test_no_longer_trusted(void **state)
{
    kit_put(*state, "good", "tools/good.so");
    kit_put(*state, "other_good", "tools/other.so");
    kit_put(*state, "many", "tools/many.so");
    jm_registry *registry = kit_scan(*state);
    assert_int_equal(chmod(kit_path(*state, "tools/good.so"), 0775), 0);
    must_refuse(registry, jm_registry_find(registry, TOOL, "good", NULL), "mode", "chmod go-w");
    assert_int_equal(unlink(kit_path(*state, "tools/many.so")), 0);
    must_refuse(registry, jm_registry_find(registry, TOOL, "first", NULL), "unreadable", "no longer there");
    assert_int_equal(chmod(kit_path(*state, "tools"), 0777), 0);
    must_refuse(registry, jm_registry_find(registry, TOOL, "other_good", NULL), "ancestor_mode", "chmod go-w");
    jm_registry_free(registry);
}

/* A file that is in use is replaced by a newer one, several times: each registry has the one that it listed. */
static void test_replaced_in_use(void **state)
{
    static const char *const fixtures[] = {"good", "same_good"};
    enum { COUNT = 6 };
    jm_registry *registries[COUNT];
    struct jm_item *items[COUNT];
    for (int i = 0; i < COUNT; i++) {
        kit_put(*state, fixtures[i % 2], "tools/good.so");
        registries[i] = kit_scan(*state);
        items[i] = kit_load(registries[i], TOOL, "good");
        jm_item_pin(registries[i], items[i]);
    }
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(kit_run(items[i]), i % 2 ? 7 : 42);
    for (int i = 0; i < COUNT; i++)
        jm_registry_free(registries[i]);
}

static void test_two_registries(void **state)
{
    kit_put(*state, "good", "tools/good.so");
    jm_registry *one = kit_scan(*state), *two = kit_scan(*state);
    struct jm_item *first = kit_load(one, TOOL, "good"), *second = kit_load(two, TOOL, "good");
    assert_ptr_equal(first->plugin.tool.run, second->plugin.tool.run);
    jm_registry_free(one);
    assert_int_equal(kit_run(second), 42);
    jm_registry_free(two);
    assert_false(is_mapped(kit_path(*state, "tools/good.so")));

    kit_put(*state, "other_good", "tools/other.so");
    one = kit_scan(*state);
    two = kit_scan(*state);
    kit_load(one, TOOL, "other_good");
    kit_load(two, TOOL, "good");
    jm_registry_free(one); /* closes what is its own, while libltdl is still in use */
    assert_false(is_mapped(kit_path(*state, "tools/other.so")));
    assert_true(is_mapped(kit_path(*state, "tools/good.so")));
    jm_registry_free(two);
}

static void test_no_descriptor_left(void **state)
{
    kit_put(*state, "good", "tools/good.so");
    kit_put(*state, "abi", "tools/abi.so");
    kit_put(*state, "needs_other", "tools/needs_other.so");
    kit_put(*state, "boxed", "backends/boxed.so");
    int before = kit_count_fds();
    jm_registry *registry = kit_scan(*state);
    assert_int_equal(kit_count_fds(), before);
    kit_load(registry, TOOL, "good");
    struct jm_item *bad = jm_registry_find(registry, TOOL, "needs_other", NULL);
    must_refuse(registry, bad, "undefined_symbol", "cannot be loaded");
    assert_int_equal(kit_count_fds(), before);
    jm_registry_free(registry);
    assert_int_equal(kit_count_fds(), before);
}

/* Every number of free descriptors, until there are enough: a shortage is an error and says nothing of the file. */
static void test_nth_descriptor(void **state)
{
    struct rlimit before, low;
    kit_put(*state, "good", "tools/good.so");
    struct jm_search_dir dir = {*state, "user", 0};
    int next = open("/dev/null", O_RDONLY | O_CLOEXEC), failed = 0;
    close(next);
    getrlimit(RLIMIT_NOFILE, &before);
    for (int free_fds = 0;; free_fds++) {
        assert_true(free_fds < 32);
        jianmu_error *err = NULL;
        low = before;
        low.rlim_cur = (rlim_t)(next + free_fds);
        setrlimit(RLIMIT_NOFILE, &low);
        jm_registry *registry = jm_registry_scan(&dir, 1, &err);
        setrlimit(RLIMIT_NOFILE, &before);
        if (registry) {
            struct jm_item *item = jm_registry_find(registry, TOOL, "good", NULL);
            assert_non_null(item);
            setrlimit(RLIMIT_NOFILE, &low);
            int rc = jm_item_load(registry, item, &err);
            setrlimit(RLIMIT_NOFILE, &before);
            assert_int_equal(item->state, JM_USABLE);
            if (!rc)
                assert_int_equal(kit_run(item), 42);
            jm_registry_free(registry);
            if (!rc)
                break;
        }
        failed++;
        assert_int_equal(jianmu_error_code(err), JIANMU_INTERNAL);
        assert_non_null(strstr(jianmu_error_message(err), "Too many open files"));
        jianmu_error_free(err);
    }
    assert_true(failed > 2);
}

static void test_child_of_fork(void **state)
{
    kit_put(*state, "good", "tools/good.so");
    jm_registry *registry = kit_scan(*state);
    struct jm_item *item = kit_load(registry, TOOL, "good");
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        long got = kit_run(item);
        jm_registry_free(registry);
        _exit(got == 42 && is_mapped(kit_path(*state, "tools/good.so")) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(kit_run(item), 42);
    jm_registry_free(registry);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, kit_make_dir, kit_remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_shorter), TEST(test_longer), TEST(test_many_in_one_file), TEST(test_local_and_unloaded),
        TEST(test_pinned), TEST(test_undefined_symbol), TEST(test_changed), TEST(test_no_longer_trusted),
        TEST(test_replaced_in_use), TEST(test_two_registries), TEST(test_no_descriptor_left),
        TEST(test_nth_descriptor), TEST(test_child_of_fork),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
