/* SPDX-License-Identifier: Apache-2.0
 * The private directory of a job: BASE/work (cwd), BASE/home, BASE/tmp; BASE is mode 0700, named
 * jianmu_local_job_<random>, held by descriptor and locked while its owner lives. */
#ifndef JM_WORKDIR_H
#define JM_WORKDIR_H

#include "jianmu.h"
#include <stdbool.h>
#include <sys/types.h>

struct jm_input {
    const char *path; /* already normalised by jm_path_normalise */
    const void *data;
    size_t len;
};

struct jm_workdir {
    int parent_fd, base_fd, work_fd;
    char *base, *work, *home, *tmp; /* absolute paths, for environment and command line only */
    struct jm_written *written;     /* script and inputs: device, inode, size, times; for collect */
    size_t written_count;
    char **argv;                    /* of job_command, one block; freed with it */
    pid_t owner;                    /* the process that made it: a forked child frees memory only */
};

/* "./x", "a//b" -> "x", "a/b"; new. Absolute, "..", empty, NUL, a trailing "/", a name over 255 bytes, more than 4095
 * in all: JIANMU_INVALID. */
char *jm_path_normalise(const char *path, size_t len, jianmu_error **err);

/* parent: NULL for the best of $TMPDIR, /tmp (a tmpfs that allows exec is preferred: /dev/shm). script_name: "main.py";
 * NULL for a directory without any.
 * Nothing is left behind on failure. */
struct jm_workdir *jm_workdir_open(const char *parent, const char *script_name, const void *script, size_t script_len,
                                   const struct jm_input *inputs, size_t count, jianmu_error **err);
/* Empties and removes all of it, whatever a job did to it; NULL is fine. 0, or -1 where something stays (errno).
 * In a forked child nothing is removed. */
int jm_workdir_close(struct jm_workdir *dir);

/* Directories of dead owners below the usual parents: removed; their paths are appended to the list (or NULL). */
int jm_workdir_sweep(const char *parent, json_t *removed, jianmu_error **err);

#endif
