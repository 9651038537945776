/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "collected.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct jm_artifact_caps generous = {1 << 20, 1 << 20, 1 << 30, 1000};

struct jm_artifact_list collected(const struct jm_workdir *dir, const struct jm_artifact_caps *caps)
{
    struct jm_artifact_list list;
    jianmu_error *err = NULL;
    CHECK(jm_artifacts_collect(dir, caps, &list, &err) == 0);
    CHECK(err == NULL);
    CHECK(list.skipped && list.modified_inputs);
    for (size_t i = 0; i < list.count; i++)
        CHECK(!memmem(list.items[i].data, list.items[i].size, CANARY, strlen(CANARY)));
    return list;
}

void put(int dir, const char *name, size_t size, mode_t mode)
{
    int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    for (size_t i = 0; i < size; i += 1000) {
        char text[1000];
        memset(text, 'a' + (int)(i / 1000 % 26), sizeof text);
        size_t n = size - i < 1000 ? size - i : 1000;
        CHECK(write(fd, text, n) == (ssize_t)n);
    }
    CHECK(fchmod(fd, mode) == 0);
    close(fd);
}

const jianmu_artifact *item_of(const struct jm_artifact_list *list, const char *path)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].path, path) == 0)
            return &list->items[i];
    }
    return NULL;
}

const char *text_of(const struct jm_artifact_list *list, const char *path)
{
    static char text[1024];
    const jianmu_artifact *item = item_of(list, path);
    if (!item)
        return NULL;
    CHECK(item->size < sizeof text);
    memcpy(text, item->data, item->size);
    text[item->size] = 0;
    return text;
}

json_t *skip_of(const struct jm_artifact_list *list, const char *path)
{
    size_t i;
    json_t *each;
    json_array_foreach (list->skipped, i, each) {
        if (strcmp(json_string_value(json_object_get(each, "path")), path) == 0)
            return each;
    }
    return NULL;
}

const char *why_of(const struct jm_artifact_list *list, const char *path)
{
    return json_string_value(json_object_get(skip_of(list, path), "why"));
}

bool is_modified(const struct jm_artifact_list *list, const char *path)
{
    size_t i;
    json_t *each;
    json_array_foreach (list->modified_inputs, i, each) {
        if (strcmp(json_string_value(each), path) == 0)
            return true;
    }
    return false;
}

void done(struct jm_workdir *dir, struct jm_artifact_list *list)
{
    jm_artifact_list_free(list);
    CHECK(jm_workdir_close(dir) == 0);
}
