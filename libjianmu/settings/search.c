/* SPDX-License-Identifier: Apache-2.0
 * Where the config file is, and where plug-ins are. */
#include "config.h"

#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "plugin/registry.h"
#include "settings/inside.h"
#include "settings/values.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char cwd_file[] = "jianmu.yaml";

const char *jm_config_env(const jianmu_config *config, const char *name)
{
    const char *value = config->secure ? NULL : getenv(name);
    return value && *value ? value : NULL;
}

static int read_all(int fd, const char *path, char *text, size_t *len, jianmu_error **err)
{
    for (*len = 0; *len <= JM_YAML_BYTES;) {
        ssize_t n = read(fd, text + *len, JM_YAML_BYTES + 1 - *len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return jm_fail_errno(err, JIANMU_INVALID, errno, "cannot read %s", path);
        if (n == 0)
            return 0;
        *len += (size_t)n;
    }
    return jm_fail(err, JIANMU_INVALID, "%s: the file is larger than 1 MiB", path);
}

int jm_file_read(const char *path, char **text, size_t *len, jianmu_error **err)
{
    struct stat st;
    jm_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 1;
    if (fd < 0 || fstat(fd, &st))
        return jm_fail_errno(err, JIANMU_INVALID, errno, "cannot open %s", path);
    if (!S_ISREG(st.st_mode))
        return jm_fail(err, JIANMU_INVALID, "%s is not a regular file", path);
    jm_auto_free char *all = malloc(JM_YAML_BYTES + 2);
    if (!all)
        return jm_fail_memory(err);
    if (read_all(fd, path, all, len, err))
        return -1;
    all[*len] = 0;
    *text = jm_steal(all);
    return 0;
}

/* DIR from a variable, else $HOME/below; then "/jianmu" and file. NULL in *path: there is none. */
static int user_path(const jianmu_config *config, const char *variable, const char *below, const char *file,
                     char **path, jianmu_error **err)
{
    const char *dir = jm_config_env(config, variable), *home = jm_config_env(config, "HOME");
    int n = 0;
    *path = NULL;
    if (dir && *dir == '/') /* the XDG specification: a relative one is to be ignored */
        n = jm_format(path, "%s/jianmu%s", dir, file);
    else if (home && *home == '/')
        n = jm_format(path, "%s/%s/jianmu%s", home, below, file);
    if (n >= 0)
        return 0;
    *path = NULL;
    return jm_fail_memory(err);
}

/* 0 read, 1 there is none, -1. path is taken. */
static int try_file(jianmu_config *config, char *path, char **text, size_t *len, jianmu_error **err)
{
    if (!path)
        return 1;
    int rc = jm_file_read(path, text, len, err);
    if (rc) {
        free(path);
        return rc;
    }
    config->file = path;
    return 0;
}

/* A file that was named must be there. */
static int named_file(jianmu_config *config, const char *path, const char *by, char **text, size_t *len,
                      jianmu_error **err)
{
    jianmu_error *why = NULL;
    char *copy = strdup(path);
    int rc = copy ? try_file(config, copy, text, len, &why) : jm_fail_memory(&why);
    if (rc > 0)
        jm_fail_errno(&why, JIANMU_INVALID, ENOENT, "cannot open %s", path);
    if (!rc)
        return 0;
    if (by)
        jm_wrap(&why, "%s", by);
    return jm_fail_take(err, why);
}

/* The user's own file, else the system's. */
static int find_elsewhere(jianmu_config *config, char **text, size_t *len, jianmu_error **err)
{
    char *path = NULL;
    int rc = user_path(config, "XDG_CONFIG_HOME", ".config", "/jianmu.yaml", &path, err)
                 ? -1 : try_file(config, path, text, len, err);
    if (rc > 0)
        rc = jm_format(&path, "%s/jianmu/jianmu.yaml", config->sysconfdir) < 0
                 ? jm_fail_memory(err) : try_file(config, path, text, len, err);
    return rc < 0 ? -1 : 0;
}

int jm_config_find_outer(jianmu_config *config, char **text, size_t *len, jianmu_error **err)
{
    char *file = jm_steal(config->file);
    *text = NULL;
    int rc = config->in_cwd ? find_elsewhere(config, text, len, err) : 0;
    config->outer_file = jm_steal(config->file);
    config->file = file;
    return rc;
}

int jm_config_find(jianmu_config *config, const char *file, char **text, size_t *len, jianmu_error **err)
{
    char *path = NULL;
    *text = NULL;
    const char *named = jm_config_env(config, "JIANMU_CONFIG");
    if (file || named)
        return named_file(config, file ? file : named, file ? NULL : "$JIANMU_CONFIG", text, len, err);
    int rc = 1;
    if (!config->secure && !faccessat(AT_FDCWD, ".", X_OK, AT_EACCESS)) { /* else nothing can be found in there */
        path = strdup(cwd_file);
        rc = path ? try_file(config, path, text, len, err) : jm_fail_memory(err);
        config->in_cwd = rc == 0;
    }
    if (rc > 0)
        rc = find_elsewhere(config, text, len, err);
    return rc < 0 ? -1 : 0;
}

struct dirs {
    jianmu_config *config;
    const char **origins;
    size_t origin_count;
};

static int add_dir(struct dirs *d, const char *path, size_t len, const char *origin, jianmu_error **err)
{
    char **dir = jm_append(&d->config->search, &d->config->search_count, sizeof *dir);
    if (!dir || !(*dir = strndup(path, len)))
        return jm_fail_memory(err);
    const char **o = jm_append(&d->origins, &d->origin_count, sizeof *o);
    if (!o)
        return jm_fail_memory(err);
    *o = origin;
    return 0;
}

static int add_from_environment(struct dirs *d, jianmu_error **err)
{
    char shown[JM_SHOWN];
    const char *list = jm_config_env(d->config, "JIANMU_PLUGIN_PATH");
    for (const char *end; list; list = *end ? end + 1 : NULL) {
        end = strchrnul(list, ':');
        jm_auto_free char *dir = strndup(list, (size_t)(end - list));
        if (!dir)
            return jm_fail_memory(err);
        if (*dir != '/')
            return jm_fail(err, JIANMU_INVALID, "$JIANMU_PLUGIN_PATH: %s in it is not an absolute path",
                           jm_show(shown, dir));
        if (add_dir(d, dir, strlen(dir), "JIANMU_PLUGIN_PATH", err))
            return -1;
    }
    return 0;
}

static int collect_dirs(struct dirs *d, const json_t *path, jianmu_error **err)
{
    size_t i;
    json_t *dir;
    for (i = 0; i < d->config->dir_count; i++)
        if (add_dir(d, d->config->dirs[i], strlen(d->config->dirs[i]), "--plugin-dir", err))
            return -1;
    if (add_from_environment(d, err))
        return -1;
    json_array_foreach(path, i, dir)
        if (add_dir(d, json_string_value(dir), json_string_length(dir), "plugins.path", err))
            return -1;
    jm_auto_free char *user = NULL;
    if (user_path(d->config, "XDG_DATA_HOME", ".local/share", "", &user, err))
        return -1;
    if (user && add_dir(d, user, strlen(user), "user", err))
        return -1;
    return add_dir(d, d->config->plugin_root, strlen(d->config->plugin_root), "installed", err);
}

int jm_config_scan(jianmu_config *config, const json_t *path, jianmu_error **err)
{
    struct dirs d = {.config = config};
    int rc = collect_dirs(&d, path, err);
    jm_auto_free struct jm_search_dir *list = rc ? NULL : calloc(config->search_count, sizeof *list);
    for (size_t i = 0; list && i < config->search_count; i++)
        list[i] = (struct jm_search_dir){config->search[i], d.origins[i], 0};
    free(d.origins);
    if (!list)
        return rc ? rc : jm_fail_memory(err);
    config->registry = jm_registry_scan(list, config->search_count, err);
    return config->registry ? 0 : -1;
}
