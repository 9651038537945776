/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "cli.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void table_row(struct table *t, const char *const cells[TABLE_COLUMNS])
{
    void *more = realloc(t->rows, (t->count + 1) * sizeof *t->rows);
    if (!more) {
        t->failed = true;
        return;
    }
    t->rows = more;
    char **row = t->rows[t->count++];
    memset(row, 0, sizeof *t->rows);
    for (size_t i = 0; i < TABLE_COLUMNS && cells[i]; i++)
        if (!(row[i] = strdup(cells[i])))
            t->failed = true;
}

/* Characters, not bytes; wide ones count as one. */
static size_t width(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += (*text & 0xc0) != 0x80;
    return n;
}

int table_print(struct table *t)
{
    size_t widest[TABLE_COLUMNS] = {0};
    for (size_t r = 0; r < t->count; r++)
        for (size_t c = 0; c + 1 < TABLE_COLUMNS && t->rows[r][c + 1]; c++)
            if (width(t->rows[r][c]) > widest[c])
                widest[c] = width(t->rows[r][c]);
    for (size_t r = 0; r < t->count; r++) {
        for (size_t c = 0; c < TABLE_COLUMNS && t->rows[r][c]; c++) {
            put_clean(t->rows[r][c]);
            if (c + 1 < TABLE_COLUMNS && t->rows[r][c + 1])
                out("%*s", (int)(widest[c] - width(t->rows[r][c]) + 2), "");
            free(t->rows[r][c]);
        }
        out("\n");
    }
    free(t->rows);
    if (t->failed)
        say("out of memory");
    return t->failed ? EXIT_COULD_NOT : 0;
}
