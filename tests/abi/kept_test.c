/* SPDX-License-Identifier: Apache-2.0
 * Plug-ins built from a kept header, called by today's core through a table of services that is filled in by
 * today's header: each slot answers differently, so one that moved is seen. */
#include "config.h"
#include "plugin/registry.h"
#include "tests/plugins/kit.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char heard[1024]; /* what came in, in order */

__attribute__((format(printf, 1, 0)))
static void hear(const char *format, va_list ap)
{
    size_t len = strlen(heard);
    vsnprintf(heard + len, sizeof heard - len, format, ap);
    strncat(heard, "; ", sizeof heard - strlen(heard) - 1);
}

static int64_t deadline(jianmu_context *ctx)
{
    (void)ctx;
    return 123456789012345;
}

static int cancelled(jianmu_context *ctx)
{
    (void)ctx;
    return 1;
}

static int poll_fd(jianmu_context *ctx)
{
    (void)ctx;
    return 12;
}

static json_t *setting(jianmu_context *ctx, const char *name)
{
    static json_t *value;
    (void)ctx;
    if (!value)
        value = json_string(name);
    return value;
}

static int directory(jianmu_context *ctx, const char *which, int *writable)
{
    (void)ctx;
    *writable = 1;
    return (int)strlen(which);
}

__attribute__((format(printf, 3, 4))) static int fail_(jianmu_context *ctx, int code, const char *format, ...)
{
    va_list ap;
    (void)ctx;
    va_start(ap, format);
    hear(format, ap);
    va_end(ap);
    return -code;
}

__attribute__((format(printf, 2, 3))) static int tool_failed(jianmu_context *ctx, const char *format, ...)
{
    va_list ap;
    (void)ctx;
    va_start(ap, format);
    hear(format, ap);
    va_end(ap);
    return -2;
}

__attribute__((format(printf, 2, 3))) static void log_(jianmu_context *ctx, const char *format, ...)
{
    va_list ap;
    (void)ctx;
    va_start(ap, format);
    hear(format, ap);
    va_end(ap);
}

static void progress(jianmu_context *ctx, double fraction, const char *text)
{
    log_(ctx, "progress %.2f %s", fraction, text);
}

static void event(jianmu_context *ctx, const char *name, json_t *payload)
{
    log_(ctx, "event %s %zu", name, json_object_size(payload));
}

static int process(jianmu_context *ctx, const struct jianmu_process *p, struct jianmu_process_end *end)
{
    log_(ctx, "process %d %s %s %.*s %g %d", p->flags == JIANMU_PROCESS_PRIVATE && !p->env, p->argv[1], p->cwd,
         (int)p->input_len, (const char *)p->input, p->timeout_s, (int)p->capture);
    end->reason = 30;
    end->exit_code = 137;
    end->signal = 9;
    end->out = "out";
    end->out_len = 3;
    end->err = "errs";
    end->err_len = 4;
    end->out_dropped = 5;
    end->err_dropped = 6;
    return 0;
}

struct jianmu_workdir {
    const char *command[3];
};

static jianmu_workdir *workdir_open(jianmu_context *ctx)
{
    static jianmu_workdir dir;
    (void)ctx;
    return &dir;
}

static const char *workdir_path(jianmu_workdir *dir)
{
    return dir ? "/work/dir" : NULL;
}

static int workdir_fd(jianmu_workdir *dir)
{
    return dir ? 21 : -1;
}

static const char *const *job_command(jianmu_context *ctx, jianmu_workdir *dir, const char *const *prefix)
{
    (void)ctx;
    dir->command[0] = prefix[0];
    return dir->command;
}

static int job_run(jianmu_context *ctx, jianmu_workdir *dir, const char *const *command)
{
    (void)ctx;
    return command == dir->command ? 31 : -1;
}

static int collect(jianmu_context *ctx, jianmu_workdir *dir)
{
    (void)ctx;
    return dir ? 32 : -1;
}

static void workdir_close(jianmu_context *ctx, jianmu_workdir *dir)
{
    log_(ctx, "closed %d", dir != NULL);
}

static json_t *call_tool(jianmu_context *ctx, json_t *args)
{
    (void)ctx;
    return json_pack("[s, O]", "call", args);
}

static json_t *host_tool(jianmu_context *ctx, const char *const *prefix, json_t *args)
{
    (void)ctx;
    return json_pack("[s, O]", prefix[0], args);
}

static int frame_write(jianmu_context *ctx, int fd, uint32_t type, uint64_t id, const void *data, uint64_t len)
{
    log_(ctx, "frame %d %u %d %.*s", fd, (unsigned)type, (int)id, (int)len, (const char *)data);
    return 41;
}

static int frame_read(jianmu_context *ctx, int fd, uint32_t *type, uint64_t *id, void **data, uint64_t *len)
{
    static char text[] = "frame";
    (void)ctx;
    *type = (uint32_t)fd;
    *id = 0x100000002;
    *data = text;
    *len = 5;
    return 1;
}

static void transient(jianmu_context *ctx)
{
    log_(ctx, "transient");
}

static const jianmu_services services = {
    .size = sizeof services, .abi = JIANMU_ABI, .deadline = deadline, .cancelled = cancelled, .poll_fd = poll_fd,
    .setting = setting, .directory = directory, .fail = fail_, .tool_failed = tool_failed, .log = log_,
    .progress = progress, .event = event, .process = process, .workdir_open = workdir_open,
    .workdir_path = workdir_path, .workdir_fd = workdir_fd, .job_command = job_command, .job_run = job_run,
    .collect = collect, .workdir_close = workdir_close, .call_tool = call_tool, .host_tool = host_tool,
    .frame_write = frame_write, .frame_read = frame_read, .transient = transient,
};

static jm_registry *scan(const char *dir)
{
    kit_put_from(dir, "abi/.libs/kept_tool.so", "tools/kept_tool.so");
    kit_put_from(dir, "abi/.libs/kept_backend.so", "backends/kept_backend.so");
    return kit_scan(dir);
}

static void test_tool(void **state)
{
    static const char want[] =
        "{\"fail\":-50,\"tool_failed\":-2,\"call\":{\"deadline\":123456789012345,\"cancelled\":1,\"poll_fd\":12,"
        "\"setting\":\"timeout_s\",\"directory\":9,\"writable\":1},\"process\":[30,137,9,\"out\",\"errs\",5,6],"
        "\"workdir\":[\"/work/dir\",21,\"setpriv\",31,32],\"frames\":[41,1,9,4294967298,\"frame\"],"
        "\"call_tool\":[\"call\",{\"a\":1}],\"host_tool\":[\"chroot\",{\"a\":1}]}";
    jianmu_context ctx = {&services};
    jm_registry *registry = scan(*state);
    struct jm_item *item = kit_load(registry, JIANMU_KIND_TOOL, "kept_tool");
    assert_int_equal(item->danger, JIANMU_DANGER_WRITE);
    assert_true(item->flags == (JIANMU_READ_ONLY | JIANMU_IDEMPOTENT | JIANMU_OPEN_WORLD | JIANMU_COOPERATES));
    assert_string_equal(item->text, "Kept for ever.");
    void *instance = NULL;
    assert_int_equal(item->plugin.tool.open(&ctx, &instance), 0);
    assert_non_null(instance);
    json_t *args = json_pack("{s:i}", "a", 1);
    heard[0] = 0;
    json_t *value = item->plugin.tool.run(instance, &ctx, args);
    char *text = json_dumps(value, JSON_COMPACT);
    assert_string_equal(text, want);
    assert_string_equal(heard, "log 1; progress 0.50 half; event kept.event 1; no way; bad 2; "
                        "process 1 %s /cwd input 1.5 77; closed 1; frame 9 3 4 abc; ");
    free(text);
    json_decref(value);
    json_decref(args);
    item->plugin.tool.close(instance);
    jm_registry_free(registry);
}

/* The table of an older core ends before what this plug-in wants. */
static void test_shorter_services(void **state)
{
    jianmu_services older = services;
    jianmu_context ctx = {&older};
    jm_registry *registry = scan(*state);
    struct jm_item *item = kit_load(registry, JIANMU_KIND_TOOL, "kept_tool");
    older.size = offsetof(jianmu_services, frame_read);
    older.frame_read = NULL;
    heard[0] = 0;
    assert_null(item->plugin.tool.run(NULL, &ctx, NULL));
    assert_string_equal(heard, "this core is older than kept_tool; ");
    jm_registry_free(registry);
}

static void test_backend(void **state)
{
    jianmu_context ctx = {&services};
    jm_registry *registry = scan(*state);
    struct jm_item *item = kit_load(registry, JIANMU_KIND_BACKEND, "kept_backend");
    const struct jianmu_backend_plugin *backend = &item->plugin.backend;
    assert_true(item->flags == JIANMU_IN_PROCESS);
    json_t *depth = json_object_get(json_object_get(json_object_get(item->json, "keys"), "depth"), "default");
    assert_int_equal(json_integer_value(depth), 3);
    void *instance = NULL;
    assert_int_equal(backend->open(&ctx, &instance), 0);
    heard[0] = 0;
    assert_int_equal(backend->run_job(instance, &ctx), 7);
    assert_string_equal(heard, "job in kept; ");
    json_t *args = json_object(), *value = backend->run_tool(instance, &ctx, args);
    assert_string_equal(json_string_value(json_array_get(value, 0)), "kept");
    assert_ptr_equal(json_array_get(value, 1), args);
    assert_int_equal(backend->enforces(instance, "timeout_s"), 1);
    assert_int_equal(backend->enforces(instance, "memory"), 0);
    backend->close(instance);
    assert_string_equal(instance, "Kept");
    json_decref(value);
    json_decref(args);
    jm_registry_free(registry);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, kit_make_dir, kit_remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_tool), TEST(test_shorter_services), TEST(test_backend)};
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(setting(NULL, ""));
    return rc;
}
