/* SPDX-License-Identifier: Apache-2.0
 * What a confirmation is bound to, as one number: everything that decides what will happen. Each piece goes in with its
 * kind and its length, members of objects sorted by name, so that no two calls look alike. */
#include "config.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "call/runner.h"
#include "executor/confirm.h"
#include <nettle/sha2.h>
#include <string.h>

static void put(struct sha256_ctx *hash, char kind, const void *bytes, uint64_t len)
{
    sha256_update(hash, 1, (const uint8_t *)&kind);
    sha256_update(hash, sizeof len, (const uint8_t *)&len);
    if (len)
        sha256_update(hash, len, bytes);
}

static void put_text(struct sha256_ctx *hash, const char *text)
{
    put(hash, text ? 's' : '-', text, text ? strlen(text) : 0);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int put_value(struct sha256_ctx *hash, const json_t *value);

static int put_object(struct sha256_ctx *hash, const json_t *object)
{
    size_t count = json_object_size(object), n = 0; /* none at all is as an empty one */
    const char *name;
    json_t *member;
    jm_auto_free const char **names = calloc(count + 1, sizeof *names);
    if (!names)
        return -1;
    json_object_foreach ((json_t *)object, name, member)
        names[n++] = name;
    qsort(names, n, sizeof *names, by_name);
    put(hash, '{', &n, sizeof n);
    for (size_t i = 0; i < n; i++) {
        put_text(hash, names[i]);
        if (put_value(hash, json_object_get(object, names[i])))
            return -1;
    }
    return 0;
}

static int put_array(struct sha256_ctx *hash, const json_t *array)
{
    size_t count = json_array_size(array);
    put(hash, '[', &count, sizeof count);
    for (size_t i = 0; i < count; i++)
        if (put_value(hash, json_array_get(array, i)))
            return -1;
    return 0;
}

static int put_value(struct sha256_ctx *hash, const json_t *value)
{
    json_int_t integer = json_integer_value(value);
    double real = json_real_value(value);
    if (!value) {
        put(hash, '-', NULL, 0);
        return 0;
    }
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return put_object(hash, value);
    case JSON_ARRAY:
        return put_array(hash, value);
    case JSON_STRING:
        put(hash, 's', json_string_value(value), json_string_length(value));
        return 0;
    case JSON_INTEGER:
        put(hash, 'i', &integer, sizeof integer);
        return 0;
    case JSON_REAL:
        put(hash, 'r', &real, sizeof real);
        return 0;
    default:
        put(hash, json_is_true(value) ? 't' : json_is_false(value) ? 'f' : 'n', NULL, 0);
        return 0;
    }
}

static void put_job(struct sha256_ctx *hash, const jianmu_job *job)
{
    put(hash, 'j', job->script, job->script_len);
    put_text(hash, job->language);
    for (size_t i = 0; i < job->input_count; i++) {
        put_text(hash, job->inputs[i].path);
        put(hash, 'b', job->inputs[i].data, job->inputs[i].len);
    }
    for (size_t i = 0; i < job->arg_count; i++)
        put_text(hash, job->args[i]);
    put(hash, 'b', job->input, job->input ? job->input_len : 0);
    put(hash, 'i', &job->stdin_fd, sizeof job->stdin_fd);
}

int jm_confirm_digest(const jm_context *ctx, const json_t *args, uint8_t digest[JM_CONFIRM_DIGEST])
{
    struct sha256_ctx hash;
    if (args && !jm_json_can_print(args))
        return -1;
    sha256_init(&hash);
    put_text(&hash, ctx->subject);
    put_text(&hash, ctx->tool ? ctx->tool->item->path : NULL);
    put_text(&hash, ctx->call ? ctx->call->session : NULL);
    put_text(&hash, ctx->backend ? ctx->backend->mode : NULL);
    put(&hash, 'r', &ctx->timeout_s, sizeof ctx->timeout_s);
    for (size_t i = 0; i < ctx->plan->count; i++) {
        put_text(&hash, ctx->plan->entries[i].name);
        if (put_value(&hash, ctx->plan->entries[i].setting.value))
            return -1;
    }
    if (ctx->job)
        put_job(&hash, ctx->job);
    else if (!args ? put_object(&hash, NULL) : put_value(&hash, args))
        return -1;
    sha256_digest(&hash, JM_CONFIRM_DIGEST, digest);
    return 0;
}
