/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JM_SPAWN_H
#define JM_SPAWN_H

#include "jianmu.h"
#include <stddef.h>
#include <sys/types.h>

struct jm_reaper {
    int socket;   /* -1: none */
    pid_t wake;   /* its process id, 0 where it is not known (valgrind) or no job can stop it */
    unsigned generation; /* of the pool it came from */
};

/* The reaper's own file. */
extern const unsigned char jm_reaper_program[];
extern const size_t jm_reaper_program_size;

/* The reaper as a memory file that can be executed; -1 where this host has none (vm.memfd_noexec, no memory). */
int jm_reaper_image(void);
/* Starts a reaper from the image or else from the file; it is no child of this process. That it could not be
 * executed is its first answer. */
int jm_reaper_start(int image_fd, const char *file, struct jm_reaper *reaper, jianmu_error **err);

#endif
