/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JM_THREAD_H
#define JM_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* A thread that is deaf to the host's signals. stack: bytes, 0: as usual. 0, or an errno. */
int jm_thread_start(pthread_t *thread, size_t stack, void *(*run)(void *), void *data);

#endif
