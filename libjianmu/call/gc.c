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
        const struct jm_setting *set = jm_config_value(config, "execution.local.workdir");
        const char *parent = set ? json_string_value(set->value) : NULL;
        if (parent && jm_workdir_sweep(parent, list, err))
            return -1;
    }
    if (jm_workdir_sweep(NULL, list, err))
        return -1;
    if (removed)
        *removed = jm_steal(list);
    return 0;
}
