/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "common/beneath.h"
#include "common/tool.h"
#include <fcntl.h>
#include <stdio.h>

/* One stream into the value, at most max_output characters of it; what is missing is counted beside it. */
static int add_stream(json_t *value, const char *name, const char *count, const char *bytes, size_t len,
                      uint64_t uncaptured, uint64_t most)
{
    uint64_t dropped = 0;
    if (json_object_set_new(value, name, tool_text(bytes, len, most, &dropped)))
        return -1;
    dropped += uncaptured;
    return dropped ? json_object_set_new(value, count, json_integer((json_int_t)dropped)) : 0;
}

static json_t *answer(jianmu_context *ctx, const struct jianmu_process_end *end)
{
    char text[64];
    const char *said = tool_end_text(ctx, end, text);
    uint64_t most = tool_max_output(ctx);
    json_t *value = said ? tool_error(ctx, "%s", said) : json_object();
    if (value && add_stream(value, "stdout", "stdout_dropped", end->out, end->out_len, end->out_dropped, most) == 0 &&
        add_stream(value, "stderr", "stderr_dropped", end->err, end->err_len, end->err_dropped, most) == 0 &&
        json_object_set_new(value, "exit_code", json_integer(end->exit_code)) == 0)
        return value;
    json_decref(value);
    return tool_memory(ctx);
}

/* The directory to run in: cwd, else the workspace, else the core's choice. -1: *failed is the answer; else a
 * descriptor to close, or -2 for none. */
static int open_cwd(jianmu_context *ctx, const char *cwd, json_t **failed)
{
    struct stat st;
    int unused;
    if (!cwd && ctx->services->directory(ctx, "workspace", &unused) < 0)
        return -2;
    return tool_open(ctx, cwd ? cwd : ".", O_RDONLY | O_DIRECTORY, &st, failed);
}

static json_t *run_shell(void *instance, jianmu_context *ctx, json_t *args)
{
    static const struct tool_arg known[] = {{"command", TOOL_STRING, true}, {"cwd", TOOL_STRING, false}};
    struct jianmu_process process = JIANMU_PROCESS_INIT;
    struct jianmu_process_end end = JIANMU_PROCESS_END_INIT;
    char path[64];
    json_t *failed = NULL;
    (void)instance;
    if (tool_args(ctx, args, known, jm_countof(known)))
        return NULL;
    json_t *command = json_object_get(args, "command");
    if (json_string_length(command) >= 128u * 1024)
        return tool_error(ctx, "the command is longer than 131071 bytes: put it into a file and run that");
    const char *const argv[] = {"/bin/sh", "-c", json_string_value(command), NULL};
    jm_auto_fd int cwd = open_cwd(ctx, json_string_value(json_object_get(args, "cwd")), &failed);
    if (cwd == -1)
        return failed;
    snprintf(path, sizeof path, "/proc/self/fd/%d", cwd);
    process.flags = JIANMU_PROCESS_PRIVATE;
    process.argv = argv;
    process.cwd = cwd >= 0 ? path : NULL;
    return ctx->services->process(ctx, &process, &end) ? NULL : answer(ctx, &end);
}

JIANMU_TOOL(run_shell, run_shell, JIANMU_DANGER_DANGEROUS, JIANMU_COOPERATES | JIANMU_BY_PROCESS,
    "Runs a command with /bin/sh -c in the workspace and answers stdout, stderr and exit_code. Each call is a new "
    "shell: variables and cd do not last. There is no terminal and no input; the environment is nearly empty. "
    "When the command ends or its time is over, every process it started is killed, background ones too. Long "
    "output is cut in its middle, and stdout_dropped or stderr_dropped says by how much.",
    "{\"type\":\"object\",\"properties\":{"
    "\"command\":{\"type\":\"string\",\"description\":\"the command line, such as ls -l | wc -l\"},"
    "\"cwd\":{\"type\":\"string\",\"description\":\"where to start, by default the workspace\"}},"
    "\"required\":[\"command\"],\"additionalProperties\":false,"
    "\"x-jianmu\":{\"defaults\":{\"timeout_s\":30.0,\"max_output\":10000}}}")
JIANMU_PLUGIN(JIANMU_ITEM(run_shell))
