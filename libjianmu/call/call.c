/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "call/call.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#define ID_MOST 1024 /* bytes */

void jm_futex_wake(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void jm_futex_wait(atomic_uint *word, unsigned seen, int64_t deadline)
{
    struct timespec at = {(time_t)(deadline / JM_SECOND), (long)(deadline % JM_SECOND)};
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, seen, deadline ? &at : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

jianmu_call *jianmu_call_new(void)
{
    jianmu_call *call = calloc(1, sizeof *call);
    if (call)
        jm_call_copy(call, NULL);
    return call;
}

int jianmu_call_set_timeout(jianmu_call *call, double seconds, jianmu_error **err)
{
    char text[32];
    if (!isfinite(seconds) || seconds <= 0)
        return jm_fail(err, JIANMU_INVALID, "timeout: %s seconds is not a time above zero", jm_print_seconds(seconds, text));
    call->timeout_s = seconds;
    return 0;
}

static int copy(char **to, const char *from)
{
    char *text = NULL;
    if (from && !(text = strdup(from)))
        return -1;
    free(*to);
    *to = text;
    return 0;
}

/* They stand in every event. */
static int check_id(const char *name, const char *text, jianmu_error **err)
{
    size_t len = text ? strlen(text) : 0;
    if (len > ID_MOST)
        return jm_fail(err, JIANMU_INVALID, "%s: %zu bytes; at most %d", name, len, ID_MOST);
    return len && !jm_utf8_is_valid(text, len) ? jm_fail(err, JIANMU_INVALID, "%s is not valid UTF-8", name) : 0;
}

int jianmu_call_set_ids(jianmu_call *call, const char *run_id, const char *node_name, const char *tool_call_id,
                        jianmu_error **err)
{
    const struct {
        const char *name, *text;
    } ids[] = {{"run_id", run_id}, {"node_name", node_name}, {"tool_call_id", tool_call_id}};
    for (size_t i = 0; i < jm_countof(ids); i++)
        if (check_id(ids[i].name, ids[i].text, err))
            return -1;
    if (copy(&call->run_id, run_id) || copy(&call->node_name, node_name) || copy(&call->tool_call_id, tool_call_id))
        return jm_fail_memory(err);
    return 0;
}

int jianmu_call_set_session(jianmu_call *call, const char *id, jianmu_error **err)
{
    size_t len = id ? strlen(id) : 1;
    if (!len || len > JM_SESSION_LONGEST)
        return jm_fail(err, JIANMU_INVALID, "session: an id has 1 to %d bytes, not %zu", JM_SESSION_LONGEST, len);
    if (id && !jm_utf8_is_valid(id, len))
        return jm_fail(err, JIANMU_INVALID, "session is not valid UTF-8");
    return copy(&call->session, id) ? jm_fail_memory(err) : 0;
}

void jianmu_call_set_operator(jianmu_call *call, int operator_act)
{
    call->operator_act = operator_act;
}

int jianmu_call_confirm(jianmu_call *call, const char *token, jianmu_error **err)
{
    return copy(&call->confirmation, token) ? jm_fail_memory(err) : 0;
}

int jm_call_copy(jianmu_call *to, const jianmu_call *from)
{
    *to = (jianmu_call){.event_fd = -1, .timer_fd = -1};
    if (!from)
        return 0;
    to->timeout_s = from->timeout_s;
    to->operator_act = from->operator_act;
    if (copy(&to->run_id, from->run_id) || copy(&to->node_name, from->node_name) ||
        copy(&to->tool_call_id, from->tool_call_id) || copy(&to->confirmation, from->confirmation) ||
        copy(&to->session, from->session)) {
        jm_call_clear(to);
        return -1;
    }
    if (!from->traced)
        return 0;
    if (copy(&to->trace_state, from->trace_state)) {
        jm_call_clear(to);
        return -1;
    }
    to->traced = true;
    to->trace = from->trace;
    to->trace.state = to->trace_state;
    return 0;
}

int jianmu_call_set_trace(jianmu_call *call, const char *traceparent, const char *tracestate, jianmu_error **err)
{
    struct jm_trace trace = {0};
    if (traceparent && !jm_trace_parse(traceparent, &trace))
        return jm_fail(err, JIANMU_INVALID, "traceparent: not \"00-\", 32, 16 and 2 digits of a hexadecimal number with dashes "
                                            "between, or all zero");
    /* what is wrong with it alone does not end the trace */
    if (copy(&call->trace_state, traceparent && tracestate && jm_tracestate_is_valid(tracestate) ? tracestate : NULL))
        return jm_fail_memory(err);
    call->traced = traceparent;
    call->trace = trace;
    call->trace.state = call->trace_state;
    return 0;
}

static void fire_timer(int fd)
{
    struct itimerspec now = {.it_value = {0, 1}};
    timerfd_settime(fd, 0, &now, NULL);
}

void jianmu_call_cancel(jianmu_call *call)
{
    int saved = errno;
    atomic_store(&call->cancelled, 1);
    int fd = atomic_load(&call->event_fd);
    if (fd >= 0)
        eventfd_write(fd, 1);
    fd = atomic_load(&call->timer_fd);
    if (fd >= 0)
        fire_timer(fd);
    atomic_fetch_or(&call->word, JM_WAIT_CANCELLED);
    jm_futex_wake(&call->word);
    errno = saved;
}

void jianmu_call_reset(jianmu_call *call)
{
    eventfd_t value;
    atomic_store(&call->cancelled, 0);
    if (call->event_fd >= 0)
        eventfd_read(call->event_fd, &value);
}

void jm_call_clear(jianmu_call *call)
{
    if (call->event_fd >= 0)
        close(call->event_fd);
    if (call->timer_fd >= 0)
        close(call->timer_fd);
    free(call->run_id);
    free(call->node_name);
    free(call->tool_call_id);
    free(call->trace_state);
    free(call->session);
    free(call->confirmation);
}

void jianmu_call_free(jianmu_call *call)
{
    if (!call)
        return;
    jm_call_clear(call);
    free(call);
}

/* Several threads of a plug-in may ask at once: the first one's stays. */
static int keep_first(atomic_int *place, int fd)
{
    int none = -1;
    if (fd < 0 || atomic_compare_exchange_strong(place, &none, fd))
        return fd;
    close(fd);
    return none;
}

int jm_call_event_fd(jianmu_call *call)
{
    int fd = atomic_load(&call->event_fd);
    if (fd >= 0)
        return fd;
    fd = keep_first(&call->event_fd, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (fd < 0)
        return -1;
    if (atomic_load(&call->cancelled)) /* a cancel may come at any moment */
        eventfd_write(fd, 1);
    return fd;
}

int jm_call_timer_fd(jianmu_call *call, int64_t deadline)
{
    int fd = atomic_load(&call->timer_fd);
    if (fd < 0) {
        fd = keep_first(&call->timer_fd, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
        if (fd < 0)
            return -1;
    }
    struct itimerspec at = {.it_value = {(time_t)(deadline / JM_SECOND), (long)(deadline % JM_SECOND)}};
    timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, NULL);
    if (atomic_load(&call->cancelled))
        fire_timer(fd);
    return fd;
}
