/* SPDX-License-Identifier: Apache-2.0
 * Empties a directory tree with two descriptors and constant stack, whatever modes and depth it has. System calls
 * only, no libc: the reaper holds the same code. */
#ifndef JM_REMOVE_H
#define JM_REMOVE_H

/* Removes everything below the directory dir_fd. 0, or -errno of the first thing that stays. */
int jm_remove_below(int dir_fd);
/* Removes the directory itself, wherever it is called by now. 0 or -errno. */
int jm_remove_self(int dir_fd);

#endif
