/* SPDX-License-Identifier: Apache-2.0
 * A tool that asks a kept process what its arguments say: the service as a plug-in sees it. */
#include "jianmu-plugin.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static json_t *run(void *self, jianmu_context *ctx, json_t *args)
{
    struct jianmu_kept kept = JIANMU_KEPT_INIT;
    struct jianmu_kept_end end = JIANMU_KEPT_END_INIT;
    const char *const argv[] = {getenv("PARROT"), json_string_value(json_object_get(args, "argument")), NULL};
    const char *question = json_string_value(json_object_get(args, "question"));
    json_int_t size = json_integer_value(json_object_get(args, "size"));
    (void)self;
    kept.argv = argv;
    kept.flags = (uint64_t)json_integer_value(json_object_get(args, "flags"));
    kept.most = (uint32_t)json_integer_value(json_object_get(args, "most"));
    kept.key = json_string_value(json_object_get(args, "key"));
    kept.idle_s = json_number_value(json_object_get(args, "idle_s"));
    if (size)
        kept.size = (uint32_t)size;
    if (json_object_get(args, "short_end")) {
        end.size = offsetof(struct jianmu_kept_end, answer);
        end.answer = "untouched";
    }
    if (ctx->services->ask(ctx, &kept, question, question ? strlen(question) : 0, &end))
        return NULL;
    return json_pack("{s:s, s:s, s:I, s:I, s:i}", "answer", end.answer, "out", end.out ? end.out : "untouched", "flags",
                     (json_int_t)end.flags, "reason", (json_int_t)end.reason, "exit_code", (int)end.exit_code);
}

/* Looks at nothing for so long, and only then asks; says on a pipe what came of it. */
static json_t *run_late(void *self, jianmu_context *ctx, json_t *args)
{
    double seconds = json_number_value(json_object_get(args, "seconds"));
    int fd = (int)json_integer_value(json_object_get(args, "fd"));
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    const char *const argv[] = {"true", NULL};
    struct jianmu_process process = JIANMU_PROCESS_INIT;
    while (nanosleep(&left, &left))
        ;
    process.argv = argv;
    ctx->services->process(ctx, &process, NULL); /* its environment names the trace of the call */
    json_t *value = run(self, ctx, args);
    if (write(fd, value ? "a" : "f", 1) != 1)
        abort();
    return value;
}

JIANMU_TOOL(late_keeper, run_late, JIANMU_DANGER_READ, 0, "For tests: asks late.", "{\"type\": \"object\"}")
JIANMU_TOOL(keeper, run, JIANMU_DANGER_READ, JIANMU_COOPERATES | JIANMU_BY_PROCESS, "For tests.", "{\"type\": \"object\"}")
JIANMU_TOOL(keeper2, run, JIANMU_DANGER_READ, JIANMU_COOPERATES | JIANMU_BY_PROCESS, "For tests.", "{\"type\": \"object\"}")
JIANMU_TOOL(stray_keeper, run, JIANMU_DANGER_READ, 0, "For tests: does not cooperate.", "{\"type\": \"object\"}")
JIANMU_PLUGIN(JIANMU_ITEM(keeper), JIANMU_ITEM(keeper2), JIANMU_ITEM(stray_keeper), JIANMU_ITEM(late_keeper))
