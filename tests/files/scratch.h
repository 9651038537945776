/* SPDX-License-Identifier: Apache-2.0
 * Bodies of tests run in a forked child, as this user and, where we are root, once more as an ordinary one: what a
 * body does to its process (ids, limits, mounts, filters) ends with it. Afterwards nothing may be left in `parent`,
 * and no descriptor may be open that was not before. */
#ifndef TEST_SCRATCH_H
#define TEST_SCRATCH_H

#include "files/artifacts.h"
#include "files/remove.h"
#include "files/workdir.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

struct scratch {
    char parent[PATH_MAX];  /* for work directories; empty at the end */
    char foreign[PATH_MAX]; /* for things of others */
};
typedef void (*scratch_body)(const struct scratch *s);

/* cmocka's own assertions would go on with the next test in the child. */
void check_at(bool ok, const char *what, const char *file, int line);
void check_same(const char *got, const char *wanted, const char *file, int line);
#define CHECK(cond) check_at((cond), #cond, __FILE__, __LINE__)
#define CHECK_STR(got, wanted) check_same((got), (wanted), __FILE__, __LINE__)
/* In a body: this machine cannot do it. */
_Noreturn void cannot(const char *reason);

enum scratch_user { AS_OURSELVES, AS_ORDINARY };
enum scratch_place { ON_DISK, IN_MEMORY }; /* $TMPDIR or /tmp; /dev/shm if it can be written */
/* 0 it ran and held; 77 it cannot run here. Anything else fails the test. */
int scratch_run(scratch_body body, enum scratch_user user, enum scratch_place place);
/* Both users; skips the test where neither could. */
void scratch_both(scratch_body body, enum scratch_place place);
#define BOTH(name, body, place)        \
    static void name(void **state)     \
    {                                  \
        (void)state;                   \
        scratch_both(body, place);     \
    }

pid_t fork_off(void); /* the child dies with us, also where a check fails */
struct jm_workdir *open_plain(const struct scratch *s); /* main.py alone, holding "script" */
void write_file(int dir, const char *name, const char *text);
char *read_file(const char *path); /* new; NULL where there is none */
int count_fds(void);
int count_entries(const char *path); /* -1: no such directory */
bool exists(const char *path);
/* A mount namespace of our own (and a user namespace if need be) in which mounts are private, or cannot(). */
void own_mounts(void);
/* Makes the system call fail with that error for this process. */
void forbid(int syscall_number, int errnum);

#endif
