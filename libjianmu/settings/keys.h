/* SPDX-License-Identifier: Apache-2.0
 * Every setting there is: the core's knobs and what the notes of backends and tools add. */
#ifndef JM_KEYS_H
#define JM_KEYS_H

#include "settings/settings.h"

/* knob.name and knob.yaml are as long-lived as the key; knob.fallback is not used, `fallback` is. */
struct jm_key {
    struct jm_knob knob;
    char *path;         /* "execution.local.python", "tools.NAME.KEY", "guard.NAME.KEY"; NULL: not in the file */
    const char *mode;   /* below execution.<mode>. */
    const char *tool;   /* below tools.<glob>. for this tool */
    const char *guard, *sink; /* below guard.<guard>. and events.<sink>.: never in a plan */
    json_t *fallback;   /* coerced; NULL: none */
    char *name, *doc;   /* of notes: what knob points at */
    char *problem;      /* what is wrong with this key in its note; NULL: nothing */
};

struct jm_keys {
    struct jm_key *list;
    size_t count;
};

int jm_keys_build(struct jm_keys *keys, const struct jm_registry *registry, jianmu_error **err);
/* What the note of one tool adds, which is in no config. */
int jm_keys_of_tool(struct jm_keys *keys, const struct jm_item *tool, jianmu_error **err);
void jm_keys_free(struct jm_keys *keys);

/* The key with that place in the file below execution: or plugins:, or NULL. */
const struct jm_key *jm_keys_at(const struct jm_keys *keys, const char *path);
/* Does any key stand below that place? */
bool jm_keys_below(const struct jm_keys *keys, const char *path);
/* The generic one of that name (the core's without a mode), or NULL. */
const struct jm_key *jm_keys_core(const struct jm_keys *keys, const char *name);

json_t *jm_keys_json(const struct jm_keys *keys); /* new */

#endif
