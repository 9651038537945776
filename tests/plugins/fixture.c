/* SPDX-License-Identifier: Apache-2.0
 * One plug-in, built once for each way of being wrong (and a few of being right): see fragment.am. Each
 * creates the file $JIANMU_TEST_MARK.NAME when its code runs, so a test can see that none did. */
#include <jianmu-plugin.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined JSON_BROKEN
#define SCHEMA "{\"type\":\n }"
#elif defined JSON_LIST
#define SCHEMA "[1]"
#elif defined JSON_TWICE
#define SCHEMA "{\"a\": 1, \"a\": 2}"
#elif defined JSON_DEEP
#define A8 "[[[[[[[["
#define SCHEMA "{\"[\": \"[\", \"a\":" A8 A8 A8 A8 A8 A8 A8 A8 A8
#elif defined TEXT_BAD
#define TEXT "caf\xe9"
#endif
#ifndef NAME
#define NAME good
#endif
#ifndef VALUE
#define VALUE 42
#endif
#ifndef TEXT
#define TEXT "Gives a number."
#endif
#ifndef SCHEMA
#define SCHEMA "{\"type\": \"object\"}"
#endif
#ifndef DANGER
#define DANGER JIANMU_DANGER_READ
#endif
#ifndef RUN
#define RUN run
#endif
#ifndef RUN_JOB
#define RUN_JOB run_job
#endif
#ifndef RUN_TOOL
#define RUN_TOOL run
#endif
#ifndef JUDGE
#define JUDGE judge
#endif
#ifndef TAKE
#define TAKE take
#endif
#ifdef ABI
#undef JIANMU_ABI
#define JIANMU_ABI ABI
#endif
#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define TOOL(...) JIANMU_TOOL_WITH(__VA_ARGS__)
#define BACKEND_(...) JIANMU_BACKEND(__VA_ARGS__)
#define GUARD_(...) JIANMU_GUARD(__VA_ARGS__)
#define SINK_(...) JIANMU_SINK(__VA_ARGS__)
#define JUST_NOTE(...) JIANMU_NOTE_(__VA_ARGS__)
#define ITEM_(x) JIANMU_ITEM(x)
#define ITEM(x) ITEM_(x)
#define NOTE__(x) jianmu_note_##x
#define NOTE_(x) NOTE__(x)

__attribute__((constructor)) static void leave_mark(void)
{
    const char *mark = getenv("JIANMU_TEST_MARK");
    char path[4096];
    if (!mark)
        return;
    snprintf(path, sizeof path, "%s.%s", mark, STRING(NAME));
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

#ifdef NEEDS_OURS
extern const char *jianmu_version(void);
#endif
#ifdef NEEDS_OTHER
extern const char *nowhere_to_be_found(void);
#endif

__attribute__((unused)) static json_t *run(void *instance, jianmu_context *ctx, json_t *args)
{
    (void)instance;
    (void)ctx;
    (void)args;
#ifdef NEEDS_OURS
    return json_string(jianmu_version());
#elif defined NEEDS_OTHER
    return json_string(nowhere_to_be_found());
#else
    return json_integer(VALUE);
#endif
}

__attribute__((unused)) static int run_job(void *instance, jianmu_context *ctx)
{
    (void)instance;
    (void)ctx;
    return VALUE;
}

__attribute__((unused)) static int judge(void *instance, jianmu_context *ctx, const struct jianmu_guard_request *request,
                                         struct jianmu_guard_decision *decision)
{
    (void)instance;
    (void)ctx;
    (void)request;
    decision->verdict = JIANMU_ALLOW;
    return 0;
}

__attribute__((unused)) static void take(void *instance, const struct jianmu_sink_event *event)
{
    (void)instance;
    (void)event;
}

__attribute__((unused)) static int open_it(jianmu_context *ctx, void **instance)
{
    (void)ctx;
    *instance = NULL;
    return 0;
}

__attribute__((unused)) static void close_it(void *instance)
{
    (void)instance;
}

#if defined BACKEND
BACKEND_(NAME, open_it, RUN_JOB, RUN_TOOL, NULL, close_it, JIANMU_IN_PROCESS, TEXT, SCHEMA)
#elif defined GUARD
GUARD_(NAME, JUDGE, open_it, NULL, NULL, close_it, 0, TEXT, SCHEMA)
#elif defined SINK
SINK_(NAME, TAKE, open_it, close_it, NULL, 0, TEXT, SCHEMA)
#elif !defined NO_NOTE && !defined OWN_DESCRIPTOR
TOOL(NAME, RUN, open_it, close_it, DANGER, JIANMU_READ_ONLY, TEXT, SCHEMA)
#endif

#if defined MANY
/* Long texts: a compiler that aligned such objects further would tear the section apart. */
#define S64 "0123456789012345678901234567890123456789012345678901234567890123"
#define S1K S64 S64 S64 S64 S64 S64 S64 S64 S64 S64 S64 S64 S64 S64 S64 S64
JIANMU_TOOL(second, run, JIANMU_DANGER_WRITE, 0, S1K, "{\"description\": \"" S1K S1K S1K "\"}")
JIANMU_TOOL(third, run, JIANMU_DANGER_DANGEROUS, 0x8000000000000000u | JIANMU_OPEN_WORLD, "3", "{}")
JIANMU_PLUGIN(ITEM(NAME), JIANMU_ITEM(second), JIANMU_ITEM(third))

#elif defined NO_NOTE
JIANMU_EXTERN __attribute__((visibility("default"))) const struct jianmu_plugin *jianmu_plugin_entry(void);
const struct jianmu_plugin *jianmu_plugin_entry(void)
{
    return NULL;
}

#elif defined NO_ENTRY
const void *const keep_the_item = ITEM(NAME);
#if defined NEEDS_ENTRY
extern const struct jianmu_plugin *jianmu_plugin_entry(void);
const void *ask_others(void);
const void *ask_others(void)
{
    return jianmu_plugin_entry();
}
#endif

#elif defined UNLISTED
/* In the file are two tools, and its entry lists the other. */
JIANMU_TOOL(z_other, run, JIANMU_DANGER_READ, 0, "Another.", "{}")
const void *const keep_the_item = ITEM(NAME);
JIANMU_PLUGIN(JIANMU_ITEM(z_other))

#elif defined OWN_DESCRIPTOR
JUST_NOTE(NAME, JIANMU_KIND_TOOL, JIANMU_DANGER_READ, 0, TEXT, SCHEMA)
static const struct { struct jianmu_note_head head; char texts[4]; } stray_note = {
    {JIANMU_ABI, JIANMU_KIND_TOOL, JIANMU_DANGER_READ, 1, 1, 1, 0, 0}, ""};
struct tool_first {
    struct jianmu_head head;
    json_t *(*run)(void *instance, jianmu_context *ctx, json_t *args);
};
struct tool_later {
    struct jianmu_tool_plugin tool;
    void *more[4];
};
struct tool_tiny {
    uint32_t size, abi;
};
#define HEAD(TYPE, ABI_, KIND, NOTE) {(uint32_t)sizeof(TYPE), ABI_, KIND, 0, NOTE}
#if defined SHORT
static const struct tool_first own = {HEAD(struct tool_first, JIANMU_ABI, JIANMU_KIND_TOOL, &NOTE_(NAME).d), run};
#elif defined LONG
static const struct tool_later own = {{HEAD(struct tool_later, JIANMU_ABI, JIANMU_KIND_TOOL, &NOTE_(NAME).d), run,
    open_it, close_it}, {(void *)1, (void *)2, (void *)3, (void *)4}};
#elif defined TOO_SHORT
static const struct jianmu_head own = HEAD(struct jianmu_head, JIANMU_ABI, JIANMU_KIND_TOOL, &NOTE_(NAME).d);
#elif defined HEADLESS
static const struct tool_tiny own = {sizeof(struct tool_tiny), JIANMU_ABI};
#elif defined ITEM_ABI
static const struct tool_first own = {HEAD(struct tool_first, 7, JIANMU_KIND_TOOL, &NOTE_(NAME).d), run};
#elif defined ITEM_KIND
static const struct tool_first own = {HEAD(struct tool_first, JIANMU_ABI, JIANMU_KIND_BACKEND, &NOTE_(NAME).d), run};
#elif defined NULL_NOTE
static const struct tool_first own = {HEAD(struct tool_first, JIANMU_ABI, JIANMU_KIND_TOOL, NULL), run};
#elif defined STRAY_NOTE
static const struct tool_first own = {HEAD(struct tool_first, JIANMU_ABI, JIANMU_KIND_TOOL, &stray_note), run};
#endif
const void *const keep_the_note[] = {&NOTE_(NAME), &stray_note};

JIANMU_EXTERN __attribute__((visibility("default"))) const struct jianmu_plugin *jianmu_plugin_entry(void);
const struct jianmu_plugin *jianmu_plugin_entry(void)
{
#if defined EDGE
    static const struct jianmu_head *items[1];
#else
    static const struct jianmu_head *const items[] = {(const struct jianmu_head *)&own};
#endif
    static const struct jianmu_plugin plugin = {sizeof plugin, JIANMU_ABI, 1, 0, items};
#if defined EDGE
    /* The short descriptor ends where memory ends: one byte more is a crash in any build. */
    static const struct tool_first edge = {HEAD(struct tool_first, JIANMU_ABI, JIANMU_KIND_TOOL, &NOTE_(NAME).d), run};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = (char *)mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p + page, page, PROT_NONE))
        return NULL;
    items[0] = (const struct jianmu_head *)memcpy(p + page - sizeof edge, &edge, sizeof edge);
#endif
    return &plugin;
}

#elif defined PLUGIN_NULL || defined PLUGIN_SHORT || defined PLUGIN_ABI || defined PLUGIN_EMPTY || defined PLUGIN_LONG
#if defined PLUGIN_SHORT
#define PLUGIN {8, JIANMU_ABI, 1, 0, items}
#elif defined PLUGIN_ABI
#define PLUGIN {sizeof(struct jianmu_plugin), 7, 1, 0, items}
#elif defined PLUGIN_EMPTY
#define PLUGIN {sizeof(struct jianmu_plugin), JIANMU_ABI, 0, 0, items}
#else
#define PLUGIN {sizeof(struct jianmu_plugin) + 16, JIANMU_ABI, 1, 0, items}
#endif
JIANMU_EXTERN __attribute__((visibility("default"))) const struct jianmu_plugin *jianmu_plugin_entry(void);
const struct jianmu_plugin *jianmu_plugin_entry(void)
{
    static const struct jianmu_head *const items[] = {ITEM(NAME)};
    static const struct { struct jianmu_plugin plugin; uint64_t more[2]; } own = {PLUGIN, {1, 2}};
#if defined PLUGIN_NULL
    return own.more[0] ? NULL : &own.plugin;
#else
    return &own.plugin;
#endif
}

#else
JIANMU_PLUGIN(ITEM(NAME))
#endif
