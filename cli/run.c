/* SPDX-License-Identifier: Apache-2.0
 * jianmu run: one tool call. */
#include "config.h"
#include "cli.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const struct cli_option run_options[] = {
    {"args", "JSON|@FILE|-", NULL, "arguments as a JSON object, from a file, or from standard input"}, {0}};

static void print_terminal(void *data, const void *bytes, size_t len)
{
    (void)data;
    out_bytes(bytes, len);
}

static int print_value(const json_t *value)
{
    const char *text = json_string_value(value);
    if (!value)
        return 0;
    if (!text)
        return put_json(value);
    size_t len = json_string_length(value);
    if (isatty(1)) {
        struct terminal terminal = {.lines = true, .put = print_terminal};
        terminal_feed(&terminal, text, len);
        terminal_end(&terminal);
    } else {
        out_bytes(text, len);
    }
    out("\n");
    return 0;
}

static int print_result(const struct cli *cli, jianmu_result *result)
{
    int status = result_status(result), bad;
    if (cli->json) {
        json_t *object = jianmu_result_json(result);
        bad = put_json(object);
        json_decref(object);
    } else {
        bad = print_value(jianmu_result_value(result));
    }
    if (*jianmu_result_message(result))
        say("%s", jianmu_result_message(result));
    if (!cli->json && jianmu_result_value_dropped(result))
        say("%" PRIu64 " characters of the value were left out (max_output)", jianmu_result_value_dropped(result));
    return bad ? bad : status;
}

static int call_tool(struct cli *cli, struct session *s, const char *name, json_t *args)
{
    jianmu_error *err = NULL;
    jianmu_result *result = NULL;
    say_notice(s, name);
    bool ran = !jianmu_execute_tool(s->executor, name, args, s->call, &result, &err);
    int status = ran ? print_result(cli, result) : report_error(cli, err, EXIT_NOT_FOUND);
    if (ran && jianmu_result_abandoned(result)) /* its thread still runs: nothing may be torn down under it */
        _exit(out_finish(status));
    jianmu_result_free(result);
    return status;
}

int command_run(struct cli *cli)
{
    struct session s = {0};
    int status = 0;
    if (cli->word_count != 1)
        return cli_usage(cli, cli->word_count ? "run takes one TOOL; its arguments go into --args"
                                              : "run needs a TOOL");
    const char *text = cli_value(cli, "args");
    json_t *args = text ? json_argument("args", text, &status) : NULL;
    if (!status)
        status = session_open(cli, &s);
    if (!status)
        status = call_tool(cli, &s, cli->words[0], args);
    session_close(&s);
    json_decref(args);
    return status;
}
