/* SPDX-License-Identifier: Apache-2.0
 * A job through the API against the same script under a bare python3, and `jianmu job` against both.
 * Arguments: a plug-in directory, the jianmu program. */
#include "config.h"
#include "jianmu.h"
#include "measure.h"
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 101

extern char **environ;
static jianmu_error *err;
static const char script[] = "open('a.txt', 'w').write('x' * 1000)\nprint('hello')\n";

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, jianmu_error_message(err));
    exit(1);
}

/* posix_spawn, two pipes, read to the end, wait. */
static double spawn(const char *const *argv)
{
    int out[2], error[2], status;
    char buffer[4096];
    pid_t pid;
    double before = bench_now_us();
    posix_spawn_file_actions_t actions;
    if (pipe(out) || pipe(error))
        die("pipe");
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 2; i++) {
        int *p = i ? error : out;
        posix_spawn_file_actions_adddup2(&actions, p[1], i + 1);
        posix_spawn_file_actions_addclose(&actions, p[0]);
        posix_spawn_file_actions_addclose(&actions, p[1]);
    }
    if (posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)argv, environ))
        die("posix_spawn");
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(error[1]);
    while (read(out[0], buffer, sizeof buffer) > 0)
        ;
    while (read(error[0], buffer, sizeof buffer) > 0)
        ;
    waitpid(pid, &status, 0);
    close(out[0]);
    close(error[0]);
    if (status)
        die("the script failed");
    return bench_now_us() - before;
}

int main(int argc, char **argv)
{
    static double figures[3][ROUNDS];
    char dir[] = "/dev/shm/jm_bench_XXXXXX", file[64];
    jianmu_result *result = NULL;
    jianmu_config *config = jianmu_config_new();
    if (argc != 3 || !mkdtemp(dir) || chdir(dir) || jianmu_config_add_plugin_dir(config, argv[1], &err) ||
        jianmu_config_load_text(config, "", 0, "none", &err))
        die("usage: job PLUGIN-DIRECTORY JIANMU");
    const char *python = access("/usr/bin/python3", X_OK) ? "python3" : "/usr/bin/python3";
    setenv("PATH", "/usr/bin:/bin", 1);
    snprintf(file, sizeof file, "%s/main.py", dir);
    FILE *f = fopen(file, "w");
    if (!f || fwrite(script, 1, sizeof script - 1, f) != sizeof script - 1 || fclose(f))
        die(file);
    jianmu_runner *runner = jianmu_runner_from_constraints(NULL, config, NULL, NULL, NULL, &err);
    jianmu_job *job = jianmu_job_new(script, sizeof script - 1);
    const char *bare[] = {python, "-u", "-E", "-s", "-B", file, NULL};
    const char *command[] = {argv[2], "--plugin-dir", argv[1], "job", file, NULL};
    struct row rows[] = {{"bare python3 -u -E -s -B, two pipes", figures[0], 0, 0},
                         {"the same as a job through the API", figures[1], 0, 0},
                         {"the same as `jianmu job`, whole command", figures[2], 0, 0}};
    for (int i = 0; i < ROUNDS; i++) {
        rows[0].us[i] = spawn(bare);
        double before = bench_now_us();
        if (!runner || jianmu_run_job(runner, job, NULL, &result, &err))
            die("job");
        rows[1].us[i] = bench_now_us() - before;
        if (jianmu_result_artifacts(result) != 1)
            die("artifacts");
        rows[2].us[i] = spawn(command);
    }
    for (size_t i = 0; i < 3; i++)
        bench_settle(&rows[i], ROUNDS);
    bench_print(rows, 3, 0, "a script that writes a file and prints (us)", 1);
    unlink("a.txt");
    unlink(file);
    return rmdir(dir);
}
