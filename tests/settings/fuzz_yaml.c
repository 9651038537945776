/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as jianmu.yaml and as policy.yaml: an answer or a complaint with a place in it, nothing else. */
#include "config.h"

#include "settings/inside.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
    if (!good)
        abort();
}

/* "f:LINE:COLUMN: " */
static bool has_place(const char *message)
{
    size_t line = strspn(message + 2, "0123456789"), column;
    if (strncmp(message, "f:", 2) || !line || message[2 + line] != ':')
        return false;
    column = strspn(message + 3 + line, "0123456789");
    return column && message[3 + line + column] == ':';
}

static void as_config(const char *text, size_t size, bool in_cwd)
{
    jianmu_error *err = NULL;
    jianmu_config *config = jianmu_config_new();
    must(config);
    config->secure = true;
    config->sysconfdir = config->plugin_root = "/nonexistent";
    config->in_cwd = in_cwd;
    int rc = jianmu_config_load_text(config, text, size, "f", &err);
    must(rc == (err ? -1 : 0));
    must(!err || has_place(jianmu_error_message(err)));
    jianmu_error_free(err);
    json_decref(jianmu_config_keys(config));
    jianmu_config_free(config);
}

/* Every value of the tree by the core schema. */
static void as_tree(const char *text, size_t size)
{
    jianmu_error *err = NULL;
    struct jm_node *root = jm_yaml_parse(text, size, "f", &err);
    must(!root == !!err);
    must(!err || has_place(jianmu_error_message(err)));
    json_t *json = root ? jm_node_json(root, "all", "f", &err) : NULL;
    must(!json == !!err);
    must(!err || has_place(jianmu_error_message(err)));
    jianmu_error_free(err);
    json_decref(json);
    jm_node_free(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    as_config((const char *)data, size, false);
    as_config((const char *)data, size, true);
    as_tree((const char *)data, size);
    return 0;
}
