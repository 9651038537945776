/* SPDX-License-Identifier: Apache-2.0
 * An allocator for a test with threads: the n-th allocation of one of them fails; what is live is counted. Included by
 * one file of a program, and not where a sanitizer has malloc for itself. */
#ifndef TESTS_CALL_THREAD_SHORTAGE_H
#define TESTS_CALL_THREAD_SHORTAGE_H

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

static long fail_at;          /* 0: never; counts down on this thread */
static long held;             /* allocations not yet freed */
static pthread_t counted;

/* glibc lets a program replace malloc (malloc(3), "Replacing malloc"); its own functions stay reachable. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *p, size_t size);
void free(void *p);

static bool must_fail(void)
{
    if (fail_at <= 0 || !pthread_equal(counted, pthread_self()) || --fail_at)
        return false;
    errno = ENOMEM;
    return true;
}

static void *count_in(void *p)
{
    if (p)
        __atomic_add_fetch(&held, 1, __ATOMIC_RELAXED);
    return p;
}

void *malloc(size_t size)
{
    return must_fail() ? NULL : count_in(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : count_in(__libc_calloc(count, size));
}

void *realloc(void *p, size_t size)
{
    if (must_fail())
        return NULL;
    void *q = __libc_realloc(p, size);
    return p ? q : count_in(q);
}

void free(void *p)
{
    if (p)
        __atomic_sub_fetch(&held, 1, __ATOMIC_RELAXED);
    __libc_free(p);
}

#endif
