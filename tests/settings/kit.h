/* SPDX-License-Identifier: Apache-2.0
 * For the tests in C of this folder: a private directory of plug-ins that have notes only, and configs that see
 * nothing else of this machine. */
#ifndef TEST_SETTINGS_KIT_H
#define TEST_SETTINGS_KIT_H

#include "settings/inside.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* For cmocka_run_group_tests. The backends are local, boxed, sick; docker is not there. */
int kit_setup(void **state);
int kit_teardown(void **state);
enum { KIT_PATH = 1024 };
extern char kit_dir[KIT_PATH]; /* etc/jianmu is in it, and what tests put there */
void kit_put(const char *fixture, const char *to); /* a built plug-in, to a place below kit_dir */

jianmu_config *kit_config(void); /* not loaded; sees kit_dir and no environment */
/* Loaded from that text as "jianmu.yaml"; fails the test where it cannot. */
jianmu_config *kit_load(const char *yaml);
/* The same must fail, with this sentence: 0, else it says what came instead. */
int kit_refuse(const char *yaml, size_t len, const char *sentence);
void kit_write(const char *name, const char *text); /* a file below kit_dir; NULL: none */

json_t *kit_json(const char *text); /* single quotes for double ones */
/* The explain of a plan; constraints as for kit_json, or NULL. fail: the sentence of the failure instead. */
json_t *kit_explain(const jianmu_config *config, const char *constraints, const char *mode, const char *subject,
                    char fail[512]);
/* "2.0 yaml jianmu.yaml:3" of a setting. */
const char *kit_setting(const json_t *explain, const char *name);

#endif
