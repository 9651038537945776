/* SPDX-License-Identifier: Apache-2.0
 * From a packed request to a reaper that works on it. */
#ifndef JM_START_H
#define JM_START_H

#include "process/reapers.h"
#include "process/request.h"

/* Gives the job to a reaper that is alive: *reaper is the caller's then. */
int jm_job_hand_over(struct jm_reapers *reapers, struct jm_request *request, const struct jm_process_spec *spec,
                     const char *path, struct jm_reaper *reaper, jianmu_error **err);
/* The error of a job whose answer says that it did not run. */
int jm_job_fail(const struct jm_process_spec *spec, const struct jm_reapers *reapers, const char *path,
                const struct jm_reaper_answer *answer, jianmu_error **err);

#endif
