/* SPDX-License-Identifier: Apache-2.0 */
#ifndef ENTRY_SERVE_H
#define ENTRY_SERVE_H

#include "call/wire.h"

/* Reads requests from fd in and answers each on fd out until end of file; 0, or 1 after what is no frame. */
int entry_serve(int in, int out);
/* In the child of one request: loads the tool, runs it, writes events and the result to out. */
void entry_answer(const struct jm_frame *request, int out);

#endif
