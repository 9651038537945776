/* SPDX-License-Identifier: Apache-2.0
 * The n-th allocation fails, for every n: of ours, of jansson, libltdl and the dynamic linker alike. */
#include "config.h"
#include "kit.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OTHERS_MALLOC 1
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__ || defined OTHERS_MALLOC
int main(void)
{
    printf("1..0 # SKIP malloc belongs to the sanitizer here\n");
    return 0;
}
#else
static atomic_long left = -1; /* allocations until one fails; below 0: none does */

static bool fails(void)
{
    if (atomic_load(&left) < 0 || atomic_fetch_sub(&left, 1) != 0)
        return false;
    errno = ENOMEM;
    return true;
}

/* These take the place of the C library's for the whole process. */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
    return fails() ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    return fails() ? NULL : __libc_realloc(p, n);
}

/* 0 all went well, 1 something said that memory ran out; anything else ends the test. */
static int try_all(const char *path)
{
    struct jm_search_dir dirs[] = {{path, "user", 0}, {path, "installed", 0}, {"/nowhere", "user", 0}};
    jianmu_error *err = NULL;
    struct jm_item *item = NULL;
    json_t *list = NULL;
    jm_registry *registry = jm_registry_scan(dirs, 3, &err);
    int short_of = !registry;
    if (registry && !(list = jm_registry_json(registry)))
        short_of = 1;
    if (registry && !(item = jm_registry_find(registry, JIANMU_KIND_TOOL, "good", &err)))
        short_of = 1;
    if (item && jm_item_load(registry, item, &err))
        short_of = 1;
    if (registry && !short_of && (jm_registry_find(registry, JIANMU_KIND_BACKEND, "boxer", &err) || !err))
        short_of = 2;
    if (registry && short_of == 0 && jianmu_error_code(err) == JIANMU_INTERNAL)
        short_of = 1;
    long rest = atomic_exchange(&left, -1);
    if (short_of == 1 && err) {
        assert_int_equal(jianmu_error_code(err), JIANMU_INTERNAL);
        assert_string_equal(jianmu_error_message(err), "out of memory");
    }
    if (item && item->loaded)
        assert_int_equal(kit_run(item), 42);
    if (item)
        assert_int_equal(item->state, JM_USABLE);
    jianmu_error_free(err);
    json_decref(list);
    jm_registry_free(registry);
    assert_true(short_of != 2);
    if (!short_of)
        assert_true(rest >= 0);
    return short_of;
}

static void test_nth_allocation(void **state)
{
    kit_put(*state, "good", "tools/good.so");
    kit_put(*state, "abi", "tools/abi.so");
    kit_put(*state, "same_good", "backends/wrong.so");
    kit_put(*state, "boxed", "backends/boxed.so");
    long n = 0;
    int short_of;
    do {
        atomic_store(&left, n++);
        short_of = try_all(*state);
        assert_true(n < 5000);
    } while (short_of);
    print_message("# %ld allocations\n", n);
    assert_true(n > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nth_allocation, kit_make_dir, kit_remove_dir)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
