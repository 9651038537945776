/* SPDX-License-Identifier: Apache-2.0
 * JSON values as JSON Schema sees them: numbers by their value, objects without order. */
#ifndef JM_SCHEMA_VALUE_H
#define JM_SCHEMA_VALUE_H

#include "base/buffer.h"
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Kinds of values, as bits. A number without fraction has both bits of numbers. */
enum {
    JM_NULL = 1, JM_BOOLEAN = 2, JM_OBJECT = 4, JM_ARRAY = 8, JM_STRING = 16, JM_NUMBER = 32, JM_INTEGER = 64,
    JM_ANY = 127
};
unsigned jm_value_kinds(const json_t *value);
void jm_kinds_print(struct jm_buffer *b, unsigned kinds); /* "an integer or null" */
unsigned jm_kind_of_name(const char *name); /* of "integer"; 0: no such type */

int jm_number_compare(const json_t *a, const json_t *b); /* below, at, above 0: exact, whatever the kinds */
bool jm_number_is_multiple(const json_t *number, const json_t *step); /* in decimal, as both are written; step > 0 */

/* Equal as JSON Schema has it. *steps goes down by what was looked at; false once it is used up. */
bool jm_value_same(const json_t *a, const json_t *b, long *steps);
uint64_t jm_value_hash(const json_t *value, long *steps); /* the same for what is the same */

void jm_value_describe(struct jm_buffer *b, const json_t *value); /* "the string \"abc\"", "an array of 3 items" */
void jm_value_print(struct jm_buffer *b, const json_t *value);    /* as JSON, cut short */
void jm_text_quote(struct jm_buffer *b, const char *text, size_t len); /* in quotes, cut short */

#endif
