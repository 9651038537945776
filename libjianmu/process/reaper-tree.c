/* SPDX-License-Identifier: Apache-2.0
 * Who are my children, and what have all my descendants used? */
#include "config.h"
#include "process/reaper.h"
#include "files/at.h"
#include <signal.h>

#define TREE_MOST 8192               /* processes in one sample */
#define NS_PER_TICK 10000000ull      /* USER_HZ is 100 on both architectures */

typedef void (*on_pid)(int pid);

static int own_children = -1;        /* /proc/thread-self/children */
static int proc = -1;
static int own_pid;
static int tree[TREE_MOST];
static int tree_count;

/* NUMBER/name */
static void put_path(char text[32], int number, const char *name)
{
    jm_number_behind(text, (unsigned long)number);
    while (*text)
        text++;
    do
        *text++ = *name;
    while (*name++);
}

/* -1 unless the whole text is a number. */
static int whole_number(const char *text)
{
    int number = 0;
    for (; *text; text++) {
        if (*text < '0' || *text > '9' || number > 100000000)
            return -1;
        number = number * 10 + (*text - '0');
    }
    return number;
}

/* A file of decimal numbers with anything between them; numbers may straddle two reads. */
static void read_pids(int fd, on_pid fn)
{
    char text[4096];
    int number = -1;
    long n, offset = 0;
    while ((n = jm_sys(__NR_pread64, fd, text, sizeof text, offset)) > 0) {
        offset += n;
        for (long i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                number = (number < 0 ? 0 : number) * 10 + (text[i] - '0');
            } else if (number >= 0) {
                fn(number);
                number = -1;
            }
        }
    }
    if (number >= 0)
        fn(number);
}

static void for_names(int dir, void (*fn)(int dir, int number, void *data), void *data)
{
    _Alignas(8) char entries[4096];
    long n;
    while ((n = jm_sys(__NR_getdents64, dir, entries, sizeof entries)) > 0) {
        for (long at = 0; at < n;) {
            const struct jm_dirent *entry = (const void *)(entries + at);
            at += entry->len;
            int number = whole_number(entry->name);
            if (number > 0)
                fn(dir, number, data);
        }
    }
}

struct usage {
    int parent;
    uint64_t ticks; /* own and of those it reaped */
};

/* Of /proc/PID/stat: the name may hold anything, so count from the last ")". */
static bool read_usage(int pid, struct usage *usage)
{
    char name[32], text[1024];
    put_path(name, pid, "/stat");
    long fd = jm_sys(__NR_openat, proc, name, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    long n = jm_sys(__NR_read, fd, text, sizeof text - 1);
    jm_sys(__NR_close, fd);
    if (n <= 0)
        return false;
    text[n] = 0;
    long end = n;
    while (end > 0 && text[end] != ')')
        end--;
    uint64_t fields[16] = {0};
    int field = -1; /* 0 the state, 1 the parent, 11 to 14 the times */
    for (const char *p = text + end + 1; *p && field < 15; p++) {
        if (*p == ' ')
            field++;
        else if (*p >= '0' && *p <= '9' && field >= 0)
            fields[field] = fields[field] * 10 + (uint64_t)(*p - '0');
    }
    if (field < 15)
        return false;
    usage->parent = (int)fields[1];
    usage->ticks = fields[11] + fields[12] + fields[13] + fields[14];
    return true;
}

struct wanted {
    int parent;
    on_pid fn;
};

static void call_if_child(int dir, int pid, void *data)
{
    const struct wanted *wanted = data;
    struct usage usage;
    (void)dir;
    if (read_usage(pid, &usage) && usage.parent == wanted->parent)
        wanted->fn(pid);
}

static void scan_children(int pid, on_pid fn)
{
    struct wanted wanted = {pid, fn};
    jm_sys(__NR_lseek, proc, 0, 0);
    for_names(proc, call_if_child, &wanted);
}

static void read_thread_children(int dir, int thread, void *data)
{
    char name[32];
    put_path(name, thread, "/children");
    long fd = jm_sys(__NR_openat, dir, name, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    read_pids((int)fd, *(on_pid *)data);
    jm_sys(__NR_close, fd);
}

/* The kernel lists children by the thread that started them. */
static void children_of(int pid, on_pid fn)
{
    if (own_children < 0) {
        scan_children(pid, fn);
        return;
    }
    char name[32];
    put_path(name, pid, "/task");
    long dir = jm_sys(__NR_openat, proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (dir < 0)
        return;
    for_names((int)dir, read_thread_children, &fn);
    jm_sys(__NR_close, dir);
}

static void own_children_do(on_pid fn)
{
    if (own_children >= 0)
        read_pids(own_children, fn);
    else
        scan_children(own_pid, fn);
}

static void close_number(int dir, int number, void *data)
{
    (void)data;
    if (number > 2 && number != dir)
        jm_sys(__NR_close, number);
}

void jm_tree_close_inherited(void)
{
    if (jm_sys(__NR_close_range, 3, ~0u, 0) == 0)
        return;
    long dir = jm_sys(__NR_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (dir >= 0) /* an old kernel, or a filter around this container */
        for_names((int)dir, close_number, NULL);
    jm_sys(__NR_close, dir);
}

int jm_tree_open(bool scan)
{
    if (proc < 0) {
        own_pid = (int)jm_sys(__NR_getpid);
        long fd = jm_sys(__NR_openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
        if (fd < 0)
            return (int)fd;
        proc = (int)fd;
        char self[16] = {0};
        if (jm_sys(__NR_readlinkat, proc, "self", self, sizeof self - 1) <= 0 || whole_number(self) != own_pid)
            return -ESRCH; /* not mounted, or of another pid namespace: its numbers would name strangers */
    }
    if (scan && own_children >= 0) {
        jm_sys(__NR_close, own_children);
        own_children = -1;
    } else if (!scan && own_children < 0) {
        own_children = (int)jm_sys(__NR_openat, proc, "thread-self/children", O_RDONLY | O_CLOEXEC, 0);
    }
    return 0;
}

static void kill_pid(int pid)
{
    if (pid > 1)
        jm_sys(__NR_kill, pid, SIGKILL);
}

void jm_tree_kill_children(void)
{
    own_children_do(kill_pid);
}

static void add_to_tree(int pid)
{
    if (tree_count < TREE_MOST)
        tree[tree_count++] = pid;
}

uint64_t jm_tree_cpu_ns(void)
{
    uint64_t ticks = 0;
    tree_count = 0;
    own_children_do(add_to_tree);
    for (int i = 0; i < tree_count; i++) {
        struct usage usage;
        if (read_usage(tree[i], &usage))
            ticks += usage.ticks;
        children_of(tree[i], add_to_tree);
    }
    return ticks * NS_PER_TICK;
}
