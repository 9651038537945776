/* SPDX-License-Identifier: Apache-2.0
 * usage: bench/artifacts [ROUNDS [FILES]]
 * Collecting small artifacts against a plain walk (getdents, openat, read, close) of the same files, and removing
 * them against the same walk with unlinkat; interleaved, in turn, so that a noisy machine hits all of them. */
#include "config.h"
#include "files/artifacts.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DIRS 100
#define BYTES 34

enum { PLAIN, PLAIN_STAT, COLLECT, PLAIN_REMOVE, REMOVE, WAYS };
static const char *const names[WAYS] = {"getdents + openat + read", "the same with fstat", "collect",
                                        "getdents + unlinkat", "jm_workdir_close"};
static const int base[WAYS] = {PLAIN, PLAIN, PLAIN, PLAIN_REMOVE, PLAIN_REMOVE};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static struct jm_workdir *fill(int files)
{
    static const char text[BYTES + 1] = "what a job wrote, thirty-four bytes";
    struct jm_workdir *dir = jm_workdir_open(NULL, "main.py", "", 0, NULL, 0, NULL);
    must(dir != NULL, "jm_workdir_open");
    for (int d = 0; d < DIRS; d++) {
        char name[32];
        snprintf(name, sizeof name, "dir%02d", d);
        must(mkdirat(dir->work_fd, name, 0700) == 0, "mkdirat");
        int sub = openat(dir->work_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        must(sub >= 0, "openat");
        for (int i = d; i < files; i += DIRS) {
            snprintf(name, sizeof name, "file%05d", i);
            int fd = openat(sub, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
            must(fd >= 0 && write(fd, text, BYTES) == BYTES, "write");
            close(fd);
        }
        close(sub);
    }
    return dir;
}

static int visit(int dir, const char *name, int way)
{
    struct stat st;
    char text[4096];
    if (way == PLAIN_REMOVE) {
        must(unlinkat(dir, name, 0) == 0, "unlinkat");
        return 1;
    }
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    must(fd >= 0, name);
    if (way == PLAIN_STAT)
        must(fstat(fd, &st) == 0, "fstat");
    must(read(fd, text, sizeof text) >= 0, "read");
    close(fd);
    return 1;
}

static int plain(int dir, int way)
{
    static char buffers[2][32768];
    static int depth;
    char *buffer = buffers[depth++];
    ssize_t n;
    int count = 0;
    lseek(dir, 0, SEEK_SET);
    while ((n = getdents64(dir, buffer, sizeof buffers[0])) > 0) {
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *e = (const void *)(buffer + at);
            at += e->d_reclen;
            if (e->d_type == DT_DIR && e->d_name[0] != '.') {
                int sub = openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                must(sub >= 0, "openat");
                count += plain(sub, way);
                close(sub);
                if (way == PLAIN_REMOVE)
                    must(unlinkat(dir, e->d_name, AT_REMOVEDIR) == 0, "unlinkat");
            } else if (e->d_type == DT_REG) {
                count += visit(dir, e->d_name, way);
            }
        }
    }
    depth--;
    return count;
}

static int collect(struct jm_workdir *dir)
{
    const struct jm_artifact_caps caps = {1 << 20, 1 << 20, 1 << 30, 64};
    struct jm_artifact_list list;
    must(jm_artifacts_collect(dir, &caps, &list, NULL) == 0, "jm_artifacts_collect");
    int count = (int)list.count + 1; /* the script is not among them */
    jm_artifact_list_free(&list);
    return count;
}

static int by_number(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other;
}

static void round_of(int files, double *times[WAYS], int round)
{
    struct jm_workdir *dir = fill(files);
    for (int i = 0; i < COLLECT + 1; i++) {
        int way = (i + round) % (COLLECT + 1);
        double start = now();
        int count = way == COLLECT ? collect(dir) : plain(dir->work_fd, way);
        times[way][round] = now() - start;
        must(count == files + 1, "a walk that saw all files");
    }
    struct jm_workdir *other = fill(files);
    for (int i = 0; i < 2; i++) {
        double start = now();
        if ((i + round) % 2) {
            jm_workdir_close(dir);
            times[REMOVE][round] = now() - start;
        } else {
            plain(other->work_fd, PLAIN_REMOVE);
            jm_workdir_close(other);
            times[PLAIN_REMOVE][round] = now() - start;
        }
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 9, files = argc > 2 ? atoi(argv[2]) : 10000;
    double *times[WAYS];
    must(rounds > 0 && files > 0, "rounds and files");
    for (int way = 0; way < WAYS; way++)
        must((times[way] = calloc((size_t)rounds, sizeof(double))) != NULL, "calloc");
    for (int round = 0; round < rounds; round++)
        round_of(files, times, round);
    printf("%d files of %d bytes in %d directories, %d rounds: ms median / least, times the plain walk\n", files, BYTES,
           DIRS, rounds);
    for (int way = 0; way < WAYS; way++)
        qsort(times[way], (size_t)rounds, sizeof(double), by_number);
    for (int way = 0; way < WAYS; way++)
        printf("  %-26s %8.2f / %8.2f   %5.2f / %5.2f\n", names[way], times[way][rounds / 2], times[way][0],
               times[way][rounds / 2] / times[base[way]][rounds / 2], times[way][0] / times[base[way]][0]);
    for (int way = 0; way < WAYS; way++)
        free(times[way]);
    return 0;
}
