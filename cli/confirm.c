/* SPDX-License-Identifier: Apache-2.0
 * Confirmation: --yes, or a question on the terminal. Where nobody can be asked, nothing is assumed. */
#include "config.h"
#include "cli.h"
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* One line of the terminal; false: none came. Signals come to another thread, so no read is interrupted by them. */
static bool read_answer(char *text, size_t size)
{
    struct pollfd typed = {.fd = 0, .events = POLLIN};
    size_t n = 0;
    char c;
    for (;;) {
        if (signals_caught())
            return false;
        if (poll(&typed, 1, 100) <= 0)
            continue;
        if (read(0, &c, 1) != 1)
            return false;
        if (c == '\n')
            break;
        if (n + 1 < size)
            text[n++] = c;
    }
    text[n] = 0;
    return true;
}

static const char *member(const json_t *question, const char *name)
{
    const char *text = json_string_value(json_object_get(question, name));
    return text ? text : "";
}

static int ask(const json_t *question)
{
    char answer[16];
    char *arguments = jianmu_json_text(json_object_get(question, "arguments"), 0);
    if (!arguments)
        return -1;
    say("%s in mode %s: %s", member(question, "tool"), member(question, "mode"), member(question, "message"));
    say("arguments: %s", arguments);
    free(arguments);
    tcflush(0, TCIFLUSH); /* what was typed before the question is no answer to it */
    say("run it? y or n");
    if (!read_answer(answer, sizeof answer))
        return 0;
    return !strcmp(answer, "y") || !strcmp(answer, "yes");
}

static int confirm(void *data, const json_t *question)
{
    const struct cli *cli = data;
    if (cli_has(cli, "yes"))
        return 1;
    return !cli->stdin_closed && isatty(0) && isatty(2) ? ask(question) : -1;
}

void confirm_with(struct cli *cli, jianmu_executor *executor)
{
    jianmu_executor_set_confirm(executor, confirm, cli);
}
