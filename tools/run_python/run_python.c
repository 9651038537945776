/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "common/tool.h"
#include "base/text.h"
#include <string.h>

/* The kernel's MAX_ARG_STRLEN: the longest single argument, its NUL included. */
#define LONGEST_ARGUMENT (128u * 1024)

/* {"error": last line of standard error}, else what its end says. */
static json_t *failure(jianmu_context *ctx, const struct jianmu_process_end *end, const char *said)
{
    size_t len;
    jm_auto_free char *text = jm_utf8_repair(end->err, end->err_len, &len);
    if (!text)
        return tool_memory(ctx);
    bool own_end = end->reason == JIANMU_EXITED || end->reason == JIANMU_SIGNALLED;
    const char *stripped = tool_strip(text, &len), *line = tool_last_line(stripped, &len);
    return own_end && len ? tool_error(ctx, "%.*s", (int)(len < 65536 ? len : 65536), line)
                          : tool_error(ctx, "%s", said);
}

static json_t *output(jianmu_context *ctx, const struct jianmu_process_end *end)
{
    size_t len;
    jm_auto_free char *text = jm_utf8_repair(end->out, end->out_len, &len);
    if (!text)
        return tool_memory(ctx);
    if (end->out_dropped)
        ctx->services->log(ctx, "%llu bytes of output were left out of the middle (capture)",
                           (unsigned long long)end->out_dropped);
    const char *stripped = tool_strip(text, &len);
    json_t *value = json_stringn(stripped, len); /* max_output is the runner's to apply: it tells how much it took */
    return value ? value : tool_memory(ctx);
}

static json_t *run_python(void *instance, jianmu_context *ctx, json_t *args)
{
    static const struct tool_arg known[] = {{"code", TOOL_STRING, true}};
    struct jianmu_process process = JIANMU_PROCESS_INIT;
    struct jianmu_process_end end = JIANMU_PROCESS_END_INIT;
    char text[64];
    (void)instance;
    if (tool_args(ctx, args, known, jm_countof(known)))
        return NULL;
    json_t *code = json_object_get(args, "code"), *chosen = ctx->services->setting(ctx, "python");
    const char *source = json_string_value(code);
    bool fits = json_string_length(code) < LONGEST_ARGUMENT;
    const char *const argv[] = {json_is_string(chosen) ? json_string_value(chosen) : "python3", "-I", "-u",
                                fits ? "-c" : "-", fits ? source : NULL, NULL};
    process.flags = JIANMU_PROCESS_PRIVATE;
    process.argv = argv;
    process.input = fits ? NULL : source;
    process.input_len = fits ? 0 : json_string_length(code);
    if (ctx->services->process(ctx, &process, &end))
        return NULL;
    const char *said = tool_end_text(ctx, &end, text);
    return said ? failure(ctx, &end, said) : output(ctx, &end);
}

JIANMU_TOOL(run_python, run_python, JIANMU_DANGER_DANGEROUS, JIANMU_COOPERATES | JIANMU_BY_PROCESS,
    "Runs Python 3 code in a process of its own and answers what it printed to standard output. Print what you "
    "want to know: the value of the last expression is not shown. Good for calculation and text. Nothing is kept "
    "from one call to the next, there is no input, the environment is nearly empty, only modules installed beside "
    "the interpreter can be imported, and the code is killed when its time is over. If it fails, the answer is "
    "the last line of the error. Do not rely on files or on the network.",
    "{\"type\":\"object\",\"properties\":{"
    "\"code\":{\"type\":\"string\",\"description\":\"Python 3 source, such as print(6 * 7)\"}},"
    "\"required\":[\"code\"],\"additionalProperties\":false,"
    "\"x-jianmu\":{\"defaults\":{\"timeout_s\":2.0,\"max_output\":2000},\"defaults_isolated\":{\"timeout_s\":5.0}}}")
JIANMU_PLUGIN(JIANMU_ITEM(run_python))
