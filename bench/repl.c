/* SPDX-License-Identifier: Apache-2.0
 * A later call of a python_repl session against a bare Python that evaluates lines from a pipe.
 * Argument: a plug-in directory. */
#include "config.h"
#include "jianmu.h"
#include "measure.h"
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 101
#define CALLS 50

static jianmu_error *err;
static const char loop[] = "import sys\nfor line in sys.stdin:\n    print(repr(eval(line)), flush=True)\n";

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, jianmu_error_message(err));
    exit(1);
}

struct bare {
    pid_t pid;
    int to, from;
};

static void start(struct bare *b)
{
    int in[2], out[2];
    char *const argv[] = {(char *)"python3", (char *)"-I", (char *)"-c", (char *)(uintptr_t)loop, NULL};
    char *const env[] = {(char *)"PATH=/usr/bin:/bin", NULL};
    posix_spawn_file_actions_t actions;
    if (pipe(in) || pipe(out))
        die("pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_addclose(&actions, in[1]);
    posix_spawn_file_actions_addclose(&actions, out[0]);
    if (posix_spawnp(&b->pid, "python3", &actions, NULL, argv, env))
        die("python3");
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    b->to = in[1];
    b->from = out[0];
}

static void ask(const struct bare *b, const char *line)
{
    char answer[64];
    if (write(b->to, line, strlen(line)) < 0 || read(b->from, answer, sizeof answer) <= 0)
        die("the bare loop");
}

int main(int argc, char **argv)
{
    static double figures[3][ROUNDS];
    struct bare bare;
    jianmu_result *result = NULL;
    jianmu_config *config = jianmu_config_new();
    setenv("PATH", "/usr/bin:/bin", 1);
    if (argc != 2 || jianmu_config_add_plugin_dir(config, argv[1], &err) ||
        jianmu_config_load_text(config, "", 0, "none", &err))
        die("usage: repl PLUGIN-DIRECTORY");
    jianmu_runner *runner = jianmu_runner_from_constraints(NULL, config, NULL, NULL, NULL, &err);
    const jianmu_tool *repl = runner ? jianmu_runner_tool(runner, "python_repl", &err) : NULL;
    const jianmu_tool *fresh = repl ? jianmu_runner_tool(runner, "run_python", &err) : NULL;
    json_t *args = json_pack("{s:s}", "code", "6 * 7");
    struct row rows[] = {{"bare python3, eval of a line from a pipe", figures[0], 0, 0},
                         {"python_repl, from the second call on", figures[1], 0, 0},
                         {"run_python, a new process for each", figures[2], 0, 0}};
    start(&bare);
    ask(&bare, "6 * 7\n");
    if (!fresh || jianmu_run_tool(runner, repl, args, NULL, &result, &err))
        die("python_repl");
    for (int i = 0; i < ROUNDS; i++) {
        double before = bench_now_us();
        for (int k = 0; k < CALLS; k++)
            ask(&bare, "6 * 7\n");
        rows[0].us[i] = (bench_now_us() - before) / CALLS;
        before = bench_now_us();
        for (int k = 0; k < CALLS; k++)
            if (jianmu_run_tool(runner, repl, args, NULL, &result, &err))
                die("python_repl");
        rows[1].us[i] = (bench_now_us() - before) / CALLS;
        if (strcmp(json_string_value(jianmu_result_value(result)), "42") != 0)
            die("another answer");
        before = bench_now_us();
        if (jianmu_run_tool(runner, fresh, args, NULL, &result, &err))
            die("run_python");
        rows[2].us[i] = bench_now_us() - before;
    }
    for (size_t i = 0; i < 3; i++)
        bench_settle(&rows[i], ROUNDS);
    bench_print(rows, 3, 0, "the value of 6 * 7 from Python (us)", 1);
    close(bare.to);
    waitpid(bare.pid, NULL, 0);
    jianmu_runner_free(runner);
    return 0;
}
