/* SPDX-License-Identifier: Apache-2.0
 * The guards of a config: opened together, closed when the last thread has left them. */
#include "config.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "guard/inside.h"
#include <stdio.h>
#include <string.h>

/* What went wrong becomes why it denies; only a shortage of the host is the caller's to hear, who may try again. */
static int break_guard(struct jm_one_guard *guard, jianmu_error *why, jianmu_error **err)
{
    if (jianmu_error_code(why) == JIANMU_INTERNAL)
        return jm_fail_take(err, why);
    guard->broken = strdup(jianmu_error_message(why));
    jianmu_error_free(why);
    return guard->broken ? 0 : jm_fail_memory(err);
}

static int open_instance(struct jm_one_guard *guard, jianmu_error **err)
{
    struct jm_plain_context ctx;
    jm_plain_context_init(&ctx, guard->settings);
    int failed = guard->plugin.open ? guard->plugin.open(&ctx.public, &guard->instance) : 0;
    if (failed && !ctx.error)
        jm_fail(&ctx.error, JIANMU_UNAVAILABLE, "it could not be opened, and gave no reason");
    if (failed)
        return jm_fail_take(err, ctx.error);
    jianmu_error_free(ctx.error);
    guard->opened = true;
    return 0;
}

static json_t *settings_of(const jianmu_config *config, const char *name, jianmu_error **err)
{
    jm_auto_json json_t *settings = jm_config_plugin(config, "guard", name, err);
    if (settings && json_object_set(settings, "guard", (json_t *)jm_config_guard(config))) {
        jm_fail_memory(err);
        return NULL;
    }
    return jm_steal(settings);
}

static int open_guard(struct jm_guards *guards, struct jm_one_guard *guard, jianmu_error **err)
{
    jm_registry *registry = jm_config_registry(guards->config);
    struct jm_item *item = jm_registry_find(registry, JIANMU_KIND_GUARD, guard->name, err);
    if (!item || jm_item_load(registry, item, err))
        return -1;
    guard->settings = settings_of(guards->config, guard->name, err);
    if (!guard->settings)
        return -1;
    guard->item = item;
    guard->plugin = item->plugin.guard;
    guard->foreign = !(item->flags & JIANMU_COOPERATES);
    return open_instance(guard, err);
}

static int open_all(struct jm_guards *guards, jianmu_error **err)
{
    const json_t *use = json_object_get(jm_config_guard(guards->config), "use");
    size_t i;
    json_t *name;
    json_array_foreach((json_t *)use, i, name) {
        struct jm_one_guard *guard = &guards->list[guards->count];
        jianmu_error *why = NULL;
        if (guards->count == JM_GUARDS_MOST)
            return jm_fail(err, JIANMU_INVALID, "guard.use names more than %d guards", JM_GUARDS_MOST);
        guards->count++;
        guard->name = json_string_value(name);
        if (open_guard(guards, guard, &why) && break_guard(guard, why, err))
            return -1;
    }
    return 0;
}

struct jm_guards *jm_guards_new(const jianmu_config *config, jianmu_error **err)
{
    struct jm_guards *guards = calloc(1, sizeof *guards);
    if (!guards) {
        jm_fail_memory(err);
        return NULL;
    }
    guards->references = 1;
    guards->config = jm_config_hold(config);
    guards->time_limit = json_number_value(json_object_get(jm_config_guard(config), "time_limit"));
    if (!open_all(guards, err))
        return guards;
    jm_guards_release(guards);
    return NULL;
}

void jm_guards_release(struct jm_guards *guards)
{
    if (atomic_fetch_sub(&guards->references, 1) != 1)
        return;
    for (size_t i = 0; i < guards->count; i++) {
        struct jm_one_guard *guard = &guards->list[i];
        if (guard->opened && guard->plugin.close)
            guard->plugin.close(guard->instance);
        json_decref(guard->settings);
        free(guard->broken);
    }
    jianmu_config_free(guards->config);
    free(guards);
}

void jm_guards_free(struct jm_guards *guards)
{
    if (guards)
        jm_guards_release(guards);
}

unsigned jm_guards_abandoned(const struct jm_guards *guards)
{
    return guards->lost;
}
