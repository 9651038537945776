/* SPDX-License-Identifier: Apache-2.0
 * Asking a list of artifacts. */
#ifndef TEST_COLLECTED_H
#define TEST_COLLECTED_H

#include "scratch.h"

#define CANARY "canary-of-another"

extern const struct jm_artifact_caps generous;

/* A file of that size and mode; thousands of "a", "b" and so on. */
void put(int dir, const char *name, size_t size, mode_t mode);
/* What was collected; no byte of it may be the canary's. */
struct jm_artifact_list collected(const struct jm_workdir *dir, const struct jm_artifact_caps *caps);
const jianmu_artifact *item_of(const struct jm_artifact_list *list, const char *path); /* or NULL */
const char *text_of(const struct jm_artifact_list *list, const char *path); /* until the next call; NULL: none */
json_t *skip_of(const struct jm_artifact_list *list, const char *path);     /* or NULL */
const char *why_of(const struct jm_artifact_list *list, const char *path);  /* or NULL */
bool is_modified(const struct jm_artifact_list *list, const char *path);
void done(struct jm_workdir *dir, struct jm_artifact_list *list); /* frees both and checks that all went */

#endif
