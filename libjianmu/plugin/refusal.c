/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "plugin/refusal.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include <stdarg.h>
#include <string.h>

__attribute__((format(printf, 4, 0)))
static int refuse(struct jm_refusal *r, const char *code, int errnum, const char *format, va_list ap)
{
    if (r->code || r->shortage)
        return -1;
    r->sentence = jm_vsentence(errnum, format, ap);
    if (r->sentence)
        r->code = code;
    else
        r->shortage = ENOMEM;
    return -1;
}

int jm_refuse(struct jm_refusal *r, const char *code, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    refuse(r, code, 0, format, ap);
    va_end(ap);
    return -1;
}

int jm_refuse_errno(struct jm_refusal *r, const char *code, int errnum, const char *format, ...)
{
    if (!r->code && !r->shortage && (errnum == ENOMEM || errnum == EMFILE || errnum == ENFILE))
        r->shortage = errnum;
    va_list ap;
    va_start(ap, format);
    refuse(r, code, errnum, format, ap);
    va_end(ap);
    return -1;
}

void jm_refusal_free(struct jm_refusal *r)
{
    free(r->sentence);
    *r = (struct jm_refusal){0};
}

char *jm_shell_word(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%";
    struct jm_buffer b = {0};
    if (*text && text[strspn(text, plain)] == 0) {
        jm_buffer_adds(&b, text);
        return jm_buffer_take(&b);
    }
    jm_buffer_adds(&b, "'");
    for (; *text; text++) {
        if (*text == '\'')
            jm_buffer_adds(&b, "'\\''");
        else
            jm_buffer_add(&b, text, 1);
    }
    jm_buffer_adds(&b, "'");
    return jm_buffer_take(&b);
}
