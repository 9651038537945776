/* SPDX-License-Identifier: Apache-2.0
 * What the config says, else what the environment says, by the names that OpenTelemetry has given. */
#include "config.h"
#include "otlp/otlp.h"
#include "base/text.h"
#include "jianmu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *from_environment(const char *name)
{
    const char *text = name ? secure_getenv(name) : NULL;
    return text && *text ? text : NULL;
}

bool settings_disabled(void)
{
    const char *disabled = from_environment("OTEL_SDK_DISABLED"), *exporter = from_environment("OTEL_TRACES_EXPORTER");
    return (disabled && !strcasecmp(disabled, "true")) || (exporter && !strcmp(exporter, "none"));
}

/* The environment's are whole milliseconds; what is none is as unset. */
double settings_time(jianmu_context *ctx, const char *key, const char *name, const char *other)
{
    const json_t *set = ctx->services->setting(ctx, key);
    const char *text = from_environment(name);
    double milliseconds;
    if (json_is_number(set))
        return json_number_value(set);
    if (!text)
        text = from_environment(other);
    size_t used = text ? jm_parse_real(text, strlen(text), &milliseconds) : 0;
    if (used && !text[used] && milliseconds >= 0 && milliseconds <= 1e9)
        return milliseconds / 1000;
    return !strcmp(key, "timeout") ? 10 : 5;
}

size_t settings_count(jianmu_context *ctx, const char *key, const char *name)
{
    const json_t *set = ctx->services->setting(ctx, key);
    const char *text = from_environment(name);
    if (json_is_integer(set))
        return (size_t)json_integer_value(set);
    unsigned long count = text && !text[strspn(text, "0123456789")] ? strtoul(text, NULL, 10) : 0;
    if (count >= 1 && count <= 1000000)
        return count;
    return !strcmp(key, "queue") ? 2048 : 512;
}

/* new: base and path with one slash between. */
static char *join(const char *base, const char *path)
{
    char *url = NULL;
    size_t len = strlen(base);
    while (len && base[len - 1] == '/')
        len--;
    return asprintf(&url, "%.*s%s", (int)len, base, path) < 0 ? NULL : url;
}

static char *find_url(jianmu_context *ctx, bool file)
{
    const char *set = json_string_value(ctx->services->setting(ctx, "endpoint"));
    const char *traces = from_environment("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    const char *base = from_environment("OTEL_EXPORTER_OTLP_ENDPOINT");
    if (set)
        return join(set, "/v1/traces");
    if (file)
        return NULL;
    return traces ? join(traces, "") : join(base ? base : "http://localhost:4318", "/v1/traces");
}

static json_t *find_headers(jianmu_context *ctx)
{
    json_t *headers = json_object();
    if (headers && !pairs_read(from_environment("OTEL_EXPORTER_OTLP_HEADERS"), headers) &&
        !pairs_read(from_environment("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), headers) &&
        !json_object_update(headers, ctx->services->setting(ctx, "headers")))
        return headers;
    json_decref(headers);
    return NULL;
}

int settings_read(jianmu_context *ctx, struct post *post, bool file)
{
    post->url = find_url(ctx, file);
    if (file && !post->url)
        return 0;
    post->headers = find_headers(ctx);
    post->timeout_s = settings_time(ctx, "timeout", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT");
    if (!post->url || !post->headers)
        return ctx->services->fail(ctx, JIANMU_INTERNAL, "out of memory");
    if (strncasecmp(post->url, "http://", 7) && strncasecmp(post->url, "https://", 8))
        return ctx->services->fail(ctx, JIANMU_INVALID, "the endpoint is no address that begins with http:// or https://");
    if (!post_is_built())
        return ctx->services->fail(ctx, JIANMU_UNSUPPORTED, "this otlp.so was built without libcurl and writes to files only");
    return 0;
}
