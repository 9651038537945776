/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include "process/process.h"
#include <sys/types.h>

#define SECOND 1000000000ll

int64_t now_ns(void);
/* The program that the tests run as a job; exits where it was not built. */
const char *victim(void);
/* {victim, ...}, no environment but LC_ALL, no limits, 1 MiB of capture; args end with NULL. */
void set_spec(struct jm_process_spec *spec, const char **argv, ...) __attribute__((sentinel));
int count_fds(void);
int count_threads(void);

/* ---- is it alive? ---- */
struct seen {
    pid_t pid;
    unsigned long long start; /* tells it from a later process of the same number */
};
/* False where there is no such living process. */
bool see(pid_t pid, struct seen *seen);
/* True where that very process is no more, or is a zombie that only process 1 has yet to reap. */
bool is_gone(const struct seen *seen);
pid_t parent_of(pid_t pid); /* 0: no such process */
/* Waits for that; false after the time. */
bool goes_within(const struct seen *seen, int64_t ns);

/* Reads "PID\n" lines of a job, as its output callback, and looks at each process at once. */
struct watch {
    char text[16];
    size_t len;
    struct seen seen[16];
    int count, dead;    /* seen alive; named, but not found alive */
    int wanted, signal; /* an eventfd or pipe that is written to once so many were seen alive; -1 */
};
void watch_output(void *data, int stream, const void *bytes, size_t len);
/* How many of those seen alive are not gone. */
int watch_left(const struct watch *watch);

/* ---- TAP, for tests that are no cmocka tests ---- */
void ok(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));
void skip(const char *name, const char *reason);
int tap_end(void); /* exit status */

#endif
