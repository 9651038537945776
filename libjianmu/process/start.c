/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "process/start.h"
#include "process/lookup.h"
#include "process/pump.h"
#include "base/cleanup.h"
#include "base/error.h"

/* Idle reapers that died are found when a job is given to them: more can be dead than are kept, if more die. */
#define TRIES (2 * JM_REAPERS_KEPT)

int jm_job_fail(const struct jm_process_spec *spec, const struct jm_reapers *reapers, const char *path,
                const struct jm_reaper_answer *answer, jianmu_error **err)
{
    int error = answer->value;
    switch ((enum jm_reaper_step)answer->step) {
    case JM_STEP_EXEC:
        return jm_program_fail(spec, path, error, err);
    case JM_STEP_CWD:
        return jm_fail_errno(err, JIANMU_UNAVAILABLE, error, "cannot enter the working directory");
    case JM_STEP_FORK:
        return jm_fail_errno(err, JIANMU_UNAVAILABLE, error, "cannot start a process");
    case JM_STEP_LIMITS:
        return jm_fail_errno(err, JIANMU_UNAVAILABLE, error, "cannot set the limits of the process");
    case JM_STEP_SCOPE:
        return jm_fail_errno(err, JIANMU_UNAVAILABLE, error, "cannot restrict the signals of the process (Landlock)");
    case JM_STEP_DESCRIPTORS:
        return jm_fail_errno(err, JIANMU_INTERNAL, error, "cannot prepare the descriptors of the process");
    case JM_STEP_REAPER_EXEC:
        return jm_fail_errno(err, JIANMU_UNAVAILABLE, error, "the reaper cannot be executed, from memory or as %s",
                             reapers->file);
    case JM_STEP_SETUP:
        if (error == ESRCH)
            return jm_fail(err, JIANMU_UNAVAILABLE, "the reaper cannot start: /proc is not mounted, or is that of "
                           "another pid namespace");
        return jm_fail_errno(err, JIANMU_UNAVAILABLE, error, "the reaper cannot start");
    case JM_STEP_REQUEST:
    case JM_STEP_INTERRUPTED:
    case JM_STEP_NONE:
        break;
    }
    return jm_fail_errno(err, JIANMU_INTERNAL, error, "the reaper refused the request");
}

int jm_job_hand_over(struct jm_reapers *reapers, struct jm_request *request, const struct jm_process_spec *spec,
                     const char *path, struct jm_reaper *reaper, jianmu_error **err)
{
    for (int i = 0; i < TRIES; i++) {
        if (jm_reapers_take(reapers, reaper, err))
            return -1;
        if (jm_request_send(request, reaper->socket) == 0)
            return 0;
        int error = errno;
        struct jm_reaper_answer answer;
        int answered = jm_answer_take(reaper->socket, &answer);
        jm_reaper_dismiss(reaper);
        if (answered == 1)
            return jm_job_fail(spec, reapers, path, &answer, err);
        if (error != EPIPE && error != ECONNRESET && error != ENOTCONN)
            return jm_fail_errno(err, JIANMU_INTERNAL, error, "cannot send the job to its reaper");
    }
    return jm_fail(err, JIANMU_UNAVAILABLE, "the reapers die as soon as they are started");
}
