/* SPDX-License-Identifier: Apache-2.0
 * A tool whose specification no model will like. */
#include "jianmu-plugin.h"

static json_t *run(void *instance, jianmu_context *ctx, json_t *args)
{
    (void)instance;
    (void)ctx;
    (void)args;
    return json_null();
}

JIANMU_TOOL(odd, run, JIANMU_DANGER_READ, 0, "Odd.",
            "{\"type\":\"object\",\"anyOf\":[{\"required\":[\"a b\"]}],\"properties\":{\"a b\":{\"type\":\"string\"}}}")
JIANMU_PLUGIN(JIANMU_ITEM(odd))
