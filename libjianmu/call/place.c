/* SPDX-License-Identifier: Apache-2.0
 * Where a tool or a job runs: in the backend of its mode. Each is opened when the first subject needs it, once for a
 * runner, and lives as long as that. */
#include "config.h"
#include "base/cleanup.h"
#include "call/runner.h"
#include "settings/constraints.h"
#include <string.h>

/* The caller holds r->making. */
jianmu_backend *jm_runner_backend(jianmu_runner *r, const char *mode, jianmu_error **err)
{
    for (jianmu_backend *b = r->backends; b; b = b->next)
        if (!strcmp(b->mode, mode))
            return b;
    jianmu_backend *b = jianmu_backend_open(r->config, mode, err);
    if (b) {
        b->next = r->backends;
        r->backends = b;
    }
    return b;
}

/* A runner around one opened backend has no other: whoever asks for one is told. What the file says of all calls is
 * no question to it, as the caller has chosen. */
static int check_only(const jianmu_runner *r, const char *subject, const struct jm_item *tool, jianmu_error **err)
{
    const struct jm_setting named = jm_mode_named(r->config, r->constraints, subject, tool);
    const char *mode = json_string_value(named.value);
    if (!strcmp(mode, r->mode))
        return 0;
    if (named.layer == JM_CONSTRAINTS)
        return jm_fail(err, JIANMU_INVALID,
                       "this runner has one backend, of mode \"%s\"; its constraints ask for mode \"%s\" for %s", r->mode,
                       mode, subject);
    if (named.layer == JM_TOOL_RULE)
        return jm_fail(err, JIANMU_INVALID,
                       "this runner has one backend, of mode \"%s\"; %s is placed in mode \"%s\" (%s:%d)", r->mode,
                       subject, mode, named.file, named.line);
    if (jm_constraints_get(r->constraints, "mode")) /* out of scope: this backend was meant for the others */
        return jm_fail(err, JIANMU_INVALID,
                       "this runner has one backend, of mode \"%s\", and its constraints ask for a mode in scope \"%s\" "
                       "only; for %s the mode is \"%s\"",
                       r->mode, json_string_value(jm_constraints_get(r->constraints, "scope")), subject, mode);
    return 0;
}

jianmu_backend *jm_runner_place(jianmu_runner *r, const char *subject, const struct jm_item *tool, jianmu_error **err)
{
    if (r->only)
        return check_only(r, subject, tool, err) ? NULL : r->backends;
    jianmu_error *why = NULL;
    jm_auto_free char *mode = jm_mode_resolve(r->config, r->constraints, subject, tool, &why);
    if (mode)
        return jm_runner_backend(r, mode, err);
    /* the subject is there; only where it should run cannot be had */
    jianmu_code code = jianmu_error_code(why) == JIANMU_NOT_FOUND ? JIANMU_UNAVAILABLE : jianmu_error_code(why);
    jm_fail(err, code, "%s: %s", subject, jianmu_error_message(why));
    jianmu_error_free(why);
    return NULL;
}

int jianmu_runner_enforces(jianmu_runner *r, const char *limit)
{
    const struct jm_knob *knob = jm_knob_find(limit);
    if (knob && (!strcmp(limit, "capture") || !strcmp(limit, "max_output")))
        return 1; /* the core holds them itself, in every mode */
    if (!knob || !(knob->flags & JM_LIMIT))
        return -1;
    if (jm_runner_check(r, NULL))
        return 0;
    pthread_mutex_lock(&r->making);
    jianmu_backend *backend = jm_runner_backend(r, r->mode, NULL);
    pthread_mutex_unlock(&r->making);
    return backend && jm_limit_enforced(backend, limit);
}
