/* SPDX-License-Identifier: Apache-2.0
 * The tools of a skill: one has the name of another in tests/call/calltools.c. */
#include "jianmu-plugin.h"
#include <unistd.h>

static json_t *say_where(void *self, jianmu_context *ctx, json_t *args)
{
    json_t *flavour = ctx->services->setting(ctx, "flavour");
    (void)self;
    (void)args;
    return json_pack("{s:s, s:i, s:O?}", "from", "skill", "pid", getpid(), "flavour", flavour);
}

JIANMU_TOOL(echo_it, say_where, JIANMU_DANGER_WRITE, JIANMU_COOPERATES, "Takes the place of another.",
            "{\"type\": \"object\"}")
JIANMU_TOOL(skill_only, say_where, JIANMU_DANGER_READ, JIANMU_COOPERATES, "Is in the skill alone.",
            "{\"type\": \"object\", \"x-jianmu\": {\"defaults\": {\"timeout_s\": 20},"
            " \"keys\": {\"flavour\": {\"type\": \"str\", \"default\": \"mint\"}}}}")
JIANMU_PLUGIN(JIANMU_ITEM(echo_it), JIANMU_ITEM(skill_only))
