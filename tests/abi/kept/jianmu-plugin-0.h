/* SPDX-License-Identifier: Apache-2.0
 *
 * jianmu-plugin.h - for authors of tools, backends, guards and sinks. The manual is jianmu-plugin(3).
 *
 * A plug-in is a shared object with one exported function, written by JIANMU_PLUGIN. It has no undefined
 * symbol of ours: everything it may ask of the core stands in a table that it reaches through its context.
 * What a plug-in is (name, text, schema, flags) is a note in the file; listing reads it and runs nothing.
 *
 * Growth: every struct begins with its size, filled by a macro. New members come at the end; the side with
 * the shorter struct does not see them. Descriptors are const. The ABI number is 0 until the first release:
 * until then both sides must be of the same build.
 *
 * No memory changes owner across this border, except json_t references: arguments are borrowed, values
 * returned are new (jansson's words; the ABI of libjansson.so.4 is part of ours). Strings are UTF-8.
 */
#ifndef JIANMU_PLUGIN_H
#define JIANMU_PLUGIN_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define JIANMU_EXTERN extern "C"
extern "C" {
#else
#define JIANMU_EXTERN extern
#endif

#define JIANMU_ABI 0u

/* How dangerous a tool is. */
#define JIANMU_DANGER_READ 1u
#define JIANMU_DANGER_WRITE 2u
#define JIANMU_DANGER_DANGEROUS 3u

/* Flags; unknown bits in a description are ignored. */
#define JIANMU_READ_ONLY 0x1u    /* tool: changes nothing */
#define JIANMU_IDEMPOTENT 0x2u   /* tool: twice is as once */
#define JIANMU_OPEN_WORLD 0x4u   /* tool: reaches beyond this machine */
#define JIANMU_COOPERATES 0x8u   /* tool: looks at its deadline and returns when told to; sink: returns at once, so it needs no thread */
#define JIANMU_BY_PROCESS 0x10u  /* tool: all its work is done in processes of services->process, so all limits hold for it */
#define JIANMU_TRACES 0x40u      /* sink: has a use for trace ids */
#define JIANMU_ISOLATED 0x100u   /* backend: what runs in it cannot reach the host's files and processes */
#define JIANMU_IN_PROCESS 0x200u /* backend: tools run in the caller's process */

/* One call, seen from a plug-in. Valid until the callback returns; its functions may be called from
 * threads of the plug-in only while that callback runs. */
typedef struct jianmu_context {
    const struct jianmu_services *services;
} jianmu_context;

typedef struct jianmu_workdir jianmu_workdir;

/* A process to run. Zero it, set size, fill in what is needed. */
struct jianmu_process {
    uint32_t size, reserved;
    uint64_t flags;                 /* JIANMU_PROCESS_... */
    const char *const *argv;        /* NULL-terminated; argv[0] without "/" is looked for on PATH of env */
    const char *const *env;         /* "NAME=value", NULL-terminated; NULL: the environment of a call */
    const char *cwd;                /* absolute; NULL: the work directory of the call, else / */
    const void *input;              /* written to its standard input, then end of file */
    uint64_t input_len;
    double timeout_s;               /* own wall-clock limit beside the call's; 0: none */
    uint64_t capture;               /* bytes kept per stream; 0: the plan's */
};
#define JIANMU_PROCESS_INIT {(uint32_t)sizeof(struct jianmu_process), 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0}
#define JIANMU_PROCESS_PRIVATE 0x1u /* its output is the plug-in's to read, not the call's */

/* How it ended. Pointers are the core's, valid until the callback returns. */
struct jianmu_process_end {
    uint32_t size;
    uint32_t reason;                /* a jianmu_reason */
    int32_t exit_code;              /* 128+n after signal n */
    int32_t signal;
    const char *out, *err;          /* what was captured; a NUL stands behind it */
    uint64_t out_len, err_len, out_dropped, err_dropped;
};
#define JIANMU_PROCESS_END_INIT {(uint32_t)sizeof(struct jianmu_process_end), 0, 0, 0, NULL, NULL, 0, 0, 0, 0}

/* A process that is kept from one call to the next, of one tool, session and plan (or key). It is asked by one frame on
 * its standard input and answers by one with the same id on its standard output; what it prints to standard error is
 * output. Zero it, set size, fill in what is needed. */
struct jianmu_kept {
    uint32_t size, most;            /* most: of them at once for a tool; the longest idle one makes room; 0: any number */
    uint64_t flags;                 /* JIANMU_KEPT_RESET */
    const char *const *argv;
    const char *const *env;         /* NULL: the environment of a call, HOME and TMPDIR its own */
    const char *cwd;                /* NULL: a work directory of its own, removed with it */
    const char *key;                /* names it instead of the session; NULL: that does */
    double idle_s;                  /* unasked for so long it ends; 0: with the runner */
    double interrupt_s;             /* at deadline or cancel: SIGINT first, and so long to answer before it is killed */
};
#define JIANMU_KEPT_INIT {(uint32_t)sizeof(struct jianmu_kept), 0, 0, NULL, NULL, NULL, NULL, 0, 0}
#define JIANMU_KEPT_RESET 0x1u      /* the one that is there ends first; without a question that is all */

/* What came of a question. Pointers are the core's, valid until the callback returns. */
struct jianmu_kept_end {
    uint32_t size;
    uint32_t reason;                /* a jianmu_reason; exited: it answered, or ended by itself */
    uint64_t flags;                 /* JIANMU_KEPT_... */
    int32_t exit_code, signal;      /* of one that is gone */
    const char *answer, *out;       /* the frame's payload; output since the last answer; a NUL stands behind each */
    uint64_t answer_len, out_len, out_dropped;
};
#define JIANMU_KEPT_END_INIT {(uint32_t)sizeof(struct jianmu_kept_end), 0, 0, 0, 0, NULL, NULL, 0, 0, 0}
#define JIANMU_KEPT_ANSWERED 0x10u
#define JIANMU_KEPT_STARTED 0x20u   /* for this question */
#define JIANMU_KEPT_GONE 0x40u      /* the process, and all it knew; the next question starts a new one */
#define JIANMU_KEPT_UNASKED 0x80u   /* it was gone before: nobody got the question */
#define JIANMU_KEPT_IDLE 0x100u     /* gone, since it had been idle for idle_s */
#define JIANMU_KEPT_PUSHED_OUT 0x200u /* gone, since others needed its place */
#define JIANMU_KEPT_BROKEN 0x400u   /* gone, killed: what it wrote was no frame */

/* What the core does for plug-ins. Each takes the context of the running callback first. */
typedef struct jianmu_services {
    uint32_t size, abi;
    /* the call */
    int64_t (*deadline)(jianmu_context *ctx);  /* CLOCK_MONOTONIC nanoseconds; 0: none */
    int (*cancelled)(jianmu_context *ctx);     /* 0 go on; 1 cancelled or past the deadline: return soon */
    int (*poll_fd)(jianmu_context *ctx);       /* becomes readable when cancelled turns 1; borrowed; -1: cannot be had */
    json_t *(*setting)(jianmu_context *ctx, const char *name); /* value in the plan: "timeout_s", or a key of one's own; borrowed; NULL: unset */
    int (*directory)(jianmu_context *ctx, const char *which, int *writable); /* "workspace" or "skill": descriptor, borrowed; -1: none given */
    /* what comes back */
    int (*fail)(jianmu_context *ctx, int code, const char *format, ...)   /* "could not run": a jianmu_code and a sentence; returns -1 */
        __attribute__((format(printf, 3, 4)));
    int (*tool_failed)(jianmu_context *ctx, const char *format, ...)      /* the tool ran and failed; a value may be returned too; returns -1 */
        __attribute__((format(printf, 2, 3)));
    void (*log)(jianmu_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3))); /* event execution.log */
    void (*progress)(jianmu_context *ctx, double fraction, const char *text);  /* event execution.progress; 0..1, or below 0: unknown */
    void (*event)(jianmu_context *ctx, const char *name, json_t *payload);     /* event NAME, must hold a "."; payload borrowed */
    /* processes: within all limits of the plan, the whole tree killed at the end; 0 it ran, -1 it could not (fail was called) */
    int (*process)(jianmu_context *ctx, const struct jianmu_process *process, struct jianmu_process_end *end);
    /* jobs: a private directory with script and inputs in it; removed by workdir_close, or by the core after the callback */
    jianmu_workdir *(*workdir_open)(jianmu_context *ctx);
    const char *(*workdir_path)(jianmu_workdir *dir);     /* borrowed */
    int (*workdir_fd)(jianmu_workdir *dir);               /* borrowed */
    /* prefix + interpreter + script + arguments of the job; NULL-terminated, borrowed from dir; prefix may be NULL */
    const char *const *(*job_command)(jianmu_context *ctx, jianmu_workdir *dir, const char *const *prefix);
    int (*job_run)(jianmu_context *ctx, jianmu_workdir *dir, const char *const *command); /* process with the job's stdin and env, output to the result */
    int (*collect)(jianmu_context *ctx, jianmu_workdir *dir); /* new and changed files become the result's artifacts */
    void (*workdir_close)(jianmu_context *ctx, jianmu_workdir *dir);
    /* tools: the value, new; NULL: it failed, or could not run */
    json_t *(*call_tool)(jianmu_context *ctx, json_t *args);  /* in this process */
    json_t *(*host_tool)(jianmu_context *ctx, const char *const *prefix, json_t *args); /* in a tool host started through prefix */
    /* frames: what the core and a tool host say to each other over any pair of descriptors; 0, -1 failed, read: 1 end of file */
    int (*frame_write)(jianmu_context *ctx, int fd, uint32_t type, uint64_t id, const void *data, uint64_t len);
    int (*frame_read)(jianmu_context *ctx, int fd, uint32_t *type, uint64_t *id, void **data, uint64_t *len); /* *data: the context's, until it ends */
    /* said before a failure: nothing was done, and a repeat may do better */
    void (*transient)(jianmu_context *ctx);
    /* a question to a kept process, within the limits of the plan; 0 *end says what came of it, -1 it could not be asked */
    int (*ask)(jianmu_context *ctx, const struct jianmu_kept *kept, const void *question, uint64_t len, struct jianmu_kept_end *end);
} jianmu_services;

/* Every descriptor begins so. */
struct jianmu_head {
    uint32_t size, abi;
    uint32_t kind;                  /* JIANMU_KIND_... */
    uint32_t reserved;
    const void *note;
};
#define JIANMU_KIND_TOOL 1u
#define JIANMU_KIND_BACKEND 2u
#define JIANMU_KIND_GUARD 3u
#define JIANMU_KIND_SINK 4u

struct jianmu_tool_plugin {
    struct jianmu_head head;
    json_t *(*run)(void *instance, jianmu_context *ctx, json_t *args); /* value, new; NULL after tool_failed or fail; any thread */
    int (*open)(jianmu_context *ctx, void **instance); /* once per runner, before the first run; may be NULL */
    void (*close)(void *instance);                     /* may be NULL */
};

struct jianmu_backend_plugin {
    struct jianmu_head head;
    int (*open)(jianmu_context *ctx, void **instance); /* once per runner; no deadline; may be NULL */
    int (*run_job)(void *instance, jianmu_context *ctx);                    /* 0 ran, -1 could not; any thread */
    json_t *(*run_tool)(void *instance, jianmu_context *ctx, json_t *args); /* as the tool's run; any thread */
    int (*enforces)(void *instance, const char *limit); /* of the limits the note lists, is this one had here? NULL: all are */
    void (*close)(void *instance);                     /* may be NULL */
};

/* What a guard judges: one call, once. Borrowed, valid until decide returns. */
struct jianmu_guard_request {
    uint32_t size, danger;
    uint64_t flags;                 /* of the tool */
    uint64_t options;               /* JIANMU_GUARD_... */
    const char *tool, *mode;        /* tool: "job" for a job */
    const char *skill, *run_id;     /* NULL: none */
    json_t *args;                   /* NULL: a job */
    json_t *plan;                   /* {name: value} of all that is set */
    const char *over_max;           /* the plan is above a maximum: the sentence; refused whatever a guard says; NULL: it is not */
};
#define JIANMU_GUARD_EXPLAIN 0x1u   /* nothing will run: take nothing from rates and budgets */
#define JIANMU_GUARD_OPERATOR 0x2u  /* the operator's own act: nobody will be asked */

/* Zeroed but for size. What is left so denies. */
struct jianmu_guard_decision {
    uint32_t size, verdict;         /* JIANMU_ALLOW, ... */
    int32_t code;                   /* of a denial: JIANMU_DENIED, JIANMU_RATE_LIMITED or JIANMU_OVER_BUDGET */
    int32_t reserved;
    double retry_after_s;           /* 0: never, or not known */
    uint64_t ticket;                /* the guard's own, for again and settle */
    const char *rule, *source;      /* "no-secrets", "jianmu.yaml:12"; the guard's, valid until close; NULL: none */
    char message[512];
};
#define JIANMU_ALLOW 1u
#define JIANMU_CONFIRM 2u
#define JIANMU_DENY 3u

struct jianmu_guard_usage {
    uint32_t size, attempts;        /* 0: it never ran, all that decide took is given back */
    double wall_s, cpu_s;
    uint64_t output;                /* bytes */
};

struct jianmu_guard_plugin {
    struct jianmu_head head;
    int (*decide)(void *instance, jianmu_context *ctx, const struct jianmu_guard_request *request,
                  struct jianmu_guard_decision *decision); /* -1: denied; any thread */
    int (*open)(jianmu_context *ctx, void **instance);     /* once per runner; may be NULL */
    int (*again)(void *instance, uint64_t ticket);         /* one more attempt: 0 taken, -1 there shall be none; may be NULL */
    void (*settle)(void *instance, uint64_t ticket, const struct jianmu_guard_usage *usage); /* the end of what decide allowed; may be NULL */
    void (*close)(void *instance);                         /* may be NULL */
};

/* One event, redacted. Borrowed, valid until event returns. What else there is stands in the line. */
struct jianmu_sink_event {
    uint32_t size, kind;            /* JIANMU_EVENT_... */
    uint64_t call;                  /* the number of the call in its runner */
    const char *name;
    const char *line;               /* the whole event as one line of JSON; a newline stands at its end, a NUL behind it */
    uint64_t line_len;              /* with the newline */
    int64_t time_ns;                /* since 1970 */
    int64_t duration_ns;            /* of the call so far */
    uint8_t trace_id[16], span_id[8], parent_id[8]; /* trace_id all zero: not traced; parent_id all zero: a root */
    uint32_t trace_flags, reserved; /* 1: sampled */
    const char *tracestate;         /* NULL: none */
};
#define JIANMU_EVENT_STARTED 1u
#define JIANMU_EVENT_COMPLETED 2u
#define JIANMU_EVENT_FAILED 3u
#define JIANMU_EVENT_OTHER 4u

struct jianmu_sink_plugin {
    struct jianmu_head head;
    void (*event)(void *instance, const struct jianmu_sink_event *event); /* any thread; fails no call */
    int (*open)(jianmu_context *ctx, void **instance);     /* once per bus; outside of calls; may be NULL */
    void (*close)(void *instance);                         /* flushes; may be NULL */
    uint64_t (*lost)(void *instance);                      /* events it could not keep; any thread; may be NULL */
};

struct jianmu_plugin {
    uint32_t size, abi;
    uint32_t count, reserved;
    const struct jianmu_head *const *items;
};

/* ---- the note: type 0x4a4d0001, owner "jianmu" ---- */
#define JIANMU_NOTE_TYPE 0x4a4d0001u
struct jianmu_note_head {
    uint32_t abi, kind, danger;
    uint32_t name_len, text_len, json_len;           /* each with its NUL; the three strings follow */
    uint32_t flags, flags_high;                      /* 64 bits in two halves: a note is aligned to 4 bytes */
};
#define JIANMU_NOTE_(ID, KIND, DANGER, FLAGS, TEXT, JSON)                                                     \
    __attribute__((section(".note.jianmu"), used, aligned(4))) static const struct {                          \
        uint32_t namesz, descsz, type; char owner[8];                                                         \
        struct { struct jianmu_note_head head; char name[sizeof #ID]; char text[sizeof(TEXT)]; char json[sizeof(JSON)]; } d; \
    } jianmu_note_##ID = {7, (uint32_t)sizeof(jianmu_note_##ID.d), JIANMU_NOTE_TYPE, "jianmu",                 \
        {{JIANMU_ABI, KIND, DANGER, (uint32_t)sizeof #ID, (uint32_t)sizeof(TEXT), (uint32_t)sizeof(JSON),     \
          (uint32_t)((uint64_t)(FLAGS) & 0xffffffffu), (uint32_t)((uint64_t)(FLAGS) >> 32)}, #ID, TEXT, JSON}};

/* A tool named ID. SCHEMA: its parameters, one string literal of JSON Schema; "x-jianmu" in it may hold
 * {"defaults": {"timeout_s": 2}, "keys": {...}}. RUN as above; OPEN and CLOSE or NULL. No semicolon behind it. */
#define JIANMU_TOOL_WITH(ID, RUN, OPEN, CLOSE, DANGER, FLAGS, TEXT, SCHEMA)                                   \
    JIANMU_NOTE_(ID, JIANMU_KIND_TOOL, DANGER, FLAGS, TEXT, SCHEMA)                                           \
    static const struct jianmu_tool_plugin jianmu_item_##ID = {                                               \
        {(uint32_t)sizeof(struct jianmu_tool_plugin), JIANMU_ABI, JIANMU_KIND_TOOL, 0, &jianmu_note_##ID.d}, RUN, OPEN, CLOSE};
#define JIANMU_TOOL(ID, RUN, DANGER, FLAGS, TEXT, SCHEMA) JIANMU_TOOL_WITH(ID, RUN, NULL, NULL, DANGER, FLAGS, TEXT, SCHEMA)

/* A backend whose mode is ID, which must be the stem of the file's name. CONFIG: {"keys": {"name": {"type":
 * "str", "default": null}, ...}, "enforces": ["timeout_s", ...]}. */
#define JIANMU_BACKEND(ID, OPEN, RUN_JOB, RUN_TOOL, ENFORCES, CLOSE, FLAGS, TEXT, CONFIG)                     \
    JIANMU_NOTE_(ID, JIANMU_KIND_BACKEND, 0, FLAGS, TEXT, CONFIG)                                             \
    static const struct jianmu_backend_plugin jianmu_item_##ID = {                                            \
        {(uint32_t)sizeof(struct jianmu_backend_plugin), JIANMU_ABI, JIANMU_KIND_BACKEND, 0, &jianmu_note_##ID.d}, \
        OPEN, RUN_JOB, RUN_TOOL, ENFORCES, CLOSE};

/* A guard, a sink: ID must be the stem of the file's name. CONFIG: {"keys": {...}}, which stand below guard.ID. and events.ID. */
#define JIANMU_GUARD(ID, DECIDE, OPEN, AGAIN, SETTLE, CLOSE, FLAGS, TEXT, CONFIG)                             \
    JIANMU_NOTE_(ID, JIANMU_KIND_GUARD, 0, FLAGS, TEXT, CONFIG)                                               \
    static const struct jianmu_guard_plugin jianmu_item_##ID = {                                              \
        {(uint32_t)sizeof(struct jianmu_guard_plugin), JIANMU_ABI, JIANMU_KIND_GUARD, 0, &jianmu_note_##ID.d}, \
        DECIDE, OPEN, AGAIN, SETTLE, CLOSE};
#define JIANMU_SINK(ID, EVENT, OPEN, CLOSE, LOST, FLAGS, TEXT, CONFIG)                                              \
    JIANMU_NOTE_(ID, JIANMU_KIND_SINK, 0, FLAGS, TEXT, CONFIG)                                                \
    static const struct jianmu_sink_plugin jianmu_item_##ID = {                                               \
        {(uint32_t)sizeof(struct jianmu_sink_plugin), JIANMU_ABI, JIANMU_KIND_SINK, 0, &jianmu_note_##ID.d},  \
        EVENT, OPEN, CLOSE, LOST};

/* The exported function: lists the items of this file, as JIANMU_ITEM(ID) with commas between. */
#define JIANMU_ITEM(ID) &jianmu_item_##ID.head
#define JIANMU_PLUGIN(...)                                                                                    \
    JIANMU_EXTERN __attribute__((visibility("default"))) const struct jianmu_plugin *jianmu_plugin_entry(void); \
    const struct jianmu_plugin *jianmu_plugin_entry(void)                                                     \
    {                                                                                                         \
        static const struct jianmu_head *const items[] = {__VA_ARGS__};                                       \
        static const struct jianmu_plugin plugin = {(uint32_t)sizeof(struct jianmu_plugin), JIANMU_ABI,       \
            (uint32_t)(sizeof items / sizeof items[0]), 0, items};                                            \
        return &plugin;                                                                                       \
    }

#ifdef __cplusplus
}
#endif
#endif
