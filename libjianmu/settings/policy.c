/* SPDX-License-Identifier: Apache-2.0
 * policy.yaml is always read and only makes things tighter: what it says no other layer loosens. What this version
 * does not understand in it is an error, as leaving it out would loosen. */
#include "config.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "settings/inside.h"
#include "settings/values.h"
#include <stdio.h>
#include <string.h>

static const char *const bounded[] = {"timeout_s", "memory", "cpus", "pids", "cpu_time_s", "fsize", "nofile", "disk",
                                      "output_limit", "capture", "max_output"};

static int wrong_key(const jianmu_config *c, const struct jm_node *node, const char *what, const char *nearest,
                     jianmu_error **err)
{
    char shown[JM_SHOWN];
    return jm_fail(err, JIANMU_INVALID, "%s:%d:%d: %s %s%s%s%s", c->policy_file, node->key_line, node->key_column,
                   jm_show(shown, node->key), what, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?" : "");
}

static int add_bound(jianmu_config *c, const struct jm_node *node, jianmu_error **err)
{
    const struct jm_knob *knob = NULL;
    for (size_t i = 0; i < jm_countof(bounded); i++)
        if (!strcmp(bounded[i], node->key))
            knob = jm_knob_find(node->key);
    if (!knob)
        return wrong_key(c, node, "is no limit that can have a maximum",
                         jm_text_nearest(node->key, bounded, jm_countof(bounded)), err);
    jm_auto_free char *label = NULL;
    if (asprintf(&label, "max.%s", node->key) < 0) {
        label = NULL;
        return jm_fail_memory(err);
    }
    jm_auto_json json_t *json = jm_node_json(node, label, c->policy_file, err);
    if (!json)
        return -1;
    jianmu_error *why = NULL;
    json_t *value = jm_coerce_as(label, knob, json, &why);
    if (!value) {
        jm_wrap(&why, "%s:%d:%d", c->policy_file, node->line, node->column);
        return jm_fail_take(err, why);
    }
    struct jm_bound *bound = jm_append(&c->bounds, &c->bound_count, sizeof *bound);
    if (!bound) {
        json_decref(value);
        return jm_fail_memory(err);
    }
    *bound = (struct jm_bound){knob, {value, JM_POLICY, c->policy_file, node->line}};
    return 0;
}

static int check_policy(jianmu_config *c, const struct jm_node *root, jianmu_error **err)
{
    const struct jm_node *wrong = root->kind == JM_NODE_MAP || jm_node_is_null(root) ? NULL : root;
    for (const struct jm_node *node = root->child; node && !wrong; node = node->next) {
        if (strcmp(node->key, "max"))
            return wrong_key(c, node,
                             "is not understood by this version, which knows \"max\" only; it loads no policy in part",
                             NULL, err);
        wrong = node->kind == JM_NODE_MAP || jm_node_is_null(node) ? NULL : node;
        for (const struct jm_node *limit = node->child; limit && !wrong; limit = limit->next)
            if (add_bound(c, limit, err))
                return -1;
    }
    return wrong ? jm_fail(err, JIANMU_INVALID, "%s:%d:%d: a mapping of keys to values must stand here", c->policy_file,
                           wrong->line, wrong->column) : 0;
}

int jm_policy_load(jianmu_config *config, jianmu_error **err)
{
    jm_auto_free char *text = NULL;
    size_t len;
    if (asprintf(&config->policy_file, "%s/jianmu/policy.yaml", config->sysconfdir) < 0) {
        config->policy_file = NULL;
        return jm_fail_memory(err);
    }
    int rc = jm_file_read(config->policy_file, &text, &len, err);
    if (rc)
        return rc < 0 ? -1 : 0;
    struct jm_node *root = jm_yaml_parse(text, len, config->policy_file, err);
    rc = root ? check_policy(config, root, err) : -1;
    jm_node_free(root);
    return rc;
}
