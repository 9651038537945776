/* SPDX-License-Identifier: Apache-2.0
 *
 * jianmu.h - for callers of libjianmu: may this run, where, and within which limits.
 *
 *   call -> plan -> guard -> runner -> backend -> result
 *
 * Rules that hold for every function here (the whole of it: jianmu(3)):
 *   new       the caller frees it             borrowed  valid as long as its owner lives
 *   taken     the callee owns it from now on  (the word stands in the function's name)
 *   err       last, may be NULL; untouched on success; on failure a new jianmu_error
 *   failure   int functions return -1, pointer functions NULL; "could not run" is an error,
 *             "ran, and was stopped or failed" is a result with a reason
 *   threads   an object may be used by one thread at a time unless "any thread" is said
 *   units     seconds are double, sizes are bytes, strings are UTF-8; NULL is allowed wherever
 *             "or NULL" is said; every _free takes NULL
 */
#ifndef JIANMU_H
#define JIANMU_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The numbers of errors and reasons never change; new ones get new numbers. */
typedef enum jianmu_code {
    JIANMU_OK = 0,
    JIANMU_INVALID = 10,           /* an argument, a file or a value is wrong; the sentence names it */
    JIANMU_NOT_FOUND = 20,         /* no such tool, script, interpreter or backend */
    JIANMU_DENIED = 30,            /* refused by rule or by a maximum */
    JIANMU_NEEDS_CONFIRMATION = 31,
    JIANMU_RATE_LIMITED = 32,
    JIANMU_OVER_BUDGET = 33,
    JIANMU_BUSY = 40,
    JIANMU_UNAVAILABLE = 41,       /* the thing exists, and cannot be had now */
    JIANMU_IMAGE_MISSING = 42,
    JIANMU_UNSUPPORTED = 50,       /* a limit was asked for that this backend or host cannot enforce */
    JIANMU_SANDBOX_DEAD = 60,
    JIANMU_FORKED = 61,            /* a runner of the parent process was used in a forked child */
    JIANMU_INTERNAL = 70           /* out of memory, of descriptors, of disk: the sentence says which */
} jianmu_code;

typedef enum jianmu_reason {
    JIANMU_EXITED = 0,
    JIANMU_SIGNALLED = 10,
    JIANMU_TOOL_FAILED = 20,
    JIANMU_TIMEOUT = 30,
    JIANMU_CPU_TIME = 31,
    JIANMU_MEMORY = 40,
    JIANMU_PIDS = 41,
    JIANMU_OUTPUT = 42,
    JIANMU_FSIZE = 43,
    JIANMU_DISK = 44,
    JIANMU_CANCELLED = 50
} jianmu_reason;

typedef struct jianmu_error jianmu_error;             /* code and sentence */
typedef struct jianmu_config jianmu_config;           /* jianmu.yaml and the plug-ins it can reach */
typedef struct jianmu_constraints jianmu_constraints; /* what a caller asks for */
typedef struct jianmu_bus jianmu_bus;                 /* carries events to subscribers */
typedef struct jianmu_event jianmu_event;
typedef struct jianmu_backend jianmu_backend;         /* an opened sandbox */
typedef struct jianmu_runner jianmu_runner;
typedef struct jianmu_tool jianmu_tool;               /* a tool that a runner has loaded */
typedef struct jianmu_call jianmu_call;               /* what belongs to one call: ids, own timeout, cancel */
typedef struct jianmu_job jianmu_job;                 /* a script with its inputs */
typedef struct jianmu_result jianmu_result;
typedef struct jianmu_executor jianmu_executor;       /* judges, runs, repeats */
typedef struct jianmu_handle jianmu_handle;           /* a call in the background */
typedef struct jianmu_schema jianmu_schema;           /* a JSON Schema, compiled */

/* ---- version, names ---- */
#define JIANMU_VERSION "0.1.0"
const char *jianmu_version(void);
const char *jianmu_code_name(jianmu_code code);       /* "not_found"; borrowed, static */
const char *jianmu_reason_name(jianmu_reason reason); /* "timeout"; borrowed, static */

/* ---- errors: immutable once made, any thread ---- */
jianmu_code jianmu_error_code(const jianmu_error *err);    /* NULL: JIANMU_OK */
const char *jianmu_error_message(const jianmu_error *err); /* borrowed; NULL: "" */
json_t *jianmu_error_json(const jianmu_error *err);        /* new: {code, message, rule?, source?, retry_after_s?, complaints?} */
double jianmu_error_retry_after(const jianmu_error *err);  /* seconds; 0: not known */
const char *jianmu_error_confirmation(const jianmu_error *err); /* of needs_confirmation: the token; borrowed; NULL: none */
void jianmu_error_free(jianmu_error *err);

/* ---- config: immutable once loaded, then any thread ----
 * Create, add directories if need be, then load once. */
jianmu_config *jianmu_config_new(void);                    /* new; NULL only without memory */
/* One more plug-in directory, searched first; absolute path; its backends/ and tools/ are looked into. */
int jianmu_config_add_plugin_dir(jianmu_config *config, const char *dir, jianmu_error **err);
/* file: a path, or NULL for $JIANMU_CONFIG, ./jianmu.yaml, the user's, the system's, or none. */
int jianmu_config_load(jianmu_config *config, const char *file, jianmu_error **err);
/* The same from memory; name stands for the file in complaints. No file is looked for. */
int jianmu_config_load_text(jianmu_config *config, const char *text, size_t len, const char *name,
                            jianmu_error **err);
void jianmu_config_free(jianmu_config *config);
const char *jianmu_config_file(const jianmu_config *config); /* the file that was read; borrowed; NULL: none */
json_t *jianmu_config_plugins(const jianmu_config *config);  /* new: all found, refused ones with code and sentence */
json_t *jianmu_config_tools(const jianmu_config *config);    /* new: usable tools with schemas; runs none of their code */
json_t *jianmu_config_backends(const jianmu_config *config); /* new: usable backends and what each can enforce */
json_t *jianmu_config_keys(const jianmu_config *config);     /* new: every setting: key, type, default, where it may stand */

/* ---- schemas: immutable once made, any thread ---- */
/* Draft 2020-12, or draft-07 by "$schema"; object or boolean, copied; new. Nothing is fetched: a $ref leads into it. */
jianmu_schema *jianmu_schema_new(const json_t *schema, jianmu_error **err);
/* 1 good, 0 not, -1 cannot be judged within the bounds. *complaints (or NULL) on 0: new, at most five objects
 * {"at": JSON pointer, "expected", "found", "text": the sentence for a model; "named"}. value is borrowed. */
int jianmu_schema_check(const jianmu_schema *schema, const json_t *value, json_t **complaints, jianmu_error **err);
void jianmu_schema_free(jianmu_schema *schema);
/* Tools as jianmu_config_tools lists them, sorted, in a format: jianmu mcp openai openai-responses anthropic gemini; new.
 * *warnings (or NULL): new list of sentences. JIANMU_STRICT: "strict" where it can be claimed honestly. */
#define JIANMU_STRICT 1u
json_t *jianmu_tools_render(const json_t *tools, const char *format, unsigned flags, json_t **warnings,
                            jianmu_error **err);
json_t *jianmu_tools_lint(const json_t *tools, jianmu_error **err); /* new: list of {"tool", "level": error|warning, "at", "text"} */

/* ---- constraints ---- */
jianmu_constraints *jianmu_constraints_new(void);
/* From an object, flat or {"execution": {...}}; borrowed. Every bad field is an error that names it. */
jianmu_constraints *jianmu_constraints_from_json(const json_t *object, jianmu_error **err);
/* One field from text, read as on the command line: ("timeout_s", "2m"), ("memory", "512m"). */
int jianmu_constraints_set(jianmu_constraints *c, const char *field, const char *value, jianmu_error **err);
int jianmu_constraints_set_json(jianmu_constraints *c, const char *field, const json_t *value, jianmu_error **err);
void jianmu_constraints_free(jianmu_constraints *c);

/* ---- events ----
 * started, then exactly one of completed or failed for every call. Subscribers run on the thread of the call, in the order
 * they came; they must return quickly, throw nothing and not free the bus. */
typedef void (*jianmu_subscriber)(void *data, const jianmu_event *event);
jianmu_bus *jianmu_bus_new(void);
int jianmu_bus_subscribe(jianmu_bus *bus, jianmu_subscriber fn, void *data, jianmu_error **err); /* any thread */
/* On a thread of its own: it gets copies, loses what it has no time for, and is abandoned once one event takes it longer
 * than patience seconds; so long _free waits for it. */
int jianmu_bus_subscribe_apart(jianmu_bus *bus, jianmu_subscriber fn, void *data, double patience, jianmu_error **err);
/* The sink plug-in of that name; settings: object or NULL, above those of the config (or NULL). One that is open with the
 * same settings is not opened again. Any thread. */
int jianmu_bus_open_sink(jianmu_bus *bus, const jianmu_config *config, const char *name, const json_t *settings,
                         jianmu_error **err);
json_t *jianmu_bus_report(const jianmu_bus *bus);          /* new: [{"sink", "lost", "abandoned"}]; any thread */
void jianmu_bus_free(jianmu_bus *bus);                     /* after every runner that uses it; flushes the sinks */
const char *jianmu_event_name(const jianmu_event *event);  /* "execution.started"; borrowed */
const char *jianmu_event_tool(const jianmu_event *event);  /* "job" for jobs; borrowed */
uint64_t jianmu_event_call(const jianmu_event *event);     /* the number of the call in its runner */
jianmu_reason jianmu_event_reason(const jianmu_event *event); /* of completed and failed */
json_t *jianmu_event_json(const jianmu_event *event);      /* new: the whole event, NULL without memory */

/* ---- runner: any thread; one runner serves many ---- */
/* Picks and opens the backend; further ones, for what tools.<glob>.mode places elsewhere, when they are needed. All
 * arguments borrowed, all but err may be NULL; config and bus must outlive the runner. builtin_names: the tools
 * offered, names or patterns (NULL-terminated; NULL: all). skill_dir: its tools/ come beside them, and before. */
jianmu_runner *jianmu_runner_from_constraints(const jianmu_constraints *constraints, const jianmu_config *config,
                                              const char *const *builtin_names, const char *skill_dir,
                                              jianmu_bus *bus, jianmu_error **err);
/* Opens the backend of that mode alone; new. */
jianmu_backend *jianmu_backend_open(const jianmu_config *config, const char *mode, jianmu_error **err);
void jianmu_backend_close(jianmu_backend *backend);
/* A runner around an opened backend, and no other; the backend is taken, also on failure. */
jianmu_runner *jianmu_runner_take_backend(jianmu_backend *backend, const jianmu_constraints *constraints,
                                          jianmu_bus *bus, jianmu_error **err);
const char *jianmu_runner_mode(const jianmu_runner *runner);  /* of what nothing places elsewhere; borrowed */
/* 1 the backend of that mode enforces that limit here, 0 it does not, -1 no such limit (field names of constraints).
 * capture and max_output, which the core holds itself: 1. Opens that backend if need be. */
int jianmu_runner_enforces(jianmu_runner *runner, const char *limit);
/* The tools of this runner, those of its skill before built-in ones: name, description, parameters, danger, flags, mode,
 * path, custom; new; runs none of their code. */
json_t *jianmu_runner_tools(jianmu_runner *runner, jianmu_error **err);
/* The plan of a tool, or of jobs with "job": each value with its layer; new. call or NULL. */
json_t *jianmu_runner_explain(jianmu_runner *runner, const char *tool, const jianmu_call *call, jianmu_error **err);
/* After the last call has returned. In a forked child it frees memory and touches nothing of the parent's. */
void jianmu_runner_free(jianmu_runner *runner);

/* ---- one call ---- */
jianmu_call *jianmu_call_new(void);                           /* may serve many calls, one at a time */
int jianmu_call_set_timeout(jianmu_call *call, double seconds, jianmu_error **err); /* > 0; goes before all other layers */
/* Ids for events; copied; each may be NULL. */
int jianmu_call_set_ids(jianmu_call *call, const char *run_id, const char *node_name, const char *tool_call_id,
                        jianmu_error **err);
/* 1: the operator's own act: what is denied stays denied, nobody is asked to confirm. */
void jianmu_call_set_operator(jianmu_call *call, int operator_act);
/* The token of an error needs_confirmation, for the next execution that needs one; copied; NULL: none. */
int jianmu_call_confirm(jianmu_call *call, const char *token, jianmu_error **err);
/* The caller's span (W3C; copied), whose child the call becomes; tracestate or NULL. NULL: that of $TRACEPARENT, if any. */
int jianmu_call_set_trace(jianmu_call *call, const char *traceparent, const char *tracestate, jianmu_error **err);
/* Whose state tools that keep some go on with; at most 255 bytes, copied. NULL: the one of all calls without an id. */
int jianmu_call_set_session(jianmu_call *call, const char *id, jianmu_error **err);
void jianmu_call_cancel(jianmu_call *call);                   /* any thread; sticks until _reset */
void jianmu_call_reset(jianmu_call *call);
void jianmu_call_free(jianmu_call *call);                     /* after the call has returned */

/* ---- tools ---- */
/* Loads the tool on first use. Borrowed from the runner. */
const jianmu_tool *jianmu_runner_tool(jianmu_runner *runner, const char *name, jianmu_error **err);
/* args: object or NULL for {}; borrowed; immutable while the call runs. call or NULL.
 * *result: NULL, and a new one comes back; or one of an earlier call, which is used again. */
int jianmu_run_tool(jianmu_runner *runner, const jianmu_tool *tool, json_t *args, jianmu_call *call,
                    jianmu_result **result, jianmu_error **err);

/* ---- jobs ---- */
jianmu_job *jianmu_job_new(const char *script, size_t len);   /* copied */
/* Relative path, "/" between names; absolute, "..", empty, a name twice, the script's own: errors. Copied. */
int jianmu_job_add_input(jianmu_job *job, const char *path, const void *data, size_t len, jianmu_error **err);
int jianmu_job_add_arg(jianmu_job *job, const char *arg, jianmu_error **err);
int jianmu_job_set_language(jianmu_job *job, const char *language, jianmu_error **err); /* "python", "sh", ...; else the #! line, else python */
int jianmu_job_set_stdin(jianmu_job *job, const void *data, size_t len, jianmu_error **err); /* copied; default: end of file */
int jianmu_job_set_stdin_fd(jianmu_job *job, int fd, jianmu_error **err);  /* borrowed until the call returns */
/* Raw output as it comes, on the thread of the call. stream is 1 or 2. */
typedef void (*jianmu_output)(void *data, int stream, const void *bytes, size_t len);
void jianmu_job_set_output(jianmu_job *job, jianmu_output fn, void *data);
void jianmu_job_free(jianmu_job *job);
int jianmu_run_job(jianmu_runner *runner, const jianmu_job *job, jianmu_call *call, jianmu_result **result,
                   jianmu_error **err);

/* ---- executor: any thread; one serves many ----
 * What agents' calls go through: arguments against the schema, guards, confirmation, attempts, and every call has its
 * two events. runner: borrowed; it must outlive the executor. */
jianmu_executor *jianmu_executor_new(jianmu_runner *runner, jianmu_error **err);
void jianmu_executor_free(jianmu_executor *executor);         /* after the last call and the last handle */
/* 1 yes, 0 no, -1 nobody can be asked. question: {tool, arguments, mode, danger, rule, source, message, expires_s};
 * borrowed. Runs on the thread of the call, several at once. */
typedef int (*jianmu_confirm)(void *data, const json_t *question);
void jianmu_executor_set_confirm(jianmu_executor *executor, jianmu_confirm fn, void *data); /* before any call */
/* As jianmu_run_tool and jianmu_run_job; a name that is not there is an error of the call. */
int jianmu_execute_tool(jianmu_executor *executor, const char *name, json_t *args, jianmu_call *call,
                        jianmu_result **result, jianmu_error **err);
int jianmu_execute_job(jianmu_executor *executor, const jianmu_job *job, jianmu_call *call, jianmu_result **result,
                       jianmu_error **err);

/* As jianmu_runner_explain, and "guard": {verdict, code, rule, source, message, retry_after_s, confirmed}, "arguments":
 * what is wrong with them (then the verdict is "none"), or null; uses nothing up. */
json_t *jianmu_executor_explain(jianmu_executor *executor, const char *tool, json_t *args, const jianmu_call *call,
                                jianmu_error **err);

/* ---- calls in the background: a handle may be used by any thread but freed by one ----
 * args and call are copied (a cancel of call does not reach it); job is borrowed until the end. */
jianmu_handle *jianmu_start_tool(jianmu_executor *executor, const char *name, json_t *args, const jianmu_call *call,
                                 jianmu_error **err);
jianmu_handle *jianmu_start_job(jianmu_executor *executor, const jianmu_job *job, const jianmu_call *call,
                                jianmu_error **err);
int jianmu_handle_poll(const jianmu_handle *handle);          /* 1 it has ended, 0 not yet */
/* 1 not within so many seconds (below 0: for ever); else 0 or -1 as of the call, *result new; handed over once. */
int jianmu_handle_wait(jianmu_handle *handle, double seconds, jianmu_result **result, jianmu_error **err);
/* Becomes readable with output to read and at the end; borrowed, only to be polled. */
int jianmu_handle_fd(jianmu_handle *handle, jianmu_error **err);
/* Output of a job as it comes; 0: nothing now. Of each stream the last 32 KiB wait; *dropped (or NULL): lost so far. */
size_t jianmu_handle_read(jianmu_handle *handle, int stream, void *bytes, size_t len, uint64_t *dropped);
void jianmu_handle_cancel(jianmu_handle *handle);
void jianmu_handle_free(jianmu_handle *handle);               /* cancels what still runs, and waits for it */

/* ---- results: all that is returned is borrowed, valid until the result is used again or freed ---- */
jianmu_reason jianmu_result_reason(const jianmu_result *r);
const char *jianmu_result_message(const jianmu_result *r);    /* one sentence; "" where there is nothing to say */
json_t *jianmu_result_value(const jianmu_result *r);          /* of a tool; NULL: none */
uint64_t jianmu_result_value_dropped(const jianmu_result *r); /* characters that max_output took from it */
int jianmu_result_exit_code(const jianmu_result *r);          /* 128+n after signal n; tools: 0, or 1 where it failed */
int jianmu_result_signal(const jianmu_result *r);             /* 0: none */
int jianmu_result_abandoned(const jianmu_result *r);          /* 1: its thread still runs in this process */
unsigned jianmu_result_attempts(const jianmu_result *r);      /* how often it was tried */
/* stream 1 or 2. text: valid UTF-8, bad bytes replaced; raw: the bytes; dropped: what capture took from the middle. */
const char *jianmu_result_text(jianmu_result *r, int stream, size_t *len);
const void *jianmu_result_raw(const jianmu_result *r, int stream, size_t *len);
uint64_t jianmu_result_dropped(const jianmu_result *r, int stream);
size_t jianmu_result_artifacts(const jianmu_result *r);       /* sorted by path, as bytes */
typedef struct jianmu_artifact {
    const char *path;                                         /* relative; may hold bytes that are not UTF-8 */
    const void *data;
    uint64_t size;
    uint32_t mode;                                            /* permission bits without set-id and sticky */
} jianmu_artifact;
int jianmu_result_artifact(const jianmu_result *r, size_t i, jianmu_artifact *artifact);
int jianmu_result_artifact_sha256(const jianmu_result *r, size_t i, char hex[65]);
json_t *jianmu_result_skipped(const jianmu_result *r);         /* array of {"path", "why"}: what was not taken; NULL: nothing */
json_t *jianmu_result_json(jianmu_result *r);                 /* new: everything, artifacts without their bytes */
double jianmu_result_seconds(const jianmu_result *r, const char *what); /* wall user system queue start run collect; -1: not measured */
uint64_t jianmu_result_peak_memory(const jianmu_result *r);   /* bytes of the largest process; 0: not measured */
void jianmu_result_free(jianmu_result *r);

/* Any value as JSON text: reals as Python prints them, whatever the locale; indent 0: one line. new: free(); NULL without memory. */
char *jianmu_json_text(const json_t *value, int indent);

/* ---- what a dead process of ours may have left ---- */
int jianmu_gc(const jianmu_config *config, json_t **removed, jianmu_error **err); /* *removed: new list of paths */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
