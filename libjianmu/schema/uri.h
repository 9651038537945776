/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JM_SCHEMA_URI_H
#define JM_SCHEMA_URI_H

#include <jansson.h>
#include <stddef.h>

/* new: the reference, without its fragment, against the base (RFC 3986, 5.2); NULL without memory. */
char *jm_uri_resolve(const char *base, const char *reference);
/* new: text with %XX decoded; NULL without memory, or *bad set: it cannot be decoded, or holds a NUL. */
char *jm_uri_decode(const char *text, int *bad);
/* The member or item that one name of a JSON pointer, still escaped, leads to; NULL: none. */
const json_t *jm_pointer_step(const json_t *json, const char *name, size_t len);

#endif
