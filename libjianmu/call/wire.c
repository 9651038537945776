/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "call/wire.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "call/services.h"
#include <endian.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

static const char magic[4] = "JMF0";

static void put32(unsigned char *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, sizeof v);
}

static void put64(unsigned char *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof v);
}

static uint64_t get64(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

static uint32_t get32(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

void jm_frame_header(unsigned char header[JM_FRAME_HEADER], uint32_t type, uint64_t id, uint64_t len)
{
    memcpy(header, magic, 4);
    put32(header + 4, type);
    put64(header + 8, id);
    put64(header + 16, len);
}

static int write_all(int fd, const void *data, size_t len)
{
    const char *p = data;
    bool socket = true;
    while (len) {
        ssize_t n = socket ? send(fd, p, len, MSG_NOSIGNAL) : write(fd, p, len);
        if (n < 0 && errno == ENOTSOCK) {
            socket = false;
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            struct pollfd wait = {fd, POLLOUT, 0};
            poll(&wait, 1, -1);
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

int jm_frame_write(int fd, uint32_t type, uint64_t id, const void *data, size_t len)
{
    unsigned char header[JM_FRAME_HEADER];
    jm_frame_header(header, type, id, len);
    return write_all(fd, header, sizeof header) || write_all(fd, data, len) ? -1 : 0;
}

/* False: this is no header of ours. */
static bool parse_header(struct jm_frame_reader *r)
{
    r->frame = (struct jm_frame){get32(r->header + 4), get64(r->header + 8), get64(r->header + 16), NULL};
    if (memcmp(r->header, magic, 4) || r->frame.len > JM_FRAME_MOST)
        return false;
    r->frame.data = malloc(r->frame.len + 1);
    if (!r->frame.data)
        return false;
    r->frame.data[r->frame.len] = 0;
    r->in_payload = true;
    r->have = 0;
    return true;
}

size_t jm_frame_feed(struct jm_frame_reader *r, const void *bytes, size_t len, bool *ready)
{
    size_t used = 0;
    *ready = false;
    if (r->broken)
        return len;
    if (!r->in_payload) {
        used = JM_FRAME_HEADER - r->have < len ? JM_FRAME_HEADER - r->have : len;
        memcpy(r->header + r->have, bytes, used);
        r->have += used;
        if (r->have < JM_FRAME_HEADER)
            return used;
        if (!parse_header(r)) {
            r->broken = true;
            return len;
        }
    }
    size_t more = r->frame.len - r->have < len - used ? r->frame.len - r->have : len - used;
    if (more)
        memcpy(r->frame.data + r->have, (const char *)bytes + used, more);
    r->have += more;
    if (r->have == r->frame.len) {
        *ready = true;
        r->in_payload = false;
        r->have = 0;
    }
    return used + more;
}

/* How many bytes the frame still lacks. */
static size_t wanted(const struct jm_frame_reader *r)
{
    return r->in_payload ? r->frame.len - r->have : JM_FRAME_HEADER - r->have;
}

int jm_frame_read(int fd, struct jm_frame *frame, jianmu_error **err)
{
    struct jm_frame_reader r = {0};
    bool ready = false, begun = false;
    char piece[16384];
    while (!ready) {
        size_t most = wanted(&r) < sizeof piece ? wanted(&r) : sizeof piece;
        ssize_t n = read(fd, piece, most);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            struct pollfd wait = {fd, POLLIN, 0};
            poll(&wait, 1, -1);
            continue;
        }
        if (n <= 0) {
            free(r.in_payload ? r.frame.data : NULL);
            if (n == 0 && !begun)
                return 1;
            return n < 0 ? jm_fail_errno(err, JIANMU_INTERNAL, errno, "reading a frame")
                         : jm_fail(err, JIANMU_INTERNAL, "a frame ends before its end");
        }
        begun = true;
        jm_frame_feed(&r, piece, (size_t)n, &ready);
        if (r.broken)
            return jm_fail(err, JIANMU_INTERNAL, "what came is no frame");
    }
    *frame = r.frame;
    return 0;
}

/* The host may not be ready for a SIGPIPE: one that this write raises is taken back. */
static int write_quietly(int fd, uint32_t type, uint64_t id, const void *data, size_t len)
{
    static const struct timespec at_once = {0, 0};
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    int status = jm_frame_write(fd, type, id, data, len), error = errno;
    if (status && error == EPIPE && !sigismember(&pending, SIGPIPE))
        while (sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return status;
}

int jm_service_frame_write(jianmu_context *public, int fd, uint32_t type, uint64_t id, const void *data, uint64_t len)
{
    jianmu_error *err = NULL;
    if (len > JM_FRAME_MOST)
        jm_fail(&err, JIANMU_INVALID, "frame: %llu bytes are more than one may hold", (unsigned long long)len);
    else if (write_quietly(fd, type, id, data, (size_t)len))
        jm_fail_errno(&err, JIANMU_INTERNAL, errno, "writing a frame");
    return err ? jm_context_fail(jm_context_of(public), err) : 0;
}

int jm_service_frame_read(jianmu_context *public, int fd, uint32_t *type, uint64_t *id, void **data, uint64_t *len)
{
    jm_context *ctx = jm_context_of(public);
    struct jm_frame frame;
    jianmu_error *err = NULL;
    int status = jm_frame_read(fd, &frame, &err);
    if (status)
        return err ? jm_context_fail(ctx, err) : status;
    *type = frame.type;
    *id = frame.id;
    *data = frame.data;
    *len = frame.len;
    return jm_context_keep(ctx, free, frame.data);
}
