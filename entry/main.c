/* SPDX-License-Identifier: Apache-2.0
 * jianmu-tool-entry: loads tools outside the caller's process and answers framed requests. */
#include "config.h"
#include "serve.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int usage(void)
{
    fputs("usage: jianmu-tool-entry serve\n"
          "Answers framed requests on its standard streams; started by backends, not by people.\n"
          "See jianmu-tool-entry(8).\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--version")) {
        puts(JIANMU_VERSION);
        return 0;
    }
    if (argc != 2 || strcmp(argv[1], "serve"))
        return usage();
    /* What a tool prints goes to standard error: only frames leave by the descriptor that was standard output. */
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (out < 0 || in < 0 || null < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || dup2(null, STDIN_FILENO) < 0) {
        perror("jianmu-tool-entry");
        return 125;
    }
    close(null);
    return entry_serve(in, out);
}
