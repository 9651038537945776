/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "common/beneath.h"
#include "common/tool.h"
#include <fcntl.h>
#include <string.h>

/* Up to *len bytes from offset; *len: how many came. 0, or -1 (errno). */
static int read_part(int fd, char *data, size_t *len, off_t offset)
{
    size_t got = 0;
    while (got < *len) {
        ssize_t n = pread(fd, data + got, *len - got, offset + (off_t)got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    *len = got;
    return 0;
}

/* Bytes of the first `most` characters; one that the end of the part cuts through is left for the next call. */
static size_t whole_characters(const char *data, size_t len, uint64_t most, bool more)
{
    size_t i = 0;
    for (uint64_t count = 0; i < len && count < most; count++) {
        bool cut;
        size_t n = tool_character(data + i, len - i, &cut);
        if (cut && more && i)
            break;
        i += n;
    }
    return i;
}

static json_t *answer_part(jianmu_context *ctx, const char *path, const char *data, size_t len, uint64_t most,
                           json_int_t offset, json_int_t size)
{
    bool more = offset + (json_int_t)len < size;
    size_t kept = whole_characters(data, len, most, more);
    if (memchr(data, 0, kept))
        return tool_error(ctx, "'%s' is a binary file of %lld bytes, not text", path, (long long)size);
    json_t *text = tool_text(data, kept, UINT64_MAX, NULL);
    json_t *value = text ? json_pack("{s:o, s:I, s:I}", "content", text, "offset", offset, "size", size) : NULL;
    offset += (json_int_t)kept;
    if (value && offset < size && json_object_set_new(value, "next_offset", json_integer(offset))) {
        json_decref(value);
        value = NULL;
    }
    return value ? value : tool_memory(ctx);
}

static json_t *read_file(void *instance, jianmu_context *ctx, json_t *args)
{
    static const struct tool_arg known[] = {
        {"path", TOOL_STRING, true}, {"offset", TOOL_COUNT, false}, {"limit", TOOL_COUNT, false}};
    struct stat st;
    json_t *answer = NULL, *limit = json_object_get(args, "limit");
    (void)instance;
    if (tool_args(ctx, args, known, jm_countof(known)))
        return NULL;
    const char *path = json_string_value(json_object_get(args, "path"));
    json_int_t offset = json_integer_value(json_object_get(args, "offset"));
    jm_auto_fd int fd = tool_open(ctx, path, O_RDONLY, &st, &answer);
    if (fd < 0)
        return answer;
    if (!S_ISREG(st.st_mode))
        return tool_error(ctx, "'%s' is a %s, not a regular file", path, tool_file_type(st.st_mode));

    /* a character has at most four bytes: more than these cannot be answered */
    uint64_t most = tool_max_output(ctx);
    size_t len = most < (1u << 20) ? 4 * most : 4u << 20;
    size_t left = offset < st.st_size ? (size_t)(st.st_size - offset) : 0;
    if (limit && (uint64_t)json_integer_value(limit) < len)
        len = (size_t)json_integer_value(limit);
    if (left < len)
        len = left;
    jm_auto_free char *data = malloc(len + 1);
    if (!data)
        return tool_memory(ctx);
    if (read_part(fd, data, &len, offset))
        return tool_path_error(ctx, path, errno);
    if (ctx->services->cancelled(ctx))
        return tool_stopped(ctx);
    return answer_part(ctx, path, data, len, most, offset, st.st_size);
}

JIANMU_TOOL(read_file, read_file, JIANMU_DANGER_READ, JIANMU_READ_ONLY | JIANMU_IDEMPOTENT | JIANMU_COOPERATES,
    "Reads a text file of the workspace or of the skill. Paths are relative to the workspace; skill/NAME is a "
    "file of the skill; nothing outside the two can be reached, also not through links. Long files come in parts: "
    "where next_offset is answered, call again with it as offset. Binary files are refused.",
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"description\":\"the file, such as src/main.c or skill/notes.txt\"},"
    "\"offset\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"byte to start at, 0 by default\"},"
    "\"limit\":{\"type\":\"integer\",\"minimum\":0,\"description\":\"bytes to read at most\"}},"
    "\"required\":[\"path\"],\"additionalProperties\":false,"
    "\"x-jianmu\":{\"defaults\":{\"timeout_s\":10.0,\"max_output\":20000}}}")
JIANMU_PLUGIN(JIANMU_ITEM(read_file))
