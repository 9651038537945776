/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "common/beneath.h"
#include "common/tool.h"
#include <dirent.h>
#include <fcntl.h>
#include <string.h>

struct names {
    char **list;
    size_t count, cap;
};

static int add_name(struct names *names, const char *name)
{
    if (names->count == names->cap) {
        size_t cap = names->cap ? 2 * names->cap : 64;
        char **list = realloc(names->list, cap * sizeof *list);
        if (!list)
            return -1;
        names->list = list;
        names->cap = cap;
    }
    char *copy = strdup(name);
    if (!copy)
        return -1;
    names->list[names->count++] = copy;
    return 0;
}

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* 0; 1 the call was told to stop; -1 errno. */
static int read_names(jianmu_context *ctx, DIR *dir, struct names *names)
{
    struct dirent *entry;
    while (errno = 0, (entry = readdir(dir))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (add_name(names, entry->d_name))
            return -1;
        if (names->count % 256 == 0 && ctx->services->cancelled(ctx))
            return 1;
    }
    return errno ? -1 : 0;
}

/* One entry; it may have gone since it was read, then its type is "gone". NULL without memory. */
static json_t *describe(int dir, const char *name)
{
    struct stat st;
    bool there = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    json_t *text = tool_text(name, strlen(name), UINT64_MAX, NULL);
    if (!text)
        return NULL;
    if (there && S_ISREG(st.st_mode))
        return json_pack("{s:o, s:s, s:I}", "name", text, "type", "file", "size", (json_int_t)st.st_size);
    return json_pack("{s:o, s:s}", "name", text, "type", there ? tool_file_type(st.st_mode) : "gone");
}

/* As many entries as max_entries and max_output allow; what an entry costs is its JSON text, about. */
static json_t *answer(jianmu_context *ctx, int dir, struct names *names)
{
    json_t *cap = ctx->services->setting(ctx, "max_entries"), *entries = json_array();
    size_t most = json_is_integer(cap) ? (size_t)json_integer_value(cap) : 1000, i = 0;
    uint64_t left = tool_max_output(ctx);
    qsort(names->list, names->count, sizeof *names->list, by_bytes);
    for (; i < names->count && i < most; i++) {
        uint64_t cost = strlen(names->list[i]) + 40;
        if (cost > left && i)
            break;
        left -= cost < left ? cost : left;
        if (json_array_append_new(entries, describe(dir, names->list[i]))) {
            json_decref(entries);
            return tool_memory(ctx);
        }
    }
    json_t *value = json_pack("{s:o, s:I}", "entries", entries, "dropped", (json_int_t)(names->count - i));
    return value ? value : tool_memory(ctx);
}

static json_t *list_dir(void *instance, jianmu_context *ctx, json_t *args)
{
    static const struct tool_arg known[] = {{"path", TOOL_STRING, false}};
    struct stat st;
    struct names names = {0};
    json_t *value = NULL, *given = json_object_get(args, "path");
    (void)instance;
    if (tool_args(ctx, args, known, jm_countof(known)))
        return NULL;
    const char *path = given ? json_string_value(given) : ".";
    int fd = tool_open(ctx, path, O_RDONLY | O_DIRECTORY, &st, &value);
    if (fd < 0)
        return value;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        value = tool_path_error(ctx, path, errno);
        close(fd);
        return value;
    }
    int read = read_names(ctx, dir, &names);
    value = read == 0 ? answer(ctx, fd, &names) : read > 0 ? tool_stopped(ctx) : tool_path_error(ctx, path, errno);
    closedir(dir);
    free_names(&names);
    return value;
}

JIANMU_TOOL(list_dir, list_dir, JIANMU_DANGER_READ, JIANMU_READ_ONLY | JIANMU_IDEMPOTENT | JIANMU_COOPERATES,
    "Lists one directory of the workspace or of the skill, sorted by name: type of each entry, size of each file. "
    "Paths are relative to the workspace; skill is the skill's directory; nothing outside the two can be reached. "
    "It does not look into subdirectories. Of very large directories the first entries come, and dropped says how "
    "many did not.",
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"description\":\"the directory, such as src or skill; by default the workspace\"}},"
    "\"additionalProperties\":false,"
    "\"x-jianmu\":{\"defaults\":{\"timeout_s\":10.0,\"max_output\":20000},"
    "\"keys\":{\"max_entries\":{\"type\":\"int\",\"default\":1000,\"min\":1,"
    "\"doc\":\"entries that one answer of list_dir may have\"}}}}")
JIANMU_PLUGIN(JIANMU_ITEM(list_dir))
