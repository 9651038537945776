/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "base/glob.h"
#include <stdbool.h>
#include <string.h>

enum { STEPS = 20000000 }; /* some ten milliseconds */

static bool continues(const char *text, const char *end)
{
    return text < end && ((unsigned char)*text & 0xc0) == 0x80;
}

/* Goes back to the last "*" only, so its time is at most the product of both lengths. */
int jm_glob_fits(const char *glob, size_t glob_len, const char *text, size_t len)
{
    const char *glob_end = glob + glob_len, *end = text + len, *star = NULL, *resume = NULL;
    for (unsigned long steps = 0; text < end; steps++) {
        if (steps == STEPS)
            return -1;
        if (glob < glob_end && *glob == '*') {
            star = ++glob;
            resume = text;
            if (glob == glob_end)
                return 1;
        } else if (glob < glob_end && *glob == '?') {
            glob++;
            for (text++; continues(text, end); text++)
                ;
        } else if (glob < glob_end && *glob == *text) {
            glob++;
            text++;
        } else if (star) {
            glob = star;
            text = ++resume;
        } else {
            return 0;
        }
    }
    while (glob < glob_end && *glob == '*')
        glob++;
    return glob == glob_end;
}
