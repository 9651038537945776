/* SPDX-License-Identifier: Apache-2.0
 * `jianmu tools` against `true`. Arguments: a plug-in directory, the jianmu program. */
#include "config.h"
#include "measure.h"
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 201

extern char **environ;

static double run(const char *const *argv)
{
    pid_t pid;
    int status = 1;
    posix_spawn_file_actions_t actions;
    double before = bench_now_us();
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)argv, environ) || waitpid(pid, &status, 0) < 0 || status)
        exit(1);
    posix_spawn_file_actions_destroy(&actions);
    return bench_now_us() - before;
}

int main(int argc, char **argv)
{
    static double figures[2][ROUNDS];
    if (argc != 3)
        return 2;
    const char *nothing[] = {"/bin/true", NULL}, *tools[] = {argv[2], "--plugin-dir", argv[1], "tools", NULL};
    struct row rows[] = {{"true", figures[0], 0, 0}, {"jianmu tools", figures[1], 0, 0}};
    for (int i = 0; i < ROUNDS; i++) {
        rows[0].us[i] = run(nothing);
        rows[1].us[i] = run(tools);
    }
    for (size_t i = 0; i < 2; i++)
        bench_settle(&rows[i], ROUNDS);
    bench_print(rows, 2, 0, "listing (us)", 1);
    printf("  over true: %.2f ms median, %.2f ms least\n", (rows[1].median - rows[0].median) / 1000,
           (rows[1].least - rows[0].least) / 1000);
    return 0;
}
