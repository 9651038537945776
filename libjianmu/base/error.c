/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "base/error.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

struct jianmu_error {
    jianmu_code code;
    char *message;
    json_t *details;    /* object; NULL: none */
    char *confirmation; /* a token; NULL: none */
};

/* Handed out where there is no memory for another; never freed. */
static char out_of_memory_text[] = "out of memory";
static jianmu_error out_of_memory = {JIANMU_INTERNAL, out_of_memory_text, NULL, NULL};

int jm_fail_memory(jianmu_error **err)
{
    if (err && !*err)
        *err = &out_of_memory;
    return -1;
}

/* Names of files and what plug-ins say may hold any bytes; sentences are UTF-8. text is taken. */
static char *make_valid(char *text)
{
    size_t len = strlen(text);
    if (jm_utf8_is_valid(text, len))
        return text;
    char *valid = jm_utf8_repair(text, len, &len);
    free(text);
    return valid;
}

char *jm_vsentence(int errnum, const char *format, va_list ap)
{
    char *text = jm_vformat(format, ap), *whole = NULL;
    if (text && errnum) {
        /* strerrordesc_np: strerror() is neither thread safe nor free of the locale */
        const char *what = strerrordesc_np(errnum);
        if (jm_format(&whole, "%s: %s", text, what ? what : "unknown error") < 0)
            whole = NULL;
        free(text);
        text = whole;
    }
    return text ? make_valid(text) : NULL;
}

__attribute__((format(printf, 4, 0)))
static int fail(jianmu_error **err, jianmu_code code, int errnum, const char *format, va_list ap)
{
    if (!err || *err)
        return -1;
    jianmu_error *e = malloc(sizeof *e);
    char *message = e ? jm_vsentence(errnum, format, ap) : NULL;
    if (!message) {
        free(e);
        return jm_fail_memory(err);
    }
    *e = (jianmu_error){.code = code, .message = message};
    *err = e;
    return -1;
}

int jm_vfail(jianmu_error **err, jianmu_code code, const char *format, va_list ap)
{
    return fail(err, code, 0, format, ap);
}

int jm_fail(jianmu_error **err, jianmu_code code, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fail(err, code, 0, format, ap);
    va_end(ap);
    return -1;
}

int jm_fail_errno(jianmu_error **err, jianmu_code code, int errnum, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    fail(err, code, errnum, format, ap);
    va_end(ap);
    return -1;
}

void jm_wrap(jianmu_error **err, const char *format, ...)
{
    if (!err || !*err || *err == &out_of_memory)
        return;
    va_list ap;
    va_start(ap, format);
    jm_auto_free char *before = jm_vsentence(0, format, ap);
    va_end(ap);
    char *whole;
    if (!before || jm_format(&whole, "%s: %s", before, (*err)->message) < 0)
        return;
    free((*err)->message);
    (*err)->message = whole;
}

int jm_fail_take(jianmu_error **err, jianmu_error *taken)
{
    if (err && !*err)
        *err = taken;
    else
        jianmu_error_free(taken);
    return -1;
}

jianmu_code jianmu_error_code(const jianmu_error *err)
{
    return err ? err->code : JIANMU_OK;
}

const char *jianmu_error_message(const jianmu_error *err)
{
    return err ? err->message : "";
}

void jianmu_error_free(jianmu_error *err)
{
    if (!err || err == &out_of_memory)
        return;
    free(err->message);
    json_decref(err->details);
    free(err->confirmation);
    free(err);
}

void jm_error_detail(jianmu_error *err, const char *name, json_t *value)
{
    if (!err || err == &out_of_memory || !value) {
        json_decref(value);
        return;
    }
    if (!err->details)
        err->details = json_object();
    json_object_set_new(err->details, name, value);
}

void jm_error_take_confirmation(jianmu_error *err, char *token)
{
    if (!err || err == &out_of_memory) {
        free(token);
        return;
    }
    free(err->confirmation);
    err->confirmation = token;
}

const char *jianmu_error_confirmation(const jianmu_error *err)
{
    return err ? err->confirmation : NULL;
}

double jianmu_error_retry_after(const jianmu_error *err)
{
    return err ? json_number_value(json_object_get(err->details, "retry_after_s")) : 0;
}

json_t *jianmu_error_json(const jianmu_error *err)
{
    json_t *object = json_pack("{s:s, s:s}", "code", jianmu_code_name(jianmu_error_code(err)), "message",
                               jianmu_error_message(err));
    json_t *details = object && err && err->details ? json_deep_copy(err->details) : NULL;
    if (details && json_object_update_missing(object, details)) {
        json_decref(object);
        object = NULL;
    }
    json_decref(details);
    return object;
}

const char *jianmu_code_name(jianmu_code code)
{
    switch (code) {
    case JIANMU_OK: return "ok";
    case JIANMU_INVALID: return "invalid";
    case JIANMU_NOT_FOUND: return "not_found";
    case JIANMU_DENIED: return "denied";
    case JIANMU_NEEDS_CONFIRMATION: return "needs_confirmation";
    case JIANMU_RATE_LIMITED: return "rate_limited";
    case JIANMU_OVER_BUDGET: return "over_budget";
    case JIANMU_BUSY: return "busy";
    case JIANMU_UNAVAILABLE: return "unavailable";
    case JIANMU_IMAGE_MISSING: return "image_missing";
    case JIANMU_UNSUPPORTED: return "unsupported";
    case JIANMU_SANDBOX_DEAD: return "sandbox_dead";
    case JIANMU_FORKED: return "forked";
    case JIANMU_INTERNAL: return "internal";
    }
    return "unknown";
}

const char *jianmu_reason_name(jianmu_reason reason)
{
    switch (reason) {
    case JIANMU_EXITED: return "exited";
    case JIANMU_SIGNALLED: return "signalled";
    case JIANMU_TOOL_FAILED: return "tool_failed";
    case JIANMU_TIMEOUT: return "timeout";
    case JIANMU_CPU_TIME: return "cpu_time";
    case JIANMU_MEMORY: return "memory";
    case JIANMU_PIDS: return "pids";
    case JIANMU_OUTPUT: return "output";
    case JIANMU_FSIZE: return "fsize";
    case JIANMU_DISK: return "disk";
    case JIANMU_CANCELLED: return "cancelled";
    }
    return "unknown";
}

const char *jianmu_version(void)
{
    return JIANMU_VERSION;
}
