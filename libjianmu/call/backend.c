/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "base/cleanup.h"
#include "call/runner.h"
#include "call/services.h"
#include "settings/values.h"
#include <string.h>

static json_t *call_in_process(void *instance, jianmu_context *ctx, json_t *args)
{
    (void)instance;
    return jm_service_call_tool(ctx, args);
}

static const struct jianmu_backend_plugin in_process = {
    .head = {sizeof in_process, JIANMU_ABI, JIANMU_KIND_BACKEND, 0, NULL}, .run_tool = call_in_process};

void jianmu_backend_close(jianmu_backend *backend)
{
    if (!backend)
        return;
    if (backend->plugin && backend->plugin->close && backend->instance)
        backend->plugin->close(backend->instance);
    if (!backend->item)
        json_decref(backend->enforces);
    jianmu_config_free(backend->own_config);
    free(backend->mode);
    free(backend);
}

jianmu_backend *jm_backend_in_process(const jianmu_config *config, jianmu_error **err)
{
    jianmu_backend *b = calloc(1, sizeof *b);
    if (b) {
        b->config = config;
        b->plugin = &in_process;
        b->flags = JIANMU_IN_PROCESS;
        b->mode = strdup("local");
        b->enforces = json_pack("[s, s, s, s, s, s]", "timeout_s", "cpu_time_s", "fsize", "nofile", "output_limit",
                                "capture");
    }
    if (!b || !b->mode || !b->enforces) {
        jianmu_backend_close(b);
        jm_fail_memory(err);
        return NULL;
    }
    return b;
}

/* Its open() sees the settings of its mode, without any call's. */
static int open_instance(jianmu_backend *b, jianmu_error **err)
{
    if (!b->plugin->open)
        return 0;
    struct jm_plan *plan = jm_plan_new(b->config, NULL, b->mode, "open", NULL, err);
    if (!plan)
        return -1;
    /* a context has one; opening touches only this */
    jianmu_runner shell = {.mode = b->mode, .config = (jianmu_config *)b->config};
    jm_context ctx;
    jm_context_init(&ctx, &shell, b, plan, NULL);
    ctx.subject = "open";
    int failed = b->plugin->open(&ctx.public, &b->instance);
    if (failed && !ctx.error)
        jm_fail(&ctx.error, JIANMU_UNAVAILABLE, "it gave no reason");
    jm_context_end(&ctx);
    jm_plan_free(plan);
    if (!failed) {
        jianmu_error_free(ctx.error);
        return 0;
    }
    jm_wrap(&ctx.error, "backend '%s' could not be opened", b->mode);
    return jm_fail_take(err, ctx.error);
}

jianmu_backend *jianmu_backend_open(const jianmu_config *config, const char *mode, jianmu_error **err)
{
    jianmu_config *own = NULL;
    if (!config && !(config = own = jm_config_default(err)))
        return NULL;
    jianmu_backend *b = calloc(1, sizeof *b);
    if (!b) {
        jianmu_config_free(own);
        return jm_fail_memory(err), NULL;
    }
    b->config = config;
    b->own_config = own;
    jm_registry *registry = jm_config_registry(config);
    jm_auto_free char *name = registry ? jm_mode_normalise(mode, err) : NULL;
    if (!registry)
        jm_fail(err, JIANMU_INVALID, "the config is not loaded");
    b->item = name ? jm_registry_find(registry, JIANMU_KIND_BACKEND, name, err) : NULL;
    if (!b->item || jm_item_load(registry, b->item, err)) {
        b->plugin = NULL;
        jianmu_backend_close(b);
        return NULL;
    }
    b->flags = b->item->flags;
    b->enforces = json_object_get(b->item->json, "enforces");
    b->mode = strdup(b->item->name);
    b->plugin = &b->item->plugin.backend;
    if (!b->mode)
        jm_fail_memory(err);
    if (!b->mode || open_instance(b, err)) {
        b->plugin = NULL;
        jianmu_backend_close(b);
        return NULL;
    }
    return b;
}
