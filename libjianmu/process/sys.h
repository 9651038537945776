/* SPDX-License-Identifier: Apache-2.0
 * System calls without libc, for code that also lives in the reaper or runs in a child that shares the memory of
 * its parent: no errno, no cancellation point, no allocation. The result is the kernel's: -errno on failure.
 *   long fd = jm_sys(__NR_openat, dir, "name", O_RDONLY | O_CLOEXEC); */
#ifndef JM_SYS_H
#define JM_SYS_H

#include <asm/unistd.h>

#if defined(__x86_64__)
static inline __attribute__((always_inline)) long jm_sys6(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
static inline __attribute__((always_inline)) long jm_sys6(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc 0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#else
#error "system calls are written for x86_64 and aarch64"
#endif

/* Takes up to six arguments, integers or pointers; those left out are 0. */
#define jm_sys(...) jm_sys_(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define jm_sys_(n, a, b, c, d, e, f, ...) \
    jm_sys6((n), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* clone(flags) with fn(arg) in the child, which exits with what fn returns; -errno or the pid. Function and
 * argument travel in registers: under valgrind the child keeps its parent's stack. Block all signals around it. */
long jm_clone(unsigned long flags, void *stack_top, int (*fn)(void *arg), void *arg);

#endif
