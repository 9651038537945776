/* SPDX-License-Identifier: Apache-2.0
 * Loading and unloading: the only user of libltdl, whose state belongs to the whole process and is not thread
 * safe. All of it is done under one lock here. */
#ifndef JM_LOADER_H
#define JM_LOADER_H

#include "jianmu-plugin.h"
#include "plugin/refusal.h"

struct jm_module;
typedef const struct jianmu_plugin *(*jm_entry)(void);

/* fd: the file that was checked; path: its path without links. All symbols are bound now, none is lent to others.
 * What was loaded is the file behind fd, or it is refused. Any thread. */
struct jm_module *jm_module_open(int fd, const char *path, struct jm_refusal *r);
jm_entry jm_module_entry(const struct jm_module *module);
/* Its code stays for ever, also after close. */
void jm_module_pin(struct jm_module *module);
void jm_module_close(struct jm_module *module);
/* Frees the memory alone and takes no lock: for a child of fork, in which another thread may hold it for ever. */
void jm_module_forget(struct jm_module *module);

#endif
