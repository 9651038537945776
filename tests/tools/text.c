/* SPDX-License-Identifier: Apache-2.0
 * White space, line ends and characters as the tools see them; tests/tools/text.py asks Python what is right. */
#include "config.h"
#include "common/tool.h"
#include <stdio.h>
#include <stdlib.h>

/* stdin, cut at its NULs: prints, for each part, its stripped text, the last line of that, and its characters. */
int main(void)
{
    char *part = NULL;
    size_t room = 0;
    ssize_t len;
    while ((len = getdelim(&part, &room, 0, stdin)) > 0) {
        size_t left = (size_t)len - (part[len - 1] == 0), all = left, count = 0;
        const char *text = tool_strip(part, &left);
        fwrite(text, 1, left, stdout);
        putchar(0);
        text = tool_last_line(text, &left);
        fwrite(text, 1, left, stdout);
        for (size_t i = 0; i < all; count++) {
            bool cut;
            i += tool_character(part + i, all - i, &cut);
        }
        printf("%c%zu%c", 0, count, 0);
    }
    free(part);
    return 0;
}
