/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "call/interpreter.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <stdbool.h>
#include <sys/stat.h>

/* One row a language. python: unbuffered, no PYTHON* variables, no user site, and no compiled copies of its inputs among
 * its artifacts; -I would hide the inputs from import. */
static const struct jm_language languages[] = {
    {"python", "main.py", "python3", {"-u", "-E", "-s", "-B"}},
    {"sh", "main.sh", "sh", {NULL}},
    {"bash", "main.bash", "bash", {NULL}},
    {"node", "main.js", "node", {NULL}},
    {"perl", "main.pl", "perl", {NULL}},
    {"ruby", "main.rb", "ruby", {NULL}},
    {"lua", "main.lua", "lua", {NULL}},
};

const struct jm_language *jm_language_find(const char *name, jianmu_error **err)
{
    struct jm_buffer known = {0};
    for (size_t i = 0; i < jm_countof(languages); i++) {
        if (name && !strcmp(languages[i].name, name))
            return jm_buffer_free(&known), &languages[i];
        jm_buffer_addf(&known, "%s%s", i ? ", " : "", languages[i].name);
    }
    jm_fail(err, JIANMU_INVALID, "language '%s' is not known; known are %s", name ? name : "",
            known.data ? known.data : "");
    jm_buffer_free(&known);
    return NULL;
}

/* The last part of the interpreter's path on a #! line; behind env, its first word that is no option. */
static bool shebang_program(const char *script, size_t len, char name[64])
{
    char line[256];
    if (len < 3 || memcmp(script, "#!", 2))
        return false;
    size_t n = 0;
    while (n < len - 2 && n < sizeof line - 1 && script[n + 2] != '\n' && script[n + 2])
        n++;
    memcpy(line, script + 2, n);
    line[n] = 0;
    char *rest, *word = strtok_r(line, " \t\r", &rest);
    if (!word)
        return false;
    char *base = strrchr(word, '/');
    base = base ? base + 1 : word;
    if (!strcmp(base, "env"))
        while ((base = strtok_r(NULL, " \t\r", &rest)) && *base == '-')
            ;
    if (!base)
        return false;
    snprintf(name, 64, "%s", base);
    return true;
}

const struct jm_language *jm_language_of(const char *name, const char *script, size_t len, jianmu_error **err)
{
    char program[64];
    if (name)
        return jm_language_find(name, err);
    if (!shebang_program(script, len, program))
        return &languages[0];
    /* "python3.11" is python, "bash" is not "sh" */
    size_t stem = strcspn(program, "0123456789.");
    for (size_t i = 0; i < jm_countof(languages); i++)
        if (!strcmp(languages[i].program, program) ||
            (strlen(languages[i].name) == stem && !strncmp(languages[i].name, program, stem)))
            return &languages[i];
    if (!strcmp(program, "dash"))
        return jm_language_find("sh", err);
    jianmu_error *why = NULL;
    jm_language_find(program, &why);
    jm_wrap(&why, "the script's #! line");
    jm_fail_take(err, why);
    return NULL;
}

/* 1 a binary, 0 a script, -1 not a program. */
static int program_kind(const char *path)
{
    char magic[4];
    struct stat st;
    jm_auto_fd int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 1 : -1; /* may be run though not read */
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS))
        return -1;
    return pread(fd, magic, 4, 0) == 4 && !memcmp(magic, "#!", 2) ? 0 : 1;
}

/* ROOT/shims/NAME of a version manager starts ROOT/versions/V/bin/NAME, where V stands in a variable or in ROOT/version. */
static char *resolve_shim(const char *shim, const char *program)
{
    const char *mark = strstr(shim, "/shims/");
    if (!mark)
        return NULL;
    int root_len = (int)(mark - shim);
    char version[128] = "";
    const char *chosen = getenv("PYENV_VERSION");
    if (chosen) {
        snprintf(version, sizeof version, "%s", chosen);
    } else {
        jm_auto_free char *file = NULL;
        if (jm_format(&file, "%.*s/version", root_len, shim) < 0)
            return file = NULL;
        jm_auto_fd int fd = open(file, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, version, sizeof version - 1);
        version[n > 0 ? n : 0] = 0;
    }
    version[strcspn(version, ":\r\n ")] = 0;
    char *real;
    if (!*version || strchr(version, '/') ||
        jm_format(&real, "%.*s/versions/%s/bin/%s", root_len, shim, version, program) < 0)
        return NULL;
    if (program_kind(real) == 1)
        return real;
    free(real);
    return NULL;
}

char *jm_interpreter_find(const char *program, const char *path, jianmu_error **err)
{
    jm_auto_free char *script = NULL;
    for (const char *p = path; p && *p; p += strcspn(p, ":"), p += *p == ':') {
        int len = (int)strcspn(p, ":");
        if (*p != '/')
            continue;
        char *file;
        if (jm_format(&file, "%.*s/%s", len, p, program) < 0)
            return jm_fail_memory(err), NULL;
        int kind = program_kind(file);
        if (kind == 1)
            return file;
        char *real = kind == 0 ? resolve_shim(file, program) : NULL;
        if (real)
            return free(file), real;
        if (kind == 0 && !script)
            script = jm_steal(file);
        free(file);
    }
    if (script) /* a wrapper of somebody's own, and nothing better behind it */
        return jm_steal(script);
    jm_fail(err, JIANMU_NOT_FOUND, "no '%s' on PATH (%s)", program, path ? path : "unset");
    return NULL;
}
