/* SPDX-License-Identifier: Apache-2.0
 * The script and the inputs as they were when a job began. */
#ifndef JM_WRITTEN_H
#define JM_WRITTEN_H

#include "files/workdir.h"
#include <sys/stat.h>
#include <time.h>

struct jm_written {
    const char *path;
    dev_t dev;
    ino_t ino;
    off_t size;
    mode_t mode;
    struct timespec mtime, ctime;
    bool script;
};

/* Script and inputs in the order in which they are written, new (free it): NULL where two of them want the same
 * place or one cannot be written. count: of the inputs. */
struct jm_input *jm_written_order(const struct jm_input *script, const struct jm_input *inputs, size_t count,
                                  jianmu_error **err);
/* Writes them below dir->work_fd and fills dir->written. count: all. */
int jm_written_make(struct jm_workdir *dir, const struct jm_input *all, size_t count, const char *script,
                    jianmu_error **err);
/* Is the file that st describes still this one? */
bool jm_written_same(const struct jm_written *w, const struct stat *st);

#endif
