/* SPDX-License-Identifier: Apache-2.0
 * Variables and files of the user who asks. */
#include "config.h"
#include "doctor.h"
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void check_tmpdir(struct doctor *d)
{
    static const char what[] = "TMPDIR";
    static const char advice[] = "unset TMPDIR, or set it to a directory that you can write to";
    const char *set = getenv("TMPDIR"), *dir = set && *set ? set : "/tmp";
    struct stat st;
    struct statvfs fs;
    if (*dir != '/')
        doctor_line(d, what, false, DOCTOR_LIMITED, advice, "%s is not an absolute path and is passed over", dir);
    else if (stat(dir, &st) || !S_ISDIR(st.st_mode) || access(dir, W_OK | X_OK) || statvfs(dir, &fs))
        doctor_line(d, what, false, DOCTOR_LIMITED, advice, "%s cannot be used: %s", dir,
                    errno ? strerror(errno) : "not a directory");
    else if (fs.f_flag & ST_NOEXEC)
        doctor_line(d, what, false, DOCTOR_LIMITED,
                    "a job's program does not start from there; mount it without noexec",
                    "%s is mounted noexec", dir);
    else
        doctor_line(d, what, false, DOCTOR_OK, "", "%s%s can be written to, programs may run", dir,
                    set && *set ? "" : " (TMPDIR is unset)");
}

static void check_home(struct doctor *d)
{
    const char *home = getenv("HOME");
    if (home && *home == '/')
        doctor_line(d, "HOME", false, DOCTOR_OK, "", "%s", home);
    else
        doctor_line(d, "HOME", false, DOCTOR_LIMITED, "set HOME to use your own configuration and plug-ins",
                    "%s; your own configuration and plug-ins are not looked for",
                    home ? "not an absolute path" : "unset");
}

/* "1.5" must be one and a half also where a comma divides. */
static void check_locale(struct doctor *d)
{
    jianmu_constraints *c = jianmu_constraints_new();
    const char *name = setlocale(LC_ALL, "");
    const struct lconv *conv = localeconv();
    char point[8];
    strncpy(point, conv->decimal_point, sizeof point - 1);
    point[sizeof point - 1] = 0;
    bool same = c && !jianmu_constraints_set(c, "timeout_s", "1.5s", NULL) &&
                jianmu_constraints_set(c, "timeout_s", "1,5s", NULL);
    setlocale(LC_ALL, "C");
    jianmu_constraints_free(c);
    if (!same)
        doctor_line(d, "locale", false, DOCTOR_LIMITED, "set LC_ALL=C.UTF-8",
                    "numbers are read wrongly in this locale");
    else if (!name)
        doctor_line(d, "locale", false, DOCTOR_OK, "",
                    "the locale that the environment names is not installed; it does not matter");
    else
        doctor_line(d, "locale", false, DOCTOR_OK, "", "numbers are read the same here (decimal point \"%s\")", point);
}

void doctor_surroundings(struct doctor *d)
{
    check_tmpdir(d);
    check_home(d);
    check_locale(d);
}
