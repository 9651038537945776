/* SPDX-License-Identifier: Apache-2.0
 * --input: files and whole directories, read here and handed over as bytes. */
#include "config.h"
#include "cli.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEEPEST 64

struct inputs {
    struct cli *cli;
    jianmu_job *job;
};

static int complain(const char *path, int error)
{
    say("--input %s: %s", path, strerror(error));
    return EXIT_COULD_NOT;
}

static int add_file(struct inputs *in, int fd, const char *rel)
{
    jianmu_error *err = NULL;
    char *data;
    size_t len;
    if (slurp(fd, &data, &len))
        return complain(rel, errno);
    int bad = jianmu_job_add_input(in->job, rel, data, len, &err);
    free(data);
    return bad ? report_error(in->cli, err, EXIT_COULD_NOT) : 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int not_dots(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
}

static int add_below(struct inputs *in, int dir, const char *rel, int depth);

/* A link below a named directory is not followed: only what was named is the caller's word. */
static int add_entry(struct inputs *in, int dir, const char *name, const char *rel, int depth)
{
    struct stat st;
    int status = 0, fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && (errno == ELOOP || errno == ENXIO)) {
        say("skipped %s: %s", rel, errno == ELOOP ? "symlink" : "socket");
        return 0;
    }
    if (fd < 0 || fstat(fd, &st))
        status = complain(rel, errno);
    else if (S_ISREG(st.st_mode))
        status = add_file(in, fd, rel);
    else if (S_ISDIR(st.st_mode))
        status = add_below(in, fd, rel, depth + 1);
    else
        say("skipped %s: neither a file nor a directory", rel);
    if (fd >= 0)
        close(fd);
    return status;
}

static int add_below(struct inputs *in, int dir, const char *rel, int depth)
{
    struct dirent **entries = NULL;
    int status = 0;
    int count = depth > DEEPEST ? (errno = ELOOP, -1) : scandirat(dir, ".", &entries, not_dots, by_name);
    if (count < 0)
        return complain(rel, errno);
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        if (!status && asprintf(&path, "%s%s%s", rel, *rel ? "/" : "", entries[i]->d_name) < 0)
            status = complain(rel, ENOMEM), path = NULL;
        if (!status)
            status = add_entry(in, dir, entries[i]->d_name, path, depth);
        free(path);
        free(entries[i]);
    }
    free(entries);
    return status;
}

static int add_path(struct inputs *in, const char *path, const char *rel)
{
    struct stat st;
    int status, fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st))
        status = complain(path, errno);
    else if (S_ISREG(st.st_mode))
        status = add_file(in, fd, rel);
    else if (S_ISDIR(st.st_mode))
        status = add_below(in, fd, strcmp(rel, ".") ? rel : "", 0);
    else
        status = complain(path, EINVAL);
    if (fd >= 0)
        close(fd);
    return status;
}

static int add_input(struct inputs *in, const char *value)
{
    const char *equals = strrchr(value, '='), *rel = equals ? equals + 1 : NULL;
    char *path = strndup(value, equals ? (size_t)(equals - value) : strlen(value));
    if (!path)
        return complain(value, ENOMEM);
    size_t len = strlen(path);
    while (!rel && len > 1 && path[len - 1] == '/')
        path[--len] = 0;
    if (!rel) {
        rel = strrchr(path, '/');
        rel = rel ? rel + 1 : path;
    }
    int status = add_path(in, path, rel);
    free(path);
    return status;
}

int job_add_inputs(struct cli *cli, jianmu_job *job)
{
    struct inputs in = {cli, job};
    int status = 0;
    for (size_t i = 0; i < cli->given_count && !status; i++)
        if (!strcmp(cli->given[i].option->name, "input"))
            status = add_input(&in, cli->given[i].value);
    return status;
}
