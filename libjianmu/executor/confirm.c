/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "executor/confirm.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include <errno.h>
#include <nettle/memops.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

void jm_confirmations_init(struct jm_confirmations *c)
{
    *c = (struct jm_confirmations){0};
    pthread_mutex_init(&c->lock, NULL);
}

void jm_confirmations_end(struct jm_confirmations *c)
{
    free(c->list);
    pthread_mutex_destroy(&c->lock);
}

static int64_t boot_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return t.tv_sec * JM_SECOND + t.tv_nsec;
}

static int make_token(char token[JM_CONFIRM_TOKEN], jianmu_error **err)
{
    uint8_t random[(JM_CONFIRM_TOKEN - 1) / 2];
    ssize_t n;
    do
        n = getrandom(random, sizeof random, 0);
    while (n < 0 && errno == EINTR);
    if (n != sizeof random)
        return jm_fail(err, JIANMU_INTERNAL, "a confirmation cannot be asked for: no random numbers");
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(token + 2 * i, 3, "%02x", random[i]);
    return 0;
}

/* A free place, one that is past its time, a new one, or the oldest; NULL without memory. */
static struct jm_confirmation *find_place(struct jm_confirmations *c, int64_t now)
{
    struct jm_confirmation *oldest = NULL;
    for (size_t i = 0; i < c->count; i++) {
        struct jm_confirmation *one = &c->list[i];
        if (!*one->token || one->expires <= now)
            return one;
        if (!oldest || one->order < oldest->order)
            oldest = one;
    }
    if (c->count == JM_CONFIRM_MOST)
        return oldest;
    if (!(c->count & (c->count - 1))) { /* it is full at each power of two */
        struct jm_confirmation *more = realloc(c->list, (c->count ? 2 * c->count : 1) * sizeof *more);
        if (!more)
            return NULL;
        c->list = more;
    }
    return &c->list[c->count++];
}

int jm_confirm_issue(struct jm_confirmations *c, const uint8_t digest[JM_CONFIRM_DIGEST], double expires_s,
                     char token[JM_CONFIRM_TOKEN], jianmu_error **err)
{
    struct jm_confirmation made = {0};
    int64_t now = boot_now();
    if (make_token(made.token, err))
        return -1;
    memcpy(made.digest, digest, sizeof made.digest);
    made.expires = jm_after(now, expires_s);
    pthread_mutex_lock(&c->lock);
    struct jm_confirmation *place = find_place(c, now);
    if (place) {
        made.order = c->next++;
        *place = made;
    }
    pthread_mutex_unlock(&c->lock);
    if (!place)
        return jm_fail_memory(err);
    memcpy(token, made.token, sizeof made.token);
    return 0;
}

bool jm_confirm_redeem(struct jm_confirmations *c, const char *token, const uint8_t digest[JM_CONFIRM_DIGEST])
{
    struct jm_confirmation found = {0};
    if (strlen(token) != JM_CONFIRM_TOKEN - 1)
        return false;
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->count; i++)
        if (memeql_sec(c->list[i].token, token, JM_CONFIRM_TOKEN)) {
            found = c->list[i];
            *c->list[i].token = 0;
        }
    pthread_mutex_unlock(&c->lock);
    return *found.token && boot_now() < found.expires && memeql_sec(found.digest, digest, sizeof found.digest);
}
