/* SPDX-License-Identifier: Apache-2.0
 * The one error convention. A fallible function takes `jianmu_error **err` last and leaves it alone on
 * success. On failure it calls jm_fail once, at the place that knows what is wrong; callers on the way up
 * add where they were with jm_wrap and pass the failure on. */
#ifndef JM_ERROR_H
#define JM_ERROR_H

#include "jianmu.h"
#include <stdarg.h>

/* Sets *err (err or *err may be NULL); returns -1. A second failure before the first was taken is dropped. */
int jm_fail(jianmu_error **err, jianmu_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));
int jm_vfail(jianmu_error **err, jianmu_code code, const char *format, va_list ap) __attribute__((format(printf, 3, 0)));
/* The same with ": " and the text of errnum behind it. */
int jm_fail_errno(jianmu_error **err, jianmu_code code, int errnum, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int jm_fail_memory(jianmu_error **err); /* JIANMU_INTERNAL "out of memory"; needs none itself */
/* new: the sentence as UTF-8, with ": " and the text of errnum behind it unless that is 0. NULL without memory. */
char *jm_vsentence(int errnum, const char *format, va_list ap) __attribute__((format(printf, 2, 0)));
/* Puts "format: " before the sentence of *err. */
void jm_wrap(jianmu_error **err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* One member more of what jianmu_error_json says: value is taken; without memory it is left out. */
void jm_error_detail(jianmu_error *err, const char *name, json_t *value);
/* What confirms the call that this error refused: taken. */
void jm_error_take_confirmation(jianmu_error *err, char *token);
/* Moves an error: *err = taken, unless err is NULL or already set. */
int jm_fail_take(jianmu_error **err, jianmu_error *taken);

#endif
