/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "files/parent.h"
#include "base/cleanup.h"
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#define SHM "/dev/shm"
#define ROOM (UINT64_C(256) << 20)

bool jm_parent_nth(const char *chosen, bool old, size_t i, struct jm_parent *parent)
{
    const char *tmpdir = getenv("TMPDIR");
    struct jm_parent places[4];
    size_t count = 0;
    if (chosen)
        places[count++] = (struct jm_parent){chosen, true};
    if (!chosen || old) {
        if (tmpdir && *tmpdir)
            places[count++] = (struct jm_parent){tmpdir, true};
        places[count++] = (struct jm_parent){SHM, false};
        places[count++] = (struct jm_parent){"/tmp", true};
    }
    if (i < count)
        *parent = places[i];
    return i < count;
}

/* Taken unasked, it must be memory, let programs be started, and leave a job room (containers have 64 MB). */
static const char *unfit_shm(int fd, uint64_t bytes)
{
    struct statfs fs;
    if (fstatfs(fd, &fs) < 0)
        return "it cannot be asked";
    if (fs.f_type != TMPFS_MAGIC)
        return "it is no tmpfs";
    if (fs.f_flags & ST_NOEXEC)
        return "it is mounted noexec";
    if ((uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize < ROOM + 2 * bytes)
        return "it is small or nearly full";
    return NULL;
}

int jm_parent_open(const struct jm_parent *parent, uint64_t bytes, const char **why, int *errnum)
{
    struct stat st;
    *why = NULL;
    *errnum = 0;
    if (parent->path[0] != '/') {
        *why = "it is not an absolute path";
        return -1;
    }
    jm_auto_fd int fd = open(parent->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0) {
        *errnum = errno;
        return -1;
    }
    if ((st.st_mode & 002) && !(st.st_mode & S_ISVTX))
        *why = "others may write to it, and it is not sticky";
    else if (!parent->asked)
        *why = unfit_shm(fd, bytes);
    return *why ? -1 : jm_steal_fd(fd);
}
