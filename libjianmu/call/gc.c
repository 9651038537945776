/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "files/workdir.h"
#include "settings/settings.h"

int jianmu_gc(const jianmu_config *config, json_t **removed, jianmu_error **err)
{
    jm_auto_json json_t *list = json_array();
    if (!list)
        return jm_fail_memory(err);
    if (config) {
        struct jm_plan *plan = jm_plan_new(config, NULL, "local", "job", NULL, err);
        if (!plan)
            return -1;
        const struct jm_plan_entry *entry = jm_plan_find(plan, "workdir");
        const char *parent = entry ? json_string_value(entry->setting.value) : NULL;
        int failed = parent && jm_workdir_sweep(parent, list, err);
        jm_plan_free(plan);
        if (failed)
            return -1;
    }
    if (jm_workdir_sweep(NULL, list, err))
        return -1;
    if (removed)
        *removed = jm_steal(list);
    return 0;
}
