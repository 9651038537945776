/* SPDX-License-Identifier: Apache-2.0
 * Settings: every value is a json_t (seconds are reals, sizes integers of bytes, unset is absent), checked and
 * coerced on its way in, and remembers where it came from. Layers of them become one plan. */
#ifndef JM_SETTINGS_H
#define JM_SETTINGS_H

#include "jianmu.h"
#include <stdbool.h>

struct jm_registry;
struct jm_item;
struct jm_keys;

enum jm_type { JM_STR, JM_BOOL, JM_INT, JM_REAL, JM_SECONDS, JM_SIZE, JM_LIST, JM_MAP };

/* A higher layer wins; JM_POLICY stands where a maximum of policy.yaml took the place of a default or of nothing. */
enum jm_layer { JM_UNSET, JM_DEFAULT, JM_YAML, JM_TOOL_RULE, JM_CONSTRAINTS, JM_CALL, JM_POLICY };

#define JM_IN_CONSTRAINTS 0x1u /* may stand in constraints and on the command line */
#define JM_IN_YAML 0x2u        /* may stand below execution: */
#define JM_PER_TOOL 0x4u       /* may stand below tools.<glob>: */
#define JM_LIMIT 0x8u          /* asked for, a backend must enforce it or the call is refused */
#define JM_NULLABLE 0x10u
#define JM_PER_MODE 0x20u      /* stands below execution.<mode>: where that backend has it */
#define JM_CWD_SAFE 0x40u      /* may stand in a file that was found in the current directory */

/* THE list of what can be set; knobs.c holds the core's, backends and tools add theirs by their notes. */
struct jm_knob {
    const char *name;     /* "timeout_s": in constraints, plan, tools.<glob> */
    const char *yaml;     /* "execution.timeout_s", "execution.docker.image"; NULL: not in the file */
    enum jm_type type;
    unsigned flags;
    double min, max;      /* of numbers */
    const char *fallback; /* default as JSON text; NULL: unset */
    const char *doc;      /* one line */
};
extern const struct jm_knob jm_knobs[];
extern const size_t jm_knob_count;
const struct jm_knob *jm_knob_find(const char *name);

/* The value of that knob from JSON, coerced and checked; new. The sentence names what and the value. */
json_t *jm_coerce(const struct jm_knob *knob, const json_t *value, jianmu_error **err);
/* "30s", "2m", "1h", "500ms", "1.5h", "1m30s", "2" -> seconds; "512m", "1g", "64k", "100" -> bytes. */
int jm_parse_seconds(const char *text, double *seconds);
int jm_parse_size(const char *text, uint64_t *bytes);

/* A value and where it came from. file is the config's own string or NULL; without a line it says whose default
 * the value is. */
struct jm_setting {
    json_t *value;
    enum jm_layer layer;
    const char *file;
    int line;
};

/* ---- the plan: complete and read-only ---- */
struct jm_plan_entry {
    const char *name;
    struct jm_setting setting;
    unsigned flags;
    bool asked;    /* named by somebody: any layer above JM_DEFAULT */
};
struct jm_plan {
    char *mode, *subject; /* subject: the tool's name, or "job" */
    size_t count;
    struct jm_plan_entry *entries;
    struct jm_keys *own_keys;      /* of a tool that is in no config; NULL: none */
    bool strict;          /* profile strict: a default that cannot be had refuses, too */
    char *refusal;        /* what was said would be passed over, and the profile allows none of that; NULL: nothing */
    char *notice;         /* what the caller should be told (constraints out of scope); NULL: nothing */
    /* what the runner and services read for every call */
    double timeout_s;     /* 0: none */
    double cpu_time_s;    /* 0: none */
    uint64_t capture, output_limit, max_output, fsize, nofile, concurrency; /* 0: none, but capture */
    uint64_t artifact_count, artifact_bytes, artifact_total, artifact_depth;
    /* maxima; jm_plan_check_max judges */
    char *over_max;                /* what was asked for beyond one, as a sentence; NULL: nothing */
    char *over_timeout;            /* the same of timeout_s, for which a call may have its own */
    struct jm_setting timeout_max; /* the smallest one of timeout_s; value NULL: none */
};

/* mode: of an opened backend; NULL asks the layers. tool: its registry item or NULL for a job. What is out of scope
 * falls through. */
struct jm_plan *jm_plan_new(const jianmu_config *config, const jianmu_constraints *constraints, const char *mode,
                            const char *subject, const struct jm_item *tool, jianmu_error **err);
void jm_plan_free(struct jm_plan *plan);
const struct jm_plan_entry *jm_plan_find(const struct jm_plan *plan, const char *name);
/* {"mode":…, "subject":…, "settings": {name: {"value":…, "layer": "constraints"|…,
 * "source": "jianmu.yaml:12"|"constraints"|"default",
 * "file":…, "line":…}}, "notice":…, "over_max":…}; new. */
json_t *jm_plan_json(const struct jm_plan *plan);
/* May this be called, with a timeout of the call's own (0: none)? -1: JIANMU_DENIED, something is above a maximum;
 * the sentence names the setting, its value and source, the maximum and its source. */
int jm_plan_check_max(const struct jm_plan *plan, double own_timeout, jianmu_error **err);
/* Puts the call's own timeout into what jm_plan_json made. 0, or -1 without memory. */
int jm_plan_json_timeout(const struct jm_plan *plan, json_t *explain, double seconds);
const char *jm_layer_name(enum jm_layer layer);

/* The mode that these layers name for a subject (NULL: for whatever has none of its own), normalised; borrowed. tool as
 * above. */
struct jm_setting jm_mode_named(const jianmu_config *config, const jianmu_constraints *constraints,
                                const char *subject, const struct jm_item *tool);
/* The same, known to the registry; new. Unknown: an error that lists all. */
char *jm_mode_resolve(const jianmu_config *config, const jianmu_constraints *constraints, const char *subject,
                      const struct jm_item *tool, jianmu_error **err);

/* A tool as callers list it: name, description with what holds here, parameters, danger, flags, mode (null: it cannot be
 * had), path; new. constraints may be NULL. */
json_t *jm_tool_json(const jianmu_config *config, const jianmu_constraints *constraints, const struct jm_item *item);

/* "*" stands for any text, "?" for one character. */
bool jm_glob_match(const char *glob, const char *name);
bool jm_glob_is_literal(const char *glob);

/* One more owner: it lives until jianmu_config_free was called for each. */
jianmu_config *jm_config_hold(const jianmu_config *config);
/* config's own: what others ask of it */
/* By its place in the file, "execution.timeout_s"; NULL: not set. */
const struct jm_setting *jm_config_value(const jianmu_config *config, const char *path);
/* What a guard or sink finds in its settings: {key: value} of "guard" or "events", defaults included; new. */
json_t *jm_config_plugin(const jianmu_config *config, const char *section, const char *name, jianmu_error **err);
/* {"use": [names of guards], "confirm_expires": seconds, "time_limit": seconds, "config": {...}, "policy": {...} or absent}, the two being
 * {"profile": {"name", "source"}, "rules", "rates", "budgets"} as checked; borrowed. */
const json_t *jm_config_guard(const jianmu_config *config);
const char *jm_config_profile(const jianmu_config *config); /* "dev", "standard", "strict": the stricter of both files */
double jm_config_confirm_expires(const jianmu_config *config);
/* The names of all sinks that the file names, by events.use or by a key of theirs; a new list. */
json_t *jm_config_sinks(const jianmu_config *config, jianmu_error **err);
/* A value for that key of that sink, coerced and checked; new. */
json_t *jm_config_sink_value(const jianmu_config *config, const char *sink, const char *name, const json_t *value,
                             jianmu_error **err);
struct jm_registry *jm_config_registry(const jianmu_config *config);
/* A NULL config given by a caller stands for defaults and the installed plug-ins: this makes that one; new. */
jianmu_config *jm_config_default(jianmu_error **err);

#endif
