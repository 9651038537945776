/* SPDX-License-Identifier: Apache-2.0
 * A tool in the caller's process through the whole executor: schema, guard, events as lines of JSON in a file; and what
 * a million such calls leave in memory. Arguments: plug-in directories. */
#include "config.h"
#include "jianmu.h"
#include "measure.h"
#include <malloc.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 101
#define CALLS 500
#define MILLION 1000000

static jianmu_error *err;

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, jianmu_error_message(err));
    exit(1);
}

struct lane {
    jianmu_bus *bus;
    jianmu_runner *runner;
    jianmu_executor *executor;
    jianmu_result *result;
};

static void open_lane(struct lane *l, jianmu_config *config, const char *file)
{
    json_t *settings = file ? json_pack("{s:s}", "file", file) : NULL;
    l->bus = file ? jianmu_bus_new() : NULL;
    if (file && jianmu_bus_open_sink(l->bus, config, "jsonl", settings, &err))
        die(file);
    json_decref(settings);
    l->runner = jianmu_runner_from_constraints(NULL, config, NULL, NULL, l->bus, &err);
    l->executor = l->runner ? jianmu_executor_new(l->runner, &err) : NULL;
    if (!l->executor)
        die("executor");
}

static double run_lane(struct lane *l, json_t *args, int calls)
{
    double before = bench_now_us();
    for (int i = 0; i < calls; i++)
        if (jianmu_execute_tool(l->executor, "echoes", args, NULL, &l->result, &err))
            die("call");
    return (bench_now_us() - before) / calls;
}

static double run_direct(struct lane *l, json_t *args, int calls)
{
    const jianmu_tool *tool = jianmu_runner_tool(l->runner, "echoes", &err);
    double before = bench_now_us();
    for (int i = 0; i < calls; i++)
        if (jianmu_run_tool(l->runner, tool, args, NULL, &l->result, &err))
            die("call");
    return (bench_now_us() - before) / calls;
}

int main(int argc, char **argv)
{
    static double figures[4][ROUNDS];
    struct row rows[] = {{"through the runner, nothing on", figures[0], 0, 0},
                         {"through the executor: schema and guard", figures[1], 0, 0},
                         {"the runner, with the sink jsonl", figures[2], 0, 0},
                         {"the executor, with the sink jsonl", figures[3], 0, 0}};
    char file[] = "/tmp/jm_bench_events_XXXXXX";
    int fd = mkstemp(file);
    jianmu_config *config = jianmu_config_new();
    for (int i = 1; i < argc; i++)
        if (jianmu_config_add_plugin_dir(config, argv[i], &err))
            die(argv[i]);
    if (argc < 2 || fd < 0 || jianmu_config_load_text(config, "", 0, "none", &err))
        die("usage: executor PLUGIN-DIRECTORY...");
    struct lane quiet = {0}, loud = {0};
    open_lane(&quiet, config, NULL);
    open_lane(&loud, config, file);
    json_t *args = json_pack("{s:s, s:i, s:b, s:[s, s], s:f}", "path", "/tmp/some/where/a/file.txt", "n", 3, "deep", 1,
                             "names", "one", "two", "share", 0.5);
    for (int i = 0; i < ROUNDS; i++) {
        rows[0].us[i] = run_direct(&quiet, args, CALLS);
        rows[1].us[i] = run_lane(&quiet, args, CALLS);
        rows[2].us[i] = run_direct(&loud, args, CALLS);
        rows[3].us[i] = run_lane(&loud, args, CALLS);
        if (ftruncate(fd, 0))
            die(file);
    }
    for (size_t i = 0; i < 4; i++)
        bench_settle(&rows[i], ROUNDS);
    bench_print(rows, 4, 0, "tool call through the executor (us)", 1);
    size_t before = mallinfo2().uordblks;
    run_lane(&quiet, args, MILLION);
    printf("  memory held after a million calls: %+zd bytes\n", (ssize_t)(mallinfo2().uordblks - before));
    unlink(file);
    return 0;
}
