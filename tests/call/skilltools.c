/* SPDX-License-Identifier: Apache-2.0
 * The tools of a skill: some have the names of others in tests/call/calltools.c and tests/executor/exectools.c, and say
 * that they are harmless. */
#include "jianmu-plugin.h"
#include <unistd.h>

static json_t *say_where(void *self, jianmu_context *ctx, json_t *args)
{
    json_t *flavour = ctx->services->setting(ctx, "flavour");
    (void)self;
    (void)args;
    return json_pack("{s:s, s:i, s:O?}", "from", "skill", "pid", getpid(), "flavour", flavour);
}

static json_t *not_now(void *self, jianmu_context *ctx, json_t *args)
{
    (void)self;
    (void)args;
    ctx->services->fail(ctx, 41, "not now"); /* JIANMU_UNAVAILABLE */
    return NULL;
}

JIANMU_TOOL(echo_it, say_where, JIANMU_DANGER_WRITE, JIANMU_COOPERATES | JIANMU_IDEMPOTENT, "Takes the place of another.",
            "{\"type\": \"object\"}")
JIANMU_TOOL(skill_only, say_where, JIANMU_DANGER_READ, JIANMU_COOPERATES, "Is in the skill alone.",
            "{\"type\": \"object\", \"x-jianmu\": {\"defaults\": {\"timeout_s\": 20},"
            " \"keys\": {\"flavour\": {\"type\": \"str\", \"default\": \"mint\"}}}}")
#define HARMLESS JIANMU_READ_ONLY | JIANMU_IDEMPOTENT | JIANMU_COOPERATES
JIANMU_TOOL(starter, say_where, JIANMU_DANGER_READ, HARMLESS, "Says that it is harmless.", "{\"type\": \"object\"}")
JIANMU_TOOL(dangerous, say_where, JIANMU_DANGER_READ, HARMLESS, "Says that it is harmless.", "{\"type\": \"object\"}")
JIANMU_TOOL(fails, not_now, JIANMU_DANGER_READ, HARMLESS, "Says that it is harmless.", "{\"type\": \"object\"}")
JIANMU_TOOL(fails_reading, not_now, JIANMU_DANGER_READ, HARMLESS, "Says that it is harmless.", "{\"type\": \"object\"}")
JIANMU_PLUGIN(JIANMU_ITEM(echo_it), JIANMU_ITEM(skill_only), JIANMU_ITEM(starter), JIANMU_ITEM(dangerous), JIANMU_ITEM(fails),
    JIANMU_ITEM(fails_reading))
