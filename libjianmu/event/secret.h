/* SPDX-License-Identifier: Apache-2.0
 * What looks like a secret: the usual forms of keys and tokens, without regular expressions, as every text of every
 * event is looked at. */
#ifndef JM_SECRET_H
#define JM_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* The first secret in text from byte `from` on: its bytes [span[0], span[1]). */
bool jm_secret_find(const char *text, size_t len, size_t from, size_t span[2]);
/* Is this the name of a member whose value is a secret ("password", "api_key", "Authorization")? */
bool jm_secret_name(const char *name, size_t len);

#endif
