/* SPDX-License-Identifier: Apache-2.0
 * Kept processes for plug-ins: whose it is, how it is started, what came of a question. */
#include "config.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "call/runner.h"
#include "call/services.h"
#include "call/sessions.h"
#include "call/wire.h"
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/uio.h>

/* Released with the context. */
struct found {
    struct jm_stream out;
    char *answer;
};

static void release_found(void *what)
{
    struct found *found = what;
    free(found->out.data);
    free(found->answer);
    free(found);
}

/* An answer on its way: frames of another id are late answers, or somebody's who guesses. */
struct listener {
    jm_context *ctx;
    struct jm_frame_reader reader;
    uint64_t id;
    char *answer;
    uint64_t len;
};

static void take_frame(struct listener *l)
{
    struct jm_frame *f = &l->reader.frame;
    if (f->type == JM_FRAME_RESULT && f->id == l->id && !l->answer) {
        l->answer = jm_steal(f->data);
        l->len = f->len;
    } else if (f->type == JM_FRAME_EVENT && f->id == l->id) {
        jm_call_forward(l->ctx, f->data, f->len);
    }
    free(jm_steal(f->data));
}

static int listen_to(void *data, const void *bytes, size_t len)
{
    struct listener *l = data;
    const char *p = bytes;
    bool ready;
    while (len) {
        size_t used = jm_frame_feed(&l->reader, p, len, &ready);
        if (ready)
            take_frame(l);
        p += used;
        len -= used;
    }
    return l->reader.broken ? -1 : l->answer != NULL;
}

static int start(jm_context *ctx, struct jm_session *session, const struct jianmu_kept *how, jianmu_error **err)
{
    const char *parent = json_string_value(jm_service_setting(&ctx->public, "workdir"));
    struct jm_process_spec spec = {0};
    jm_auto_free char *program = NULL;
    jm_auto_fd int cwd = how->cwd ? open(how->cwd, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (how->cwd && cwd < 0)
        return jm_fail_errno(err, JIANMU_INVALID, errno, "directory '%s'", how->cwd);
    jm_auto_free const char **argv = jm_command_resolve(ctx, how->argv, &program, err);
    struct jm_reapers *reapers = argv ? jm_runner_reapers(ctx->runner, err) : NULL;
    if (!reapers || !(session->dir = jm_workdir_open(parent, NULL, NULL, 0, NULL, 0, err)))
        return -1;
    char **own = how->env ? NULL : jm_environment_new(ctx, session->dir, NULL, err);
    if (!how->env && !own)
        return -1;
    spec.argv = argv;
    spec.env = how->env ? how->env : (const char *const *)own;
    spec.cwd_fd = how->cwd ? cwd : session->dir->work_fd;
    spec.scratch_fd = session->dir->base_fd;
    spec.fsize = ctx->plan->fsize;
    spec.nofile = ctx->plan->nofile;
    session->process = jm_kept_start(reapers, &spec, err);
    jm_environment_free(own);
    return session->process ? 0 : -1;
}

/* Limits hold for each call, as for a process that is started for it; but the tree's files were limited at its start. */
static int fill_exchange(jm_context *ctx, const struct jianmu_kept *how, struct jm_exchange *x, jianmu_error **err)
{
    struct jm_process_spec limits = {0};
    if (jm_process_limits(ctx, &limits, err))
        return -1;
    x->deadline = limits.deadline;
    x->cancel_fd = limits.cancel_fd;
    x->cpu_time_s = limits.cpu_time_s;
    x->capture = limits.capture;
    x->output_limit = limits.output_limit;
    x->output_before = limits.output_before;
    x->interrupt_s = how->interrupt_s;
    x->idle_s = how->idle_s;
    return 0;
}

static uint64_t flags_of(const struct jm_exchange_end *e, const struct listener *l, bool started)
{
    return (l->answer ? JIANMU_KEPT_ANSWERED : 0) | (started ? JIANMU_KEPT_STARTED : 0) |
           (e->gone ? JIANMU_KEPT_GONE : 0) | (e->unasked ? JIANMU_KEPT_UNASKED : 0) |
           (e->expired ? JIANMU_KEPT_IDLE : 0) | (e->gone && l->reader.broken ? JIANMU_KEPT_BROKEN : 0);
}

static int hand_out(jm_context *ctx, struct jm_exchange_end *e, struct listener *l, bool started,
                    struct jianmu_kept_end *end, jianmu_error **err)
{
    struct found *found = calloc(1, sizeof *found);
    if (!found) {
        free(e->out.data);
        return jm_fail_memory(err);
    }
    struct jianmu_kept_end full = {.size = end->size, .reason = (uint32_t)e->reason, .flags = flags_of(e, l, started),
                                   .exit_code = e->exit_code, .signal = e->signal,
                                   .answer = l->answer ? l->answer : "", .answer_len = l->answer ? l->len : 0,
                                   .out = e->out.data, .out_len = e->out.len, .out_dropped = e->out.dropped};
    found->out = e->out;
    found->answer = jm_steal(l->answer);
    memcpy(end, &full, end->size < sizeof full ? end->size : sizeof full);
    pthread_mutex_lock(&ctx->lock);
    jianmu_result *r = ctx->result;
    r->heavy = true;
    r->run_s = (r->run_s < 0 ? 0 : r->run_s) + e->wall_s;
    ctx->output += e->out.len + e->out.dropped;
    if (e->reason != JIANMU_EXITED && e->reason != JIANMU_SIGNALLED && e->reason != JIANMU_TIMEOUT)
        ctx->limit = e->reason;
    pthread_mutex_unlock(&ctx->lock);
    return jm_context_keep(ctx, release_found, found);
}

static int random_id(uint64_t *id, jianmu_error **err)
{
    ssize_t n;
    do
        n = getrandom(id, sizeof *id, 0);
    while (n < 0 && errno == EINTR);
    return n == sizeof *id ? 0 : jm_fail_errno(err, JIANMU_INTERNAL, errno, "no random number can be had");
}

static int ask(jm_context *ctx, struct jm_session *session, const struct jianmu_kept *how, const void *question,
               uint64_t len, struct jianmu_kept_end *end, jianmu_error **err)
{
    unsigned char header[JM_FRAME_HEADER];
    struct listener l = {.ctx = ctx};
    struct iovec parts[] = {{header, sizeof header}, {(void *)(uintptr_t)question, len}};
    struct jm_exchange x = {.parts = parts, .part_count = 2, .take = listen_to, .data = &l};
    struct jm_exchange_end e;
    bool started = !session->process;
    if (random_id(&l.id, err) || fill_exchange(ctx, how, &x, err) || (started && start(ctx, session, how, err)))
        return -1;
    jm_frame_header(header, JM_FRAME_REQUEST, l.id, len);
    session->asked = true;
    int status = jm_kept_exchange(session->process, &x, &e, err);
    jm_call_forwarded(ctx);
    if (!status)
        status = hand_out(ctx, &e, &l, started, end, err);
    if (status && !started)
        jm_wrap(err, "its state is lost");
    if (status || e.gone)
        jm_session_end(session, 0); /* the caller is told */
    else
        session->idle_until = how->idle_s > 0 ? jm_after(jm_now(), how->idle_s) : 0;
    free(l.answer);
    if (l.reader.in_payload && !l.reader.broken)
        free(l.reader.frame.data);
    return status;
}

/* What the struct of a plug-in says, whatever its size. */
static int read_kept(jm_context *ctx, const struct jianmu_kept *given, struct jianmu_kept *how, uint64_t len,
                     jianmu_error **err)
{
    if (given->size < offsetof(struct jianmu_kept, argv) + sizeof how->argv)
        return jm_fail(err, JIANMU_INVALID, "ask: the size %u of its description is too small", given->size);
    memcpy(how, given, given->size < sizeof *how ? given->size : sizeof *how);
    if (how->flags & ~(uint64_t)JIANMU_KEPT_RESET)
        return jm_fail(err, JIANMU_UNSUPPORTED, "ask: unknown flags %#llx", (unsigned long long)how->flags);
    if (!(how->idle_s >= 0) || !(how->interrupt_s >= 0) || !how->argv || !how->argv[0] || len > JM_FRAME_MOST)
        return jm_fail(err, JIANMU_INVALID, "ask: no program, a time that is none, or a question of more than 64 MiB");
    if (!ctx->result)
        return jm_fail(err, JIANMU_INVALID, "ask: there is no call");
    if (ctx->gate ? !ctx->keeps : !ctx->backend || !ctx->backend->item)
        return jm_fail(err, JIANMU_UNSUPPORTED, "'%s' keeps state from call to call, and here each call has a process of "
                       "its own: nothing would be kept", ctx->subject);
    return 0;
}

/* What is abandoned starts nothing more, and has no backend to ask about it. */
static int check_caller(jm_context *ctx, jianmu_error **err)
{
    if (!ctx->gate)
        return 0;
    pthread_mutex_lock(ctx->gate);
    bool abandoned = ctx->abandoned;
    pthread_mutex_unlock(ctx->gate);
    return abandoned ? jm_fail(err, JIANMU_INVALID, "ask: the call of '%s' was abandoned", ctx->subject) : 0;
}

/* Borrowed; a call that may be abandoned may lose its caller at any time. */
static const char *session_of(const jm_context *ctx)
{
    const char *id = ctx->gate ? ctx->own_session : ctx->call ? ctx->call->session : NULL;
    return id ? id : "";
}

static void put_list(FILE *f, const char *const *list)
{
    for (; list && *list; list++)
        fprintf(f, "%zu:%s", strlen(*list), *list);
    fputc(';', f);
}

/* new: what one of a key is started with; whoever means another program by the same key gets it. */
static char *how_text(const struct jianmu_kept *how, jianmu_error **err)
{
    char *text = NULL;
    size_t len;
    const char *const cwd[] = {how->cwd, NULL};
    FILE *f = how->key ? open_memstream(&text, &len) : NULL;
    if (f) {
        put_list(f, how->argv);
        put_list(f, how->env);
        put_list(f, cwd);
    }
    bool failed = f && ferror(f);
    if ((f && fclose(f)) || failed)
        free(jm_steal(text));
    if (!how->key)
        text = strdup("");
    if (!text)
        jm_fail_memory(err);
    return text;
}

int jm_service_ask(jianmu_context *public, const struct jianmu_kept *given, const void *question, uint64_t len,
                   struct jianmu_kept_end *end)
{
    jm_context *ctx = jm_context_of(public);
    struct jianmu_kept how = {0};
    jianmu_error *err = NULL;
    struct jm_sessions *sessions = NULL;
    jm_auto_free char *start_text = NULL;
    if (!check_caller(ctx, &err) && !read_kept(ctx, given, &how, len, &err) && (start_text = how_text(&how, &err)))
        sessions = jm_runner_sessions(ctx->runner, &err);
    if (!sessions)
        return jm_context_fail(ctx, err);
    const char *id = how.key ? how.key : session_of(ctx);
    struct jm_wanted wanted = {ctx->plan, id, start_text, how.most, question, how.flags & JIANMU_KEPT_RESET};
    struct jm_session *session = jm_session_take(sessions, ctx, &wanted);
    if (!session)
        return -1;
    struct jianmu_kept_end lost = JIANMU_KEPT_END_INIT;
    int status = 0;
    if (how.flags & JIANMU_KEPT_RESET)
        jm_session_end(session, 0);
    lost.size = end->size;
    lost.answer = lost.out = "";
    lost.flags = session->lost ? session->lost | JIANMU_KEPT_GONE | JIANMU_KEPT_UNASKED : 0;
    session->lost = 0;
    if (lost.flags || !question)
        memcpy(end, &lost, end->size < sizeof lost ? end->size : sizeof lost);
    else
        status = ask(ctx, session, &how, question, len, end, &err);
    if (err)
        jm_wrap(&err, "session '%s'", id);
    jm_session_return(sessions, session);
    return err ? jm_context_fail(ctx, err) : status;
}
