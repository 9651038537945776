/* SPDX-License-Identifier: Apache-2.0
 * Single values: read from text, checked, shown in complaints. */
#ifndef JM_VALUES_H
#define JM_VALUES_H

#include "settings/settings.h"

/* NULL, or what is wrong with the text as the end of a sentence: "is negative". */
const char *jm_seconds_from_text(const char *text, double *seconds);
const char *jm_size_from_text(const char *text, uint64_t *bytes);
const char *jm_real_from_text(const char *text, double *number);
const char *jm_whole_from_text(const char *text, uint64_t *number);

/* jm_coerce with another name for the thing in its complaint. */
json_t *jm_coerce_as(const char *label, const struct jm_knob *knob, const json_t *value, jianmu_error **err);

/* Surrounding blanks and case taken away; new. */
char *jm_mode_normalise(const char *mode, jianmu_error **err);

enum { JM_SHOWN = 200 };
/* In double quotes, escaped, cut short: fit for one line of a terminal. Returns out. */
const char *jm_show(char out[JM_SHOWN], const char *text);
const char *jm_show_value(char out[JM_SHOWN], const json_t *value);

const char *jm_type_name(enum jm_type type);            /* "seconds": as in notes and jianmu_config_keys */
int jm_type_from_name(const char *name, enum jm_type *type); /* 0, or -1: no such type */

#endif
