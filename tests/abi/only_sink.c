/* SPDX-License-Identifier: Apache-2.0
 * A sink from the one header. Valid C and C++. */
#include <jianmu-plugin.h>

static void event(void *instance, const struct jianmu_sink_event *e)
{
    (void)instance;
    (void)e;
}

JIANMU_SINK(only_sink, event, NULL, NULL, NULL, 0, "Deaf.", "{\"keys\": {}}")
JIANMU_PLUGIN(JIANMU_ITEM(only_sink))
