/* SPDX-License-Identifier: Apache-2.0
 * Why a file cannot be a plug-in: a code for programs, a sentence for people. Zeroed is "not refused". */
#ifndef JM_REFUSAL_H
#define JM_REFUSAL_H

struct jm_refusal {
    const char *code; /* static */
    char *sentence;
    int shortage;     /* errno where the host ran out of something: no fault of the file, nothing was decided */
};

/* Both return -1. The first refusal stays. */
int jm_refuse(struct jm_refusal *r, const char *code, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same with ": " and the text of errnum behind it, unless errnum says that the host is short of something. */
int jm_refuse_errno(struct jm_refusal *r, const char *code, int errnum, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void jm_refusal_free(struct jm_refusal *r);
/* new: text as one word of a shell command; NULL without memory. */
char *jm_shell_word(const char *text);

#endif
