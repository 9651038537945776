/* SPDX-License-Identifier: Apache-2.0
 * For the tests in C of this folder: a private plug-in directory with fixtures in it. */
#ifndef TEST_PLUGINS_KIT_H
#define TEST_PLUGINS_KIT_H

#include "plugin/registry.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* A cmocka fixture: *state becomes its path, which holds no links. */
int kit_make_dir(void **state);
int kit_remove_dir(void **state);
/* Copies a built fixture to DIR/NAME, by a new file that takes the place of an old one. */
void kit_put(const char *dir, const char *fixture, const char *name);
void kit_put_from(const char *dir, const char *built, const char *name); /* of any file below tests/ */
const char *kit_path(const char *dir, const char *name); /* valid until the fourth call after this one */
jm_registry *kit_scan(const char *dir);
/* The usable one, loaded. */
struct jm_item *kit_load(jm_registry *registry, uint32_t kind, const char *name);
long kit_run(const struct jm_item *item);
int kit_count_fds(void);

#endif
