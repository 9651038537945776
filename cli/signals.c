/* SPDX-License-Identifier: Apache-2.0
 * A thread waits for the signals that ask us to end, and cancels the call: no handler, nothing asynchronous. */
#include "config.h"
#include "cli.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static const int wanted[] = {SIGINT, SIGTERM, SIGHUP};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static jianmu_call *running;
static atomic_int caught;

static void *wait_for_signals(void *data)
{
    sigset_t set = *(sigset_t *)data;
    int number;
    for (;;) {
        if (sigwait(&set, &number))
            continue;
        if (atomic_exchange(&caught, number))
            _exit(128 + number); /* asked twice; the job dies with us */
        pthread_mutex_lock(&lock);
        if (running)
            jianmu_call_cancel(running);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int signals_catch(jianmu_call *call)
{
    static sigset_t set; /* read by the thread for as long as we live */
    pthread_t thread;
    pthread_attr_t attributes;
    struct sigaction now;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!sigaction(wanted[i], NULL, &now) && now.sa_handler != SIG_IGN) /* nohup stays nohup */
            sigaddset(&set, wanted[i]);
    running = call;
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    int error = pthread_create(&thread, &attributes, wait_for_signals, &set);
    pthread_attr_destroy(&attributes);
    if (error)
        say("no thread for signals: %s", strerror(error));
    return error ? -1 : 0;
}

void signals_release(void)
{
    pthread_mutex_lock(&lock);
    running = NULL;
    pthread_mutex_unlock(&lock);
}

int signals_caught(void)
{
    return atomic_load(&caught);
}
