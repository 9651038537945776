/* SPDX-License-Identifier: Apache-2.0
 * Calls in the background: the same execution on a thread of its own. All that the thread touches belongs to the handle,
 * and the handle outlives the thread. */
#include "config.h"
#include "executor/executor.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/thread.h"
#include "executor/ring.h"
#include <string.h>
#include <sys/eventfd.h>

#define STACK (1u << 20) /* reserved, not used: pages come as they are touched */

struct jianmu_handle {
    struct jm_execution x;
    char *name;
    json_t *args;
    jianmu_call call;
    jianmu_job job;              /* the caller's, but for where its output goes */
    const jianmu_job *given;
    pthread_t thread;
    jianmu_result *result;
    jianmu_error *error;
    int status;
    atomic_bool taken;           /* the result is the caller's by now */
    atomic_uint done;
    pthread_mutex_t lock;        /* guards what follows */
    struct jm_ring output[2];
    int event_fd;                /* -1: nobody has asked for it */
    bool readable;
};

/* event_fd is readable while there is something to read, or the end has come. */
static void show(struct jianmu_handle *h)
{
    eventfd_t value;
    bool readable = h->output[0].len || h->output[1].len || atomic_load(&h->done);
    if (h->event_fd < 0 || readable == h->readable)
        return;
    if (readable ? eventfd_write(h->event_fd, 1) : eventfd_read(h->event_fd, &value))
        return;
    h->readable = readable;
}

static void on_output(void *data, int stream, const void *bytes, size_t len)
{
    struct jianmu_handle *h = data;
    if (h->given->output)
        h->given->output(h->given->output_data, stream, bytes, len);
    pthread_mutex_lock(&h->lock);
    jm_ring_add(&h->output[stream == 2], bytes, len);
    show(h);
    pthread_mutex_unlock(&h->lock);
}

static void *run(void *data)
{
    struct jianmu_handle *h = data;
    h->status = jm_execute(&h->x, &h->result, &h->error);
    pthread_mutex_lock(&h->lock);
    atomic_store(&h->done, 1);
    show(h);
    pthread_mutex_unlock(&h->lock);
    jm_futex_wake(&h->done);
    return NULL;
}

static void free_handle(struct jianmu_handle *h)
{
    for (int i = 0; i < 2; i++)
        jm_ring_free(&h->output[i]);
    if (h->event_fd >= 0)
        close(h->event_fd);
    jianmu_result_free(h->result);
    jianmu_error_free(h->error);
    json_decref(h->args);
    jm_call_clear(&h->call);
    pthread_mutex_destroy(&h->lock);
    free(h->name);
    free(h);
}

/* What the caller gives is his again when this returns; only a job is borrowed until the end. */
static struct jianmu_handle *make(jianmu_executor *executor, const char *name, const jianmu_job *job, json_t *args,
                                  const jianmu_call *call, jianmu_error **err)
{
    struct jianmu_handle *h = calloc(1, sizeof *h);
    if (!h)
        return jm_fail_memory(err), NULL;
    h->event_fd = -1;
    pthread_mutex_init(&h->lock, NULL);
    bool bad = jm_call_copy(&h->call, call) || (name && !(h->name = strdup(name)));
    h->x = (struct jm_execution){.executor = executor, .name = h->name, .call = &h->call, .background = true};
    if (job) {
        h->given = job;
        h->job = *job;
        h->job.output = on_output;
        h->job.output_data = h;
        h->x.job = &h->job;
    }
    if (!bad && args && !(h->args = jm_json_deep_copy(args)) && !jm_json_can_print(args)) {
        jm_fail(err, JIANMU_INVALID, "the arguments of tool '%s' are nested too deeply", name ? name : "");
        free_handle(h);
        return NULL;
    }
    if (bad || (args && !h->args)) {
        free_handle(h);
        return jm_fail_memory(err), NULL;
    }
    h->x.args = h->args;
    return h;
}

static int start_thread(struct jianmu_handle *h, jianmu_error **err)
{
    int failed = jm_thread_start(&h->thread, STACK, run, h);
    return failed ? jm_fail_errno(err, JIANMU_UNAVAILABLE, failed, "no thread can be started for a call") : 0;
}

static jianmu_handle *start(jianmu_executor *executor, const char *name, const jianmu_job *job, json_t *args,
                            const jianmu_call *call, jianmu_error **err)
{
    jianmu_error *why = NULL;
    jianmu_result *none = NULL;
    if (jm_runner_check(executor->runner, err))
        return NULL;
    struct jianmu_handle *h = make(executor, name, job, args, call, &why);
    if (h && !start_thread(h, &why))
        return h;
    if (h)
        free_handle(h);
    /* such a call has its two events, too */
    struct jm_execution x = {.executor = executor, .name = name, .job = job, .call = (jianmu_call *)call, .refusal = why};
    jm_execute(&x, &none, err);
    jianmu_result_free(none);
    return NULL;
}

jianmu_handle *jianmu_start_tool(jianmu_executor *executor, const char *name, json_t *args, const jianmu_call *call,
                                 jianmu_error **err)
{
    return start(executor, name, NULL, args, call, err);
}

jianmu_handle *jianmu_start_job(jianmu_executor *executor, const jianmu_job *job, const jianmu_call *call,
                                jianmu_error **err)
{
    return start(executor, NULL, job, NULL, call, err);
}

int jianmu_handle_poll(const jianmu_handle *h)
{
    return (int)atomic_load(&h->done);
}

int jianmu_handle_wait(jianmu_handle *h, double seconds, jianmu_result **result, jianmu_error **err)
{
    int64_t until = seconds < 0 ? 0 : jm_after(jm_now(), seconds);
    while (!atomic_load(&h->done)) {
        if (until && jm_now() >= until)
            return 1;
        jm_futex_wait(&h->done, 0, until);
    }
    if (atomic_exchange(&h->taken, true))
        return jm_fail(err, JIANMU_INVALID, "what came of this call has been handed over");
    if (h->status)
        return jm_fail_take(err, jm_steal(h->error));
    *result = jm_steal(h->result);
    return 0;
}

int jianmu_handle_fd(jianmu_handle *h, jianmu_error **err)
{
    pthread_mutex_lock(&h->lock);
    if (h->event_fd < 0) {
        h->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        show(h);
    }
    int fd = h->event_fd;
    pthread_mutex_unlock(&h->lock);
    return fd < 0 ? jm_fail_errno(err, JIANMU_INTERNAL, errno, "a descriptor for a call in the background") : fd;
}

size_t jianmu_handle_read(jianmu_handle *h, int stream, void *bytes, size_t len, uint64_t *dropped)
{
    struct jm_ring *r = &h->output[stream == 2];
    pthread_mutex_lock(&h->lock);
    if (dropped)
        *dropped = r->dropped;
    size_t n = jm_ring_read(r, bytes, len);
    show(h);
    pthread_mutex_unlock(&h->lock);
    return n;
}

void jianmu_handle_cancel(jianmu_handle *h)
{
    jianmu_call_cancel(&h->call);
}

void jianmu_handle_free(jianmu_handle *h)
{
    if (!h)
        return;
    /* in a forked child there is no thread to wait for */
    if (!jm_runner_check(h->x.executor->runner, NULL)) {
        if (!atomic_load(&h->done))
            jianmu_call_cancel(&h->call);
        pthread_join(h->thread, NULL);
    }
    free_handle(h);
}
