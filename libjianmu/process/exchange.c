/* SPDX-License-Identifier: Apache-2.0
 * One question to a kept process, and its answer, within time and limits. */
#include "config.h"
#include "process/kept_inside.h"
#include "process/capture.h"
#include "process/pump.h"
#include "process/start.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define PIECE 65536
#define WAKE_NS (JM_SECOND / 4)
#define LEASE_SPARE_S 1 /* the reaper waits longer by that: so near its end a lease is no longer relied upon */
#define LEASE_SPARE (LEASE_SPARE_S * JM_SECOND)

enum { REAPER, OUT, ERR, IN, CANCEL, WATCHED };

/* One exchange on its way. */
struct talk {
    struct jm_kept *k;
    const struct jm_exchange *x;
    struct pollfd fds[WATCHED];
    struct jm_capture capture;
    uint64_t seen;               /* bytes of output */
    size_t total, sent;          /* bytes of the question */
    bool answered;
    bool interrupted, heard;     /* SIGINT was asked for; the reaper said that it was sent */
    bool killed;
    jianmu_reason stop;          /* why it was told to stop; JIANMU_EXITED: it was not */
    int64_t until;               /* when the patience with what it was told ends */
    char piece[PIECE];
};

static void stop(struct talk *t, jianmu_reason reason, bool at_once)
{
    struct jm_kept *k = t->k;
    uint32_t word = JM_REAPER_INTERRUPT;
    if (t->killed)
        return;
    if (!t->stop || at_once)
        t->stop = reason;
    if (!t->interrupted && !at_once && t->x->interrupt_s > 0 && k->spoke && t->sent == t->total) {
        t->interrupted = true;
        t->until = jm_after(jm_now(), t->x->interrupt_s);
        jm_kept_tell(k, &word, sizeof word);
        return;
    }
    t->killed = true;
    t->until = jm_now() + JM_KEPT_ANSWER_NS;
    jm_kept_kill(k);
}

static bool over_limit(const struct talk *t)
{
    return t->x->output_limit && t->x->output_before + t->seen > t->x->output_limit;
}

/* Reads once; false where nothing more comes. */
static bool take_output(struct talk *t, size_t most)
{
    ssize_t n = read(t->k->err, t->piece, most < PIECE ? most : PIECE);
    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR);
    jm_capture_add(&t->capture, t->piece, (size_t)n);
    t->seen += (uint64_t)n;
    if (over_limit(t))
        stop(t, JIANMU_OUTPUT, true);
    return true;
}

static bool take_answer(struct talk *t, size_t most)
{
    ssize_t n = read(t->k->out, t->piece, most < PIECE ? most : PIECE);
    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EINTR);
    t->k->spoke = true;
    int taken = t->x->take(t->x->data, t->piece, (size_t)n);
    if (taken < 0)
        stop(t, JIANMU_EXITED, true);
    t->answered = t->answered || taken > 0;
    return true;
}

/* The bytes that are there now, whoever may still write. */
static void drain(struct talk *t, int fd, bool (*take)(struct talk *, size_t))
{
    int left = 0;
    if (ioctl(fd, FIONREAD, &left))
        return;
    for (uint64_t before; left > 0; left -= (int)(before > PIECE ? PIECE : before)) {
        before = (uint64_t)left;
        if (!take(t, (size_t)left))
            return;
    }
}

/* What the reaper has to say. -1: it is dead. */
static int hear(struct talk *t, jianmu_error **err)
{
    struct jm_reaper_answer answer;
    int n = jm_answer_take(t->k->reaper.socket, &answer);
    if (n == 0)
        return 0;
    if (n < 0) {
        answer = (struct jm_reaper_answer){.value = SIGKILL, .survivors = 1};
        jm_kept_bury(t->k, &answer);
        return jm_fail(err, JIANMU_SANDBOX_DEAD, "the reaper died; what it had started may live on");
    }
    if (answer.step == JM_STEP_INTERRUPTED)
        t->heard = true;
    else
        jm_kept_bury(t->k, &answer);
    return 0;
}

/* The question, as far as it goes in. */
static void send_more(struct talk *t)
{
    struct iovec parts[4];
    size_t skip = t->sent;
    int n = 0;
    for (int i = 0; i < t->x->part_count; i++) {
        const struct iovec *part = &t->x->parts[i];
        size_t gone = skip < part->iov_len ? skip : part->iov_len;
        skip -= gone;
        if (gone < part->iov_len && n < (int)jm_countof(parts))
            parts[n++] = (struct iovec){(char *)part->iov_base + gone, part->iov_len - gone};
    }
    struct msghdr m = {.msg_iov = parts, .msg_iovlen = (size_t)n};
    ssize_t went = n ? sendmsg(t->k->in, &m, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;
    if (went > 0)
        t->sent += (size_t)went;
    bool closed = went < 0 && errno != EAGAIN && errno != EINTR; /* then it will not answer: time will tell */
    t->fds[IN].fd = closed || t->sent == t->total ? -1 : t->k->in;
}

static void wait_for_any(struct talk *t)
{
    int64_t now = jm_now(), until = t->stop || t->killed ? t->until : t->x->deadline, ns = until ? until - now : -1;
    if (until && ns < 0)
        ns = 0;
    if (t->k->reaper.wake && (ns < 0 || ns > WAKE_NS))
        ns = WAKE_NS;
    struct timespec ts = {ns / JM_SECOND, ns % JM_SECOND};
    if (ppoll(t->fds, WATCHED, ns < 0 ? NULL : &ts, NULL) <= 0)
        for (int i = 0; i < WATCHED; i++)
            t->fds[i].revents = 0;
}

/* False: the reaper has not answered for far too long. */
static bool check_time(struct talk *t)
{
    int64_t now = jm_now();
    if (t->k->reaper.wake) /* it may have been stopped; it lives as long as its socket does */
        kill(t->k->reaper.wake, SIGCONT);
    if (t->killed) /* also for no reason of its own, such as an answer that is none */
        return now < t->until;
    if (!t->stop && t->x->deadline && now >= t->x->deadline)
        stop(t, JIANMU_TIMEOUT, false);
    else if (t->stop && now >= t->until)
        stop(t, t->stop, true);
    return true;
}

static bool is_over(const struct talk *t)
{
    return t->k->gone || (t->answered && !t->killed && (!t->interrupted || t->heard));
}

static int converse(struct talk *t, jianmu_error **err)
{
    struct pollfd *fds = t->fds;
    while (!is_over(t)) {
        wait_for_any(t);
        if (fds[ERR].revents && !take_output(t, PIECE))
            fds[ERR].fd = -1;
        if (fds[OUT].revents && !take_answer(t, PIECE))
            fds[OUT].fd = -1;
        if (fds[IN].revents)
            send_more(t);
        if (fds[REAPER].revents && hear(t, err))
            return -1;
        if (fds[CANCEL].revents && !is_over(t)) {
            fds[CANCEL].fd = -1;
            stop(t, JIANMU_CANCELLED, false);
        }
        if (!is_over(t) && !check_time(t)) {
            struct jm_reaper_answer none = {.value = SIGKILL, .killed = 1, .survivors = 1};
            jm_kept_bury(t->k, &none);
        }
    }
    return 0;
}

static jianmu_reason reason_of(const struct talk *t)
{
    const struct jm_reaper_answer *a = &t->k->answer;
    int signal = WIFSIGNALED(a->value) ? WTERMSIG(a->value) : 0;
    if (!t->k->gone)
        return t->stop;
    if (a->killed && a->cpu)
        return JIANMU_CPU_TIME;
    if (t->killed)
        return t->stop;
    if (over_limit(t))
        return JIANMU_OUTPUT;
    return signal == SIGXFSZ ? JIANMU_FSIZE : signal ? JIANMU_SIGNALLED : JIANMU_EXITED;
}

static int make_end(struct talk *t, int64_t began, struct jm_exchange_end *end, jianmu_error **err)
{
    const struct jm_kept *k = t->k;
    const struct jm_reaper_answer *a = &k->answer;
    end->reason = reason_of(t);
    end->answered = t->answered;
    end->gone = k->gone;
    end->wall_s = (double)(jm_now() - began) / 1e9;
    end->user_s = end->system_s = -1;
    if (k->gone) {
        end->expired = end->expired || a->expired;
        end->signal = WIFSIGNALED(a->value) ? WTERMSIG(a->value) : 0;
        end->exit_code = end->signal ? 128 + end->signal : WEXITSTATUS(a->value);
        end->user_s = (double)a->user_us / 1e6;
        end->system_s = (double)a->system_us / 1e6;
        end->peak_memory = a->peak_kb * 1024;
    }
    if (jm_capture_finish(&t->capture, &end->out))
        return 0;
    return jm_fail_memory(err);
}

/* Whether it is still there, by our own clock: so near its end a lease may be over before the question arrives. */
static int look(struct talk *t, jianmu_error **err)
{
    struct jm_kept *k = t->k;
    if (!k->gone && hear(t, err))
        return -1;
    int64_t now = jm_now(), wanted = t->x->deadline ? t->x->deadline : INT64_MAX;
    if (k->gone || !k->lease)
        return 0;
    if (k->lease - now < LEASE_SPARE) {
        t->killed = true; /* what nobody has asked, nobody may answer */
        jm_kept_kill(k);
        t->until = now + JM_KEPT_ANSWER_NS;
        return converse(t, err);
    }
    if (k->lease < wanted || k->lease - wanted < (int64_t)(t->x->interrupt_s * 1e9) + LEASE_SPARE)
        jm_kept_lease(k, 0, 0);
    return 0;
}

static void set_up(struct talk *t, struct jm_kept *k, const struct jm_exchange *x)
{
    const int watched[WATCHED] = {k->reaper.socket, k->out, k->err, -1, x->cancel_fd};
    memset(t, 0, offsetof(struct talk, piece));
    t->k = k;
    t->x = x;
    jm_capture_limit(&t->capture, x->capture);
    for (int i = 0; i < WATCHED; i++)
        t->fds[i] = (struct pollfd){watched[i], i == IN ? POLLOUT : POLLIN, 0};
    for (int i = 0; i < x->part_count; i++)
        t->total += x->parts[i].iov_len;
}

/* From the question to the last byte of output that belongs to it. */
static int ask(struct talk *t, struct jm_exchange_end *end, jianmu_error **err)
{
    struct jm_kept *k = t->k;
    if (look(t, err))
        return -1;
    end->unasked = k->gone;
    end->expired = k->gone && t->killed;
    if (!k->gone) {
        if (t->x->cpu_time_s > 0)
            jm_kept_lease(k, 0, t->x->cpu_time_s);
        send_more(t);
        if (converse(t, err))
            return -1;
    }
    drain(t, k->err, take_output);
    if (t->killed && converse(t, err)) /* what was there was more than it may print */
        return -1;
    if (k->gone) {
        drain(t, k->out, take_answer);
        drain(t, k->err, take_output);
    }
    if (k->gone && k->answer.step) {
        const struct jm_process_spec none = {.cwd_fd = -1};
        return jm_job_fail(&none, k->reapers, k->path, &k->answer, err);
    }
    if (!k->gone)
        jm_kept_lease(k, t->x->idle_s > 0 ? t->x->idle_s + LEASE_SPARE_S : 0, 0);
    return 0;
}

int jm_kept_exchange(struct jm_kept *k, const struct jm_exchange *x, struct jm_exchange_end *end, jianmu_error **err)
{
    int64_t began = jm_now();
    struct talk *t = malloc(sizeof *t);
    if (!t)
        return jm_fail_memory(err);
    *end = (struct jm_exchange_end){0};
    set_up(t, k, x);
    int status = ask(t, end, err);
    if (!status)
        status = make_end(t, began, end, err);
    jm_capture_free(&t->capture);
    free(t);
    return status;
}
