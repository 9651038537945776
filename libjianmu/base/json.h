/* SPDX-License-Identifier: Apache-2.0
 * JSON text. jansson reads and writes reals with the locale's decimal point, aborts where that has two bytes, and
 * writes 0.1 as 0.10000000000000001; these do not. */
#ifndef JM_JSON_H
#define JM_JSON_H

#include <jansson.h>

/* json_loadb, and under it the locale "C" for this thread. */
json_t *jm_json_parse(const char *text, size_t len, size_t flags, json_error_t *error);

/* new: any value as text, reals as Python prints them, members in their order. indent 0: one line without blanks.
 * NULL without memory, and for a value that is cyclic or deeper than 2048. */
char *jm_json_print(const json_t *value, int indent, size_t *len);

#endif
