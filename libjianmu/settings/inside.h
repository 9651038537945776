/* SPDX-License-Identifier: Apache-2.0
 * The inside of a config: filled by config.c, check.c and policy.c, read by plan.c and lists.c. */
#ifndef JM_INSIDE_H
#define JM_INSIDE_H

#include "settings/keys.h"
#include "settings/yaml.h"
#include <stdatomic.h>

/* A value of the file below execution: or plugins: */
struct jm_named {
    char *path; /* as in its key */
    struct jm_setting setting;
};

/* A value below tools.<glob>: */
struct jm_rule {
    char *glob, *name;
    struct jm_setting setting;
};

/* A value below max: of policy.yaml; of a text it is the list of patterns that are allowed */
struct jm_bound {
    const struct jm_knob *knob;
    struct jm_setting setting;
};

struct jianmu_config {
    atomic_uint owners;      /* the caller, and each runner */
    char **dirs;             /* --plugin-dir */
    size_t dir_count;
    const char *sysconfdir;  /* where jianmu/policy.yaml and jianmu/jianmu.yaml are; tests set others of both */
    const char *plugin_root; /* where the installed plug-ins are */
    bool secure; /* started with more rights than its caller: environment and current directory say nothing */
    bool loaded;
    char *file, *policy_file; /* as told in complaints */
    bool in_cwd;              /* the file was found in the current directory */
    char *outer_file;         /* then the file that would hold without it; NULL: none */
    bool outer;               /* while that one is read: of everything but execution */
    char **search;            /* directories of plug-ins that were looked into */
    size_t search_count;
    struct jm_registry *registry;
    struct jm_keys keys;
    json_t *env_args_max;     /* $JIANMU_TOOL_ARGS_MAX */
    struct jm_named *values;
    size_t value_count;
    struct jm_rule *rules;
    size_t rule_count;
    struct jm_bound *bounds;
    size_t bound_count;
    json_t *guard; /* {"use", "confirm_expires", "config": what jianmu.yaml says, "policy": what policy.yaml does} */
};

/* Room for one more at the end of a list; NULL without memory. */
void *jm_append(void *list_pointer, size_t *count, size_t size);

/* The environment's word, or NULL where there is none or it must not be heard. */
const char *jm_config_env(const jianmu_config *config, const char *name);

/* The whole of a regular file of at most JM_YAML_BYTES; new. 1: there is none. */
int jm_file_read(const char *path, char **text, size_t *len, jianmu_error **err);
/* Looks for the config file: its text in *text, NULL where there is none; config->file and in_cwd are set. */
int jm_config_find(jianmu_config *config, const char *file, char **text, size_t *len, jianmu_error **err);
/* After a file of the current directory: the text of the one it stands before, and its name in outer_file; *text NULL:
 * there is none. */
int jm_config_find_outer(jianmu_config *config, char **text, size_t *len, jianmu_error **err);
/* Scans the directories of plug-ins. */
int jm_config_scan(jianmu_config *config, const json_t *path, jianmu_error **err);

/* Only the top: is every section known, and may it stand in this file? */
int jm_check_top(const jianmu_config *config, const struct jm_node *root, jianmu_error **err);
/* Every key and value against config->keys; fills values and rules. */
int jm_check(jianmu_config *config, const struct jm_node *root, jianmu_error **err);
/* One section against the keys below that path: "guard.NAME", "events.NAME". */
int jm_check_section(jianmu_config *c, const struct jm_node *section, const char *path, jianmu_error **err);
/* plugins.path alone, which must be known before the keys are; *path: new, NULL where it is not set. */
int jm_check_plugins_path(const jianmu_config *config, const struct jm_node *root, json_t **path, jianmu_error **err);
/* What stands in the section events, item by item. */
int jm_check_events(const jianmu_config *config, const struct jm_node *events, jianmu_error **err);
/* policy.yaml, if there is one; fills bounds. */
int jm_policy_load(jianmu_config *config, jianmu_error **err);
/* What stands below a max: of that file; where: its place there, "max". Several may bound the same: all hold. */
int jm_bounds_load(jianmu_config *config, const struct jm_node *max, const char *where, const char *file,
                   jianmu_error **err);
/* Holds a plan to them; what was asked for beyond them becomes over_max. */
int jm_bounds_apply(const jianmu_config *config, struct jm_plan *plan, jianmu_error **err);
/* What stands below guard: in jianmu.yaml (root), or its defaults; then in policy.yaml (the section). */
int jm_guard_load(jianmu_config *config, const struct jm_node *root, jianmu_error **err);
int jm_guard_load_policy(jianmu_config *config, const struct jm_node *guard, jianmu_error **err);

/* Profile strict: its defaults, where the backend knows such limits; a plan that it refuses, as these constraints, which
 * are out of scope, ask for a mode or a limit. */
int jm_strict_defaults(struct jm_plan *plan, const struct jm_item *backend, jianmu_error **err);
int jm_strict_ignored(struct jm_plan *plan, const jianmu_constraints *ignored, jianmu_error **err);

/* The rule of tools.<glob>. that sets that name for a tool, or for jobs: the most specific pattern, of equals the
 * last; NULL: none does. */
const struct jm_rule *jm_config_rule(const jianmu_config *config, const char *name, const char *subject, bool job);
size_t jm_glob_literals(const char *glob); /* characters that are not wild */

#endif
