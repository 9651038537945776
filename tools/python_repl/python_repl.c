/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "common/tool.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

/* The program that stays: driver.py. */
static const char driver[] = {
#include "tools/python_repl/driver.inc"
    0};

static double seconds(jianmu_context *ctx, const char *name)
{
    return json_number_value(ctx->services->setting(ctx, name));
}

/* One stream into the value, at most max_output characters; nothing where there is nothing. */
static int add_text(jianmu_context *ctx, json_t *value, const char *name, const char *bytes, size_t len)
{
    if (!len)
        return 0;
    return json_object_set_new(value, name, tool_text(bytes, len, tool_max_output(ctx), NULL));
}

/* {"error", "traceback"?, "output"?, "state_lost"?}; error is taken. */
static json_t *complete(jianmu_context *ctx, json_t *error, const struct jianmu_kept_end *end, const char *trace,
                        size_t trace_len)
{
    if (!error)
        return NULL;
    if (add_text(ctx, error, "traceback", trace, trace_len) == 0 &&
        add_text(ctx, error, "output", end->out, end->out_len) == 0 &&
        (!(end->flags & JIANMU_KEPT_GONE) || json_object_set_new(error, "state_lost", json_true()) == 0))
        return error;
    json_decref(error);
    return tool_memory(ctx);
}

/* How it ended, in the words of a process that was started for the call. */
static const char *end_text(jianmu_context *ctx, const struct jianmu_kept_end *end, char text[64])
{
    struct jianmu_process_end process = JIANMU_PROCESS_END_INIT;
    process.reason = end->reason;
    process.exit_code = end->exit_code;
    process.signal = end->signal;
    const char *said = tool_end_text(ctx, &process, text);
    return said ? said : "exit code 0";
}

/* It was gone before it was asked: the code was run nowhere, since it may build on what is lost. */
static json_t *lost_before(jianmu_context *ctx, const struct jianmu_kept_end *end)
{
    char why[128], text[64], number[32];
    if (end->flags & JIANMU_KEPT_IDLE)
        snprintf(why, sizeof why, "nobody had called it for %s seconds", jm_print_seconds(seconds(ctx, "idle_s"), number));
    else if (end->flags & JIANMU_KEPT_PUSHED_OUT)
        snprintf(why, sizeof why, "others needed its place");
    else
        snprintf(why, sizeof why, "its process had ended (%s)", end_text(ctx, end, text));
    return complete(ctx, tool_error(ctx, "the state of the session was lost, since %s; this code was not run, and the next "
                                    "call starts with a new interpreter", why), end, NULL, 0);
}

static json_t *lost(jianmu_context *ctx, const struct jianmu_kept_end *end)
{
    char text[64];
    const char *said = end_text(ctx, end, text), *what = "the interpreter was killed";
    if (end->flags & JIANMU_KEPT_BROKEN)
        said = "broken answer", what = "the interpreter said what is no answer, so it was killed";
    else if (end->reason == JIANMU_EXITED || end->reason == JIANMU_SIGNALLED)
        what = "the code ended the interpreter";
    else if (end->reason == JIANMU_TIMEOUT || end->reason == JIANMU_CANCELLED)
        what = "the code did not stop when it was interrupted, so the interpreter was killed";
    return complete(ctx, tool_error(ctx, "%s: %s, and the state of the session was lost; the next call starts with a new one",
                                    said, what), end, NULL, 0);
}

static json_t *interrupted(jianmu_context *ctx, const struct jianmu_kept_end *end)
{
    char text[64];
    return complete(ctx, tool_error(ctx, "%s: the code was interrupted; the state of the session is kept",
                                    end_text(ctx, end, text)), end, NULL, 0);
}

/* "-", the last line of the error, a NUL, its traceback. */
static json_t *failed(jianmu_context *ctx, const struct jianmu_kept_end *end)
{
    const char *line = end->answer + (end->answer_len > 0), *stop = end->answer + end->answer_len;
    const char *trace = memchr(line, 0, (size_t)(stop - line));
    size_t len = (size_t)((trace ? trace : stop) - line), valid_len;
    jm_auto_free char *valid = jm_utf8_repair(line, len, &valid_len);
    if (!valid)
        return tool_memory(ctx);
    trace = trace ? trace + 1 : stop;
    return complete(ctx, tool_error(ctx, "%s", valid), end, trace, (size_t)(stop - trace));
}

static json_t *output(jianmu_context *ctx, const struct jianmu_kept_end *end)
{
    size_t len;
    jm_auto_free char *text = jm_utf8_repair(end->out, end->out_len, &len);
    if (!text)
        return tool_memory(ctx);
    const char *stripped = tool_strip(text, &len);
    json_t *value = json_stringn(stripped, len); /* max_output is the runner's to apply: it tells how much it took */
    return value ? value : tool_memory(ctx);
}

static json_t *answer(jianmu_context *ctx, const struct jianmu_kept_end *end)
{
    if (end->out_dropped)
        ctx->services->log(ctx, "%llu bytes of output were left out of the middle (capture)",
                           (unsigned long long)end->out_dropped);
    if (end->flags & JIANMU_KEPT_UNASKED)
        return lost_before(ctx, end);
    if (end->flags & JIANMU_KEPT_GONE)
        return lost(ctx, end);
    if (end->reason != JIANMU_EXITED)
        return interrupted(ctx, end);
    return end->answer_len && end->answer[0] == '+' ? output(ctx, end) : failed(ctx, end);
}

static json_t *run(void *instance, jianmu_context *ctx, json_t *args)
{
    static const struct tool_arg known[] = {{"code", TOOL_STRING, true}, {"reset", TOOL_BOOL, false}};
    struct jianmu_kept kept = JIANMU_KEPT_INIT;
    struct jianmu_kept_end end = JIANMU_KEPT_END_INIT;
    (void)instance;
    if (tool_args(ctx, args, known, jm_countof(known)))
        return NULL;
    json_t *code = json_object_get(args, "code"), *chosen = ctx->services->setting(ctx, "python");
    const char *const argv[] = {json_is_string(chosen) ? json_string_value(chosen) : "python3", "-I", "-u", "-c", driver,
                                NULL};
    kept.argv = argv;
    kept.flags = json_is_true(json_object_get(args, "reset")) ? JIANMU_KEPT_RESET : 0;
    kept.most = (uint32_t)json_integer_value(ctx->services->setting(ctx, "max_sessions"));
    kept.idle_s = seconds(ctx, "idle_s");
    kept.interrupt_s = seconds(ctx, "interrupt_s");
    if (ctx->services->ask(ctx, &kept, json_string_value(code), json_string_length(code), &end))
        return NULL;
    return answer(ctx, &end);
}

JIANMU_TOOL(python_repl, run, JIANMU_DANGER_DANGEROUS, JIANMU_COOPERATES | JIANMU_BY_PROCESS,
    "Runs Python 3 code in an interpreter that stays: variables, functions, imports, open files and threads are there "
    "in the next call of the session. Answers what the code printed and the value of its last expression, as an "
    "interactive prompt shows it. There is no input, and only modules installed beside the interpreter can be imported. "
    "If it fails, the answer holds the error, its traceback and what was printed before. Code whose time is over is "
    "interrupted and the state kept, if it lets itself be interrupted. If the state was lost, the error says so: then "
    "define again what is needed. reset starts with a new interpreter.",
    "{\"type\":\"object\",\"properties\":{"
    "\"code\":{\"type\":\"string\",\"description\":\"Python 3 source, such as x = 6\\nx * 7\"},"
    "\"reset\":{\"type\":\"boolean\",\"description\":\"first throw away all state of the session\"}},"
    "\"required\":[\"code\"],\"additionalProperties\":false,"
    "\"x-jianmu\":{\"defaults\":{\"timeout_s\":30.0,\"max_output\":2000},\"keys\":{"
    "\"idle_s\":{\"type\":\"seconds\",\"default\":600,\"min\":1,\"doc\":\"how long a session lives without a call, seconds\"},"
    "\"max_sessions\":{\"type\":\"int\",\"default\":8,\"min\":1,\"max\":1000,"
    "\"doc\":\"sessions at once; the longest idle one makes room\"},"
    "\"interrupt_s\":{\"type\":\"seconds\",\"default\":0.5,\"min\":0,\"max\":60,"
    "\"doc\":\"how long code may take to stop when interrupted, before its interpreter is killed\"}}}}")
JIANMU_PLUGIN(JIANMU_ITEM(python_repl))
