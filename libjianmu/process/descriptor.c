/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "process/descriptor.h"
#include "base/cleanup.h"
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#define MFD_EXEC 0x0010U
#endif

int jm_fd_high(int fd)
{
    if (fd > 2 || fd < 0)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    int saved = errno;
    close(fd);
    errno = saved;
    return high;
}

int jm_pipe(int fds[2])
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    jm_auto_fd int from = jm_fd_high(ends[0]);
    jm_auto_fd int to = jm_fd_high(ends[1]);
    if (from < 0 || to < 0)
        return -1;
    fds[0] = jm_steal_fd(from);
    fds[1] = jm_steal_fd(to);
    return 0;
}

/* Writing beyond RLIMIT_FSIZE would raise a signal in the host. */
static int check_size(uint64_t size)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur) {
        errno = EFBIG;
        return -1;
    }
    return 0;
}

static int write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

int jm_memfd(const char *name, bool executable, const struct iovec *parts, int count)
{
    uint64_t size = 0;
    for (int i = 0; i < count; i++)
        size += parts[i].iov_len;
    if (check_size(size))
        return -1;
    unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int made = memfd_create(name, flags | (executable ? MFD_EXEC : MFD_NOEXEC_SEAL));
    if (made < 0 && errno == EINVAL) /* before Linux 6.3 */
        made = memfd_create(name, flags);
    jm_auto_fd int fd = jm_fd_high(made);
    if (fd < 0)
        return -1;
    for (int i = 0; i < count; i++)
        if (write_all(fd, parts[i].iov_base, parts[i].iov_len))
            return -1;
    if (lseek(fd, 0, SEEK_SET) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE))
        return -1;
    return jm_steal_fd(fd);
}
