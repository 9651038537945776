/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "process/lookup.h"
#include "process/descriptor.h"
#include "process/protocol.h"
#include "process/pump.h"
#include "process/reapers.h"
#include "process/request.h"
#include "process/start.h"
#include "base/cleanup.h"
#include "base/error.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static int64_t now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static jianmu_reason reason_of(const struct jm_pump *p)
{
    const struct jm_reaper_answer *a = &p->answer;
    const struct jm_process_spec *spec = p->spec;
    int signal = WIFSIGNALED(a->value) ? WTERMSIG(a->value) : 0;
    double used = (double)(a->user_us + a->system_us) / 1e6;
    if (a->killed)
        return a->cpu ? JIANMU_CPU_TIME : p->stop;
    if (jm_pump_over_limit(p))
        return JIANMU_OUTPUT;
    if (signal == SIGXCPU || (signal == SIGKILL && spec->cpu_time_s > 0 && used >= spec->cpu_time_s))
        return JIANMU_CPU_TIME;
    if (signal == SIGXFSZ)
        return JIANMU_FSIZE;
    return signal ? JIANMU_SIGNALLED : JIANMU_EXITED;
}

static double seconds(int64_t from, int64_t to)
{
    return to > from ? (double)(to - from) / 1e9 : 0;
}

static int make_result(struct jm_pump *p, int64_t begin, struct jm_process_result *result, jianmu_error **err)
{
    const struct jm_reaper_answer *a = &p->answer;
    int64_t end = now();
    struct jm_process_result r = {
        .reason = reason_of(p), .survivors = a->survivors, .peak_memory = a->peak_kb * 1024,
        .signal = WIFSIGNALED(a->value) ? WTERMSIG(a->value) : 0,
        .user_s = (double)a->user_us / 1e6, .system_s = (double)a->system_us / 1e6,
        .start_s = seconds(begin, a->exec_ns),
        .wall_s = seconds(a->exec_ns ? a->exec_ns : begin, a->end_ns ? a->end_ns : end),
    };
    r.exit_code = r.signal ? 128 + r.signal : WEXITSTATUS(a->value);
    if (p->no_memory || !jm_capture_finish(&p->captures[0], &r.out) || !jm_capture_finish(&p->captures[1], &r.err)) {
        jm_process_result_free(&r);
        return jm_fail_memory(err);
    }
    *result = r;
    return 0;
}

static int pump(struct jm_reapers *reapers, struct jm_reaper *reaper, struct jm_pump *p, const char *path,
                jianmu_error **err)
{
    p->socket = reaper->socket;
    p->wake = reaper->wake;
    jm_capture_limit(&p->captures[0], p->spec->capture);
    jm_capture_limit(&p->captures[1], p->spec->capture);
    if (jm_pump_run(p, err)) {
        jm_reaper_dismiss(reaper);
        return -1;
    }
    enum jm_reaper_step step = p->answer.step;
    if (p->answer.survivors || step == JM_STEP_REAPER_EXEC || step == JM_STEP_SETUP || step == JM_STEP_REQUEST)
        jm_reaper_dismiss(reaper);
    else
        jm_reapers_put(reapers, reaper);
    return step ? jm_job_fail(p->spec, reapers, path, &p->answer, err) : 0;
}

/* A pipe of which only our end does not block: a job could take the bytes that we were told of. */
static int output_pipe(int fds[2], jianmu_error **err)
{
    if (jm_pipe(fds) || fcntl(fds[0], F_SETFL, O_NONBLOCK))
        return jm_fail_errno(err, JIANMU_INTERNAL, errno, "cannot make a pipe");
    return 0;
}

static void close_once(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

int jm_process_run(struct jm_reapers *reapers, const struct jm_process_spec *spec, struct jm_process_result *result,
                   jianmu_error **err)
{
    int64_t begin = now();
    char path[PATH_MAX];
    struct jm_request request;
    struct jm_reaper reaper;
    struct jm_pump p = {.spec = spec, .fds = {-1, -1}};
    int out[2] = {-1, -1}, err_fds[2] = {-1, -1};
    if (!spec->argv || !spec->argv[0] || !spec->env)
        return jm_fail(err, JIANMU_INVALID, "no program was named");
    if (jm_program_find(spec, path, err))
        return -1;
    int status = -1;
    if (output_pipe(out, err) == 0 && output_pipe(err_fds, err) == 0) {
        status = jm_request_pack(&request, spec, path, reapers->flags, out[1], err_fds[1], err);
        if (!status)
            status = jm_job_hand_over(reapers, &request, spec, path, &reaper, err);
        jm_request_free(&request);
    }
    close_once(&out[1]);
    close_once(&err_fds[1]);
    p.fds[0] = out[0];
    p.fds[1] = err_fds[0];
    if (!status)
        status = pump(reapers, &reaper, &p, path, err);
    if (!status)
        status = make_result(&p, begin, result, err);
    jm_pump_free(&p);
    close_once(&out[0]);
    close_once(&err_fds[0]);
    return status;
}

void jm_process_result_free(struct jm_process_result *result)
{
    free(result->out.data);
    free(result->err.data);
    result->out = result->err = (struct jm_stream){0};
}
