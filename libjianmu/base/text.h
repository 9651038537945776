/* SPDX-License-Identifier: Apache-2.0
 * Text for people and models: numbers as Python prints them, UTF-8 that is always valid. Locale never matters. */
#ifndef JM_TEXT_H
#define JM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A float as Python's repr prints it: "30.0", "0.1", "1e-05". */
const char *jm_print_seconds(double seconds, char text[32]);
/* The decimal number that text begins with ("2", ".5", "1.5e3"; no sign); its length, 0: none. Too large: inf. */
size_t jm_parse_real(const char *text, size_t len, double *value);

/* new: the bytes with each maximal invalid part replaced by U+FFFD (Unicode 15, 3.9, table 3-8), *out_len
 * bytes and a NUL. NULL without memory. */
char *jm_utf8_repair(const void *bytes, size_t len, size_t *out_len);
size_t jm_utf8_count(const char *text, size_t len); /* characters in valid UTF-8 */
bool jm_utf8_is_valid(const char *text, size_t len);

/* new: at most `most` characters of valid UTF-8: head and tail, below 256 the head only. *dropped: characters
 * left out. NULL without memory. */
char *jm_text_clip(const char *text, size_t len, uint64_t most, size_t *out_len, uint64_t *dropped);

/* The nearest of the candidates to word (edit distance at most a third of its length), or NULL. */
const char *jm_text_nearest(const char *word, const char *const *candidates, size_t count);

#endif
