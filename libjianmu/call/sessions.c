/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "call/sessions.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "call/runner.h"
#include "call/services.h"
#include <string.h>

#define LOOK (JM_SECOND / 20) /* how often one that waits looks whether it was cancelled */

/* The latest used first. */
struct jm_sessions {
    pthread_mutex_t lock;
    atomic_uint changes;         /* counts what waiters wait for */
    struct jm_session *first;
};

struct jm_sessions *jm_sessions_new(jianmu_error **err)
{
    struct jm_sessions *s = calloc(1, sizeof *s);
    if (!s) {
        jm_fail_memory(err);
        return NULL;
    }
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

static void free_session(struct jm_session *session)
{
    jm_session_end(session, 0);
    free(session->id);
    free(session->how);
    free(session);
}

void jm_session_end(struct jm_session *session, uint64_t lost)
{
    jm_kept_free(jm_steal(session->process)); /* first: what lives would write on */
    jm_workdir_close(jm_steal(session->dir));
    session->lost = session->asked ? lost : 0;
    session->asked = false;
    session->idle_until = 0;
}

static void unlink_session(struct jm_sessions *s, const struct jm_session *session)
{
    struct jm_session **at = &s->first;
    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
}

static void push_front(struct jm_sessions *s, struct jm_session *session)
{
    session->next = s->first;
    s->first = session;
}

static struct jm_session *find(struct jm_sessions *s, const struct jm_wanted *w)
{
    for (struct jm_session *one = s->first; one; one = one->next)
        if (one->plan == w->plan && !strcmp(one->id, w->id) && !strcmp(one->how, w->how))
            return one;
    return NULL;
}

/* Those of that plan that live or are about to. *oldest: the one that has been idle for longest, or NULL. */
static size_t count_living(struct jm_sessions *s, const struct jm_plan *plan, struct jm_session **oldest)
{
    size_t count = 0;
    *oldest = NULL;
    for (struct jm_session *one = s->first; one; one = one->next) {
        bool living = one->plan == plan && (one->busy || one->living);
        count += living;
        if (living && !one->busy)
            *oldest = one;
    }
    return count;
}

/* One whose reaper has already killed it, to be cleared away; its turn is taken. */
static struct jm_session *find_expired(struct jm_sessions *s)
{
    int64_t now = jm_now();
    for (struct jm_session *one = s->first; one; one = one->next)
        if (!one->busy && one->idle_until && now > one->idle_until) {
            one->busy = true;
            return one;
        }
    return NULL;
}

/* Behind so many others nothing is remembered of a loss. */
static void forget_oldest(struct jm_sessions *s)
{
    size_t count = 0;
    for (struct jm_session **at = &s->first, *one; (one = *at);) {
        bool dead = !one->busy && !one->living;
        if (dead && (!one->lost || ++count > JM_SESSIONS_LOST)) {
            *at = one->next;
            free_session(one);
        } else {
            at = &one->next;
        }
    }
}

void jm_session_return(struct jm_sessions *s, struct jm_session *session)
{
    pthread_mutex_lock(&s->lock);
    session->busy = false;
    session->living = session->process;
    unlink_session(s, session);
    push_front(s, session);
    if (!session->living)
        forget_oldest(s);
    atomic_fetch_add(&s->changes, 1);
    pthread_mutex_unlock(&s->lock);
    jm_futex_wake(&s->changes);
}

static struct jm_session *add(struct jm_sessions *s, const struct jm_wanted *w)
{
    struct jm_session *session = calloc(1, sizeof *session);
    if (!session || !(session->id = strdup(w->id)) || !(session->how = strdup(w->how))) {
        free(session ? session->id : NULL);
        free(session);
        return NULL;
    }
    session->plan = w->plan;
    push_front(s, session);
    return session;
}

/* With the lock: the session, or NULL and in *victim one that has to go first, or neither: wait. */
static struct jm_session *try_take(struct jm_sessions *s, jm_context *ctx, const struct jm_wanted *w,
                                   struct jm_session **victim)
{
    struct jm_session *session = find(s, w), *oldest;
    *victim = NULL;
    if (session && session->busy)
        return NULL;
    bool starts = w->asks && (!session || (!session->living && (w->resets || !session->lost)));
    if (starts && w->most && count_living(s, w->plan, &oldest) >= w->most) {
        if (oldest)
            oldest->busy = true;
        *victim = oldest;
        return NULL;
    }
    if (!session && !(session = add(s, w))) {
        jm_fail_memory(&ctx->error);
        return NULL;
    }
    session->busy = true;
    return session;
}

/* True: it is no use to wait on. */
static bool give_up(jm_context *ctx, const struct jm_wanted *w)
{
    char seconds[32];
    jianmu_error *err = NULL;
    if (ctx->error)
        return true;
    if (!jm_service_cancelled(&ctx->public))
        return false;
    if (!jm_service_past(ctx)) {
        ctx->failed = true;
        return true;
    }
    jm_fail(&err, JIANMU_BUSY, "session '%s' of '%s' had no turn within %ss: another call has it, or as many as may live "
            "are at work", w->id, ctx->subject, jm_print_seconds(ctx->timeout_s, seconds));
    jm_context_fail(ctx, err);
    return true;
}

struct jm_session *jm_session_take(struct jm_sessions *s, jm_context *ctx, const struct jm_wanted *wanted)
{
    for (;;) {
        struct jm_session *victim;
        pthread_mutex_lock(&s->lock);
        unsigned seen = atomic_load(&s->changes);
        struct jm_session *expired = find_expired(s);
        struct jm_session *session = expired ? NULL : try_take(s, ctx, wanted, &victim);
        pthread_mutex_unlock(&s->lock);
        if (session)
            return session;
        if (expired || victim) {
            jm_session_end(expired ? expired : victim, expired ? JIANMU_KEPT_IDLE : JIANMU_KEPT_PUSHED_OUT);
            jm_session_return(s, expired ? expired : victim);
            continue;
        }
        if (give_up(ctx, wanted))
            return NULL;
        int64_t until = jm_now() + LOOK;
        jm_futex_wait(&s->changes, seen, ctx->deadline && ctx->deadline < until ? ctx->deadline : until);
    }
}

/* One that lives and is free, taken; NULL: there is none. */
static struct jm_session *take_idle(struct jm_sessions *s)
{
    pthread_mutex_lock(&s->lock);
    struct jm_session *one = s->first;
    while (one && (one->busy || !one->living))
        one = one->next;
    if (one)
        one->busy = true;
    pthread_mutex_unlock(&s->lock);
    return one;
}

void jm_sessions_end_idle(struct jm_sessions *s)
{
    struct jm_session *one, *all = NULL, *next;
    while ((one = take_idle(s))) { /* the signal to all of them first: they die at the same time */
        jm_kept_kill(one->process);
        one->victims = all;
        all = one;
    }
    for (; all; all = next) {
        next = all->victims;
        jm_session_end(all, 0);
        jm_session_return(s, all);
    }
}

void jm_sessions_free(struct jm_sessions *s)
{
    if (!s)
        return;
    while (s->first) {
        struct jm_session *one = s->first;
        s->first = one->next;
        free_session(one);
    }
    pthread_mutex_destroy(&s->lock);
    free(s);
}
