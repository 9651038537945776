/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JM_CLOCK_H
#define JM_CLOCK_H

#include <stdint.h>
#include <time.h>

#define JM_SECOND INT64_C(1000000000)

/* CLOCK_MONOTONIC in nanoseconds. */
static inline int64_t jm_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * JM_SECOND + t.tv_nsec;
}

/* now + seconds, held within what an int64_t can carry. */
static inline int64_t jm_after(int64_t now, double seconds)
{
    double ns = seconds * 1e9;
    if (ns >= (double)(INT64_MAX - now))
        return INT64_MAX;
    return now + (ns < 1 ? 1 : (int64_t)ns);
}

#endif
