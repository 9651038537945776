/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "call/result.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

static void drop_stream(jianmu_result *r, int i)
{
    free(r->stream[i].data);
    free(r->text[i]);
    r->stream[i] = (struct jm_stream){0};
    r->text[i] = NULL;
    r->text_len[i] = 0;
}

static void empty(jianmu_result *r)
{
    free(r->message);
    r->message = NULL;
    json_decref(r->enforced);
    r->enforced = NULL;
    for (int i = 0; i < 2; i++)
        drop_stream(r, i);
    jm_artifact_list_free(&r->artifacts);
    r->artifacts = (struct jm_artifact_list){0};
    r->abandoned = false;
    r->heavy = false;
}

static void forget_measures(jianmu_result *r)
{
    r->wall_s = r->user_s = r->system_s = r->queue_s = r->start_s = r->run_s = r->collect_s = -1;
    r->peak_memory = 0;
}

jianmu_result *jm_result_prepare(jianmu_result **result, jianmu_error **err)
{
    jianmu_result *r = *result;
    if (!r) {
        r = calloc(1, sizeof *r);
        if (!r) {
            jm_fail_memory(err);
            return NULL;
        }
        forget_measures(r);
        return *result = r;
    }
    if (r->heavy) {
        empty(r);
        forget_measures(r);
    }
    json_decref(r->value);
    r->value = NULL;
    r->value_dropped = 0;
    r->wall_s = -1;
    r->reason = JIANMU_EXITED;
    r->exit_code = r->signal = 0;
    return r;
}

void jianmu_result_free(jianmu_result *r)
{
    if (!r)
        return;
    empty(r);
    json_decref(r->value);
    free(r);
}

void jm_result_empty(jianmu_result *r)
{
    empty(r);
    json_decref(r->value);
    *r = (jianmu_result){0};
    forget_measures(r);
}

static void move_measures(jianmu_result *to, const jianmu_result *from)
{
    const double *const sources[] = {&from->user_s, &from->system_s, &from->queue_s,
                                     &from->start_s, &from->run_s,   &from->collect_s};
    double *const places[] = {&to->user_s, &to->system_s, &to->queue_s, &to->start_s, &to->run_s, &to->collect_s};
    for (size_t i = 0; i < jm_countof(places); i++)
        if (*sources[i] >= 0)
            *places[i] = *sources[i];
    if (from->peak_memory > to->peak_memory)
        to->peak_memory = from->peak_memory;
}

void jm_result_absorb(jianmu_result *to, jianmu_result *from)
{
    if (!from->heavy)
        return;
    to->heavy = true;
    if (from->message) {
        free(to->message);
        to->message = jm_steal(from->message);
    }
    for (int i = 0; i < 2; i++)
        if (from->stream[i].data) {
            drop_stream(to, i);
            to->stream[i] = from->stream[i];
            from->stream[i] = (struct jm_stream){0};
        }
    if (from->artifacts.count || from->artifacts.skipped) {
        jm_artifact_list_free(&to->artifacts);
        to->artifacts = from->artifacts;
        from->artifacts = (struct jm_artifact_list){0};
    }
    move_measures(to, from);
}

void jm_result_take_process(jianmu_result *r, struct jm_process_result *p)
{
    r->heavy = true;
    r->reason = p->reason;
    r->exit_code = p->exit_code;
    r->signal = p->signal;
    for (int i = 0; i < 2; i++) {
        struct jm_stream *from = i ? &p->err : &p->out;
        drop_stream(r, i);
        r->stream[i] = *from;
        *from = (struct jm_stream){0};
    }
}

jianmu_reason jianmu_result_reason(const jianmu_result *r)
{
    return r->reason;
}

const char *jianmu_result_message(const jianmu_result *r)
{
    return r->message ? r->message : "";
}

json_t *jianmu_result_value(const jianmu_result *r)
{
    return r->value;
}

uint64_t jianmu_result_value_dropped(const jianmu_result *r)
{
    return r->value_dropped;
}

int jianmu_result_exit_code(const jianmu_result *r)
{
    return r->exit_code;
}

int jianmu_result_signal(const jianmu_result *r)
{
    return r->signal;
}

int jianmu_result_abandoned(const jianmu_result *r)
{
    return r->abandoned;
}

unsigned jianmu_result_attempts(const jianmu_result *r)
{
    return r->attempts;
}

static int index_of(int stream)
{
    return stream == 2;
}

const void *jianmu_result_raw(const jianmu_result *r, int stream, size_t *len)
{
    const struct jm_stream *s = &r->stream[index_of(stream)];
    if (len)
        *len = s->len;
    return s->data ? s->data : "";
}

const char *jianmu_result_text(jianmu_result *r, int stream, size_t *len)
{
    int i = index_of(stream);
    if (!r->text[i] && r->stream[i].data)
        r->text[i] = jm_utf8_repair(r->stream[i].data, r->stream[i].len, &r->text_len[i]);
    if (len)
        *len = r->text_len[i];
    return r->text[i] ? r->text[i] : "";
}

uint64_t jianmu_result_dropped(const jianmu_result *r, int stream)
{
    return r->stream[index_of(stream)].dropped;
}

size_t jianmu_result_artifacts(const jianmu_result *r)
{
    return r->artifacts.count;
}

int jianmu_result_artifact(const jianmu_result *r, size_t i, jianmu_artifact *artifact)
{
    if (i >= r->artifacts.count)
        return -1;
    *artifact = r->artifacts.items[i];
    return 0;
}

int jianmu_result_artifact_sha256(const jianmu_result *r, size_t i, char hex[65])
{
    if (i >= r->artifacts.count)
        return -1;
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&hash);
    sha256_update(&hash, r->artifacts.items[i].size, r->artifacts.items[i].data);
    sha256_digest(&hash, sizeof digest, digest);
    for (size_t k = 0; k < sizeof digest; k++)
        snprintf(hex + 2 * k, 3, "%02x", digest[k]);
    return 0;
}

json_t *jianmu_result_skipped(const jianmu_result *r)
{
    return json_array_size(r->artifacts.skipped) ? r->artifacts.skipped : NULL;
}

double jianmu_result_seconds(const jianmu_result *r, const char *what)
{
    const struct {
        const char *name;
        double seconds;
    } times[] = {{"wall", r->wall_s},   {"user", r->user_s}, {"system", r->system_s},  {"queue", r->queue_s},
                 {"start", r->start_s}, {"run", r->run_s},   {"collect", r->collect_s}};
    for (size_t i = 0; i < jm_countof(times); i++)
        if (!strcmp(times[i].name, what))
            return times[i].seconds;
    return -1;
}

uint64_t jianmu_result_peak_memory(const jianmu_result *r)
{
    return r->peak_memory;
}

static json_t *artifact_json(const jianmu_result *r, size_t i)
{
    const jianmu_artifact *a = &r->artifacts.items[i];
    char hex[65], mode[8];
    size_t len;
    jianmu_result_artifact_sha256(r, i, hex);
    snprintf(mode, sizeof mode, "%04o", a->mode);
    jm_auto_free char *path = jm_utf8_repair(a->path, strlen(a->path), &len);
    return path ? json_pack("{s:s, s:I, s:s, s:s}", "path", path, "size", (json_int_t)a->size, "mode", mode, "sha256", hex)
                : NULL;
}

static json_t *seconds_or_null(double seconds)
{
    return seconds < 0 ? json_null() : json_real(seconds);
}

static json_t *usage_json(const jianmu_result *r)
{
    return json_pack("{s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o}", "wall_s", seconds_or_null(r->wall_s), "user_s",
                     seconds_or_null(r->user_s), "system_s", seconds_or_null(r->system_s), "peak_memory",
                     (json_int_t)r->peak_memory, "queue_s", seconds_or_null(r->queue_s), "start_s",
                     seconds_or_null(r->start_s), "run_s", seconds_or_null(r->run_s), "collect_s",
                     seconds_or_null(r->collect_s));
}

json_t *jianmu_result_json(jianmu_result *r)
{
    size_t out_len, err_len;
    const char *out = jianmu_result_text(r, 1, &out_len), *err = jianmu_result_text(r, 2, &err_len);
    jm_auto_json json_t *artifacts = json_array();
    for (size_t i = 0; i < r->artifacts.count; i++)
        if (json_array_append_new(artifacts, artifact_json(r, i)))
            return NULL;
    return json_pack("{s:s, s:s, s:i, s:i, s:b, s:i, s:O?, s:I, s:s%, s:s%, s:I, s:I, s:O, s:o, s:o, s:o, s:o}", "reason",
                     jianmu_reason_name(r->reason), "message", jianmu_result_message(r), "exit_code", r->exit_code,
                     "signal", r->signal, "abandoned", r->abandoned, "attempts", (int)r->attempts, "value", r->value, "value_dropped",
                     (json_int_t)r->value_dropped, "stdout", out, out_len, "stderr", err, err_len, "stdout_dropped",
                     (json_int_t)r->stream[0].dropped, "stderr_dropped", (json_int_t)r->stream[1].dropped, "artifacts",
                     artifacts, "skipped", r->artifacts.skipped ? json_incref(r->artifacts.skipped) : json_array(),
                     "modified_inputs",
                     r->artifacts.modified_inputs ? json_incref(r->artifacts.modified_inputs) : json_array(), "usage",
                     usage_json(r), "enforced", r->enforced ? jm_json_copy(r->enforced) : json_null());
}

char *jianmu_json_text(const json_t *value, int indent)
{
    return jm_json_print(value, indent, NULL);
}
