/* SPDX-License-Identifier: Apache-2.0
 * policy.yaml is always read and only makes things tighter: what it says no other layer loosens. What this version
 * does not understand in it is an error, as leaving it out would loosen. */
#include "config.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "settings/inside.h"
#include "settings/values.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int check_policy(jianmu_config *c, const struct jm_node *root, jianmu_error **err)
{
    char shown[JM_SHOWN];
    const struct jm_node *wrong = root->kind == JM_NODE_MAP || jm_node_is_null(root) ? NULL : root;
    for (const struct jm_node *node = root->child; node && !wrong; node = node->next) {
        if (!strcmp(node->key, "guard")) {
            if (jm_guard_load_policy(c, node, err))
                return -1;
            continue;
        }
        if (strcmp(node->key, "max"))
            return jm_fail(err, JIANMU_INVALID,
                           "%s:%d:%d: %s is not understood by this version, which knows \"max\" and \"guard\" only; it "
                           "loads no policy in part",
                           c->policy_file, node->key_line, node->key_column, jm_show(shown, node->key));
        wrong = node->kind == JM_NODE_MAP || jm_node_is_null(node) ? NULL : node;
        if (!wrong && jm_bounds_load(c, node, "max", c->policy_file, err))
            return -1;
    }
    return wrong ? jm_fail(err, JIANMU_INVALID, "%s:%d:%d: a mapping of keys to values must stand here", c->policy_file,
                           wrong->line, wrong->column) : 0;
}

/* That there is no policy must be so: a link that leads nowhere, to it or to its directory, is one that got lost. */
static int check_absent(const char *path, jianmu_error **err)
{
    struct stat st;
    jm_auto_free char *part = strdup(path);
    if (!part)
        return jm_fail_memory(err);
    for (char *end = part + strlen(part); end > part; end = strrchr(part, '/')) {
        *end = 0;
        if (!lstat(part, &st))
            return !stat(part, &st) && S_ISDIR(st.st_mode) ? 0
                   : jm_fail(err, JIANMU_INVALID, "the policy %s cannot be found: %s is no directory, or a link that leads "
                             "nowhere", path, part);
        if (errno != ENOENT && errno != ENOTDIR)
            return jm_fail_errno(err, JIANMU_INVALID, errno, "cannot look for %s", path);
    }
    return 0;
}

int jm_policy_load(jianmu_config *config, jianmu_error **err)
{
    jm_auto_free char *text = NULL;
    size_t len;
    if (jm_format(&config->policy_file, "%s/jianmu/policy.yaml", config->sysconfdir) < 0) {
        config->policy_file = NULL;
        return jm_fail_memory(err);
    }
    int rc = jm_file_read(config->policy_file, &text, &len, err);
    if (rc)
        return rc < 0 ? -1 : check_absent(config->policy_file, err);
    struct jm_node *root = jm_yaml_parse(text, len, config->policy_file, err);
    rc = root ? check_policy(config, root, err) : -1;
    jm_node_free(root);
    return rc;
}
