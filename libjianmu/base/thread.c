/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "base/thread.h"
#include <signal.h>

int jm_thread_start(pthread_t *thread, size_t stack, void *(*run)(void *), void *data)
{
    sigset_t all, old;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    if (stack)
        pthread_attr_setstacksize(&attr, stack);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* a new thread has the mask of its maker */
    int failed = pthread_create(thread, &attr, run, data);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    return failed;
}
