/* SPDX-License-Identifier: Apache-2.0
 * Rows measured in turn in one run, so that a machine that drifts drifts for all of them. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct row {
    const char *name;
    double *us;      /* one figure a round */
    double median, least;
};

static inline double bench_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline void bench_settle(struct row *row, size_t rounds)
{
    qsort(row->us, rounds, sizeof *row->us, bench_compare);
    row->median = row->us[rounds / 2];
    row->least = row->us[0];
}

/* "name   median   least   x of the base row". unit: how many of it are one microsecond. */
static inline void bench_print(const struct row *rows, size_t count, size_t base, const char *unit, double per_us)
{
    printf("%-58s %10s %10s %8s %8s\n", unit, "median", "least", "x med", "x least");
    for (size_t i = 0; i < count; i++)
        printf("%-58s %10.1f %10.1f %8.3f %8.3f\n", rows[i].name, rows[i].median * per_us, rows[i].least * per_us,
               rows[i].median / rows[base].median, rows[i].least / rows[base].least);
}

#endif
