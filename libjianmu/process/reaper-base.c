/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "process/reaper.h"
#include "process/sys.h"
#include <time.h>

/* The compiler may ask for these. */
void *memset(void *to, int byte, size_t n);
void *memcpy(void *restrict to, const void *restrict from, size_t n);

void *memset(void *to, int byte, size_t n)
{
    for (volatile char *p = to; n; n--)
        *p++ = (char)byte;
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    const char *s = from;
    for (volatile char *p = to; n; n--)
        *p++ = *s++;
    return to;
}

int64_t jm_reaper_now(void)
{
    struct timespec ts;
    jm_sys(__NR_clock_gettime, CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

void jm_reaper_wait(struct pollfd *fds, int count, int64_t ns)
{
    struct timespec ts = {ns / 1000000000, ns % 1000000000};
    if (jm_sys(__NR_ppoll, fds, count, ns < 0 ? NULL : &ts, NULL, 8) <= 0)
        for (int i = 0; i < count; i++)
            fds[i].revents = 0;
}
