/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "executor/executor.h"
#include "base/cleanup.h"

static void free_known(struct jm_known *k)
{
    json_decref(k->values);
    jianmu_schema_free(k->schema);
    free(k);
}

/* A tool whose schema is no schema is not to be had; that is no fault of the call. */
static jianmu_schema *make_schema(const jianmu_tool *tool, jianmu_error **err)
{
    jianmu_error *why = NULL;
    jianmu_schema *schema = jianmu_schema_new(tool->item->json, &why);
    if (schema)
        return schema;
    if (jianmu_error_code(why) == JIANMU_INTERNAL)
        return jm_fail_take(err, why), NULL;
    jm_fail(err, JIANMU_UNAVAILABLE, "%s", jianmu_error_message(why));
    jianmu_error_free(why);
    return NULL;
}

/* A skill is told to guards by its one true path, however its grant was written. */
static int name_skill(const jianmu_runner *runner, json_t *values, jianmu_error **err)
{
    const char *grant = json_string_value(json_object_get(values, "skill"));
    if (!grant)
        return 0;
    if (!runner->skill)
        return jm_fail(err, JIANMU_INVALID, "skill '%s': there is no such directory, so no rule can be held against it",
                       grant);
    return json_object_set_new(values, "skill", json_string(runner->skill)) ? jm_fail_memory(err) : 0;
}

static struct jm_known *make(const jianmu_runner *runner, const jianmu_tool *tool, const struct jm_plan *plan,
                             jianmu_error **err)
{
    struct jm_known *k = calloc(1, sizeof *k);
    if (!k)
        return jm_fail_memory(err), NULL;
    k->tool = tool;
    if (!(k->values = jm_guard_plan_values(plan))) {
        jm_fail_memory(err);
    } else if (name_skill(runner, k->values, err)) {
        /* it has said why */
    } else if (tool && !(k->schema = make_schema(tool, err))) {
        jm_wrap(err, "tool '%s' cannot be used: its schema", tool->name);
    } else {
        return k;
    }
    free_known(k);
    return NULL;
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
    struct jm_known *made = make(executor->runner, tool, plan, err);
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
