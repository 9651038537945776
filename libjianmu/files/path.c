/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "files/workdir.h"
#include <limits.h>
#include <string.h>

/* The name [at, at+len) of a path; what is wrong with it, or NULL. */
static const char *complaint(const char *at, size_t len)
{
    if (len == 2 && at[0] == '.' && at[1] == '.')
        return "\"..\" would leave the work directory";
    if (len > NAME_MAX)
        return "a name in it is longer than 255 bytes";
    return NULL;
}

static const char *normalise(const char *path, size_t len, char *out)
{
    if (!len)
        return "it is empty";
    if (memchr(path, 0, len))
        return "it holds a NUL byte";
    if (path[0] == '/')
        return "it is absolute";
    size_t used = 0, name = 0;
    bool named = false; /* the last part was a name, not "" or "." */
    for (size_t at = 0; at <= len; at = name) {
        const char *slash = memchr(path + at, '/', len - at);
        size_t end = slash ? (size_t)(slash - path) : len;
        name = end + 1;
        const char *why = complaint(path + at, end - at);
        if (why)
            return why;
        named = end > at && !(end - at == 1 && path[at] == '.');
        if (!named)
            continue;
        if (used)
            out[used++] = '/';
        memcpy(out + used, path + at, end - at);
        used += end - at;
    }
    out[used] = 0;
    if (!used)
        return "it names the work directory itself";
    if (!named)
        return "it ends as a directory does";
    return used >= PATH_MAX ? "it is longer than 4095 bytes" : NULL;
}

char *jm_path_normalise(const char *path, size_t len, jianmu_error **err)
{
    jm_auto_free char *out = malloc(len + 1);
    if (!out) {
        jm_fail_memory(err);
        return NULL;
    }
    const char *why = normalise(path, len, out);
    if (!why)
        return jm_steal(out);
    size_t shown_len;
    jm_auto_free char *shown = jm_utf8_repair(path, strnlen(path, len < 200 ? len : 200), &shown_len);
    if (shown)
        jm_fail(err, JIANMU_INVALID, "\"%s\" cannot be the path of an input: %s", shown, why);
    else
        jm_fail_memory(err);
    return NULL;
}
