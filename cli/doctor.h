/* SPDX-License-Identifier: Apache-2.0
 * jianmu doctor: every line is a probe that was made, not a version that was read. */
#ifndef DOCTOR_H
#define DOCTOR_H

#include "cli.h"

enum verdict {
    DOCTOR_OK,
    DOCTOR_LIMITED, /* works, with less; the evidence says what */
    DOCTOR_MISSING  /* does not work */
};

struct doctor {
    struct cli *cli;
    jianmu_config *config;
    json_t *plugins, *tools, *backends;
    jianmu_runner *runner; /* local's, with nothing asked for; NULL: why stands in refusal */
    char refusal[512];
    json_t *lines;
    bool failed;           /* something needed is missing */
};

/* One finding. advice: "" where there is nothing to do; needed: without it jobs and tools do not run. */
void doctor_line(struct doctor *d, const char *what, bool needed, enum verdict verdict, const char *advice,
                 const char *evidence, ...) __attribute__((format(printf, 6, 7)));

/* A job of local's: NULL and *err where it could not run. output and stdin_fd: or NULL, -1. */
struct probe {
    const char *script, *language;
    int stdin_fd;
    jianmu_output output;
    void *data;
};
jianmu_result *doctor_job(struct doctor *d, const struct probe *probe, jianmu_error **err);
/* Says that a probe could not be made, and frees the error. */
void doctor_no_job(struct doctor *d, const char *what, bool needed, const char *advice, jianmu_error *err);

void doctor_setup(struct doctor *d);
void doctor_kernel(struct doctor *d);
void doctor_jobs(struct doctor *d);
void doctor_surroundings(struct doctor *d);

#endif
