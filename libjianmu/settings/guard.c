/* SPDX-License-Identifier: Apache-2.0
 * The guard section as a whole. What one word of it is not understood in is refused: a rule that is left out may be
 * the one that mattered. */
#include "config.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "plugin/registry.h"
#include "settings/guard.h"
#include "settings/values.h"
#include "base/text.h"
#include <string.h>

static const char *const keys[] = {"profile", "max", "rules", "rates", "budgets", "use", "confirm_expires", "time_limit"};
static const char *const profiles[] = {"dev", "standard", "strict"}; /* each stricter than the one before */

static int rank(const json_t *set)
{
    const char *name = json_string_value(json_object_get(json_object_get(set, "profile"), "name"));
    int strict = name ? 0 : -1;
    while (strict >= 0 && strcmp(profiles[strict], name))
        strict++;
    return strict;
}

const char *jm_config_profile(const jianmu_config *config)
{
    int own = rank(json_object_get(config->guard, "config")), policy = rank(json_object_get(config->guard, "policy"));
    return profiles[own > policy ? own : policy];
}

const json_t *jm_config_guard(const jianmu_config *config)
{
    return config->guard;
}

double jm_config_confirm_expires(const jianmu_config *config)
{
    return json_number_value(json_object_get(config->guard, "confirm_expires"));
}

static json_t *read_profile(struct jm_guard_reader *r, const struct jm_node *node)
{
    char shown[JM_SHOWN];
    const char *text = jm_guard_text(r, node, "guard.profile");
    json_t *profile = text ? jm_guard_object(r, node) : NULL;
    for (size_t i = 0; profile && i < jm_countof(profiles); i++)
        if (!strcmp(text, profiles[i]))
            return jm_guard_put(r, profile, "name", json_string(text)) ? (json_decref(profile), NULL) : profile;
    if (profile) {
        json_decref(profile);
        const char *nearest = jm_text_nearest(text, profiles, jm_countof(profiles));
        jm_guard_wrong(r, node, "guard.profile: %s is no profile; there are dev, standard and strict%s%s%s",
                       jm_show(shown, text), nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                       nearest ? "\"?" : "");
    }
    return NULL;
}

static int check_guard(struct jm_guard_reader *r, const struct jm_node *node, const char *text)
{
    jianmu_error *why = NULL;
    if (!strcmp(text, "policy") || jm_registry_find(r->config->registry, JIANMU_KIND_GUARD, text, &why))
        return 0;
    /* one that is refused or gone denies every call; one that never was is a mistake in the file */
    int rc = jianmu_error_code(why) == JIANMU_NOT_FOUND
                 ? jm_guard_wrong(r, node, "guard.use: %s", jianmu_error_message(why)) : 0;
    jianmu_error_free(why);
    return rc;
}

/* Each is asked once; one place is kept for "policy", which policy.yaml may bring in. */
static json_t *read_use(struct jm_guard_reader *r, const struct jm_node *node)
{
    json_t *list = jm_guard_texts(r, node, "guard.use", check_guard);
    bool twice = false;
    for (size_t i = 1; i < json_array_size(list); i++)
        for (size_t j = 0; j < i; j++)
            twice |= json_equal(json_array_get(list, i), json_array_get(list, j));
    if (json_array_size(list) <= 7 && !twice)
        return list;
    json_decref(list);
    jm_guard_wrong(r, node, twice ? "guard.use: a guard stands here twice" : "guard.use: there may be 7 guards, no more");
    return NULL;
}

static int read_max(struct jm_guard_reader *r, const struct jm_node *node)
{
    if (jm_node_is_null(node))
        return 0;
    if (jm_guard_is_map(r, node, "guard.max"))
        return -1;
    return jm_bounds_load(r->config, node, "guard.max", r->file, r->err);
}

/* "use", "confirm_expires" and "time_limit" belong to the whole, the rest to the set of this file. */
static int read_key(struct jm_guard_reader *r, const struct jm_node *node, json_t *set, json_t *whole)
{
    if (!strcmp(node->key, "profile"))
        return jm_guard_put(r, set, "profile", read_profile(r, node));
    if (!strcmp(node->key, "max"))
        return read_max(r, node);
    if (!strcmp(node->key, "rules"))
        return jm_guard_put(r, set, "rules", jm_guard_rules(r, node));
    if (!strcmp(node->key, "rates"))
        return jm_guard_put(r, set, "rates", jm_guard_rates(r, node));
    if (!strcmp(node->key, "budgets"))
        return jm_guard_put(r, set, "budgets", jm_guard_budgets(r, node));
    if (!strcmp(node->key, "use"))
        return jm_guard_put(r, whole, "use", read_use(r, node));
    if (!strcmp(node->key, "time_limit"))
        return jm_guard_put(r, whole, "time_limit", jm_guard_number(r, node, "guard.time_limit", JM_SECONDS, 1e-3, 60));
    return jm_guard_put(r, whole, "confirm_expires",
                        jm_guard_number(r, node, "guard.confirm_expires", JM_SECONDS, 1, 86400));
}

static int read_section(struct jm_guard_reader *r, const struct jm_node *guard, json_t *set, json_t *whole)
{
    size_t known = jm_countof(keys) - (r->policy ? 3 : 0);
    if (jm_node_is_null(guard))
        return 0;
    if (jm_guard_is_map(r, guard, "guard"))
        return -1;
    for (const struct jm_node *node = guard->child; node; node = node->next) {
        jm_auto_free char *path = NULL;
        if (jm_format(&path, "guard.%s", node->key) < 0) {
            path = NULL;
            return jm_fail_memory(r->err);
        }
        bool own = !r->policy && !strchr(node->key, '.') && jm_keys_below(&r->config->keys, path);
        int rc = own ? jm_check_section(r->config, node, path, r->err)
                     : jm_guard_known(r, node, "guard", keys, known) ? -1 : read_key(r, node, set, whole);
        if (rc)
            return -1;
    }
    return 0;
}

static bool uses_policy(const json_t *whole)
{
    size_t i;
    json_t *name;
    json_array_foreach(json_object_get(whole, "use"), i, name)
        if (!strcmp(json_string_value(name), "policy"))
            return true;
    return false;
}

/* Rules that nobody holds would be worse than none. */
static int check_use(struct jm_guard_reader *r, const struct jm_node *guard, const json_t *set, const json_t *whole)
{
    if (!json_object_size(set) || !json_object_get(whole, "use") || uses_policy(whole))
        return 0;
    return jm_guard_wrong_key(r, jm_node_member(guard, "use"), "guard.use: profile, rules, rates and budgets are held "
                              "by the guard \"policy\", which the list does not name");
}

static int finish(jianmu_config *c, json_t *whole, json_t *set, jianmu_error **err)
{
    int bad = 0;
    if (!json_object_get(set, "profile"))
        bad |= json_object_set_new(set, "profile", json_pack("{s:s, s:s}", "name", "standard", "source", "default"));
    if (!json_object_get(whole, "use"))
        bad |= json_object_set_new(whole, "use", json_pack("[s]", "policy"));
    if (!json_object_get(whole, "confirm_expires"))
        bad |= json_object_set_new(whole, "confirm_expires", json_real(300));
    if (!json_object_get(whole, "time_limit"))
        bad |= json_object_set_new(whole, "time_limit", json_real(1));
    bad |= json_object_set(whole, "config", set);
    c->guard = json_incref(whole);
    return bad ? jm_fail_memory(err) : 0;
}

int jm_guard_load(jianmu_config *config, const struct jm_node *root, jianmu_error **err)
{
    struct jm_guard_reader r = {config, config->file, false, err};
    const struct jm_node *guard = jm_node_member(root, "guard");
    jm_auto_json json_t *whole = json_object(), *set = json_object();
    if (!whole || !set)
        return jm_fail_memory(err);
    if (guard && (read_section(&r, guard, set, whole) || check_use(&r, guard, set, whole)))
        return -1;
    return finish(config, whole, set, err);
}

/* What policy.yaml says is held whatever guards jianmu.yaml names. */
int jm_guard_load_policy(jianmu_config *config, const struct jm_node *guard, jianmu_error **err)
{
    struct jm_guard_reader r = {config, config->policy_file, true, err};
    jm_auto_json json_t *set = json_object();
    if (!set)
        return jm_fail_memory(err);
    if (read_section(&r, guard, set, NULL))
        return -1;
    if (!json_object_size(set))
        return 0;
    if (!uses_policy(config->guard) && json_array_append_new(json_object_get(config->guard, "use"), json_string("policy")))
        return jm_fail_memory(err);
    return json_object_set(config->guard, "policy", set) ? jm_fail_memory(err) : 0;
}
