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
    if (!call)
        return NULL;
    call->event_fd = -1;
    call->timer_fd = -1;
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

int jianmu_call_set_ids(jianmu_call *call, const char *run_id, const char *node_name, const char *tool_call_id,
                        jianmu_error **err)
{
    const struct {
        const char *name, *text;
    } ids[] = {{"run_id", run_id}, {"node_name", node_name}, {"tool_call_id", tool_call_id}};
    for (size_t i = 0; i < jm_countof(ids); i++)
        if (ids[i].text && !jm_utf8_is_valid(ids[i].text, strlen(ids[i].text)))
            return jm_fail(err, JIANMU_INVALID, "%s is not valid UTF-8", ids[i].name);
    if (copy(&call->run_id, run_id) || copy(&call->node_name, node_name) || copy(&call->tool_call_id, tool_call_id))
        return jm_fail_memory(err);
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

void jianmu_call_free(jianmu_call *call)
{
    if (!call)
        return;
    if (call->event_fd >= 0)
        close(call->event_fd);
    if (call->timer_fd >= 0)
        close(call->timer_fd);
    free(call->run_id);
    free(call->node_name);
    free(call->tool_call_id);
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
