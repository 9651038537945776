/* SPDX-License-Identifier: Apache-2.0
 * The file against all keys there are. The first thing that is wrong is told with file, line and column. */
#include "config.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "plugin/registry.h"
#include "settings/inside.h"
#include "settings/values.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const sections[] = {"events", "execution", "plugins", "tools", "guard"};

/* A complaint about a key, where it stands. */
__attribute__((format(printf, 4, 5))) static int wrong_key(const jianmu_config *c, const struct jm_node *node,
                                                           jianmu_error **err, const char *format, ...)
{
    jianmu_error *why = NULL;
    va_list ap;
    va_start(ap, format);
    jm_vfail(&why, JIANMU_INVALID, format, ap);
    va_end(ap);
    jm_wrap(&why, "%s:%d:%d", c->file, node->key_line, node->key_column);
    return jm_fail_take(err, why);
}

static int unknown_key(const jianmu_config *c, const struct jm_node *node, const char *where, const char *const *names,
                       size_t count, jianmu_error **err)
{
    char shown[JM_SHOWN];
    const char *nearest = jm_text_nearest(node->key, names, count);
    return wrong_key(c, node, err, "unknown key %s%s%s%s%s%s", jm_show(shown, node->key), *where ? " in " : "", where,
                     nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
}

static int not_a_map(const jianmu_config *c, const struct jm_node *node, const char *where, jianmu_error **err)
{
    if (node->kind == JM_NODE_MAP || jm_node_is_null(node))
        return 0;
    return jm_fail(err, JIANMU_INVALID, "%s:%d:%d: %s must be a mapping of keys to values", c->file, node->line,
                   node->column, where);
}

/* 0 with NULL in *value: null where that means silence. */
static int take_value(const jianmu_config *c, const struct jm_node *node, const char *label, const struct jm_knob *knob,
                      json_t **value, jianmu_error **err)
{
    jianmu_error *why = NULL;
    *value = NULL;
    if (jm_node_is_null(node) && knob->flags & JM_NULLABLE)
        return 0;
    jm_auto_json json_t *json = jm_node_json(node, label, c->file, err);
    if (!json)
        return -1;
    *value = jm_coerce_as(label, knob, json, &why);
    if (*value)
        return 0;
    jm_wrap(&why, "%s:%d:%d", c->file, node->line, node->column);
    return jm_fail_take(err, why);
}

static int take_key(jianmu_config *c, const struct jm_node *node, const struct jm_key *key, jianmu_error **err)
{
    jm_auto_json json_t *value = NULL;
    if (key->problem)
        return wrong_key(c, node, err, "%s cannot be set: the plug-in's note is wrong about it: %s", key->path,
                         key->problem);
    if (c->in_cwd && !c->outer && !(key->knob.flags & JM_CWD_SAFE))
        return wrong_key(c, node, err,
                         "%s may not be set by a file that was found in the current directory; pass it with "
                         "--config %s",
                         key->path, c->file);
    if (take_value(c, node, key->path, &key->knob, &value, err))
        return -1;
    if (!value)
        return 0;
    struct jm_named *named = jm_append(&c->values, &c->value_count, sizeof *named);
    if (!named)
        return jm_fail_memory(err);
    named->setting = (struct jm_setting){jm_steal(value), JM_YAML, c->file, node->line};
    named->path = strdup(key->path);
    return named->path ? 0 : jm_fail_memory(err);
}

/* The keys directly below that place, for suggestions. At most `most`. */
static size_t names_below(const jianmu_config *c, const char *path, const char **names, size_t most)
{
    size_t len = strlen(path), count = 0;
    for (size_t i = 0; i < c->keys.count && count < most; i++) {
        const char *other = c->keys.list[i].tool ? NULL : c->keys.list[i].path;
        if (other && !strncmp(other, path, len) && other[len] == '.' && !strchr(other + len + 1, '.'))
            names[count++] = other + len + 1;
    }
    return count;
}

/* What only backends have is looked for too: "execution.memory" is a usual mistake. */
static int unknown_in_execution(const jianmu_config *c, const struct jm_node *node, jianmu_error **err)
{
    const char *names[128];
    char shown[JM_SHOWN];
    size_t own = names_below(c, "execution", names, jm_countof(names) / 2), count = own;
    for (size_t i = 0; i < jm_knob_count && count < jm_countof(names); i++)
        if (jm_knobs[i].flags & JM_PER_MODE && !jm_knobs[i].yaml)
            names[count++] = jm_knobs[i].name;
    const char *nearest = jm_text_nearest(node->key, names, count),
               *own_nearest = jm_text_nearest(node->key, names, own);
    if (!nearest || nearest == own_nearest)
        return unknown_key(c, node, "execution", names, own, err);
    return wrong_key(c, node, err, "unknown key %s in execution; \"%s\" stands below a backend, as in execution.docker",
                     jm_show(shown, node->key), nearest);
}

/* Below execution.<mode>. the plug-in knows which keys there are; without it nobody does. */
static int unknown_in_section(const jianmu_config *c, const struct jm_node *node, const char *path, jianmu_error **err)
{
    const char *names[128], *mode = NULL;
    char shown[JM_SHOWN];
    jianmu_error *why = NULL;
    if (!strcmp(path, "execution") && node->kind == JM_NODE_MAP)
        mode = node->key;
    else if (!strncmp(path, "execution.", 10) && strcmp(path, "execution.artifacts"))
        mode = path + 10;
    if (!mode && !strcmp(path, "execution"))
        return unknown_in_execution(c, node, err);
    if (!mode || jm_registry_find(c->registry, JIANMU_KIND_BACKEND, mode, &why))
        return unknown_key(c, node, path, names, names_below(c, path, names, jm_countof(names)), err);
    if (mode == node->key)
        wrong_key(c, node, err, "unknown key %s in execution, and no backend has that name: %s", jm_show(shown, mode),
                  jianmu_error_message(why));
    else
        wrong_key(c, node, err, "unknown key %s in %s: it would be the backend plug-in's, which cannot be had: %s",
                  jm_show(shown, node->key), path, jianmu_error_message(why));
    jianmu_error_free(why);
    return -1;
}

static bool is_backend(const jianmu_config *c, const char *path)
{
    jianmu_error *why = NULL;
    bool is = !strncmp(path, "execution.", 10) && jm_registry_find(c->registry, JIANMU_KIND_BACKEND, path + 10, &why);
    jianmu_error_free(why);
    return is;
}

/* At most three calls deep: a section without keys below it is not gone into. */
int jm_check_section(jianmu_config *c, const struct jm_node *section, const char *path, jianmu_error **err)
{
    if (not_a_map(c, section, path, err))
        return -1;
    for (const struct jm_node *node = section->child; node; node = node->next) {
        jm_auto_free char *below = NULL;
        if (jm_format(&below, "%s.%s", path, node->key) < 0) {
            below = NULL;
            return jm_fail_memory(err);
        }
        const struct jm_key *key = strchr(node->key, '.') ? NULL : jm_keys_at(&c->keys, below);
        bool section_below = !strchr(node->key, '.') && (jm_keys_below(&c->keys, below) || is_backend(c, below));
        int rc = key             ? take_key(c, node, key, err)
                 : section_below ? jm_check_section(c, node, below, err)
                                 : unknown_in_section(c, node, path, err);
        if (rc)
            return rc;
    }
    return 0;
}

/* A pattern that names one tool must name one that is there. */
static int check_glob(const jianmu_config *c, const struct jm_node *node, jianmu_error **err)
{
    jianmu_error *why = NULL;
    for (const char *p = node->key; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:/*?", *p))
            return wrong_key(c, node, err,
                             "a tool's name holds letters, digits and _ - . : / only; * and ? stand for any");
    if (!jm_glob_is_literal(node->key) || !strcmp(node->key, "job") ||
        jm_registry_find(c->registry, JIANMU_KIND_TOOL, node->key, &why))
        return 0;
    wrong_key(c, node, err, "tools.%s: %s", node->key, jianmu_error_message(why));
    jianmu_error_free(why);
    return -1;
}

static int unknown_in_tools(const jianmu_config *c, const struct jm_node *node, const char *glob, jianmu_error **err)
{
    const char *names[128];
    size_t count = 0;
    for (size_t i = 0; i < c->keys.count && count < jm_countof(names); i++) {
        const struct jm_key *key = &c->keys.list[i];
        if (key->knob.flags & JM_PER_TOOL && (!key->tool || jm_glob_match(glob, key->tool)))
            names[count++] = key->knob.name;
    }
    jm_auto_free char *where = NULL;
    if (jm_format(&where, "tools.%s", glob) < 0) {
        where = NULL;
        return jm_fail_memory(err);
    }
    return unknown_key(c, node, where, names, count, err);
}

static int add_rule(jianmu_config *c, const struct jm_node *node, const char *glob, json_t *value, jianmu_error **err)
{
    struct jm_rule *rule = jm_append(&c->rules, &c->rule_count, sizeof *rule);
    if (!rule) {
        json_decref(value);
        return jm_fail_memory(err);
    }
    rule->setting = (struct jm_setting){value, JM_TOOL_RULE, c->file, node->line};
    rule->glob = strdup(glob);
    rule->name = strdup(node->key);
    return rule->glob && rule->name ? 0 : jm_fail_memory(err);
}

/* Every tool that the pattern means and that has the key must be able to take the value. */
static int check_tool_value(jianmu_config *c, const struct jm_node *node, const char *glob, jianmu_error **err)
{
    jm_auto_json json_t *value = NULL;
    bool known = false;
    jm_auto_free char *label = NULL;
    if (jm_format(&label, "tools.%s.%s", glob, node->key) < 0) {
        label = NULL;
        return jm_fail_memory(err);
    }
    for (size_t i = 0; i < c->keys.count; i++) {
        const struct jm_key *key = &c->keys.list[i];
        json_t *one = NULL;
        if (!(key->knob.flags & JM_PER_TOOL) || strcmp(key->knob.name, node->key) ||
            (key->tool && !jm_glob_match(glob, key->tool)))
            continue;
        if (key->problem)
            return wrong_key(c, node, err, "%s cannot be set: the note of %s is wrong about it: %s", label, key->tool,
                             key->problem);
        if (take_value(c, node, label, &key->knob, &one, err))
            return -1;
        if (value)
            json_decref(one);
        else
            value = one;
        known = true;
    }
    if (!known)
        return unknown_in_tools(c, node, glob, err);
    return value ? add_rule(c, node, glob, jm_steal(value), err) : 0;
}

static int check_tools(jianmu_config *c, const struct jm_node *tools, jianmu_error **err)
{
    if (not_a_map(c, tools, "tools", err))
        return -1;
    for (const struct jm_node *tool = tools->child; tool; tool = tool->next) {
        if (check_glob(c, tool, err) || not_a_map(c, tool, "what stands below a tool", err))
            return -1;
        for (const struct jm_node *node = tool->child; node; node = node->next)
            if (check_tool_value(c, node, tool->key, err))
                return -1;
    }
    return 0;
}

int jm_check_top(const jianmu_config *config, const struct jm_node *root, jianmu_error **err)
{
    char shown[JM_SHOWN];
    if (not_a_map(config, root, "a config file", err))
        return -1;
    for (const struct jm_node *node = root->child; node; node = node->next) {
        bool known = false;
        for (size_t i = 0; i < jm_countof(sections); i++)
            known |= !strcmp(node->key, sections[i]);
        if (!known)
            return unknown_key(config, node, "", sections, jm_countof(sections), err);
        if (config->in_cwd && !config->outer && strcmp(node->key, "execution"))
            return wrong_key(config, node, err,
                             "%s may not stand in a file that was found in the current directory; pass "
                             "it with --config %s",
                             jm_show(shown, node->key), config->file);
    }
    return 0;
}

int jm_check_plugins_path(const jianmu_config *config, const struct jm_node *root, json_t **path, jianmu_error **err)
{
    const struct jm_node *plugins = jm_node_member(root, "plugins");
    const struct jm_node *node = plugins ? jm_node_member(plugins, "path") : NULL;
    *path = NULL;
    return node ? take_value(config, node, "plugins.path", jm_knob_find("plugins.path"), path, err) : 0;
}

int jm_check(jianmu_config *config, const struct jm_node *root, jianmu_error **err)
{
    for (const struct jm_node *node = root->child; node; node = node->next) {
        if (config->outer && !strcmp(node->key, "execution"))
            continue; /* the nearer file's word */
        int rc = !strcmp(node->key, "tools")   ? check_tools(config, node, err)
                 : !strcmp(node->key, "guard") ? 0 /* jm_guard_load reads it */
                                               : jm_check_section(config, node, node->key, err);
        if (!rc && !strcmp(node->key, "events"))
            rc = jm_check_events(config, node, err);
        if (rc)
            return rc;
    }
    return 0;
}
