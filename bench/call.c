/* SPDX-License-Identifier: Apache-2.0
 * A tool call in the caller's process against calling the tool's function directly. Argument: a plug-in directory. */
#include "config.h"
#include "jianmu-plugin.h"
#include "jianmu.h"
#include "measure.h"
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 301
#define CALLS 2000
#define SLOW_CALLS 50
#define FILE_CALLS 200
#define ROWS 6

static jianmu_error *err;

static void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, jianmu_error_message(err));
    exit(1);
}

static void count(void *data, const jianmu_event *event)
{
    *(uint64_t *)data += jianmu_event_call(event);
}

/* A bus with that sink, which writes to a file that goes with this program. */
static jianmu_bus *bus_with(const jianmu_config *config, const char *sink, char path[64])
{
    jianmu_bus *bus = jianmu_bus_new();
    strcpy(path, "/tmp/jianmu-bench-XXXXXX");
    int fd = mkstemp(path);
    json_t *settings = json_pack("{s:s}", "file", path);
    if (fd < 0 || !bus || jianmu_bus_open_sink(bus, config, sink, settings, &err))
        die(sink);
    json_decref(settings);
    close(fd);
    return bus;
}

struct lane {
    jianmu_runner *runner;
    const jianmu_tool *tool;
    jianmu_call *call;
    jianmu_result *result;
};

static void open_lane(struct lane *l, jianmu_config *config, const char *tool, jianmu_bus *bus, double timeout)
{
    l->runner = jianmu_runner_from_constraints(NULL, config, NULL, NULL, bus, &err);
    l->tool = l->runner ? jianmu_runner_tool(l->runner, tool, &err) : NULL;
    if (!l->tool)
        die(tool);
    l->call = timeout > 0 ? jianmu_call_new() : NULL;
    if (timeout > 0 && jianmu_call_set_timeout(l->call, timeout, &err))
        die("timeout");
}

static double run_lane(struct lane *l, json_t *args, int calls)
{
    double before = bench_now_us();
    for (int i = 0; i < calls; i++)
        if (jianmu_run_tool(l->runner, l->tool, args, l->call, &l->result, &err))
            die("call");
    return (bench_now_us() - before) / calls;
}

/* The tool's own function, out of the same file. */
static json_t *(*direct(const char *dir))(void *, jianmu_context *, json_t *)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/tools/calltools.so", dir);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct jianmu_plugin *(*entry)(void) = NULL;
    if (handle)
        *(void **)&entry = dlsym(handle, "jianmu_plugin_entry");
    if (!entry)
        die(dlerror());
    return ((const struct jianmu_tool_plugin *)entry()->items[0])->run;
}

int main(int argc, char **argv)
{
    static double figures[ROWS][ROUNDS];
    struct row rows[] = {{"direct call of the tool's function", figures[0], 0, 0},
                         {"through the runner, nothing on", figures[1], 0, 0},
                         {"cooperating, a deadline and two struct events", figures[2], 0, 0},
                         {"not cooperating, with a deadline (another thread)", figures[3], 0, 0},
                         {"cooperating, a deadline, the sink jsonl", figures[4], 0, 0},
                         {"cooperating, a deadline, the sink otlp (file)", figures[5], 0, 0}};
    char lines[64], spans[64];
    jianmu_config *config = jianmu_config_new();
    jianmu_bus *bus = jianmu_bus_new();
    uint64_t events = 0;
    if (argc != 2 || jianmu_config_add_plugin_dir(config, argv[1], &err) ||
        jianmu_config_load_text(config, "", 0, "none", &err) || jianmu_bus_subscribe(bus, count, &events, &err))
        die("usage: call PLUGIN-DIRECTORY");
    json_t *(*run)(void *, jianmu_context *, json_t *) = direct(argv[1]);
    struct lane plain = {0}, full = {0}, foreign = {0}, written = {0}, traced = {0};
    open_lane(&plain, config, "echo_it", NULL, 0);
    open_lane(&full, config, "echo_it", bus, 5);
    open_lane(&foreign, config, "uncooperative", NULL, 5);
    jianmu_bus *jsonl = bus_with(config, "jsonl", lines), *otlp = bus_with(config, "otlp", spans);
    open_lane(&written, config, "echo_it", jsonl, 5);
    open_lane(&traced, config, "echo_it", otlp, 5);
    json_t *args = json_pack("{s:s, s:i}", "path", "/tmp/x", "n", 3), *small = json_object();
    for (int i = 0; i < ROUNDS; i++) {
        double before = bench_now_us();
        for (int k = 0; k < CALLS; k++)
            json_decref(run(NULL, NULL, args));
        rows[0].us[i] = (bench_now_us() - before) / CALLS;
        rows[1].us[i] = run_lane(&plain, args, CALLS);
        rows[2].us[i] = run_lane(&full, args, CALLS);
        rows[3].us[i] = run_lane(&foreign, small, SLOW_CALLS);
        rows[4].us[i] = run_lane(&written, args, FILE_CALLS);
        rows[5].us[i] = run_lane(&traced, args, FILE_CALLS);
    }
    for (size_t i = 0; i < ROWS; i++)
        bench_settle(&rows[i], ROUNDS);
    bench_print(rows, ROWS, 0, "tool call in process (ns)", 1000);
    for (size_t i = 1; i < ROWS; i++)
        printf("  over direct: %-45s %10.1f %10.1f ns\n", rows[i].name, (rows[i].median - rows[0].median) * 1000,
               (rows[i].least - rows[0].least) * 1000);
    unlink(lines);
    unlink(spans);
    return 0;
}
