/* SPDX-License-Identifier: Apache-2.0
 * Kept processes of a runner, each of one tool, one session id and one plan: whoever takes one has it alone. What one
 * has lost is remembered, so that nobody goes on without being told. */
#ifndef JM_SESSIONS_H
#define JM_SESSIONS_H

#include "call/context.h"
#include "process/kept.h"

#define JM_SESSIONS_LOST 1000 /* so many losses are remembered, the oldest is forgotten first */

struct jm_session {
    struct jm_session *next, *victims;
    const struct jm_plan *plan;  /* made once for a tool of a runner: the same plan is the same policy */
    char *id, *how;              /* how: "" for that of a session; of a key, how it is started */
    struct jm_kept *process;     /* NULL: not started yet, or lost */
    struct jm_workdir *dir;      /* its own: HOME, TMPDIR, where it starts */
    bool busy;                   /* a call has it: all but this and the next are that call's alone */
    bool living;                 /* it had a process when it was returned */
    bool asked;                  /* it has been given a question: there may be something to lose */
    uint64_t lost;               /* JIANMU_KEPT_...: why its process is gone, not told to anybody yet; 0: nothing to tell */
    int64_t idle_until;          /* when the reaper kills it; 0: never */
};

struct jm_sessions;
struct jm_sessions *jm_sessions_new(jianmu_error **err);
struct jm_wanted {
    const struct jm_plan *plan;
    const char *id, *how;
    size_t most;                 /* sessions of the plan that may live at once: the longest idle one makes room; 0: any number */
    bool asks, resets;           /* a process will be needed; also where there is a loss to tell */
};
/* Waited for while another call has it. NULL: no turn came in time (busy), an error was set, or the call was cancelled. */
struct jm_session *jm_session_take(struct jm_sessions *sessions, jm_context *ctx, const struct jm_wanted *wanted);
void jm_session_return(struct jm_sessions *sessions, struct jm_session *session);
/* Ends its process and removes its directory; the session is still taken. */
void jm_session_end(struct jm_session *session, uint64_t lost);
/* Ends all that no call has at the moment. */
void jm_sessions_end_idle(struct jm_sessions *sessions);
/* No call may be using one. In a forked child it frees memory only. */
void jm_sessions_free(struct jm_sessions *sessions);

#endif
