/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "process/lookup.h"
#include "base/cleanup.h"
#include "base/error.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char default_path[] = "/usr/local/bin:/usr/bin:/bin"; /* where the environment has no PATH */

static const char *path_of(const char *const *env)
{
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return default_path;
}

/* "dir/name"; what is relative starts at the root if there is no working directory. False if it is too long. */
static bool join(char path[PATH_MAX], const struct jm_process_spec *spec, const char *dir, size_t len, const char *name)
{
    char first = len ? *dir : *name;
    const char *root = spec->cwd_fd < 0 && first != '/' ? "/" : "";
    int n = snprintf(path, PATH_MAX, "%s%.*s%s%s", root, (int)len, dir, len ? "/" : "", name);
    return n > 0 && n < PATH_MAX;
}

/* 0 or an errno. */
static int can_execute(const struct jm_process_spec *spec, const char *path)
{
    int dir = spec->cwd_fd < 0 ? AT_FDCWD : spec->cwd_fd;
    struct stat st;
    if (faccessat(dir, path, X_OK, AT_EACCESS) || fstatat(dir, path, &st, 0))
        return errno;
    return S_ISREG(st.st_mode) ? 0 : EACCES;
}

int jm_program_find(const struct jm_process_spec *spec, char path[PATH_MAX], jianmu_error **err)
{
    const char *name = spec->argv[0];
    size_t name_len = strlen(name);
    if (!name_len)
        return jm_fail(err, JIANMU_INVALID, "the program has no name");
    if (memchr(name, '/', name_len)) {
        if (!join(path, spec, "", 0, name))
            return jm_fail_errno(err, JIANMU_INVALID, ENAMETOOLONG, "program %.200s", name);
        return 0;
    }
    int refused = 0;
    for (const char *dir = path_of(spec->env);; dir++) {
        size_t len = strcspn(dir, ":");
        if (len + name_len + 3 < PATH_MAX && join(path, spec, dir, len, name)) {
            int error = can_execute(spec, path);
            if (!error)
                return 0;
            if (error == EACCES && !refused)
                refused = error;
        }
        dir += len;
        if (!*dir)
            break;
    }
    if (refused)
        return jm_fail_errno(err, JIANMU_UNAVAILABLE, refused, "program %.200s on PATH", name);
    return jm_fail(err, JIANMU_NOT_FOUND, "program %.200s is not on PATH (%.500s)", name, path_of(spec->env));
}

int jm_program_fail(const struct jm_process_spec *spec, const char *path, int errnum, jianmu_error **err)
{
    int dir = spec->cwd_fd < 0 ? AT_FDCWD : spec->cwd_fd;
    switch (errnum) {
    case ENOENT:
        if (faccessat(dir, path, F_OK, 0) == 0)
            return jm_fail(err, JIANMU_NOT_FOUND, "program %s: the interpreter it names does not exist", path);
        return jm_fail(err, JIANMU_NOT_FOUND, "program %s does not exist", path);
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
        return jm_fail_errno(err, JIANMU_NOT_FOUND, errnum, "program %s", path);
    case E2BIG:
        return jm_fail_errno(err, JIANMU_INVALID, errnum, "program %s", path);
    default:
        return jm_fail_errno(err, JIANMU_UNAVAILABLE, errnum, "program %s cannot be executed", path);
    }
}
