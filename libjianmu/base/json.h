/* SPDX-License-Identifier: Apache-2.0
 * JSON text, instead of jansson's reader and writer. Its reader aborts where the locale's decimal point has two
 * bytes, and without memory loses characters of strings in silence; its writer makes 0.1 to 0.10000000000000001. */
#ifndef JM_JSON_H
#define JM_JSON_H

#include <jansson.h>
#include <stdbool.h>

enum { JM_JSON_DEEPEST = 2048 };

/* As json_loadb: new, or NULL with the error filled in; json_error_code(error) tells whether memory ran out. flags:
 * JSON_REJECT_DUPLICATES, JSON_DECODE_ANY, JSON_ALLOW_NUL. */
json_t *jm_json_parse(const char *text, size_t len, size_t flags, json_error_t *error);

/* new: any value as text, reals as Python prints them, members in their order. indent 0: one line without blanks.
 * NULL without memory, and for a value that is cyclic or too deep. */
char *jm_json_print(const json_t *value, int indent, size_t *len);
/* new: the same on one line, and equal values as equal text: members sorted by their bytes, whole reals within 2^53 of
 * 0 as integers. */
char *jm_json_canonical(const json_t *value, size_t *len);
bool jm_json_can_print(const json_t *value); /* it is not so deep, and not cyclic */

/* new: an object or list with the same members. json_copy leaves some out where memory is short; here that is NULL. */
json_t *jm_json_copy(const json_t *value);
/* new: so too for json_deep_copy; NULL also for what is cyclic or too deep. */
json_t *jm_json_deep_copy(const json_t *value);

#endif
