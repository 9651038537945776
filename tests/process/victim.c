/* SPDX-License-Identifier: Apache-2.0
 * What the tests run as a job: victim WHAT [ARG...]. It reports what it finds and judges nothing. */
#include "config.h"
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static _Noreturn void sleep_for_ever(void)
{
    for (;;)
        pause();
}

/* ---- reports ---- */
static int do_exit(char **args)
{
    return atoi(args[0]);
}

static int do_signal(char **args)
{
    kill(getpid(), atoi(args[0]));
    sleep_for_ever();
}

static int print_list(char **list)
{
    for (; *list; list++)
        fwrite(*list, 1, strlen(*list) + 1, stdout);
    return 0;
}

static int do_args(char **args)
{
    return print_list(args);
}

static int do_env(char **args)
{
    (void)args;
    return print_list(environ);
}

static void print_limit(const char *name, int which)
{
    struct rlimit limit;
    getrlimit(which, &limit);
    printf("%s %lld %lld\n", name, (long long)limit.rlim_cur, (long long)limit.rlim_max);
}

static int do_state(char **args)
{
    char cwd[4096];
    sigset_t mask;
    (void)args;
    printf("fds");
    DIR *dir = opendir("/proc/self/fd");
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(dir))
            printf(" %s", entry->d_name);
    printf("\nblocked");
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int s = 1; s <= 64; s++)
        if (sigismember(&mask, s) == 1)
            printf(" %d", s);
    printf("\nhandled");
    for (int s = 1; s <= 64; s++) {
        struct sigaction action;
        if (sigaction(s, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            printf(" %d", s);
    }
    printf("\numask %03o\n", (unsigned)umask(0));
    printf("cwd %s\n", getcwd(cwd, sizeof cwd) ? cwd : "?");
    printf("session %d\ngroup %d\n", getsid(0) == getpid(), getpgrp() == getpid());
    print_limit("core", RLIMIT_CORE);
    print_limit("nofile", RLIMIT_NOFILE);
    print_limit("fsize", RLIMIT_FSIZE);
    return 0;
}

/* ---- streams ---- */
static void put(int fd, const void *bytes, size_t len)
{
    for (const char *p = bytes; len;) {
        ssize_t n = write(fd, p, len);
        if (n < 0)
            exit(99);
        p += n;
        len -= (size_t)n;
    }
}

static int do_cat(char **args)
{
    static char buffer[65536];
    ssize_t n;
    (void)args;
    while ((n = read(0, buffer, sizeof buffer)) > 0)
        put(1, buffer, (size_t)n);
    return n < 0;
}

/* flood BYTES [STREAM]: byte i is i * 31 >> 3, so that a missing or a doubled one shows */
static int do_flood(char **args)
{
    static unsigned char buffer[65536];
    uint64_t bytes = strtoull(args[0], NULL, 10);
    int fd = atoi(args[1]);
    for (uint64_t i = 0; i < bytes;) {
        size_t n = 0;
        for (; n < sizeof buffer && i < bytes; n++, i++)
            buffer[n] = (unsigned char)(i * 31 >> 3);
        put(fd, buffer, n);
    }
    return 0;
}

/* pour BYTES: the same byte, quickly */
static int do_pour(char **args)
{
    static char buffer[1 << 18];
    memset(buffer, 'x', sizeof buffer);
    for (uint64_t bytes = strtoull(args[0], NULL, 10); bytes;) {
        size_t n = bytes < sizeof buffer ? (size_t)bytes : sizeof buffer;
        put(1, buffer, n);
        bytes -= n;
    }
    return 0;
}

/* stderr first, and only then stdin */
static int do_deaf(char **args)
{
    static char buffer[65536];
    uint64_t count = 0;
    ssize_t n;
    memset(buffer, 'e', sizeof buffer);
    for (uint64_t left = strtoull(args[0], NULL, 10); left;) {
        size_t part = left < sizeof buffer ? (size_t)left : sizeof buffer;
        put(2, buffer, part);
        left -= part;
    }
    while ((n = read(0, buffer, sizeof buffer)) > 0)
        count += (uint64_t)n;
    printf("%llu\n", (unsigned long long)count);
    return 0;
}

static int do_close_stdin(char **args)
{
    (void)args;
    close(0);
    printf("closed\n");
    return 0;
}

/* say TEXT, and stay */
static int do_say(char **args)
{
    put(1, args[0], strlen(args[0]));
    sleep_for_ever();
}

/* ---- what it uses ---- */
static volatile unsigned long sink;

static _Noreturn void spin(void)
{
    for (;;)
        sink++;
}

static int do_spin(char **args)
{
    int processes = args[0] ? atoi(args[0]) : 1;
    for (int i = 1; i < processes; i++)
        if (fork() == 0)
            break;
    spin();
}

static int do_spin_deaf(char **args)
{
    signal(SIGXCPU, SIG_IGN);
    return do_spin(args);
}

/* Each spinner dies young and orphans the next: only the sum over all shows what they use. */
static int do_spin_relay(char **args)
{
    (void)args;
    if (fork())
        sleep_for_ever();
    for (;;) {
        for (unsigned long i = 0; i < 10000000; i++)
            sink++;
        if (fork() > 0)
            _exit(0);
    }
}

static int do_touch(char **args)
{
    size_t size = strtoull(args[0], NULL, 10);
    char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return 1;
    for (size_t i = 0; i < size; i += 4096)
        p[i] = 1;
    return 0;
}

/* file NAME BYTES */
static int do_file(char **args)
{
    static char buffer[4096];
    int fd = open(args[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return 1;
    for (uint64_t left = strtoull(args[1], NULL, 10); left;) {
        size_t part = left < sizeof buffer ? (size_t)left : sizeof buffer;
        put(fd, buffer, part);
        left -= part;
    }
    return 0;
}

/* ---- evasions: every process that means to stay says so: "PID\n" in one write ---- */
static void stay(void)
{
    char text[16];
    put(1, text, (size_t)snprintf(text, sizeof text, "%d\n", (int)getpid()));
    sleep(300); /* should a test fail, it does not leave us for ever */
    _exit(1);
}

static void do_setsid(void)
{
    if (fork() == 0) {
        setsid();
        stay();
    }
}

static void do_double_fork(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            setsid();
            signal(SIGTERM, SIG_IGN);
            signal(SIGHUP, SIG_IGN);
            stay();
        }
        _exit(0);
    }
}

static void do_hops(void)
{
    if (fork() == 0) {
        for (int i = 0; i < 200; i++) {
            setsid();
            if (fork())
                _exit(0);
        }
        stay();
    }
}

static void do_stop(void)
{
    char text[16];
    put(1, text, (size_t)snprintf(text, sizeof text, "%d\n", (int)getpid()));
    kill(getpid(), SIGSTOP);
}

static void *stay_in_thread(void *data)
{
    stay();
    return data;
}

static void do_main_thread_gone(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, stay_in_thread, NULL) == 0)
        pthread_exit(NULL);
}

static void do_subreaper(void)
{
    if (fork() == 0) {
        setsid();
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        do_double_fork();
        stay();
    }
}

/* Kills and stops its reaper, and the host, whose process id it was told; then it stays. */
static int do_revolt(char **args)
{
    pid_t reaper = getppid(), host = (pid_t)atoi(args[0]);
    int failed = 0;
    for (int i = 0; i < 2; i++) {
        failed += kill(reaper, i ? SIGKILL : SIGSTOP) != 0;
        failed += kill(host, i ? SIGKILL : SIGSTOP) != 0;
    }
    do_setsid();
    fprintf(stderr, "%d", failed);
    fflush(stderr);
    stay();
    return 0;
}

/* signal_reaper SIGNAL: only where there is no signal scope */
static int do_signal_reaper(char **args)
{
    kill(getppid(), atoi(args[0]));
    do_setsid();
    stay();
    return 0;
}

static int do_id(char **args)
{
    (void)args;
    printf("%d %d %d\n", (int)geteuid(), (int)getegid(), getgroups(0, NULL));
    return 0;
}

static const struct {
    const char *name;
    void (*fn)(void);
} evasions[] = {
    {"setsid", do_setsid}, {"double_fork", do_double_fork}, {"hops", do_hops}, {"stop", do_stop},
    {"main_thread_gone", do_main_thread_gone}, {"subreaper", do_subreaper},
};

/* storm COUNT: so many that never stand still; each step shows on stdin, which all of them hold. The dead gather while
 * their reaper waits for a core; the machine's process ids are not used up, others need them. */
static int do_storm(char **args)
{
    struct sysinfo machine;
    for (int i = atoi(args[0]); i > 0; i--) {
        if (fork())
            continue;
        for (;;) {
            setsid();
            put(0, ".", 1);
            if (sysinfo(&machine) == 0 && machine.procs > 8000)
                usleep(1000);
            if (fork() > 0)
                _exit(0);
        }
    }
    sleep_for_ever();
}

/* evade LEAVE NAME...: leave 1: the main process ends once it can read a byte; 0: it stays */
static int do_evade(char **args)
{
    int leave = atoi(args[0]);
    char byte;
    for (char **name = args + 1; *name; name++)
        for (size_t i = 0; i < sizeof evasions / sizeof evasions[0]; i++)
            if (strcmp(*name, evasions[i].name) == 0)
                evasions[i].fn();
    if (leave)
        return read(0, &byte, 1) == 1 ? 7 : 8;
    sleep_for_ever();
}

static const struct {
    const char *name;
    int (*fn)(char **args);
} table[] = {
    {"exit", do_exit}, {"signal", do_signal}, {"args", do_args}, {"env", do_env}, {"state", do_state}, {"cat", do_cat},
    {"flood", do_flood}, {"pour", do_pour}, {"deaf", do_deaf}, {"close_stdin", do_close_stdin}, {"say", do_say},
    {"spin", do_spin}, {"spin_deaf", do_spin_deaf}, {"spin_relay", do_spin_relay}, {"touch", do_touch},
    {"file", do_file}, {"revolt", do_revolt}, {"signal_reaper", do_signal_reaper},
    {"id", do_id},
    {"evade", do_evade}, {"storm", do_storm},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof table / sizeof table[0]; i++)
        if (strcmp(argv[1], table[i].name) == 0)
            return table[i].fn(argv + 2);
    return 98;
}
