/* SPDX-License-Identifier: Apache-2.0
 * Prints sizes, offsets and numbers that plug-ins and callers are compiled with, to compare with layout.txt. */
#include "jianmu-plugin.h"
#include "jianmu.h"
#include <stddef.h>
#include <stdio.h>

#define S(TYPE) printf("%s size %zu align %zu\n", #TYPE, sizeof(TYPE), _Alignof(TYPE));
#define M(TYPE, MEMBER) printf("%s.%s %zu %zu\n", #TYPE, #MEMBER, offsetof(TYPE, MEMBER), sizeof(((TYPE *)0)->MEMBER));
#define N(NAME) printf("%s %lld\n", #NAME, (long long)(NAME));

typedef struct jianmu_process process;
typedef struct jianmu_process_end process_end;
typedef struct jianmu_kept kept;
typedef struct jianmu_kept_end kept_end;
typedef struct jianmu_head head;
typedef struct jianmu_tool_plugin tool_plugin;
typedef struct jianmu_backend_plugin backend_plugin;
typedef struct jianmu_guard_plugin guard_plugin;
typedef struct jianmu_guard_request guard_request;
typedef struct jianmu_guard_decision guard_decision;
typedef struct jianmu_guard_usage guard_usage;
typedef struct jianmu_sink_plugin sink_plugin;
typedef struct jianmu_sink_event sink_event;
typedef struct jianmu_plugin plugin;
typedef struct jianmu_note_head note_head;

static void descriptors(void)
{
    S(head) M(head, size) M(head, abi) M(head, kind) M(head, reserved) M(head, note)
    S(tool_plugin) M(tool_plugin, head) M(tool_plugin, run) M(tool_plugin, open) M(tool_plugin, close)
    S(backend_plugin) M(backend_plugin, head) M(backend_plugin, open) M(backend_plugin, run_job)
    M(backend_plugin, run_tool) M(backend_plugin, enforces) M(backend_plugin, close)
    S(guard_plugin) M(guard_plugin, head) M(guard_plugin, decide) M(guard_plugin, open) M(guard_plugin, again)
    M(guard_plugin, settle) M(guard_plugin, close)
    S(sink_plugin) M(sink_plugin, head) M(sink_plugin, event) M(sink_plugin, open) M(sink_plugin, close)
    M(sink_plugin, lost)
    S(plugin) M(plugin, size) M(plugin, abi) M(plugin, count) M(plugin, reserved) M(plugin, items)
    S(note_head) M(note_head, abi) M(note_head, kind) M(note_head, danger) M(note_head, name_len)
    M(note_head, text_len) M(note_head, json_len) M(note_head, flags) M(note_head, flags_high)
}

static void requests(void)
{
    S(jianmu_context) M(jianmu_context, services)
    S(process) M(process, size) M(process, reserved) M(process, flags) M(process, argv) M(process, env)
    M(process, cwd) M(process, input) M(process, input_len) M(process, timeout_s) M(process, capture)
    S(process_end) M(process_end, size) M(process_end, reason) M(process_end, exit_code) M(process_end, signal)
    M(process_end, out) M(process_end, err) M(process_end, out_len) M(process_end, err_len)
    M(process_end, out_dropped) M(process_end, err_dropped)
    S(kept) M(kept, size) M(kept, most) M(kept, flags) M(kept, argv) M(kept, env) M(kept, cwd) M(kept, key)
    M(kept, idle_s) M(kept, interrupt_s)
    S(kept_end) M(kept_end, size) M(kept_end, reason) M(kept_end, flags) M(kept_end, exit_code) M(kept_end, signal)
    M(kept_end, answer) M(kept_end, out) M(kept_end, answer_len) M(kept_end, out_len) M(kept_end, out_dropped)
    S(guard_request) M(guard_request, size) M(guard_request, danger) M(guard_request, flags) M(guard_request, options)
    M(guard_request, tool) M(guard_request, mode) M(guard_request, skill) M(guard_request, run_id)
    M(guard_request, args) M(guard_request, plan) M(guard_request, over_max)
    S(guard_decision) M(guard_decision, size) M(guard_decision, verdict) M(guard_decision, code)
    M(guard_decision, reserved) M(guard_decision, retry_after_s) M(guard_decision, ticket) M(guard_decision, rule)
    M(guard_decision, source) M(guard_decision, message)
    S(guard_usage) M(guard_usage, size) M(guard_usage, attempts) M(guard_usage, wall_s) M(guard_usage, cpu_s)
    M(guard_usage, output)
    S(sink_event) M(sink_event, size) M(sink_event, kind) M(sink_event, call) M(sink_event, name) M(sink_event, line)
    M(sink_event, line_len) M(sink_event, time_ns) M(sink_event, duration_ns) M(sink_event, trace_id)
    M(sink_event, span_id) M(sink_event, parent_id) M(sink_event, trace_flags) M(sink_event, reserved)
    M(sink_event, tracestate)
    S(jianmu_artifact) M(jianmu_artifact, path) M(jianmu_artifact, data) M(jianmu_artifact, size)
    M(jianmu_artifact, mode)
}

static void services(void)
{
    S(jianmu_services)
    M(jianmu_services, size) M(jianmu_services, abi) M(jianmu_services, deadline) M(jianmu_services, cancelled)
    M(jianmu_services, poll_fd) M(jianmu_services, setting) M(jianmu_services, directory) M(jianmu_services, fail)
    M(jianmu_services, tool_failed) M(jianmu_services, log) M(jianmu_services, progress) M(jianmu_services, event)
    M(jianmu_services, process) M(jianmu_services, workdir_open) M(jianmu_services, workdir_path)
    M(jianmu_services, workdir_fd) M(jianmu_services, job_command) M(jianmu_services, job_run)
    M(jianmu_services, collect) M(jianmu_services, workdir_close) M(jianmu_services, call_tool)
    M(jianmu_services, host_tool) M(jianmu_services, frame_write) M(jianmu_services, frame_read)
    M(jianmu_services, transient)
    M(jianmu_services, ask)
}

static void numbers(void)
{
    N(JIANMU_DANGER_READ) N(JIANMU_DANGER_WRITE) N(JIANMU_DANGER_DANGEROUS)
    N(JIANMU_READ_ONLY) N(JIANMU_IDEMPOTENT) N(JIANMU_OPEN_WORLD) N(JIANMU_COOPERATES) N(JIANMU_BY_PROCESS) N(JIANMU_TRACES)
    N(JIANMU_ISOLATED) N(JIANMU_IN_PROCESS) N(JIANMU_PROCESS_PRIVATE) N(JIANMU_STRICT)
    N(JIANMU_KEPT_RESET) N(JIANMU_KEPT_ANSWERED) N(JIANMU_KEPT_STARTED) N(JIANMU_KEPT_GONE) N(JIANMU_KEPT_UNASKED)
    N(JIANMU_KEPT_IDLE) N(JIANMU_KEPT_PUSHED_OUT) N(JIANMU_KEPT_BROKEN)
    N(JIANMU_GUARD_EXPLAIN) N(JIANMU_GUARD_OPERATOR) N(JIANMU_ALLOW) N(JIANMU_CONFIRM) N(JIANMU_DENY)
    N(JIANMU_EVENT_STARTED) N(JIANMU_EVENT_COMPLETED) N(JIANMU_EVENT_FAILED) N(JIANMU_EVENT_OTHER)
    N(JIANMU_KIND_TOOL) N(JIANMU_KIND_BACKEND) N(JIANMU_KIND_GUARD) N(JIANMU_KIND_SINK) N(JIANMU_NOTE_TYPE)
    N(JIANMU_OK) N(JIANMU_INVALID) N(JIANMU_NOT_FOUND) N(JIANMU_DENIED) N(JIANMU_NEEDS_CONFIRMATION)
    N(JIANMU_RATE_LIMITED) N(JIANMU_OVER_BUDGET) N(JIANMU_BUSY) N(JIANMU_UNAVAILABLE) N(JIANMU_IMAGE_MISSING)
    N(JIANMU_UNSUPPORTED) N(JIANMU_SANDBOX_DEAD) N(JIANMU_FORKED) N(JIANMU_INTERNAL)
    N(JIANMU_EXITED) N(JIANMU_SIGNALLED) N(JIANMU_TOOL_FAILED) N(JIANMU_TIMEOUT) N(JIANMU_CPU_TIME)
    N(JIANMU_MEMORY) N(JIANMU_PIDS) N(JIANMU_OUTPUT) N(JIANMU_FSIZE) N(JIANMU_DISK) N(JIANMU_CANCELLED)
}

int main(void)
{
    descriptors();
    requests();
    services();
    numbers();
    return 0;
}
