/* SPDX-License-Identifier: Apache-2.0
 * Patterns in which "*" stands for any text and "?" for one character of UTF-8. The whole text must fit. */
#ifndef JM_GLOB_H
#define JM_GLOB_H

#include <stddef.h>

/* 1 it fits, 0 it does not, -1 it takes too long to say. Both may hold any bytes. */
int jm_glob_fits(const char *glob, size_t glob_len, const char *text, size_t len);

#endif
