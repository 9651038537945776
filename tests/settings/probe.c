/* SPDX-License-Identifier: Apache-2.0
 * For the Python tests: one request a line, JSON in and JSON out, each with a config of its own. With an argument that
 * is the request. The environment's locale is set, as a host may do. */
#include "config.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "plugin/registry.h"
#include "settings/inside.h"
#include <locale.h>
#include <stdio.h>
#include <string.h>

static const char *text(const json_t *request, const char *name)
{
    return json_string_value(json_object_get(request, name));
}

static int load(jianmu_config *config, const json_t *request, jianmu_error **err)
{
    size_t i;
    json_t *dir;
    if (text(request, "sysconfdir"))
        config->sysconfdir = text(request, "sysconfdir");
    if (text(request, "plugin_root"))
        config->plugin_root = text(request, "plugin_root");
    config->secure |= json_is_true(json_object_get(request, "secure"));
    json_array_foreach(json_object_get(request, "dirs"), i, dir)
        if (jianmu_config_add_plugin_dir(config, json_string_value(dir), err))
            return -1;
    const char *yaml = text(request, "text");
    if (yaml)
        return jianmu_config_load_text(config, yaml, strlen(yaml), text(request, "name"), err);
    return jianmu_config_load(config, text(request, "file"), err);
}

static jianmu_constraints *constraints(const json_t *request, jianmu_error **err)
{
    const char *field;
    json_t *value, *object = json_object_get(request, "constraints");
    jianmu_constraints *c = object ? jianmu_constraints_from_json(object, err) : jianmu_constraints_new();
    json_object_foreach(json_object_get(request, "set"), field, value) {
        if (c && jianmu_constraints_set(c, field, json_string_value(value), err)) {
            jianmu_constraints_free(c);
            c = NULL;
        }
    }
    return c;
}

static json_t *explain(const jianmu_config *config, const json_t *request, jianmu_error **err)
{
    const char *subject = text(request, "subject");
    const struct jm_item *tool = NULL;
    json_t *call = json_object_get(request, "timeout"), *json = NULL;
    if (strcmp(subject, "job") && !(tool = jm_registry_find(config->registry, JIANMU_KIND_TOOL, subject, err)))
        return NULL;
    jianmu_constraints *c = constraints(request, err);
    struct jm_plan *plan = c ? jm_plan_new(config, c, text(request, "mode"), subject, tool, err) : NULL;
    if (plan && !(call && jm_plan_check_max(plan, json_number_value(call), err))) {
        json = jm_plan_json(plan);
        if (call)
            jm_plan_json_timeout(plan, json, json_number_value(call));
    }
    jm_plan_free(plan);
    jianmu_constraints_free(c);
    return json;
}

static json_t *answer(const json_t *request, jianmu_error **err)
{
    json_t *json = NULL;
    const char *want = text(request, "want");
    jianmu_config *config = jianmu_config_new();
    if (!config || load(config, request, err))
        json = NULL;
    else if (!want)
        json = json_pack("{s:s?, s:b}", "file", config->file, "cwd", config->in_cwd);
    else if (!strcmp(want, "explain"))
        json = explain(config, request, err);
    else if (!strcmp(want, "keys"))
        json = jianmu_config_keys(config);
    else if (!strcmp(want, "tools"))
        json = jianmu_config_tools(config);
    else if (!strcmp(want, "backends"))
        json = jianmu_config_backends(config);
    else if (!strcmp(want, "plugins"))
        json = jianmu_config_plugins(config);
    jianmu_config_free(config);
    return json;
}

static void serve(const char *line, size_t len)
{
    json_error_t why;
    jianmu_error *err = NULL;
    jm_auto_json json_t *request = jm_json_parse(line, len, 0, &why);
    jm_auto_json json_t *json = request ? answer(request, &err) : json_string(why.text);
    if (!json)
        json = json_pack("{s:s, s:s}", "error", jianmu_code_name(jianmu_error_code(err)), "message",
                         jianmu_error_message(err));
    jm_auto_free char *out = jm_json_print(json, 0, NULL);
    puts(out ? out : "null");
    fflush(stdout);
    jianmu_error_free(err);
}

int main(int argc, char **argv)
{
    jm_auto_free char *line = NULL;
    size_t room = 0;
    ssize_t len;
    if (!setlocale(LC_ALL, ""))
        fputs("the locale of the environment is not to be had\n", stderr);
    for (int i = 1; i < argc; i++)
        serve(argv[i], strlen(argv[i]));
    while (argc == 1 && (len = getline(&line, &room, stdin)) > 0)
        serve(line, (size_t)len);
    return 0;
}
