/* SPDX-License-Identifier: Apache-2.0
 * A config's life: made, given directories, loaded once, then only read. */
#include "config.h"

#include "settings/inside.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "plugin/registry.h"
#include "settings/values.h"
#include <string.h>
#include <sys/auxv.h>

void *jm_append(void *list_pointer, size_t *count, size_t size)
{
    char *list = *(void **)list_pointer;
    if ((*count & (*count - 1)) == 0) {
        list = realloc(list, (*count ? 2 * *count : 1) * size);
        if (!list)
            return NULL;
        *(void **)list_pointer = list;
    }
    return memset(list + (*count)++ * size, 0, size);
}

jianmu_config *jianmu_config_new(void)
{
    jianmu_config *config = calloc(1, sizeof *config);
    if (!config)
        return NULL;
    config->owners = 1;
    config->sysconfdir = JM_SYSCONFDIR;
    config->plugin_root = JM_BACKENDS_ROOT;
    config->secure = getauxval(AT_SECURE) != 0;
    return config;
}

jianmu_config *jm_config_hold(const jianmu_config *config)
{
    jianmu_config *held = (jianmu_config *)config;
    atomic_fetch_add(&held->owners, 1);
    return held;
}

static void free_strings(char **list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

/* Takes away all that a load brought. */
static void unload(jianmu_config *c)
{
    for (size_t i = 0; i < c->value_count; i++) {
        free(c->values[i].path);
        json_decref(c->values[i].setting.value);
    }
    for (size_t i = 0; i < c->rule_count; i++) {
        free(c->rules[i].glob);
        free(c->rules[i].name);
        json_decref(c->rules[i].setting.value);
    }
    for (size_t i = 0; i < c->bound_count; i++)
        json_decref(c->bounds[i].setting.value);
    free(c->values);
    free(c->rules);
    free(c->bounds);
    jm_keys_free(&c->keys);
    jm_registry_free(c->registry);
    free_strings(c->search, c->search_count);
    free(c->file);
    free(c->outer_file);
    free(c->policy_file);
    json_decref(c->env_args_max);
    json_decref(c->guard);
    *c = (jianmu_config){.owners = c->owners, .dirs = c->dirs, .dir_count = c->dir_count, .sysconfdir = c->sysconfdir,
                         .plugin_root = c->plugin_root, .secure = c->secure};
}

const char *jianmu_config_file(const jianmu_config *config)
{
    return config->file;
}

void jianmu_config_free(jianmu_config *config)
{
    if (!config || atomic_fetch_sub(&config->owners, 1) != 1)
        return;
    unload(config);
    free_strings(config->dirs, config->dir_count);
    free(config);
}

int jianmu_config_add_plugin_dir(jianmu_config *config, const char *dir, jianmu_error **err)
{
    char shown[JM_SHOWN];
    if (config->loaded)
        return jm_fail(err, JIANMU_INVALID, "a directory of plug-ins cannot be added to a config that is loaded");
    if (*dir != '/')
        return jm_fail(err, JIANMU_INVALID, "plug-in directory: %s is not an absolute path", jm_show(shown, dir));
    char **slot = jm_append(&config->dirs, &config->dir_count, sizeof *slot);
    if (slot && (*slot = strdup(dir)))
        return 0;
    if (slot)
        config->dir_count--;
    return jm_fail_memory(err);
}

static int read_environment(jianmu_config *c, jianmu_error **err)
{
    const char *text = jm_config_env(c, "JIANMU_TOOL_ARGS_MAX");
    if (!text)
        return 0;
    if (!jm_utf8_is_valid(text, strlen(text)))
        return jm_fail(err, JIANMU_INVALID, "$JIANMU_TOOL_ARGS_MAX is not valid UTF-8");
    jm_auto_json json_t *value = json_string_nocheck(text);
    if (!value)
        return jm_fail_memory(err);
    c->env_args_max = jm_coerce_as("$JIANMU_TOOL_ARGS_MAX", jm_knob_find("tool_args_max"), value, err);
    return c->env_args_max ? 0 : -1;
}

/* What is read, and the names of the two in complaints. */
struct texts {
    char *inner, *outer; /* NULL: no file */
    size_t inner_len, outer_len;
};

/* Between the two files: what is read next is the other's. */
static void turn(jianmu_config *c)
{
    char *file = c->file;
    c->file = c->outer_file;
    c->outer_file = file;
    c->outer = !c->outer;
}

/* The order matters: which keys there are is known only after plugins.path was followed. What a file of the current
 * directory may not set is that of the file it stands before: a stranger's switches no guard off. */
static int check(jianmu_config *c, const struct jm_node *inner, const struct jm_node *outer, jianmu_error **err)
{
    jm_auto_json json_t *path = NULL;
    int rc = jm_check_top(c, inner, err) ||
             (outer ? (turn(c), jm_check_top(c, outer, err)) : 0) ||
             jm_check_plugins_path(c, outer ? outer : inner, &path, err) || jm_config_scan(c, path, err) ||
             jm_keys_build(&c->keys, c->registry, err) || (outer && jm_check(c, outer, err)) ||
             jm_guard_load(c, outer ? outer : inner, err);
    if (c->outer)
        turn(c);
    return rc || jm_check(c, inner, err) ? -1 : 0;
}

static int load(jianmu_config *c, const struct texts *t, jianmu_error **err)
{
    static const struct jm_node empty = {.kind = JM_NODE_MAP};
    struct jm_node *inner = t->inner ? jm_yaml_parse(t->inner, t->inner_len, c->file, err) : NULL, *outer = NULL;
    bool bad = t->inner && !inner;
    if (!bad && t->outer)
        bad = !(outer = jm_yaml_parse(t->outer, t->outer_len, c->outer_file, err));
    int rc = bad || check(c, inner ? inner : &empty, outer, err) || read_environment(c, err) || jm_policy_load(c, err) ? -1 : 0;
    jm_node_free(inner);
    jm_node_free(outer);
    c->loaded = rc == 0;
    return rc;
}

static int can_load(const jianmu_config *config, jianmu_error **err)
{
    return config->loaded ? jm_fail(err, JIANMU_INVALID, "this config is loaded already") : 0;
}

int jianmu_config_load(jianmu_config *config, const char *file, jianmu_error **err)
{
    struct texts t = {0};
    if (can_load(config, err))
        return -1;
    int rc = jm_config_find(config, file, &t.inner, &t.inner_len, err) ||
             jm_config_find_outer(config, &t.outer, &t.outer_len, err) || load(config, &t, err) ? -1 : 0;
    free(t.inner);
    free(t.outer);
    if (rc)
        unload(config);
    return rc;
}

int jianmu_config_load_text(jianmu_config *config, const char *text, size_t len, const char *name, jianmu_error **err)
{
    if (can_load(config, err))
        return -1;
    config->file = strdup(name ? name : "config");
    const struct texts t = {.inner = (char *)text, .inner_len = len};
    int rc = config->file ? load(config, &t, err) : jm_fail_memory(err);
    if (rc)
        unload(config);
    return rc;
}

jianmu_config *jm_config_default(jianmu_error **err)
{
    jianmu_config *config = jianmu_config_new();
    if (!config) {
        jm_fail_memory(err);
        return NULL;
    }
    if (jianmu_config_load_text(config, "", 0, "defaults", err)) {
        jianmu_config_free(config);
        return NULL;
    }
    return config;
}

struct jm_registry *jm_config_registry(const jianmu_config *config)
{
    return config->registry;
}

const struct jm_setting *jm_config_value(const jianmu_config *config, const char *path)
{
    for (size_t i = 0; i < config->value_count; i++)
        if (!strcmp(config->values[i].path, path))
            return &config->values[i].setting;
    return NULL;
}

json_t *jm_config_plugin(const jianmu_config *config, const char *section, const char *name, jianmu_error **err)
{
    bool guard = !strcmp(section, "guard");
    jm_auto_json json_t *all = json_object();
    bool bad = !all;
    for (size_t i = 0; i < config->keys.count && !bad; i++) {
        const struct jm_key *key = &config->keys.list[i];
        const char *owner = guard ? key->guard : key->sink;
        if (!owner || strcmp(owner, name))
            continue;
        if (key->problem) {
            jm_fail(err, JIANMU_UNAVAILABLE, "%s: the plug-in's note is wrong about it: %s", key->path, key->problem);
            return NULL;
        }
        const struct jm_setting *set = jm_config_value(config, key->path);
        json_t *value = set ? set->value : key->fallback;
        json_t *copy = value ? jm_json_deep_copy(value) : json_null();
        bad = !copy || json_object_set_new(all, key->knob.name, copy);
    }
    if (bad)
        jm_fail_memory(err);
    return bad ? NULL : jm_steal(all);
}

const struct jm_rule *jm_config_rule(const jianmu_config *config, const char *name, const char *subject, bool job)
{
    const struct jm_rule *best = NULL;
    size_t most = 0;
    for (size_t i = 0; subject && i < config->rule_count; i++) {
        const struct jm_rule *rule = &config->rules[i];
        bool meant = job ? !strcmp(rule->glob, "job") && !strcmp(subject, "job") : jm_glob_match(rule->glob, subject);
        size_t score = 2 * jm_glob_literals(rule->glob) + jm_glob_is_literal(rule->glob);
        if (meant && !strcmp(rule->name, name) && (!best || score >= most)) {
            best = rule;
            most = score;
        }
    }
    return best;
}
