/* SPDX-License-Identifier: Apache-2.0
 * Which tools a runner has: the built-in ones that are offered, and those of its skill, which go before them. */
#include "config.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "call/runner.h"
#include "call/services.h"
#include "settings/constraints.h"
#include <stdio.h>
#include <string.h>

/* Patterns as in tools.<glob>. */
static bool is_offered(const jianmu_runner *r, const char *name)
{
    for (size_t i = 0; r->offered && r->offered[i]; i++)
        if (jm_glob_match(r->offered[i], name))
            return true;
    return !r->offered;
}

/* A skill's tools are for those calls that its constraints are for. */
static jm_registry *custom_for(const jianmu_runner *r, const char *name)
{
    return r->custom && jm_constraints_apply(r->constraints, name, false) ? r->custom : NULL;
}

/* Each usable tool, the skill's first. *i: 0 to begin with. NULL: that was the last. */
static struct jm_item *next_tool(const jianmu_runner *r, size_t *i)
{
    const jm_registry *builtin = jm_config_registry(r->config);
    size_t own = r->custom ? jm_registry_count(r->custom) : 0, all = own + jm_registry_count(builtin);
    for (; *i < all; (*i)++) {
        struct jm_item *item = *i < own ? jm_registry_item(r->custom, *i) : jm_registry_item(builtin, *i - own);
        if (item->kind != JIANMU_KIND_TOOL || item->state != JM_USABLE ||
            (*i < own ? !custom_for(r, item->name) : !is_offered(r, item->name)))
            continue;
        (*i)++;
        return item;
    }
    return NULL;
}

/* Which tools a file would bring that is not read nobody knows. */
static const char *refused_sentence(const jm_registry *custom)
{
    for (size_t i = 0; custom && i < jm_registry_count(custom); i++)
        if (jm_registry_item(custom, i)->state == JM_REFUSED)
            return jm_registry_item(custom, i)->sentence;
    return NULL;
}

static int fail_unknown(const jianmu_runner *r, const char *name, jianmu_error **err)
{
    size_t count = 0, i = 0;
    const struct jm_item *item;
    while (next_tool(r, &i))
        count++;
    jm_auto_free const char **names = calloc(count + 1, sizeof *names);
    if (!names)
        return jm_fail_memory(err);
    for (count = i = 0; (item = next_tool(r, &i)); count++)
        names[count] = item->name;
    const char *nearest = jm_text_nearest(name, names, count), *bad = refused_sentence(custom_for(r, name));
    return jm_fail(err, JIANMU_NOT_FOUND, "tool '%s' is not among the tools of this runner%s%s%s%s%s", name,
                   nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "",
                   bad ? "; of its skill a file cannot be used: " : "", bad ? bad : "");
}

/* 0 with *item NULL: it is not there. What is there and cannot be used is an error, not a reason to look further. */
static int look(jm_registry *registry, const char *name, struct jm_item **item, jianmu_error **err)
{
    jianmu_error *why = NULL;
    *item = registry ? jm_registry_find(registry, JIANMU_KIND_TOOL, name, &why) : NULL;
    if (why && jianmu_error_code(why) != JIANMU_NOT_FOUND)
        return jm_fail_take(err, why);
    jianmu_error_free(why);
    return 0;
}

struct jm_item *jm_toolset_find(const jianmu_runner *r, const char *name, jm_registry **from, jianmu_error **err)
{
    struct jm_item *item;
    *from = custom_for(r, name);
    if (look(*from, name, &item, err))
        return NULL;
    if (item)
        return item;
    *from = jm_config_registry(r->config);
    if (!r->offered && !r->custom)
        return jm_registry_find(*from, JIANMU_KIND_TOOL, name, err);
    if (is_offered(r, name) && (look(*from, name, &item, err) || item))
        return item;
    fail_unknown(r, name, err);
    return NULL;
}

void jm_toolset_grade(const jianmu_runner *r, const struct jm_item *item, const jm_registry *from, uint32_t *danger,
                      uint64_t *flags)
{
    static const uint64_t promises = JIANMU_READ_ONLY | JIANMU_IDEMPOTENT;
    jianmu_error *why = NULL;
    *danger = item->danger;
    *flags = item->flags;
    if (from != r->custom)
        return;
    if (*danger < JIANMU_DANGER_WRITE)
        *danger = JIANMU_DANGER_WRITE;
    const struct jm_item *other = jm_registry_find(jm_config_registry(r->config), JIANMU_KIND_TOOL, item->name, &why);
    bool hidden = !other && jianmu_error_code(why) != JIANMU_NOT_FOUND; /* what it is cannot be said: the worst */
    jianmu_error_free(why);
    if (!other && !hidden)
        return;
    uint32_t its_danger = hidden ? JIANMU_DANGER_DANGEROUS : other->danger;
    uint64_t its_flags = hidden ? JIANMU_OPEN_WORLD : other->flags;
    if (*danger < its_danger)
        *danger = its_danger;
    *flags = (*flags & ~(promises & ~its_flags)) | (its_flags & JIANMU_OPEN_WORLD);
}

/* A name must be a tool that can be had, a pattern must mean at least one. */
static int check_name(const jianmu_runner *r, const char *name, jianmu_error **err)
{
    struct jm_item *item;
    size_t i = 0;
    jianmu_error *why = NULL;
    if (jm_glob_is_literal(name)) {
        if (look(custom_for(r, name), name, &item, &why) == 0 && item)
            return 0;
        if (!why && jm_registry_find(jm_config_registry(r->config), JIANMU_KIND_TOOL, name, &why))
            return 0;
        jm_wrap(&why, "the tools offered");
        return jm_fail_take(err, why);
    }
    while ((item = next_tool(r, &i)))
        if (jm_glob_match(name, item->name))
            return 0;
    return jm_fail(err, JIANMU_NOT_FOUND, "the tools offered: the pattern '%s' means no tool that is here", name);
}

/* The directory of a grant such as "DIR:ro"; new. A registry wants it absolute. */
static char *skill_path(const char *grant, jianmu_error **err)
{
    int writable;
    size_t len = jm_grant_length(grant, &writable);
    jm_auto_free char *here = *grant == '/' ? NULL : getcwd(NULL, 0);
    char *path = NULL;
    if (*grant != '/' && !here)
        jm_fail_errno(err, JIANMU_INVALID, errno, "skill '%s': the current directory", grant);
    else if (jm_format(&path, "%s%s%.*s", here ? here : "", here ? "/" : "", (int)len, grant) < 0)
        jm_fail_memory(err), path = NULL;
    return path;
}

int jm_toolset_open(jianmu_runner *r, jianmu_error **err)
{
    const char *skill = json_string_value(jm_constraints_get(r->constraints, "skill"));
    jm_auto_free char *path = skill ? skill_path(skill, err) : NULL;
    if (path && !(r->skill = realpath(path, NULL)) && errno == ENOMEM)
        return jm_fail_memory(err);
    const struct jm_search_dir dir = {r->skill ? r->skill : path, "skill", 1u << JIANMU_KIND_TOOL};
    if (skill && (!path || !(r->custom = jm_registry_scan(&dir, 1, err))))
        return -1;
    for (size_t i = 0; r->offered && r->offered[i]; i++)
        if (check_name(r, r->offered[i], err))
            return -1;
    return 0;
}

json_t *jianmu_runner_tools(jianmu_runner *r, jianmu_error **err)
{
    size_t i = 0;
    struct jm_item *item;
    if (jm_runner_check(r, err))
        return NULL;
    jm_auto_json json_t *list = json_array();
    while (list && (item = next_tool(r, &i))) {
        struct jm_item *first;
        jm_registry *from;
        jianmu_error *why = NULL;
        first = jm_toolset_find(r, item->name, &from, &why);
        jianmu_error_free(why);
        if (first != item) /* a tool of the skill stands before it */
            continue;
        struct jm_item graded = *item;
        jm_toolset_grade(r, item, from, &graded.danger, &graded.flags);
        json_t *tool = jm_tool_json(r->config, r->constraints, &graded);
        if (!tool || json_object_set_new(tool, "custom", json_boolean(from == r->custom)) ||
            json_array_append(list, tool)) {
            json_decref(tool);
            jm_fail_memory(err);
            return NULL;
        }
        json_decref(tool);
    }
    if (!list)
        jm_fail_memory(err);
    return jm_steal(list);
}
