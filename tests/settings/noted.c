/* SPDX-License-Identifier: Apache-2.0
 * Plug-ins that only have notes: their code is never run. -DMODE=name makes a backend,
 * -DGUARD a guard, without both the tools. */
#include "jianmu-plugin.h"

#define EVERY_KEY                                                                                                \
    "\"word\":{\"type\":\"str\",\"default\":\"first\",\"doc\":\"some text\"},"                                    \
    "\"flag\":{\"type\":\"bool\",\"default\":false},"                                                            \
    "\"whole\":{\"type\":\"int\",\"default\":7,\"min\":1,\"max\":100},"                                          \
    "\"share\":{\"type\":\"real\",\"default\":0.25},"                                                            \
    "\"wait\":{\"type\":\"seconds\",\"default\":\"1m30s\"},"                                                     \
    "\"room\":{\"type\":\"size\",\"default\":\"64k\"},"                                                          \
    "\"names\":{\"type\":\"list\",\"default\":[\"a\",\"b\"]},"                                                   \
    "\"pairs\":{\"type\":\"map\",\"default\":{\"k\":\"v\"}},"                                                    \
    "\"open\":{\"type\":\"str\",\"default\":null}"

#ifndef GUARD
static json_t *run(void *instance, jianmu_context *ctx, json_t *args)
{
    (void)instance;
    (void)ctx;
    return json_incref(args);
}
#endif

#ifdef GUARD

static int decide(void *instance, jianmu_context *ctx, const struct jianmu_guard_request *request,
                  struct jianmu_guard_decision *decision)
{
    (void)instance;
    (void)ctx;
    (void)request;
    (void)decision;
    return -1;
}

JIANMU_GUARD(noted, decide, NULL, NULL, NULL, NULL, 0, "a guard of the tests", "{\"keys\":{" EVERY_KEY "}}")
JIANMU_PLUGIN(JIANMU_ITEM(noted))

#elif defined MODE

static int run_job(void *instance, jianmu_context *ctx)
{
    (void)instance;
    (void)ctx;
    return -1;
}

#ifndef CONFIG
#define CONFIG                                                                                                         \
    "{\"keys\":{" EVERY_KEY                                                                                            \
    ",\"python\":{\"type\":\"str\",\"default\":null},\"private\":{\"type\":\"str\",\"cwd\":false},"                    \
    "\"env_allowlist\":{\"type\":\"list\",\"default\":[]},\"env_allowprefix\":{\"type\":\"list\",\"default\":[]},"     \
    "\"memory\":{\"type\":\"size\",\"default\":\"128m\"},\"cpus\":{\"type\":\"real\",\"default\":1.5},"                \
    "\"pids\":{\"type\":\"int\",\"default\":64},\"network\":{\"type\":\"str\",\"default\":\"none\"},"                  \
    "\"disk\":{\"type\":\"size\",\"default\":null},\"docker_image\":{\"type\":\"str\",\"default\":null},"              \
    "\"tmpfs_noexec\":{\"type\":\"bool\",\"default\":true}},\"enforces\":[\"timeout_s\",\"memory\"]}"
#endif
#ifndef FLAGS
#define FLAGS JIANMU_ISOLATED
#endif

/* One more step, so that MODE is expanded first. */
#define BACKEND(ID) JIANMU_BACKEND(ID, NULL, run_job, run, NULL, NULL, FLAGS, "a backend of the tests", CONFIG)
#define ITEM(ID) JIANMU_ITEM(ID)
BACKEND(MODE)
JIANMU_PLUGIN(ITEM(MODE))

#else

JIANMU_TOOL(bare, run, JIANMU_DANGER_READ, JIANMU_READ_ONLY | JIANMU_IDEMPOTENT, "has nothing of its own",
            "{\"type\":\"object\"}")
JIANMU_TOOL(keyed, run, JIANMU_DANGER_WRITE, JIANMU_COOPERATES, "has keys and defaults",
            "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"integer\"}},\"x-jianmu\":{"
            "\"defaults\":{\"timeout_s\":2.0,\"max_output\":2000,\"unheard_of\":1,\"mode\":\"boxed\",\"network\":\"host\"},"
            "\"defaults_isolated\":{\"timeout_s\":5.0},\"keys\":{" EVERY_KEY "}}}")
JIANMU_TOOL(keyed_too, run, JIANMU_DANGER_DANGEROUS, JIANMU_OPEN_WORLD, "has one key of another type",
            "{\"type\":\"object\",\"x-jianmu\":{\"keys\":{\"word\":{\"type\":\"int\",\"default\":1},"
            "\"python\":{\"type\":\"str\",\"default\":\"tool's\"}}}}")
JIANMU_TOOL(ill, run, JIANMU_DANGER_READ, 0, "its note is wrong",
            "{\"type\":\"object\",\"x-jianmu\":{\"keys\":{\"size\":{\"type\":\"size\",\"default\":\"12 m\"}}}}")
JIANMU_TOOL(ill_default, run, JIANMU_DANGER_READ, 0, "its defaults are wrong",
            "{\"type\":\"object\",\"x-jianmu\":{\"defaults\":{\"timeout_s\":-1}}}")
JIANMU_TOOL(ill_name, run, JIANMU_DANGER_READ, 0, "its key is the core's",
            "{\"type\":\"object\",\"x-jianmu\":{\"keys\":{\"memory\":{\"type\":\"size\"}}}}")
JIANMU_PLUGIN(JIANMU_ITEM(bare), JIANMU_ITEM(keyed), JIANMU_ITEM(keyed_too), JIANMU_ITEM(ill), JIANMU_ITEM(ill_default),
              JIANMU_ITEM(ill_name))

#endif
