/* SPDX-License-Identifier: Apache-2.0
 * Once the reaper has answered, the tree is dead and everything it ever wrote is in the pipes: what is there then
 * is taken, and nobody who still holds an end can delay the return. */
#include "config.h"
#include "process/pump.h"
#include "base/cleanup.h"
#include "base/error.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>

#define SPARE 65536
#define READ_MOST (1 << 20)
#define GROW_AFTER (1 << 20)         /* larger pipes cost the user's quota: only for those who write much */
#define PIPE_LARGE (256 << 10)       /* half the switches between the two; more falls out of the cache */
#define WAKE_NS 250000000ll
#define ANSWER_NS (5 * JM_REAPER_PATIENCE_NS) /* the reaper itself gives up after 4 */

enum { REAPER, OUT, ERR, CANCEL, WATCHED };

static int64_t now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static void stop(struct jm_pump *p, jianmu_reason reason)
{
    uint32_t word = JM_REAPER_KILL;
    if (p->stop)
        return;
    p->stop = reason;
    p->stopped = now();
    send(p->socket, &word, sizeof word, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A place to read into; NULL without memory. */
static char *room(struct jm_pump *p, struct jm_capture *c, size_t *len)
{
    char *direct = jm_capture_room(c, len);
    if (direct)
        return direct;
    if (!p->spare)
        p->spare = malloc(SPARE);
    *len = SPARE;
    return p->spare;
}

/* Reads once, at most `most` bytes. What read said, -1 with EAGAIN where nothing is there. */
static ssize_t take(struct jm_pump *p, int i, size_t most)
{
    struct jm_capture *c = &p->captures[i];
    size_t len;
    char *bytes = room(p, c, &len);
    if (!bytes) {
        p->no_memory = true;
        stop(p, JIANMU_CANCELLED);
        return 0;
    }
    ssize_t n = read(p->fds[i], bytes, len < most ? len : most);
    if (n <= 0)
        return n;
    if (bytes == p->spare)
        jm_capture_add(c, bytes, (size_t)n);
    else
        jm_capture_filled(c, (size_t)n);
    p->seen[i] += (uint64_t)n;
    if (p->spec->output)
        p->spec->output(p->spec->output_data, i + 1, bytes, (size_t)n);
    return n;
}

bool jm_pump_over_limit(const struct jm_pump *p)
{
    const struct jm_process_spec *spec = p->spec;
    uint64_t counted = spec->output_before + (spec->stdout_is_free ? 0 : p->seen[0]) + p->seen[1];
    return spec->output_limit && counted > spec->output_limit;
}

static void take_output(struct jm_pump *p, int i, struct pollfd *fd)
{
    ssize_t n = fd->revents & POLLIN ? take(p, i, READ_MOST) : 0;
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        fd->fd = -1;
    if (jm_pump_over_limit(p))
        stop(p, JIANMU_OUTPUT);
    if (p->seen[i] >= GROW_AFTER && !p->grown[i]) {
        p->grown[i] = true;
        fcntl(p->fds[i], F_SETPIPE_SZ, PIPE_LARGE);
    }
}

int jm_answer_take(int socket, struct jm_reaper_answer *answer)
{
    ssize_t n = recv(socket, answer, sizeof *answer, MSG_DONTWAIT);
    if (n < 0 && errno == ECONNRESET) /* it left with our request unread; its last word may stand behind that */
        n = recv(socket, answer, sizeof *answer, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return n == (ssize_t)sizeof *answer && answer->protocol == JM_REAPER_PROTOCOL ? 1 : -1;
}

/* How long to wait for anything, from t on; -1: without end. */
static int64_t patience(const struct jm_pump *p, int64_t t)
{
    int64_t until = p->stop ? p->stopped + ANSWER_NS : p->spec->deadline;
    int64_t ns = until ? until - t : -1;
    if (until && ns < 0)
        ns = 0;
    if (p->wake && (ns < 0 || ns > WAKE_NS))
        ns = WAKE_NS;
    return ns;
}

static void wait_for_any(const struct jm_pump *p, struct pollfd fds[WATCHED], bool timed)
{
    int64_t ns = timed ? patience(p, now()) : -1;
    struct timespec ts = {ns / 1000000000, ns % 1000000000};
    if (ppoll(fds, WATCHED, ns < 0 ? NULL : &ts, NULL) <= 0)
        for (int i = 0; i < WATCHED; i++)
            fds[i].revents = 0;
}

/* False: the reaper has not answered for far too long. */
static bool check_time(struct jm_pump *p)
{
    int64_t t = now();
    if (p->wake) /* it may have been stopped; it lives as long as its socket does */
        kill(p->wake, SIGCONT);
    if (!p->stop && p->spec->deadline && t >= p->spec->deadline)
        stop(p, JIANMU_TIMEOUT);
    return !p->stop || t < p->stopped + ANSWER_NS;
}

/* The bytes that are there now, whoever may still write. */
static void drain(struct jm_pump *p)
{
    for (int i = 0; i < 2; i++) {
        int left = 0;
        if (ioctl(p->fds[i], FIONREAD, &left))
            continue;
        while (left > 0) {
            ssize_t n = take(p, i, (size_t)left);
            if (n <= 0 && !(n < 0 && errno == EINTR))
                break;
            left -= n > 0 ? (int)n : 0;
        }
    }
}

int jm_pump_run(struct jm_pump *p, jianmu_error **err)
{
    struct pollfd fds[WATCHED] = {
        [REAPER] = {p->socket, POLLIN, 0}, [OUT] = {p->fds[0], POLLIN, 0}, [ERR] = {p->fds[1], POLLIN, 0},
        [CANCEL] = {p->spec->cancel_fd, POLLIN, 0},
    };
    for (int answered = 0; !answered;) {
        bool timed = p->spec->deadline || p->stop || p->wake;
        wait_for_any(p, fds, timed);
        if (fds[OUT].revents)
            take_output(p, 0, &fds[OUT]);
        if (fds[ERR].revents)
            take_output(p, 1, &fds[ERR]);
        if (fds[REAPER].revents)
            answered = jm_answer_take(p->socket, &p->answer);
        if (answered < 0)
            return jm_fail(err, JIANMU_SANDBOX_DEAD, "the reaper died; what it had started may live on");
        if (answered)
            break;
        if (fds[CANCEL].revents) {
            fds[CANCEL].fd = -1;
            stop(p, JIANMU_CANCELLED);
        }
        if (timed && !check_time(p)) {
            p->answer = (struct jm_reaper_answer){.value = SIGKILL, .killed = 1, .survivors = 1};
            break;
        }
    }
    drain(p);
    return 0;
}

void jm_pump_free(struct jm_pump *p)
{
    jm_capture_free(&p->captures[0]);
    jm_capture_free(&p->captures[1]);
    free(p->spare);
    p->spare = NULL;
}
