/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "common/tool.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a fraction";
    case JSON_NULL: return "null";
    default: return "a boolean";
    }
}

static int wrong_type(jianmu_context *ctx, const char *name, const char *wanted, const json_t *value)
{
    return ctx->services->fail(ctx, JIANMU_INVALID, "argument '%s' must be %s, not %s", name, wanted, type_name(value));
}

static int check_type(jianmu_context *ctx, const struct tool_arg *arg, const json_t *value)
{
    switch (arg->type) {
    case TOOL_STRING:
    case TOOL_TEXT:
        if (!json_is_string(value))
            return wrong_type(ctx, arg->name, "a string", value);
        if (arg->type == TOOL_STRING && strlen(json_string_value(value)) != json_string_length(value))
            return ctx->services->fail(ctx, JIANMU_INVALID, "argument '%s' must not hold a NUL character", arg->name);
        return 0;
    case TOOL_COUNT:
        if (!json_is_integer(value))
            return wrong_type(ctx, arg->name, "an integer", value);
        if (json_integer_value(value) < 0)
            return ctx->services->fail(ctx, JIANMU_INVALID, "argument '%s' must not be negative: %" JSON_INTEGER_FORMAT,
                                       arg->name, json_integer_value(value));
        return 0;
    case TOOL_BOOL:
        return json_is_boolean(value) ? 0 : wrong_type(ctx, arg->name, "a boolean", value);
    case TOOL_OBJECT:
        return json_is_object(value) ? 0 : wrong_type(ctx, arg->name, "an object", value);
    }
    return 0;
}

static int unknown_argument(jianmu_context *ctx, const char *name, const struct tool_arg *known, size_t count)
{
    char list[256] = "";
    for (size_t i = 0, n = 0; i < count; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", known[i].name);
    return ctx->services->fail(ctx, JIANMU_INVALID, "unknown argument '%s'; known are %s", name, list);
}

int tool_args(jianmu_context *ctx, json_t *args, const struct tool_arg *known, size_t count)
{
    const char *name;
    json_t *value;
    if (args && !json_is_object(args))
        return ctx->services->fail(ctx, JIANMU_INVALID, "arguments must be an object, not %s", type_name(args));
    for (size_t i = 0; i < count; i++) {
        value = json_object_get(args, known[i].name);
        if (!value && known[i].required)
            return ctx->services->fail(ctx, JIANMU_INVALID, "argument '%s' is missing", known[i].name);
        if (value && check_type(ctx, &known[i], value))
            return -1;
    }
    json_object_foreach (args, name, value) {
        size_t i = 0;
        while (i < count && strcmp(known[i].name, name))
            i++;
        if (i == count)
            return unknown_argument(ctx, name, known, count);
    }
    return 0;
}

json_t *tool_memory(jianmu_context *ctx)
{
    ctx->services->fail(ctx, JIANMU_INTERNAL, "out of memory");
    return NULL;
}

json_t *tool_error(jianmu_context *ctx, const char *format, ...)
{
    jm_auto_free char *sentence = NULL;
    va_list ap;
    va_start(ap, format);
    int len = vasprintf(&sentence, format, ap);
    va_end(ap);
    if (len < 0) {
        sentence = NULL;
        return tool_memory(ctx);
    }
    json_t *text = tool_text(sentence, (size_t)len, tool_max_output(ctx), NULL);
    json_t *value = text ? json_pack("{s:o}", "error", text) : NULL;
    if (!value)
        return tool_memory(ctx);
    ctx->services->tool_failed(ctx, "%s", json_string_value(text));
    return value;
}

static const char *timeout_text(jianmu_context *ctx, char text[64])
{
    char seconds[32];
    json_t *timeout = ctx->services->setting(ctx, "timeout_s");
    if (!json_is_number(timeout))
        return "timeout";
    snprintf(text, 64, "timeout after %ss", jm_print_seconds(json_number_value(timeout), seconds));
    return text;
}

json_t *tool_stopped(jianmu_context *ctx)
{
    char text[64];
    struct timespec now;
    int64_t deadline = ctx->services->deadline(ctx);
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!deadline || now.tv_sec * INT64_C(1000000000) + now.tv_nsec < deadline)
        return tool_error(ctx, "cancelled");
    return tool_error(ctx, "%s", timeout_text(ctx, text));
}

const char *tool_end_text(jianmu_context *ctx, const struct jianmu_process_end *end, char text[64])
{
    const char *limit = "its limits";
    switch (end->reason) {
    case JIANMU_EXITED:
    case JIANMU_SIGNALLED:
        if (end->exit_code == 0)
            return NULL;
        snprintf(text, 64, "exit code %d", (int)end->exit_code);
        return text;
    case JIANMU_TIMEOUT: return timeout_text(ctx, text);
    case JIANMU_CANCELLED: return "cancelled";
    case JIANMU_CPU_TIME: limit = "cpu_time_s"; break;
    case JIANMU_MEMORY: limit = "memory"; break;
    case JIANMU_PIDS: limit = "pids"; break;
    case JIANMU_OUTPUT: limit = "output_limit"; break;
    case JIANMU_FSIZE: limit = "fsize"; break;
    case JIANMU_DISK: limit = "disk"; break;
    }
    snprintf(text, 64, "stopped by the limit %s", limit);
    return text;
}

uint64_t tool_max_output(jianmu_context *ctx)
{
    json_t *most = ctx->services->setting(ctx, "max_output");
    return json_is_integer(most) && json_integer_value(most) > 0 ? (uint64_t)json_integer_value(most) : UINT64_MAX;
}

json_t *tool_text(const void *bytes, size_t len, uint64_t most, uint64_t *dropped)
{
    uint64_t unused;
    size_t text_len, clipped_len;
    jm_auto_free char *text = jm_utf8_repair(bytes, len, &text_len);
    if (!text)
        return NULL;
    jm_auto_free char *clipped = jm_text_clip(text, text_len, most, &clipped_len, dropped ? dropped : &unused);
    return clipped ? json_stringn(clipped, clipped_len) : NULL;
}

size_t tool_character(const char *data, size_t len, bool *cut)
{
    const unsigned char *d = (const unsigned char *)data;
    unsigned char c = d[0], low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    unsigned char high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    size_t width = c < 0xc2 || c > 0xf4 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4, n = 1;
    while (n < width && n < len && d[n] >= low && d[n] <= high) {
        n++;
        low = 0x80;
        high = 0xbf;
    }
    *cut = n < width && n == len;
    return n;
}

/* Bytes of the white space at text, 0: none there. What Python's str.isspace() says of single characters; of them,
 * those that also break lines are told by *breaks. */
static size_t space_at(const char *text, size_t len, bool *breaks)
{
    const unsigned char *t = (const unsigned char *)text;
    *breaks = false;
    if (len && (t[0] == ' ' || (t[0] >= 9 && t[0] <= 13) || (t[0] >= 0x1c && t[0] <= 0x1f))) {
        *breaks = t[0] != ' ' && t[0] != '\t' && t[0] != 0x1f;
        return 1;
    }
    if (len >= 2 && t[0] == 0xc2 && (t[1] == 0x85 || t[1] == 0xa0)) {
        *breaks = t[1] == 0x85;
        return 2;
    }
    if (len < 3)
        return 0;
    unsigned c = t[0] >= 0xe1 && t[0] <= 0xe3 ? (t[0] & 15u) << 12 | (t[1] & 63u) << 6 | (t[2] & 63u) : 0;
    *breaks = c == 0x2028 || c == 0x2029;
    return c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || *breaks || c == 0x202f || c == 0x205f || c == 0x3000 ? 3 : 0;
}

static size_t space_before_end(const char *text, size_t len)
{
    bool breaks;
    for (size_t n = 1; n <= 3 && n <= len; n++)
        if (space_at(text + len - n, n, &breaks) == n)
            return n;
    return 0;
}

const char *tool_strip(const char *text, size_t *len)
{
    size_t n;
    bool breaks;
    while ((n = space_at(text, *len, &breaks))) {
        text += n;
        *len -= n;
    }
    while ((n = space_before_end(text, *len)))
        *len -= n;
    return text;
}

const char *tool_last_line(const char *text, size_t *len)
{
    size_t start = 0, n;
    for (size_t i = 0; i < *len; i += n ? n : 1) {
        bool breaks;
        n = space_at(text + i, *len - i, &breaks);
        if (n && breaks && i + n < *len)
            start = i + n;
    }
    *len -= start;
    return text + start;
}
