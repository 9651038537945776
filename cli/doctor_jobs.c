/* SPDX-License-Identifier: Apache-2.0
 * What real jobs of the local backend show. */
#include "config.h"
#include "doctor.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define LITTLE_SPACE ((uint64_t)64 << 20)
#define TMPFS_MAGIC_NUMBER 0x01021994

struct victim {
    char text[64];
    size_t len;
    pid_t pid;
    bool seen_alive;
    int hold; /* as long as it is open, the job waits */
};

/* The job says the number of its escaped child; it is looked at before the job may end. */
static void see_victim(void *data, int stream, const void *bytes, size_t len)
{
    struct victim *v = data;
    if (stream != 1 || v->hold < 0)
        return;
    if (len > sizeof v->text - 1 - v->len)
        len = sizeof v->text - 1 - v->len;
    memcpy(v->text + v->len, bytes, len);
    v->len += len;
    v->text[v->len] = 0;
    if (!strchr(v->text, '\n'))
        return;
    v->pid = (pid_t)atol(v->text);
    v->seen_alive = v->pid > 1 && !kill(v->pid, 0);
    close(v->hold);
    v->hold = -1;
}

static bool gone(pid_t pid)
{
    for (int i = 0; i < 200; i++) {
        if (kill(pid, 0) && errno == ESRCH)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return false;
}

static void check_tree(struct doctor *d)
{
    static const char what[] = "end of the tree";
    static const char advice[] = "processes of a job can outlive it: do not run jobs here";
    struct victim v = {.hold = -1};
    struct probe probe = {.script = "command -v setsid >/dev/null 2>&1 && s=setsid || s=\n"
                                    "$s sleep 300 </dev/null >/dev/null 2>&1 &\n"
                                    "sleep 0.1\n"
                                    "echo $!\n"
                                    "read -r line\n"
                                    "exit 0\n",
                          .language = "sh",
                          .output = see_victim,
                          .data = &v};
    int ends[2];
    jianmu_error *err = NULL;
    if (pipe2(ends, O_CLOEXEC)) {
        doctor_line(d, what, true, DOCTOR_MISSING, "free some descriptors", "no pipe: %s", strerror(errno));
        return;
    }
    probe.stdin_fd = ends[0];
    v.hold = ends[1];
    jianmu_result *result = doctor_job(d, &probe, &err);
    close(ends[0]);
    if (v.hold >= 0)
        close(v.hold);
    if (!result)
        doctor_no_job(d, what, true, "the sentence says what is in the way", err);
    else if (!v.seen_alive)
        doctor_line(d, what, true, DOCTOR_MISSING, "the job's own words say what is in the way",
                    "the job left no process to look at (%s %s)", jianmu_result_message(result),
                    jianmu_result_text(result, 2, NULL));
    else if (gone(v.pid))
        doctor_line(d, what, true, DOCTOR_OK, "", "process %ld, left in its own session, was dead after its job",
                    (long)v.pid);
    else
        doctor_line(d, what, true, DOCTOR_MISSING, advice, "process %ld outlived its job", (long)v.pid);
    jianmu_result_free(result);
}

/* The file system that holds the directory two levels above `work`, where jobs get theirs. */
static bool job_parent(char *work)
{
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(work, '/');
        if (!slash)
            return false;
        *slash = 0;
    }
    return *work;
}

static void judge_directory(struct doctor *d, const char *what, const char *dir, bool runs)
{
    static const char elsewhere[] = "set execution.local.workdir, or TMPDIR, to a directory where programs may run "
                                    "and space is free";
    struct statvfs fs;
    struct statfs kind;
    if (statvfs(dir, &fs) || statfs(dir, &kind)) {
        doctor_line(d, what, true, DOCTOR_MISSING, elsewhere, "%s: %s", dir, strerror(errno));
        return;
    }
    uint64_t space = (uint64_t)fs.f_bavail * fs.f_frsize;
    const char *type = kind.f_type == TMPFS_MAGIC_NUMBER ? "memory" : "disk";
    if (!runs)
        doctor_line(d, what, true, DOCTOR_LIMITED, elsewhere, "%s (%s): programs may not run there (noexec)", dir,
                    type);
    else if (space < LITTLE_SPACE)
        doctor_line(d, what, true, DOCTOR_LIMITED, elsewhere, "%s (%s): only %llu KiB are free", dir, type,
                    (unsigned long long)(space >> 10));
    else
        doctor_line(d, what, true, DOCTOR_OK, "", "%s (%s): written to, a program ran, %llu MiB are free", dir, type,
                    (unsigned long long)(space >> 20));
}

static void check_directory(struct doctor *d)
{
    static const char what[] = "job directory";
    const struct probe probe = {.script = "pwd\n"
                                          "printf '#!/bin/sh\\necho it runs\\n' >program && chmod 700 program || exit\n"
                                          "./program\n"
                                          "rm -f program\n",
                                .language = "sh",
                                .stdin_fd = -1};
    jianmu_error *err = NULL;
    jianmu_result *result = doctor_job(d, &probe, &err);
    if (!result) {
        doctor_no_job(d, what, true, "set execution.local.workdir, or TMPDIR, to a directory that you can write to",
                      err);
        return;
    }
    char *text = strdup(jianmu_result_text(result, 1, NULL));
    bool runs = text && strstr(text, "it runs");
    if (text)
        text[strcspn(text, "\n")] = 0;
    if (text && job_parent(text))
        judge_directory(d, what, text, runs);
    else
        doctor_line(d, what, true, DOCTOR_MISSING, "the job's own words say what is in the way", "%s %s",
                    jianmu_result_message(result), jianmu_result_text(result, 2, NULL));
    free(text);
    jianmu_result_free(result);
}

static void check_python(struct doctor *d)
{
    static const char what[] = "python3";
    static const char advice[] = "install python3, or name one with execution.local.python";
    const struct probe probe = {.script = "import sys\nprint(sys.executable, 'is Python', sys.version.split()[0])\n",
                                .language = "python",
                                .stdin_fd = -1};
    jianmu_error *err = NULL;
    jianmu_result *result = doctor_job(d, &probe, &err);
    if (!result) {
        doctor_no_job(d, what, true, advice, err);
        return;
    }
    const char *out = jianmu_result_text(result, 1, NULL);
    if (jianmu_result_reason(result) == JIANMU_EXITED && !jianmu_result_exit_code(result) &&
        strstr(out, " is Python 3"))
        doctor_line(d, what, true, DOCTOR_OK, "", "%.*s", (int)strcspn(out, "\n"), out);
    else
        doctor_line(d, what, true, DOCTOR_MISSING, advice, "what was found does not run Python 3: status %d %s",
                    jianmu_result_exit_code(result), jianmu_result_text(result, 2, NULL));
    jianmu_result_free(result);
}

void doctor_jobs(struct doctor *d)
{
    check_tree(d);
    check_directory(d);
    check_python(d);
}
