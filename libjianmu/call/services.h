/* SPDX-License-Identifier: Apache-2.0
 * The table that plug-ins get. Its functions stand in services.c, service_process.c, service_job.c, service_tool.c. */
#ifndef JM_SERVICES_H
#define JM_SERVICES_H

#include "call/context.h"

extern const struct jianmu_services jm_services;

/* of the call */
int64_t jm_service_deadline(jianmu_context *ctx);
int jm_service_cancelled(jianmu_context *ctx);
int jm_service_poll_fd(jianmu_context *ctx);
json_t *jm_service_setting(jianmu_context *ctx, const char *name);
size_t jm_grant_length(const char *grant, int *writable); /* "DIR", "DIR:ro", "DIR:rw": the length of DIR */
int jm_service_directory(jianmu_context *ctx, const char *which, int *writable);
bool jm_service_past(const jm_context *ctx); /* past its deadline */
/* processes */
int jm_service_process(jianmu_context *ctx, const struct jianmu_process *process, struct jianmu_process_end *end);
/* jobs */
jianmu_workdir *jm_service_workdir_open(jianmu_context *ctx);
const char *jm_service_workdir_path(jianmu_workdir *dir);
int jm_service_workdir_fd(jianmu_workdir *dir);
const char *const *jm_service_job_command(jianmu_context *ctx, jianmu_workdir *dir, const char *const *prefix);
int jm_service_job_run(jianmu_context *ctx, jianmu_workdir *dir, const char *const *command);
int jm_service_collect(jianmu_context *ctx, jianmu_workdir *dir);
void jm_service_workdir_close(jianmu_context *ctx, jianmu_workdir *dir);
/* tools */
json_t *jm_service_call_tool(jianmu_context *ctx, json_t *args);
json_t *jm_service_host_tool(jianmu_context *ctx, const char *const *prefix, json_t *args);
/* kept processes */
int jm_service_ask(jianmu_context *ctx, const struct jianmu_kept *kept, const void *question, uint64_t len,
                   struct jianmu_kept_end *end);
/* frames */
int jm_service_frame_write(jianmu_context *ctx, int fd, uint32_t type, uint64_t id, const void *data, uint64_t len);
int jm_service_frame_read(jianmu_context *ctx, int fd, uint32_t *type, uint64_t *id, void **data, uint64_t *len);

/* An event that came from a tool host or a kept process, as text: it may say no more than a plug-in may, and not without
 * end. */
void jm_call_forward(jm_context *ctx, const char *text, size_t len);
/* Says how many were dropped, if any. */
void jm_call_forwarded(jm_context *ctx);
/* The environment of a process of this call (D6): new, NULL-terminated, one allocation a string. trace: NULL for
 * one that outlives the call. */
char **jm_environment_new(jm_context *ctx, const struct jm_workdir *dir, const struct jm_trace *trace,
                          jianmu_error **err);
void jm_environment_free(char **env);
/* The program argv[0] stands for: python3 is the configured or the real one; new. */
char *jm_interpreter_path(jm_context *ctx, const char *program, jianmu_error **err);
/* argv with the real interpreter first: only the array and *program are new. */
const char **jm_command_resolve(jm_context *ctx, const char *const *argv, char **program, jianmu_error **err);
/* What the plan sets, put into a process: limits, deadline, cancel, capture. Limits hold for the call: what earlier
 * processes of it have used is taken off. -1: one cannot be had. */
int jm_process_limits(jm_context *ctx, struct jm_process_spec *spec, jianmu_error **err);
/* After jm_process_run: may it have started? These are its errors before the start; after others nobody knows. */
void jm_process_tried(jm_context *ctx, int status, const jianmu_error *err);
/* Usage of a process added to the call's. */
void jm_process_account(jm_context *ctx, const struct jm_process_result *process);

#endif
