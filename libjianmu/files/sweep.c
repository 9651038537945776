/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "files/at.h"
#include "files/parent.h"
#include "files/remove.h"
#include "files/workdir.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

/* To ask for the lock one must be able to open it: a job may have taken that permission away. Where the owner
 * lives, the mode is put back as it was. */
static int open_locked(int parent, const char *name)
{
    struct statx was = {0};
    int fd = (int)jm_at_open(parent, name, O_RDONLY | O_DIRECTORY);
    bool granted = fd == -EACCES && jm_at_grant(parent, name, 0700, &was) == 0;
    if (granted)
        fd = (int)jm_at_open(parent, name, O_RDONLY | O_DIRECTORY);
    if (fd < 0)
        return fd;
    struct stat st;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink > 0)
        return fd;
    if (granted)
        fchmod(fd, was.stx_mode & 07777);
    close(fd);
    return -EBUSY;
}

static int report(json_t *removed, const char *parent, const char *name, jianmu_error **err)
{
    if (!removed)
        return 0;
    jm_auto_free char *path = NULL;
    size_t len;
    if (jm_format(&path, "%s/%s", parent, name) < 0) {
        path = NULL;
        return jm_fail_memory(err);
    }
    jm_auto_free char *text = jm_utf8_repair(path, strlen(path), &len);
    if (!text || json_array_append_new(removed, json_stringn(text, len)) < 0)
        return jm_fail_memory(err);
    return 0;
}

static int sweep_one(int parent_fd, const char *parent, const char *name, json_t *removed, jianmu_error **err)
{
    struct stat st;
    if (fstatat(parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
        return 0;
    jm_auto_fd int fd = open_locked(parent_fd, name);
    if (fd == -EBUSY || fd == -ENOENT)
        return 0;
    if (fd < 0)
        return jm_fail_errno(err, JIANMU_INTERNAL, -fd, "cannot open %s/%s", parent, name);
    int r = jm_remove_below(fd);
    int self = jm_remove_self(fd);
    if (r < 0 || self < 0)
        return jm_fail_errno(err, JIANMU_INTERNAL, r < 0 ? -r : -self, "cannot remove all of %s/%s", parent, name);
    return report(removed, parent, name, err);
}

static int sweep_parent(const char *parent, json_t *removed, jianmu_error **err)
{
    if (parent[0] != '/')
        return 0;
    DIR *dir = opendir(parent);
    if (!dir && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
        return jm_fail_errno(err, JIANMU_INTERNAL, errno, "cannot look into %s", parent);
    if (!dir)
        return 0; /* nothing of ours can be in what is not there or closed to us */
    const struct dirent *e;
    int r = 0;
    while ((e = readdir(dir))) {
        if (strncmp(e->d_name, JM_WORKDIR_PREFIX, sizeof JM_WORKDIR_PREFIX - 1) == 0 &&
            sweep_one(dirfd(dir), parent, e->d_name, removed, err) < 0)
            r = -1;
    }
    closedir(dir);
    return r;
}

int jm_workdir_sweep(const char *parent, json_t *removed, jianmu_error **err)
{
    struct jm_parent place;
    int r = 0;
    for (size_t i = 0; jm_parent_nth(parent, true, i, &place); i++) {
        if (sweep_parent(place.path, removed, err) < 0)
            r = -1;
    }
    return r;
}
