/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "executor/executor.h"
#include "base/cleanup.h"

static void free_known(struct jm_known *k)
{
    json_decref(k->values);
    free(k);
}

static struct jm_known *make(const jianmu_tool *tool, const struct jm_plan *plan, jianmu_error **err)
{
    struct jm_known *k = calloc(1, sizeof *k);
    if (!k)
        return jm_fail_memory(err), NULL;
    k->tool = tool;
    if (!(k->values = jm_guard_plan_values(plan))) {
        jm_fail_memory(err);
        free_known(k);
        return NULL;
    }
    return k;
}

static struct jm_known *find(jianmu_executor *executor, const jianmu_tool *tool)
{
    struct jm_known *k = executor->known;
    while (k && k->tool != tool)
        k = k->next;
    return k;
}

struct jm_known *jm_known_get(jianmu_executor *executor, const jianmu_tool *tool, const struct jm_plan *plan,
                              jianmu_error **err)
{
    pthread_mutex_lock(&executor->lock);
    struct jm_known *k = find(executor, tool);
    pthread_mutex_unlock(&executor->lock);
    if (k)
        return k;
    struct jm_known *made = make(tool, plan, err);
    if (!made)
        return NULL;
    pthread_mutex_lock(&executor->lock);
    if ((k = find(executor, tool))) {
        free_known(made);
    } else {
        k = made;
        k->next = executor->known;
        executor->known = k;
    }
    pthread_mutex_unlock(&executor->lock);
    return k;
}

void jm_known_free(jianmu_executor *executor)
{
    while (executor->known) {
        struct jm_known *k = executor->known;
        executor->known = k->next;
        free_known(k);
    }
}
