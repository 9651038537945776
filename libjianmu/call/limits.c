/* SPDX-License-Identifier: Apache-2.0
 * Enforced or refused, never weakened: what was asked for and cannot be had refuses the call; a default that cannot
 * be had is dropped, and said. */
#include "config.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "call/runner.h"
#include <stdio.h>
#include <string.h>

static bool listed(const json_t *names, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach (names, i, item)
        if (json_is_string(item) && !strcmp(json_string_value(item), name))
            return true;
    return false;
}

bool jm_limit_enforced(const jianmu_backend *backend, const char *limit)
{
    if (!listed(backend->enforces, limit))
        return false;
    return !backend->plugin->enforces || backend->plugin->enforces(backend->instance, limit) == 1;
}

/* In process only a deadline and the length of a text hold; the rest holds for the processes a tool starts. */
static bool holds_in_process(const struct jm_item *tool, const char *limit)
{
    return !strcmp(limit, "timeout_s") || !strcmp(limit, "max_output") || (tool->flags & JIANMU_BY_PROCESS);
}

static bool enforced(const jianmu_backend *backend, const struct jm_item *tool, const char *limit)
{
    if (!backend->item) /* a tool host: whoever started it holds the limits around it */
        return true;
    if (!jm_limit_enforced(backend, limit))
        return false;
    return !tool || !(backend->flags & JIANMU_IN_PROCESS) || holds_in_process(tool, limit);
}

static char *refuse(const jianmu_backend *backend, const struct jm_plan_entry *entry, bool tool_only)
{
    jm_auto_free char *value = jm_json_print(entry->setting.value, 0, NULL);
    char *text, where[32] = "";
    if (!entry->asked)
        return jm_format(&text, "backend '%s' cannot enforce %s%s (%s by default), and profile strict drops no limit",
                         backend->mode, entry->name, tool_only ? " on a tool that runs in the caller's process" : "",
                         value ? value : "a value") < 0
                   ? NULL : text;
    if (entry->setting.line)
        snprintf(where, sizeof where, ":%d", entry->setting.line);
    int n = jm_format(&text, "backend '%s' cannot enforce %s%s (asked for: %s, by %s%s)", backend->mode, entry->name,
                      tool_only ? " on a tool that runs in the caller's process" : "", value ? value : "a value",
                      entry->setting.file ? entry->setting.file : jm_layer_name(entry->setting.layer), where);
    return n < 0 ? NULL : text;
}

static int list_limits(const jianmu_backend *backend, const struct jm_plan *plan, const struct jm_item *tool,
                       json_t *list, char **refusal)
{
    for (size_t i = 0; i < plan->count; i++) {
        const struct jm_plan_entry *entry = &plan->entries[i];
        if (!(entry->flags & JM_LIMIT) || !entry->setting.value || json_is_null(entry->setting.value))
            continue;
        bool held = enforced(backend, tool, entry->name);
        if (!held && (entry->asked || plan->strict) && !*refusal &&
            !(*refusal = refuse(backend, entry, jm_limit_enforced(backend, entry->name))))
            return -1;
        if (json_object_set_new(list, entry->name, json_string(held ? "enforced" : "dropped")))
            return -1;
    }
    return 0;
}

int jm_limits_check(const jianmu_backend *backend, const struct jm_plan *plan, const struct jm_item *tool,
                    struct jm_limits *limits, jianmu_error **err)
{
    *limits = (struct jm_limits){.enforced = json_object(), .refusal = plan->refusal ? strdup(plan->refusal) : NULL};
    if (!limits->enforced || (plan->refusal && !limits->refusal) || list_limits(backend, plan, tool, limits->enforced, &limits->refusal) ||
        !(limits->enforced_timed = jm_json_copy(limits->enforced)) ||
        json_object_set_new(limits->enforced_timed, "timeout_s", json_string("enforced"))) {
        jm_limits_free(limits);
        return jm_fail_memory(err);
    }
    limits->refused = limits->refusal || plan->over_max || plan->over_timeout;
    return 0;
}

void jm_limits_free(struct jm_limits *limits)
{
    json_decref(limits->enforced);
    json_decref(limits->enforced_timed);
    free(limits->refusal);
    *limits = (struct jm_limits){0};
}

int jm_limits_check_call(const jianmu_backend *backend, const struct jm_plan *plan, const struct jm_limits *limits,
                         double own_timeout, jianmu_error **err)
{
    char text[32];
    if (jm_plan_check_max(plan, own_timeout, err))
        return -1;
    if (limits->refusal)
        return jm_fail(err, JIANMU_UNSUPPORTED, "%s", limits->refusal);
    if (own_timeout > 0 && !jm_limit_enforced(backend, "timeout_s"))
        return jm_fail(err, JIANMU_UNSUPPORTED, "backend '%s' cannot enforce timeout_s (asked for: %s, by call)",
                       backend->mode, jm_print_seconds(own_timeout, text));
    return 0;
}
