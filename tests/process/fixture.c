/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "fixture.h"
#include "files/remove.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <cmocka.h>

struct jm_reapers *reapers;
char dir[] = "/tmp/jianmu-process-test.XXXXXX";

void run(struct outcome *o, const struct jm_process_spec *spec)
{
    *o = (struct outcome){0};
    o->status = jm_process_run(reapers, spec, &o->r, &o->err);
    if (!o->status && o->err)
        fail_msg("an error and a result");
    if (o->status && !o->err)
        fail_msg("no error and no result");
}

void run_well(struct outcome *o, const struct jm_process_spec *spec)
{
    run(o, spec);
    if (o->status)
        fail_msg("%s", jianmu_error_message(o->err));
}

void done(struct outcome *o)
{
    jm_process_result_free(&o->r);
    jianmu_error_free(o->err);
}

const char *put_file(const char *name, const char *text, mode_t mode)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    chmod(path, mode);
    return path;
}

int open_fixture(void **state)
{
    (void)state;
    reapers = jm_reapers_new(NULL);
    return reapers && mkdtemp(dir) ? 0 : -1;
}

int close_fixture(void **state)
{
    (void)state;
    jm_reapers_free(reapers);
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        jm_remove_below(fd);
        close(fd);
    }
    return rmdir(dir);
}
