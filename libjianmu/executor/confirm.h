/* SPDX-License-Identifier: Apache-2.0
 * Confirmations: a token stands for one call, exactly as it was asked about, until a time, once. */
#ifndef JM_CONFIRM_H
#define JM_CONFIRM_H

#include "call/context.h"

#define JM_CONFIRM_DIGEST 32
#define JM_CONFIRM_TOKEN 33    /* hexadecimal, with its NUL */
#define JM_CONFIRM_MOST 1024   /* open at once; beyond that the oldest is void */

struct jm_confirmation {
    char token[JM_CONFIRM_TOKEN]; /* "": free */
    uint8_t digest[JM_CONFIRM_DIGEST];
    int64_t expires;              /* CLOCK_BOOTTIME nanoseconds: a machine that slept has let time pass */
    uint64_t order;
};

struct jm_confirmations {
    pthread_mutex_t lock;
    struct jm_confirmation *list; /* grows up to JM_CONFIRM_MOST */
    size_t count;
    uint64_t next;
};

void jm_confirmations_init(struct jm_confirmations *c);
void jm_confirmations_end(struct jm_confirmations *c);
/* The call in ctx with these arguments: what its confirmation is bound to. -1: no memory. */
int jm_confirm_digest(const jm_context *ctx, const json_t *args, uint8_t digest[JM_CONFIRM_DIGEST]);
/* A token for that digest. -1 with an error. */
int jm_confirm_issue(struct jm_confirmations *c, const uint8_t digest[JM_CONFIRM_DIGEST], double expires_s,
                     char token[JM_CONFIRM_TOKEN], jianmu_error **err);
/* Uses up the token, whatever comes of it. True: it was given out for that digest, and is in time. */
bool jm_confirm_redeem(struct jm_confirmations *c, const char *token, const uint8_t digest[JM_CONFIRM_DIGEST]);

#endif
