/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JM_JOB_H
#define JM_JOB_H

#include "files/workdir.h"
#include "jianmu.h"

struct jianmu_job {
    char *script;
    size_t script_len;
    char *language;           /* NULL: the #! line, else python */
    struct jm_input *inputs;
    size_t input_count;
    char **args;
    size_t arg_count;
    char *input;              /* standard input; NULL: end of file at once */
    size_t input_len;
    int stdin_fd;             /* -1: none */
    jianmu_output output;
    void *output_data;
};

#endif
