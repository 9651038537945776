/* SPDX-License-Identifier: Apache-2.0
 * A caller that includes the one header, twice. Valid C and C++. */
#include <jianmu.h>
#include <jianmu.h>

static void on_event(void *data, const jianmu_event *event)
{
    *(const char **)data = jianmu_event_name(event);
}

int call_once(const char *tool, const char **last);
int call_once(const char *tool, const char **last)
{
    jianmu_error *err = NULL;
    jianmu_result *result = NULL;
    jianmu_bus *bus = jianmu_bus_new();
    jianmu_artifact artifact;
    int rc = jianmu_bus_subscribe(bus, on_event, last, &err);
    jianmu_runner *runner = jianmu_runner_from_constraints(NULL, NULL, NULL, NULL, bus, &err);
    if (runner)
        rc = jianmu_run_tool(runner, jianmu_runner_tool(runner, tool, &err), NULL, NULL, &result, &err);
    if (rc == 0 && jianmu_result_reason(result) == JIANMU_EXITED)
        rc = jianmu_result_artifact(result, 0, &artifact);
    jianmu_result_free(result);
    jianmu_runner_free(runner);
    jianmu_bus_free(bus);
    jianmu_error_free(err);
    return rc;
}
