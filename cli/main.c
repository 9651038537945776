/* SPDX-License-Identifier: Apache-2.0
 * jianmu: the table of commands. */
#include "config.h"
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct cli_command cli_commands[] = {
    {"run", "TOOL [--args JSON|@FILE|-]", "call one tool",
     "Calls the tool with its arguments, a JSON object (default {}), and prints what it returns:\n"
     "a string as it is, anything else as compact JSON.\n",
     run_options, command_run},
    {"job", "SCRIPT|- [--input PATH[=REL]]... [--out DIR] [-- ARG...]", "run one script",
     "Runs the script in a private directory that is removed afterwards. Its output passes\n"
     "through as it comes; the files it leaves are written into DIR.\n",
     job_options, command_job},
    {"tools", "[lint]", "list the tools that can be called",
     "Lists every usable tool. None of their code is run. lint says what models and their APIs will\n"
     "stumble over in their specifications, and exits 1 where there is an error.\n",
     tools_options, command_tools},
    {"backends", "", "list the backends and what they can enforce",
     "Lists every usable backend. None of their code is run.\n", NULL, command_backends},
    {"plugins", "", "list all plug-ins, the refused ones with the reason",
     "Lists every plug-in file found: usable, shadowed by an earlier one, or refused and why.\n", NULL,
     command_plugins},
    {"explain", "TOOL|job | --keys", "print the settings of a call and where each came from",
     "Prints the plan of a call without running it: every value and the layer that set it.\n", explain_options,
     command_explain},
    {"validate", "SCHEMA [INSTANCE]...", "check values against a JSON Schema",
     "SCHEMA and each INSTANCE are files of JSON; one may be -, standard input. A line an INSTANCE.\n"
     "Exits 0 where all fit, 1 where one does not, 2 where the schema cannot be used.\n",
     NULL, command_validate},
    {"doctor", "", "prove what this host can enforce",
     "Tries each mechanism and says what was found and what to do about what is missing.\n"
     "Exits 1 where something needed is missing.\n",
     NULL, command_doctor},
    {"gc", "", "remove what a killed jianmu left behind",
     "Removes the job directories of dead processes and prints their paths.\n", NULL, command_gc},
    {0}};

/* A closed descriptor 0, 1 or 2 would be the next file opened. What fails as a closed one does takes its place. */
static bool guard_descriptors(void)
{
    bool stdin_closed = false;
    for (int fd = 0; fd < 3; fd++) {
        if (fcntl(fd, F_GETFD) >= 0)
            continue;
        stdin_closed |= fd == 0;
        int got = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
        if (got < 0)
            got = open("/", O_PATH | O_DIRECTORY);
        if (got >= 0 && got != fd) {
            dup2(got, fd);
            close(got);
        }
    }
    return stdin_closed;
}

int main(int argc, char **argv)
{
    struct cli cli = {.stdin_closed = guard_descriptors()};
    int status = cli_parse(&cli, argc, argv);
    if (!status) {
        if (cli_has(&cli, "help"))
            cli_help(&cli);
        else if (cli_has(&cli, "version"))
            out("jianmu %s\n", jianmu_version());
        else
            status = cli.command->run(&cli);
    }
    free(cli.given);
    free(cli.words);
    return out_finish(status);
}
