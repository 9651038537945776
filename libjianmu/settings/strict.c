/* SPDX-License-Identifier: Apache-2.0
 * What profile strict changes in a plan: smaller defaults, and nothing that was said is passed over. That a default
 * which cannot be had refuses the call is seen to where the backend is asked. */
#include "config.h"

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "plugin/registry.h"
#include "settings/constraints.h"
#include "settings/inside.h"
#include <string.h>

static const struct {
    const char *name;
    double value;
} defaults[] = {{"memory", 256 * 1048576.0}, {"cpus", 0.5}, {"pids", 64}};

/* A backend that has the limit in its note, as a key or as one it enforces, has its default. Another, as one that
 * isolates nothing, has none. */
static bool knows(const struct jm_item *backend, const char *limit)
{
    size_t i;
    json_t *name;
    if (!backend)
        return false;
    json_array_foreach(json_object_get(backend->json, "enforces"), i, name)
        if (json_is_string(name) && !strcmp(json_string_value(name), limit))
            return true;
    return json_object_get(json_object_get(backend->json, "keys"), limit) != NULL;
}

int jm_strict_defaults(struct jm_plan *plan, const struct jm_item *backend, jianmu_error **err)
{
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        struct jm_plan_entry *entry = (struct jm_plan_entry *)jm_plan_find(plan, defaults[i].name);
        if (!entry || entry->asked || !knows(backend, entry->name) ||
            (entry->setting.value && json_number_value(entry->setting.value) <= defaults[i].value))
            continue;
        bool real = !strcmp(entry->name, "cpus");
        json_decref(entry->setting.value);
        entry->setting = (struct jm_setting){real ? json_real(defaults[i].value) : json_integer((json_int_t)defaults[i].value),
                                             JM_DEFAULT, "profile strict", 0};
        if (!entry->setting.value)
            return jm_fail_memory(err);
    }
    return 0;
}

int jm_strict_ignored(struct jm_plan *plan, const jianmu_constraints *ignored, jianmu_error **err)
{
    struct jm_buffer text = {0};
    const char *field;
    json_t *value;
    json_object_foreach((json_t *)jm_constraints_fields(ignored), field, value) {
        const struct jm_knob *knob = jm_knob_find(field);
        if (strcmp(field, "mode") && !(knob && knob->flags & JM_LIMIT))
            continue;
        jm_buffer_addf(&text, "%s%s", text.len ? ", " : "profile strict passes over nothing that was asked for: ", field);
    }
    if (!text.len && !text.failed)
        return 0;
    jm_buffer_addf(&text, " (by constraints, whose scope \"%s\" does not take in %s)",
                   json_string_value(jm_constraints_get(ignored, "scope")), plan->subject);
    plan->refusal = jm_buffer_take(&text);
    return plan->refusal ? 0 : jm_fail_memory(err);
}
