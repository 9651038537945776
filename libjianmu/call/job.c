/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "call/job.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "call/interpreter.h"
#include <fcntl.h>
#include <string.h>

/* A copy with a NUL behind it. */
static char *copy_bytes(const void *data, size_t len)
{
    char *copy = malloc(len + 1);
    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, data, len);
    copy[len] = 0;
    return copy;
}

jianmu_job *jianmu_job_new(const char *script, size_t len)
{
    jianmu_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->stdin_fd = -1;
    job->script = copy_bytes(script, len);
    job->script_len = len;
    if (!job->script) {
        free(job);
        return NULL;
    }
    return job;
}

int jianmu_job_add_input(jianmu_job *job, const char *path, const void *data, size_t len, jianmu_error **err)
{
    if (!path)
        return jm_fail(err, JIANMU_INVALID, "input: no path");
    jm_auto_free char *name = jm_path_normalise(path, strlen(path), err);
    if (!name)
        return -1;
    for (size_t i = 0; i < job->input_count; i++)
        if (!strcmp(job->inputs[i].path, name))
            return jm_fail(err, JIANMU_INVALID, "input '%s': the path '%s' was given before", path, name);
    struct jm_input *more = realloc(job->inputs, (job->input_count + 1) * sizeof *more);
    if (!more)
        return jm_fail_memory(err);
    job->inputs = more;
    char *copy = copy_bytes(data, len);
    if (!copy)
        return jm_fail_memory(err);
    more[job->input_count++] = (struct jm_input){jm_steal(name), copy, len};
    return 0;
}

int jianmu_job_add_arg(jianmu_job *job, const char *arg, jianmu_error **err)
{
    if (!arg)
        return jm_fail(err, JIANMU_INVALID, "argument: none given");
    char **more = realloc(job->args, (job->arg_count + 1) * sizeof *more);
    if (!more)
        return jm_fail_memory(err);
    job->args = more;
    if (!(more[job->arg_count] = strdup(arg)))
        return jm_fail_memory(err);
    job->arg_count++;
    return 0;
}

int jianmu_job_set_language(jianmu_job *job, const char *language, jianmu_error **err)
{
    if (!jm_language_find(language, err))
        return -1;
    char *copy = strdup(language);
    if (!copy)
        return jm_fail_memory(err);
    free(job->language);
    job->language = copy;
    return 0;
}

int jianmu_job_set_stdin(jianmu_job *job, const void *data, size_t len, jianmu_error **err)
{
    char *copy = copy_bytes(data, len);
    if (!copy)
        return jm_fail_memory(err);
    free(job->input);
    job->input = copy;
    job->input_len = len;
    job->stdin_fd = -1;
    return 0;
}

int jianmu_job_set_stdin_fd(jianmu_job *job, int fd, jianmu_error **err)
{
    if (fcntl(fd, F_GETFD) < 0)
        return jm_fail_errno(err, JIANMU_INVALID, errno, "standard input: descriptor %d", fd);
    free(jm_steal(job->input));
    job->input_len = 0;
    job->stdin_fd = fd;
    return 0;
}

void jianmu_job_set_output(jianmu_job *job, jianmu_output fn, void *data)
{
    job->output = fn;
    job->output_data = data;
}

void jianmu_job_free(jianmu_job *job)
{
    if (!job)
        return;
    for (size_t i = 0; i < job->input_count; i++) {
        free((char *)job->inputs[i].path);
        free((void *)job->inputs[i].data);
    }
    for (size_t i = 0; i < job->arg_count; i++)
        free(job->args[i]);
    free(job->inputs);
    free(job->args);
    free(job->input);
    free(job->language);
    free(job->script);
    free(job);
}
