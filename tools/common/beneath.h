/* SPDX-License-Identifier: Apache-2.0
 * Paths of a model, confined to workspace and skill by descriptor. Links are followed as long as they stay inside. */
#ifndef TOOL_BENEATH_H
#define TOOL_BENEATH_H

#include "jianmu-plugin.h"
#include <sys/stat.h>
#include <sys/types.h>

/* openat2 with RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS, CLOEXEC; where the kernel lacks it, the same walk by hand.
 * EXDEV: the path, or a link on it, leads out. */
int tool_open_beneath(int dir, const char *path, int flags, mode_t mode);
/* The walk by hand. */
int tool_walk_beneath(int dir, const char *path, int flags, mode_t mode);

/* A path, as the model wrote it, after its first step: relative, /workspace/..., /skill/... or skill/... */
struct tool_place {
    int dir;            /* borrowed */
    int writable;
    const char *path;   /* relative to dir, never empty; borrowed */
};
/* 0, or -1: *answer is what the tool returns: a new {"error": ...}, or NULL after fail(). */
int tool_find_place(jianmu_context *ctx, const char *path, struct tool_place *place, json_t **answer);

/* Opens it; never waits for a FIFO. -1: *answer as above. */
int tool_open(jianmu_context *ctx, const char *path, int flags, struct stat *st, json_t **answer);

/* {"error": ...} for what the kernel said about that path; NULL after fail() where memory or descriptors ran out. */
json_t *tool_path_error(jianmu_context *ctx, const char *path, int errnum);
const char *tool_file_type(mode_t mode); /* "file", "directory", "link", "fifo", "socket", "device" */

#endif
