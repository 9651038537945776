/* SPDX-License-Identifier: Apache-2.0
 * The inside of the registry, for the files of this folder alone. */
#ifndef JM_ITEM_H
#define JM_ITEM_H

#include "plugin/loader.h"
#include "plugin/note.h"
#include "plugin/refusal.h"
#include "plugin/registry.h"
#include "plugin/trust.h"
#include <pthread.h>
#include <sys/types.h>

/* One file and its items: loaded once for all of them. */
struct jm_file {
    char *path;  /* as found */
    uint32_t kind;
    struct jm_module *module;
    const struct jianmu_plugin *plugin;
};

struct jm_entry_item {
    struct jm_item item; /* first: callers hold this */
    struct jm_note note;
    struct jm_file *file; /* NULL for what is no plug-in at all */
};

struct jm_registry {
    pthread_mutex_t lock; /* over the states of items and the modules of files */
    pid_t owner;
    struct jm_entry_item **items;
    struct jm_file **files;
    size_t count, files_count;
};

/* The file as a plug-in of that kind, read and judged without running anything of it. */
int jm_inspect(int fd, const char *path, uint32_t kind, struct jm_notes *notes, struct jm_refusal *r);
const char *jm_kind_name(uint32_t kind); /* "tool", "backend", "guard", "sink" */
/* item becomes refused; takes the sentence. */
void jm_item_refuse(struct jm_item *item, struct jm_refusal *r);
/* JIANMU_INTERNAL for a shortage of the host, else JIANMU_UNAVAILABLE with the sentence; returns -1. */
int jm_fail_refused(jianmu_error **err, const struct jm_refusal *r, const char *path);

#endif
