/* SPDX-License-Identifier: Apache-2.0
 * An allocator for a test: the n-th allocation fails, or all from the n-th on; what is live is counted. Included by one
 * file of a program. */
#ifndef TESTS_SHORTAGE_H
#define TESTS_SHORTAGE_H

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The address sanitizer allocates beside us what libc's functions return, and finds what is left by itself. */
#ifdef __SANITIZE_ADDRESS__
#define COUNTED 0
#else
#define COUNTED 1
#endif

/* ---- an allocator that fails when told to; the program's own symbols go before all libraries' ---- */
/* volatile: libc's functions are declared not to call back, and these do */
static volatile long fail_at, live, failed; /* fail_at 0: never */
static volatile bool fail_on;        /* and all that follow */
static char early[65536];     /* dlsym may allocate before there is an allocator */
static size_t early_used;

/* seen by the libraries too */
#pragma GCC visibility push(default)
void *malloc(size_t size);
void *calloc(size_t count, size_t size);
void *realloc(void *p, size_t size);
void free(void *p);
#pragma GCC visibility pop

static bool must_fail(void)
{
    if (fail_at == 0)
        return false;
    if (fail_at > 1) {
        fail_at--;
        return false;
    }
    if (!fail_on)
        fail_at = 0;
    failed++;
    errno = ENOMEM;
    return true;
}

static void *early_block(size_t size)
{
    size_t need = (size + 31) & ~(size_t)15;
    if (need > sizeof early - early_used)
        abort();
    early_used += need;
    return early + early_used - need;
}

static void *next(const char *name)
{
    static volatile int depth;
    if (depth)
        return NULL;
    depth++;
    void *found = dlsym(RTLD_NEXT, name);
    depth--;
    return found;
}

void *malloc(size_t size)
{
    static void *(*real)(size_t);
    if (!real && !(real = (void *(*)(size_t))next("malloc")))
        return early_block(size);
    void *p = must_fail() ? NULL : real(size);
    live += p != NULL;
    return p;
}

void *calloc(size_t count, size_t size)
{
    static void *(*real)(size_t, size_t);
    if (!real && !(real = (void *(*)(size_t, size_t))next("calloc")))
        return early_block(count * size);
    void *p = must_fail() ? NULL : real(count, size);
    live += p != NULL;
    return p;
}

void *realloc(void *old, size_t size)
{
    static void *(*real)(void *, size_t);
    if (!real && !(real = (void *(*)(void *, size_t))next("realloc")))
        abort();
    void *p = must_fail() ? NULL : real(old, size);
    live += !old && p;
    return p;
}

void free(void *p)
{
    static void (*real)(void *);
    if (!p || ((char *)p >= early && (char *)p < early + sizeof early))
        return;
    if (!real && !(real = (void (*)(void *))next("free")))
        return;
    live--;
    real(p);
}

#endif
