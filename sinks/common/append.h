/* SPDX-License-Identifier: Apache-2.0
 * Whole lines at the end of a file: each by one write, so that several writers may share it; in a new file where the old
 * one was renamed or removed; and where there is no room, nothing of the line. */
#ifndef APPEND_H
#define APPEND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct append {
    pthread_mutex_t lock;
    char *path;
    int fd;
    dev_t dev;
    ino_t ino;
    bool regular;
    bool quiet;         /* a write may come with a signal, which must not be raised */
    bool torn;          /* what stands at the end is no whole line and could not be taken away */
    uint64_t untold;    /* lines lost since the last that was written */
    uint64_t lost;      /* all */
};

int append_open(struct append *a, const char *path); /* 0, or an errno */
/* look: is the file still there, and which limit holds? Once a call is enough. notice(untold, line, text): what to write
 * before the first line after a loss; its length. NULL: nothing is said. */
void append_line(struct append *a, const char *line, size_t len, bool look,
                 size_t (*notice)(uint64_t untold, const char *line, char text[512]));
uint64_t append_lost(struct append *a);
void append_close(struct append *a);

#endif
