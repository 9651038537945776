/* SPDX-License-Identifier: Apache-2.0
 * What the shipped tools share: checking arguments, answering, keeping text within max_output. Linked into each of
 * them; nothing of it is exported. */
#ifndef TOOL_H
#define TOOL_H

#include "base/cleanup.h"
#include "jianmu-plugin.h"
#include "jianmu.h"
#include <stdbool.h>

/* TOOL_STRING: a string without NUL; TOOL_TEXT: any string; TOOL_COUNT: an integer, 0 or more. */
enum tool_type { TOOL_STRING, TOOL_TEXT, TOOL_COUNT, TOOL_BOOL, TOOL_OBJECT };

struct tool_arg {
    const char *name;
    enum tool_type type;
    bool required;
};

/* 0, or -1 after fail(): an argument is missing, unknown or of another type; the sentence names it. */
int tool_args(jianmu_context *ctx, json_t *args, const struct tool_arg *known, size_t count);

/* The tool ran and failed: {"error": sentence}, new; the sentence is the result's message too. */
json_t *tool_error(jianmu_context *ctx, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for a call that was told to stop: "timeout after 2.0s" or "cancelled". */
json_t *tool_stopped(jianmu_context *ctx);
/* NULL after fail(). */
json_t *tool_memory(jianmu_context *ctx);

/* One line about a process that did not end with status 0; NULL: it did. */
const char *tool_end_text(jianmu_context *ctx, const struct jianmu_process_end *end, char text[64]);

/* Characters that a text may have: max_output of the plan. */
uint64_t tool_max_output(jianmu_context *ctx);
/* A JSON string of any bytes, new: bad UTF-8 replaced, at most `most` characters; *dropped (or NULL): how many
 * were left out. NULL without memory. */
json_t *tool_text(const void *bytes, size_t len, uint64_t most, uint64_t *dropped);
/* Bytes of the first character, or of the bad part that is replaced as one; *cut: it may go on behind len. */
size_t tool_character(const char *data, size_t len, bool *cut);
/* Without white space at both ends, as Python's str.strip(); the text is valid UTF-8. */
const char *tool_strip(const char *text, size_t *len);
/* What stands behind the last line break, as Python's str.splitlines()[-1]. */
const char *tool_last_line(const char *text, size_t *len);

#endif
