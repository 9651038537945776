/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "cli.h"
#include <stdio.h>
#include <string.h>

static void put_options(const char *title, const struct cli_option *o)
{
    out("\n%s\n", title);
    for (; o->name; o++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->arg ? " " : "", o->arg ? o->arg : "");
        out("  %-26s %s\n", left, o->help);
    }
}

static void help_all(void)
{
    out("usage: jianmu [OPTION]... COMMAND [OPTION]... [WORD]... [-- ARG...]\n"
           "\n"
           "Runs a tool or a script of an agent through a backend, within limits.\n"
           "\n"
           "commands:\n");
    for (const struct cli_command *c = cli_commands; c->name; c++)
        out("  %-10s %s\n", c->name, c->summary);
    put_options("options of every command:", cli_common);
    out("\n'jianmu COMMAND --help' shows a command's own options; all is told in jianmu(1).\n");
}

void cli_help(const struct cli *cli)
{
    const struct cli_command *c = cli->command;
    if (!c) {
        help_all();
        return;
    }
    out("usage: jianmu %s [OPTION]...%s%s\n\n%s", c->name, *c->synopsis ? " " : "", c->synopsis, c->text);
    if (c->options)
        put_options("its own options:", c->options);
    put_options("options of every command:", cli_common);
}
