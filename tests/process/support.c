/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "support.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const bare_env[] = {"LC_ALL=C", NULL};

int64_t now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * SECOND + ts.tv_nsec;
}

static char victim_path[PATH_MAX];

static void find_victim(void)
{
    char path[PATH_MAX];
    const char *build = getenv("JIANMU_BUILD");
    snprintf(path, sizeof path, "%s/tests/process/victim", build ? build : ".");
    if (!realpath(path, victim_path)) {
        fprintf(stderr, "%s is missing\n", path);
        exit(99);
    }
}

const char *victim(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_victim);
    return victim_path;
}

void set_spec(struct jm_process_spec *spec, const char **argv, ...)
{
    int n = 0;
    va_list ap;
    va_start(ap, argv);
    argv[n++] = victim();
    while ((argv[n++] = va_arg(ap, const char *)))
        ;
    va_end(ap);
    *spec = (struct jm_process_spec){.argv = argv, .env = bare_env, .cwd_fd = -1, .stdin_fd = -1, .cancel_fd = -1,
                                     .scratch_fd = -1, .capture = 1 << 20};
}

int count_fds(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count - 1;
}

int count_threads(void)
{
    int count = 0;
    DIR *dir = opendir("/proc/self/task");
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count;
}

/* State and parent; ' ' where there is no such process. */
static char look(pid_t pid, pid_t *parent, unsigned long long *start)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return ' ';
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return ' ';
    text[n] = 0;
    char state;
    int ppid;
    const char *behind_name = strrchr(text, ')');
    if (!behind_name || sscanf(behind_name, ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                               "%*d %llu", &state, &ppid, start) != 3)
        return ' ';
    *parent = ppid;
    return state;
}

bool see(pid_t pid, struct seen *seen)
{
    pid_t parent;
    seen->pid = pid;
    char state = look(pid, &parent, &seen->start);
    if (state != 'Z') /* a leader without its threads is one too: is any thread left? */
        return state != ' ' && state != 'X';
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return count > 1;
}

bool is_gone(const struct seen *seen)
{
    struct seen again;
    pid_t parent = 0;
    unsigned long long start;
    if (see(seen->pid, &again))
        return again.start != seen->start;
    char state = look(seen->pid, &parent, &start);
    return state == ' ' || state == 'X' || start != seen->start || parent == 1;
}

pid_t parent_of(pid_t pid)
{
    pid_t parent = 0;
    unsigned long long start;
    look(pid, &parent, &start);
    return parent;
}

bool goes_within(const struct seen *seen, int64_t ns)
{
    for (int64_t end = now_ns() + ns; !is_gone(seen); usleep(2000))
        if (now_ns() > end)
            return false;
    return true;
}

static void take_pid(struct watch *w)
{
    w->text[w->len] = 0;
    w->len = 0;
    if (w->count == (int)(sizeof w->seen / sizeof w->seen[0]))
        return;
    if (see((pid_t)atoi(w->text), &w->seen[w->count]))
        w->count++;
    else
        w->dead++;
    uint64_t one = 1;
    if (w->count == w->wanted && w->signal >= 0 && write(w->signal, &one, sizeof one) != sizeof one)
        w->dead++;
}

void watch_output(void *data, int stream, const void *bytes, size_t len)
{
    struct watch *w = data;
    const char *text = bytes;
    for (size_t i = 0; stream == 1 && i < len; i++) {
        if (text[i] == '\n')
            take_pid(w);
        else if (w->len < sizeof w->text - 1)
            w->text[w->len++] = text[i];
    }
}

int watch_left(const struct watch *w)
{
    int left = 0;
    for (int i = 0; i < w->count; i++)
        left += !is_gone(&w->seen[i]);
    return left;
}

static int tests, failures;

void ok(bool good, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    printf("%sok %d - ", good ? "" : "not ", ++tests);
    vprintf(format, ap);
    printf("\n");
    fflush(stdout);
    va_end(ap);
    failures += !good;
}

void skip(const char *name, const char *reason)
{
    printf("ok %d - %s # SKIP %s\n", ++tests, name, reason);
    fflush(stdout);
}

int tap_end(void)
{
    printf("1..%d\n", tests);
    return failures ? 1 : 0;
}
