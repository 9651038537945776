/* SPDX-License-Identifier: Apache-2.0
 * However much a job leaves, no more is taken than the caps say. */
#include "config.h"
#include "collected.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void sparse_and_caps(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    int fd = openat(dir->work_fd, "sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(ftruncate(fd, (off_t)1 << 40) == 0);
    close(fd);
    put(dir->work_fd, "fits", 1000, 0600);
    put(dir->work_fd, "just", 1001, 0600);
    struct jm_artifact_caps caps = {100, 1000, 1000000, 10};
    struct jm_artifact_list list = collected(dir, &caps);
    CHECK(list.count == 1);
    CHECK(item_of(&list, "fits")->size == 1000);
    CHECK_STR(why_of(&list, "sparse"), "too_large");
    CHECK(json_integer_value(json_object_get(skip_of(&list, "sparse"), "size")) == (json_int_t)1 << 40);
    CHECK_STR(why_of(&list, "just"), "too_large");
    jm_artifact_list_free(&list);
    caps = (struct jm_artifact_caps){0, 0, 0, 0};
    list = collected(dir, &caps);
    CHECK(list.count == 0);
    CHECK_STR(why_of(&list, "fits"), "count");
    done(dir, &list);
}

/* Whole files only, and what still fits behind one that did not is taken. */
static void total_cap(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    char name[32];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "file%02d", i);
        put(dir->work_fd, name, 1000, 0600);
    }
    CHECK(mkdirat(dir->work_fd, "later", 0700) == 0);
    put(dir->work_fd, "later/small", 400, 0600);
    struct jm_artifact_caps caps = {1000, 100000, 10500, 10};
    struct jm_artifact_list list = collected(dir, &caps);
    CHECK(list.count == 11);
    uint64_t total = 0;
    for (size_t i = 0; i < list.count; i++) {
        CHECK(list.items[i].size == (strcmp(list.items[i].path, "later/small") == 0 ? 400 : 1000));
        total += list.items[i].size;
    }
    CHECK(total == 10400);
    CHECK(json_array_size(list.skipped) == 90);
    CHECK_STR(json_string_value(json_object_get(json_array_get(list.skipped, 0), "why")), "total");
    done(dir, &list);
}

static void flood(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    int fd;
    CHECK(mkdirat(dir->work_fd, "deep", 0700) == 0);
    write_file(dir->work_fd, "deep/file", "x");
    for (int i = 0; i < 100000; i++) {
        char name[32];
        snprintf(name, sizeof name, "file%d", i);
        CHECK((fd = openat(dir->work_fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) >= 0);
        close(fd);
    }
    struct jm_artifact_caps caps = {1000, 1000, 1000000, 10};
    struct jm_artifact_list list = collected(dir, &caps);
    CHECK(list.count == 1000);
    CHECK(json_array_size(list.skipped) == 201);
    json_t *last = json_array_get(list.skipped, 200);
    CHECK_STR(json_string_value(json_object_get(last, "why")), "count");
    CHECK(json_integer_value(json_object_get(last, "more")) == 100001 - 1000 - 200);
    CHECK(json_array_size(list.modified_inputs) == 0); /* the script was not counted, nor taken for changed */
    done(dir, &list);
}

static void depth(const struct scratch *s)
{
    struct jm_workdir *dir = open_plain(s);
    int at = dup(dir->work_fd);
    for (int i = 0; i < 5000; i++) {
        CHECK(mkdirat(at, "d", 0700) == 0);
        int next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(at);
        CHECK((at = next) >= 0);
        if (i == 9 || i == 10 || i == 99 || i == 4999)
            write_file(at, "file", "x");
    }
    close(at);
    struct jm_artifact_caps caps = generous;
    caps.depth = 10;
    struct jm_artifact_list list = collected(dir, &caps);
    CHECK(list.count == 1);
    CHECK_STR(list.items[0].path, "d/d/d/d/d/d/d/d/d/d/file");
    CHECK_STR(why_of(&list, "d/d/d/d/d/d/d/d/d/d/d"), "depth");
    CHECK(json_array_size(list.skipped) == 1);
    jm_artifact_list_free(&list);
    caps.depth = 200;
    list = collected(dir, &caps);
    CHECK(list.count == 3 && json_array_size(list.skipped) == 1);
    CHECK(strlen(list.items[0].path) == 2 * 100 + 4);
    jm_artifact_list_free(&list);
    caps.depth = 0;
    list = collected(dir, &caps);
    CHECK(list.count == 0);
    CHECK_STR(why_of(&list, "d"), "depth");
    done(dir, &list);
}

BOTH(test_sparse_1_tib_and_cap_of_bytes, sparse_and_caps, ON_DISK)
BOTH(test_cap_of_all_bytes, total_cap, ON_DISK)
BOTH(test_100000_files_and_cap_of_count, flood, IN_MEMORY)
BOTH(test_5000_deep_and_cap_of_depth, depth, IN_MEMORY)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sparse_1_tib_and_cap_of_bytes),
        cmocka_unit_test(test_cap_of_all_bytes),
        cmocka_unit_test(test_100000_files_and_cap_of_count),
        cmocka_unit_test(test_5000_deep_and_cap_of_depth),
    };
    return cmocka_run_group_tests_name("files/caps", tests, NULL, NULL);
}
