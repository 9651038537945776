/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "process/request.h"
#include "process/descriptor.h"
#include "base/cleanup.h"
#include "base/error.h"
#include <string.h>
#include <sys/socket.h>

#define MOST_STRINGS (1u << 30) /* far beyond what the kernel takes */

static size_t size_of(const char *const *list, uint32_t *count)
{
    size_t size = 0;
    for (*count = 0; list[*count] && size < MOST_STRINGS; ++*count)
        size += strlen(list[*count]) + 1;
    return size;
}

static char *add(char *p, const char *text)
{
    size_t len = strlen(text) + 1;
    memcpy(p, text, len);
    return p + len;
}

static int pack_strings(struct jm_request *r, const struct jm_process_spec *spec, const char *path, jianmu_error **err)
{
    size_t size = strlen(path) + 1 + size_of(spec->argv, &r->header.argc) + size_of(spec->env, &r->header.envc);
    if (size >= MOST_STRINGS)
        return jm_fail(err, JIANMU_INVALID, "arguments and environment are longer than 1 GiB");
    r->header.bytes = (uint32_t)size;
    if (size > sizeof r->small && !(r->strings = malloc(size)))
        return jm_fail_memory(err);
    char *p = add(r->strings, path);
    for (const char *const *s = spec->argv; *s; s++)
        p = add(p, *s);
    for (const char *const *s = spec->env; *s; s++)
        p = add(p, *s);
    return 0;
}

static void add_fd(struct jm_request *r, int fd, uint32_t flag)
{
    if (fd >= 0) {
        r->header.flags |= flag;
        r->fds[r->fd_count++] = fd;
    }
}

/* -1 and errno. */
static int strings_to_file(struct jm_request *r)
{
    struct iovec part = {r->strings, r->header.bytes};
    r->strings_fd = jm_memfd("jianmu-strings", false, &part, 1);
    add_fd(r, r->strings_fd, JM_REAPER_STRINGS);
    return r->strings_fd < 0 ? -1 : 0;
}

/* Input is a memory file: it cannot fill up, nobody has to feed it, and nobody gets a SIGPIPE for it. */
static int pack_input(struct jm_request *r, const struct jm_process_spec *spec, jianmu_error **err)
{
    struct iovec part = {(void *)(uintptr_t)spec->input, spec->input_len};
    r->input = jm_memfd("jianmu-input", false, &part, 1);
    if (r->input < 0)
        return jm_fail_errno(err, JIANMU_INTERNAL, errno, "cannot make a memory file for %zu bytes of input",
                             spec->input_len);
    return 0;
}

static uint64_t nanoseconds(double seconds)
{
    if (!(seconds > 0))
        return 0;
    return seconds < 1e9 ? (uint64_t)(seconds * 1e9) + 1 : 1000000000000000000u;
}

int jm_request_pack(struct jm_request *r, const struct jm_process_spec *spec, const char *path, uint32_t flags, int out,
                    int err_fd, jianmu_error **err)
{
    r->header = (struct jm_reaper_request){
        .word = JM_REAPER_RUN, .protocol = JM_REAPER_PROTOCOL, .flags = flags,
        .cpu_ns = nanoseconds(spec->cpu_time_s), .fsize = spec->fsize, .nofile = spec->nofile,
    };
    r->strings = r->small;
    r->fd_count = 0;
    r->input = r->strings_fd = -1;
    if (pack_strings(r, spec, path, err) || (spec->stdin_fd < 0 && spec->input_len && pack_input(r, spec, err)))
        return -1;
    add_fd(r, out, 0);
    add_fd(r, err_fd, 0);
    add_fd(r, spec->stdin_fd >= 0 ? spec->stdin_fd : r->input, JM_REAPER_STDIN);
    add_fd(r, spec->cwd_fd, JM_REAPER_CWD);
    add_fd(r, spec->scratch_fd, JM_REAPER_SCRATCH);
    if (r->header.bytes > JM_REAPER_INLINE && strings_to_file(r))
        return jm_fail_errno(err, JIANMU_INTERNAL, errno, "cannot make a memory file for %u bytes of arguments",
                             r->header.bytes);
    return 0;
}

static int send_once(const struct jm_request *r, int socket)
{
    size_t fds = (size_t)r->fd_count * sizeof(int);
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(JM_REAPER_FDS * sizeof(int))] = {0};
    struct iovec parts[2] = {{(void *)(uintptr_t)&r->header, sizeof r->header}, {r->strings, r->header.bytes}};
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = r->strings_fd < 0 ? 2 : 1,
                       .msg_control = control, .msg_controllen = CMSG_SPACE(fds)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(fds);
    memcpy(CMSG_DATA(c), r->fds, fds);
    return sendmsg(socket, &m, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

int jm_request_send(struct jm_request *r, int socket)
{
    int result = send_once(r, socket);
    if (result && errno == EMSGSIZE && r->strings_fd < 0) /* net.core.wmem_default may be small */
        result = strings_to_file(r) ? -1 : send_once(r, socket);
    return result;
}

void jm_request_free(struct jm_request *r)
{
    if (r->strings != r->small)
        free(r->strings);
    if (r->input >= 0)
        close(r->input);
    if (r->strings_fd >= 0)
        close(r->strings_fd);
}
