/* SPDX-License-Identifier: Apache-2.0
 * Shared objects that hold nothing but notes, made in memory. */
#ifndef TEST_PLUGINS_IMAGE_H
#define TEST_PLUGINS_IMAGE_H

#include "base/buffer.h"
#include <stdint.h>

/* Up to the notes; what is added behind them belongs to their segment once image_end was called. */
void image_begin(struct jm_buffer *image);
/* One note: owner and type as given, desc of len bytes. align: 4 or 8. */
void image_note(struct jm_buffer *image, const char *owner, uint32_t type, const void *desc, size_t len, size_t align);
/* A well-formed note of ours; JSON and texts as given. */
void image_tool(struct jm_buffer *image, const char *name, const char *text, const char *json);
void image_end(struct jm_buffer *image, size_t align);
/* The image as a file: a descriptor of a file that has no name. */
int image_fd(const struct jm_buffer *image);

#endif
