/* SPDX-License-Identifier: Apache-2.0
 * Verdicts: asked of each guard in turn, the strictest holds. The first that denies ends it, and those before it get
 * back what they took. */
#include "config.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "guard/inside.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct jianmu_guard_usage nothing = {.size = sizeof nothing};

json_t *jm_guard_plan_values(const struct jm_plan *plan)
{
    jm_auto_json json_t *all = json_object();
    if (!all)
        return NULL;
    for (size_t i = 0; i < plan->count; i++) {
        json_t *value = plan->entries[i].setting.value;
        if (value && json_object_set_new(all, plan->entries[i].name, jm_json_deep_copy(value)))
            return NULL;
    }
    return jm_steal(all);
}

/* What a guard says is for people and models: it is cut and made to be text. */
static void put_message(struct jm_verdict *v, const char *text, size_t most)
{
    size_t len = strnlen(text, most);
    if (len >= sizeof v->message)
        len = sizeof v->message - 1;
    if (jm_utf8_is_valid(text, len)) {
        memcpy(v->message, text, len);
        v->message[len] = 0;
        return;
    }
    for (size_t i = 0; i < len; i++)
        v->message[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    v->message[len] = 0;
}

__attribute__((format(printf, 3, 4))) static void deny(struct jm_verdict *v, const char *guard, const char *format, ...)
{
    va_list ap;
    char text[sizeof v->message];
    va_start(ap, format);
    int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    v->verdict = JIANMU_DENY;
    v->code = JIANMU_DENIED;
    v->retry_after_s = 0;
    v->guard = guard;
    v->rule = v->source = NULL;
    put_message(v, n < 0 ? "denied" : text, sizeof text);
}

static const char *text_or_null(const char *text)
{
    return text && jm_utf8_is_valid(text, strlen(text)) ? text : NULL;
}

/* Its verdict becomes the whole's. */
static void take(struct jm_verdict *v, const struct jm_one_guard *guard, const struct jianmu_guard_decision *d)
{
    bool denied = d->verdict == JIANMU_DENY;
    bool known = d->code == JIANMU_DENIED || d->code == JIANMU_RATE_LIMITED || d->code == JIANMU_OVER_BUDGET;
    v->verdict = d->verdict;
    v->code = !denied ? JIANMU_NEEDS_CONFIRMATION : known ? (jianmu_code)d->code : JIANMU_DENIED;
    v->retry_after_s = denied && isfinite(d->retry_after_s) && d->retry_after_s > 0 ? d->retry_after_s : 0;
    v->guard = guard->name;
    v->rule = text_or_null(d->rule);
    v->source = text_or_null(d->source);
    put_message(v, d->message, sizeof d->message);
    if (!v->message[0])
        snprintf(v->message, sizeof v->message, "the guard \"%.64s\" %s", guard->name,
                 denied ? "denies it" : "asks for confirmation");
}

/* The guard's own word, or -1 and v denies. */
static int ask(struct jm_guards *guards, struct jm_one_guard *guard, const struct jianmu_guard_request *request,
               struct jianmu_guard_decision *d, struct jm_verdict *v)
{
    char reason[JM_GUARD_REASON];
    if (guard->broken) {
        deny(v, guard->name, "the guard \"%s\" cannot be had, so every call is denied: %s", guard->name, guard->broken);
        return -1;
    }
    if (guard->foreign) {
        if (!jm_guard_away_decide(guards, guard, request, d, reason))
            return 0;
        deny(v, guard->name, "the guard \"%s\" failed, so the call is denied: %s", guard->name, reason);
        return -1;
    }
    struct jm_plain_context ctx;
    jm_plain_context_init(&ctx, guard->settings);
    if (guard->plugin.decide(guard->instance, &ctx.public, request, d) == 0 && !ctx.error)
        return 0;
    deny(v, guard->name, "the guard \"%s\" failed, so the call is denied: %s", guard->name,
         ctx.error ? jianmu_error_message(ctx.error) : "it gave no reason");
    jianmu_error_free(ctx.error);
    return -1;
}

/* False: denied, there is no more to ask. */
static bool judge(struct jm_guards *guards, size_t i, const struct jianmu_guard_request *request, struct jm_verdict *v)
{
    struct jm_one_guard *guard = &guards->list[i];
    struct jianmu_guard_decision d;
    memset(&d, 0, offsetof(struct jianmu_guard_decision, message) + 1);
    d.size = sizeof d;
    if (ask(guards, guard, request, &d, v))
        return false;
    if (d.verdict < JIANMU_ALLOW || d.verdict > JIANMU_DENY) {
        deny(v, guard->name, "the guard \"%s\" failed, so the call is denied: %u is no verdict", guard->name,
             (unsigned)d.verdict);
        return false;
    }
    if (d.verdict != JIANMU_DENY && !(request->options & JIANMU_GUARD_EXPLAIN)) {
        v->charged |= 1u << i;
        v->tickets[i] = d.ticket;
    }
    /* of two that allow, the one that names a rule is told */
    if (d.verdict > v->verdict || (!v->guard && d.verdict == JIANMU_ALLOW))
        take(v, guard, &d);
    if (d.verdict == JIANMU_ALLOW && v->verdict == JIANMU_ALLOW) {
        v->code = JIANMU_OK;
        v->message[0] = 0;
    }
    return d.verdict != JIANMU_DENY;
}

/* The plan with the call's own timeout in it; new. */
static json_t *own_plan(const struct jm_guard_call *call)
{
    jm_auto_json json_t *own = jm_json_copy(call->plan);
    return own && !json_object_set_new(own, "timeout_s", json_real(call->timeout_s)) ? jm_steal(own) : NULL;
}

void jm_guards_decide(struct jm_guards *guards, const struct jm_guard_call *call, struct jm_verdict *v)
{
    jm_auto_json json_t *own = call->timeout_s > 0 ? own_plan(call) : NULL;
    json_t *plan = call->timeout_s > 0 ? own : call->plan;
    const char *skill = call->skill ? call->skill : json_string_value(json_object_get(plan, "skill"));
    bool graded = call->danger >= JIANMU_DANGER_READ && call->danger <= JIANMU_DANGER_DANGEROUS;
    const struct jianmu_guard_request request = {
        .size = sizeof request, .danger = graded ? call->danger : JIANMU_DANGER_DANGEROUS, .flags = call->flags,
        .options = (call->explain ? JIANMU_GUARD_EXPLAIN : 0) | (call->operator ? JIANMU_GUARD_OPERATOR : 0),
        .tool = call->tool, .mode = call->mode, .skill = skill, .run_id = call->run_id, .args = call->args,
        .plan = plan, .over_max = call->over_max};
    v->verdict = JIANMU_ALLOW;
    v->code = JIANMU_OK;
    v->retry_after_s = 0;
    v->guard = v->rule = v->source = NULL;
    v->message[0] = 0;
    v->charged = 0;
    if (!plan)
        deny(v, NULL, "out of memory");
    for (size_t i = 0; plan && i < guards->count; i++)
        if (!judge(guards, i, &request, v))
            break;
    if (call->over_max && v->verdict != JIANMU_DENY) /* whatever a guard says */
        deny(v, NULL, "%s", call->over_max);
    if (v->verdict == JIANMU_DENY)
        jm_guards_settle(guards, v, &nothing);
}

int jm_guards_again(struct jm_guards *guards, const struct jm_verdict *v)
{
    for (size_t i = 0; i < guards->count; i++) {
        struct jm_one_guard *guard = &guards->list[i];
        if (!(v->charged & 1u << i) || !guard->plugin.again)
            continue;
        /* what those before it took comes back at the end: they are told of fewer attempts */
        if (guard->foreign ? jm_guard_away_again(guards, guard, v->tickets[i])
                           : guard->plugin.again(guard->instance, v->tickets[i]))
            return -1;
    }
    return 0;
}

void jm_guards_settle(struct jm_guards *guards, struct jm_verdict *v, const struct jianmu_guard_usage *usage)
{
    for (size_t i = 0; i < guards->count; i++) {
        struct jm_one_guard *guard = &guards->list[i];
        if (!(v->charged & 1u << i) || !guard->plugin.settle)
            continue;
        if (guard->foreign)
            jm_guard_away_settle(guards, guard, v->tickets[i], usage);
        else
            guard->plugin.settle(guard->instance, v->tickets[i], usage);
    }
    v->charged = 0;
}
