/* SPDX-License-Identifier: Apache-2.0
 * Who hears of a runner's calls, and in which trace they stand. */
#include "config.h"
#include "base/cleanup.h"
#include "call/runner.h"
#include "event/sink.h"
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

/* What this process was told by whoever started it. Bad values are as none, as the standard wants it. */
static int read_environment(struct jm_listen *l, jianmu_error **err)
{
    const char *parent = getauxval(AT_SECURE) ? NULL : getenv("TRACEPARENT"), *state = getenv("TRACESTATE");
    l->has_parent = parent && jm_trace_parse(parent, &l->parent);
    if (!l->has_parent || !state || !jm_tracestate_is_valid(state))
        return 0;
    l->parent.state = l->state = strdup(state);
    return l->state ? 0 : jm_fail_memory(err);
}

int jm_runner_listen(jianmu_runner *r, jianmu_bus *bus, jianmu_error **err)
{
    struct jm_listen *l = &r->listen;
    if (getrandom(l->seed, sizeof l->seed, 0) != sizeof l->seed)
        return jm_fail_errno(err, JIANMU_INTERNAL, errno, "runner: random bytes");
    l->rules = jm_rules_new(r->config, err);
    if (!l->rules || read_environment(l, err) || jm_sinks_open(bus, r->config, &l->own_bus, err))
        return -1;
    r->bus = bus ? bus : l->own_bus;
    return 0;
}

void jm_listen_free(struct jm_listen *l)
{
    jm_rules_free(l->rules);
    free(l->state);
    *l = (struct jm_listen){0};
}

void jm_call_trace(jm_context *ctx)
{
    const struct jm_listen *l = &ctx->runner->listen;
    const struct jm_trace *own = ctx->call && ctx->call->traced ? &ctx->call->trace : NULL;
    int wish = l->rules ? l->rules->trace : -1;
    ctx->traced = wish > 0 || (wish < 0 && (own || (ctx->listening && jm_bus_traces(ctx->runner->bus))));
    if (!ctx->traced)
        return;
    if (own && !ctx->listening) /* nobody would know of a span of ours */
        ctx->trace = *own;
    else
        jm_trace_begin(&ctx->trace, own ? own : l->has_parent ? &l->parent : NULL, l->seed,
                       atomic_fetch_add_explicit(&ctx->runner->spans, 1, memory_order_relaxed));
}
