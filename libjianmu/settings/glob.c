/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "settings/inside.h"
#include <string.h>

/* Goes back to the last "*" only, so its time is at most the product of both lengths. */
bool jm_glob_match(const char *glob, const char *name)
{
    const char *star = NULL, *resume = NULL;
    while (*name) {
        if (*glob == '*') {
            star = glob++;
            resume = name;
        } else if (*glob == '?' || *glob == *name) {
            glob++;
            name++;
        } else if (star) {
            glob = star + 1;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*glob == '*')
        glob++;
    return !*glob;
}

size_t jm_glob_literals(const char *glob)
{
    size_t n = 0;
    for (; *glob; glob++)
        n += *glob != '*' && *glob != '?';
    return n;
}

bool jm_glob_is_literal(const char *glob)
{
    return jm_glob_literals(glob) == strlen(glob);
}
