/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JM_DESCRIPTOR_H
#define JM_DESCRIPTOR_H

#include <stdbool.h>
#include <sys/uio.h>

/* The same file under a number above 2, where a host's own stdout or a child's cannot be mistaken for it. fd is
 * taken; fd < 0 is passed through. -1 and errno. */
int jm_fd_high(int fd);
/* pipe2(O_CLOEXEC) with both ends high. -1 and errno. */
int jm_pipe(int fds[2]);
/* A sealed file in memory with these parts, read from its start. -1 and errno; EFBIG where RLIMIT_FSIZE of this
 * process forbids it. */
int jm_memfd(const char *name, bool executable, const struct iovec *parts, int count);

#endif
