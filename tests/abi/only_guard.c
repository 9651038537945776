/* SPDX-License-Identifier: Apache-2.0
 * A guard from the one header. Valid C and C++. */
#include <jianmu-plugin.h>

static int decide(void *instance, jianmu_context *ctx, const struct jianmu_guard_request *request,
                  struct jianmu_guard_decision *decision)
{
    (void)instance;
    (void)ctx;
    decision->verdict = request->danger == JIANMU_DANGER_READ ? JIANMU_ALLOW : JIANMU_CONFIRM;
    return 0;
}

JIANMU_GUARD(only_guard, decide, NULL, NULL, NULL, NULL, 0, "Careful.", "{\"keys\": {}}")
JIANMU_PLUGIN(JIANMU_ITEM(only_guard))
