/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "process/kept_inside.h"
#include "process/descriptor.h"
#include "process/lookup.h"
#include "process/pump.h"
#include "process/start.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

static void close_all(struct jm_kept *k)
{
    int *fds[] = {&k->in, &k->out, &k->err};
    for (size_t i = 0; i < jm_countof(fds); i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}

static int channel(int ends[2], bool socket)
{
    if (!socket)
        return jm_pipe(ends) || fcntl(ends[0], F_SETFL, O_NONBLOCK) ? -1 : 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return -1;
    ends[0] = jm_fd_high(ends[0]);
    ends[1] = jm_fd_high(ends[1]);
    return ends[0] < 0 || ends[1] < 0 ? -1 : 0;
}

static int launch(struct jm_kept *k, const struct jm_process_spec *spec, jianmu_error **err)
{
    struct jm_request request;
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err_fds[2] = {-1, -1}, status = -1;
    if (channel(in, true) || channel(out, false) || channel(err_fds, false)) {
        jm_fail_errno(err, JIANMU_INTERNAL, errno, "cannot make the channels of a process");
    } else {
        struct jm_process_spec own = *spec;
        own.stdin_fd = in[1];
        own.cpu_time_s = 0; /* it is the exchange's */
        status = jm_request_pack(&request, &own, k->path, k->reapers->flags, out[1], err_fds[1], err);
        if (!status)
            status = jm_job_hand_over(k->reapers, &request, &own, k->path, &k->reaper, err);
        jm_request_free(&request);
    }
    k->in = in[0];
    k->out = out[0];
    k->err = err_fds[0];
    int theirs[] = {in[1], out[1], err_fds[1]};
    for (size_t i = 0; i < jm_countof(theirs); i++)
        if (theirs[i] >= 0)
            close(theirs[i]);
    return status;
}

struct jm_kept *jm_kept_start(struct jm_reapers *reapers, const struct jm_process_spec *spec, jianmu_error **err)
{
    struct jm_kept *k = calloc(1, sizeof *k);
    if (!k) {
        jm_fail_memory(err);
        return NULL;
    }
    k->reapers = reapers;
    k->reaper.socket = k->in = k->out = k->err = -1;
    if (jm_program_find(spec, k->path, err) == 0 && launch(k, spec, err) == 0)
        return k;
    close_all(k);
    free(k);
    return NULL;
}

void jm_kept_tell(struct jm_kept *k, const void *word, size_t len)
{
    send(k->reaper.socket, word, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void jm_kept_kill(struct jm_kept *k)
{
    uint32_t word = JM_REAPER_KILL;
    if (!k->gone && getpid() == k->reapers->owner)
        jm_kept_tell(k, &word, sizeof word);
}

void jm_kept_lease(struct jm_kept *k, double idle_s, double cpu_time_s)
{
    int64_t now = jm_now(), until = idle_s > 0 ? jm_after(now, idle_s) : 0;
    bool same = until ? k->lease && k->lease <= until && until - k->lease < (until - now) / 100 : !k->lease;
    if (same && !(cpu_time_s > 0))
        return;
    struct jm_reaper_lease lease = {.word = JM_REAPER_LEASE, .idle_ns = until ? (uint64_t)(until - now) : 0};
    if (cpu_time_s > 0)
        lease.cpu_ns = cpu_time_s < 1e9 ? (uint64_t)(cpu_time_s * 1e9) + 1 : 1000000000000000000u;
    k->lease = until;
    jm_kept_tell(k, &lease, sizeof lease);
}

void jm_kept_bury(struct jm_kept *k, const struct jm_reaper_answer *answer)
{
    k->gone = true;
    k->answer = *answer;
    enum jm_reaper_step step = answer->step;
    if (answer->survivors || step == JM_STEP_REAPER_EXEC || step == JM_STEP_SETUP || step == JM_STEP_REQUEST)
        jm_reaper_dismiss(&k->reaper);
    else
        jm_reapers_put(k->reapers, &k->reaper);
}

void jm_kept_free(struct jm_kept *k)
{
    if (!k)
        return;
    bool ours = getpid() == k->reapers->owner;
    jm_kept_kill(k);
    for (int64_t until = jm_now() + JM_KEPT_ANSWER_NS; ours && !k->gone;) {
        struct jm_reaper_answer answer = {.survivors = 1};
        struct pollfd fd = {k->reaper.socket, POLLIN, 0};
        if (k->reaper.wake)
            kill(k->reaper.wake, SIGCONT);
        poll(&fd, 1, 100);
        int n = jm_answer_take(k->reaper.socket, &answer);
        if (n < 0 || jm_now() > until)
            jm_kept_bury(k, &(struct jm_reaper_answer){.survivors = 1});
        else if (n > 0 && answer.step != JM_STEP_INTERRUPTED)
            jm_kept_bury(k, &answer);
    }
    if (k->reaper.socket >= 0) /* a copy in a forked child */
        close(k->reaper.socket);
    close_all(k);
    free(k);
}
