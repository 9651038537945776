/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "http_request/request.h"
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool listed(const char *const *list, const char *word)
{
    while (*list && strcasecmp(*list, word))
        list++;
    return *list != NULL;
}

/* What frames the message or names the connection is libcurl's business. */
static const char *const ours[] = {"Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "TE",
                                   "Trailer", "Upgrade", "Expect", "Proxy-Authorization", "Proxy-Connection", NULL};
/* What may follow a redirect to another origin: nothing that can be a secret. */
static const char *const harmless[] = {"Accept", "Accept-Language", "Content-Type", "User-Agent", NULL};

static bool is_token(const char *name)
{
    return *name && strspn(name, "!#$%&'*+-.^_`|~0123456789"
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(name);
}

static int check_headers(jianmu_context *ctx, json_t *headers)
{
    const char *name;
    json_t *value;
    json_object_foreach (headers, name, value) {
        if (!is_token(name))
            return ctx->services->fail(ctx, JIANMU_INVALID, "argument 'headers': '%s' is no header name", name);
        if (listed(ours, name))
            return ctx->services->fail(ctx, JIANMU_INVALID, "argument 'headers': '%s' cannot be set", name);
        if (!json_is_string(value))
            return ctx->services->fail(ctx, JIANMU_INVALID, "argument 'headers': the value of '%s' must be a string",
                                       name);
        const char *text = json_string_value(value);
        for (size_t i = 0; i < json_string_length(value); i++)
            if (((unsigned char)text[i] < 32 && text[i] != '\t') || text[i] == 127)
                return ctx->services->fail(ctx, JIANMU_INVALID,
                    "argument 'headers': the value of '%s' holds a line break or another control character", name);
    }
    return 0;
}

static int read_method(jianmu_context *ctx, json_t *given, bool has_body, const char **method)
{
    static const char *const known[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", NULL};
    *method = has_body ? "POST" : "GET";
    for (size_t i = 0; given && known[i]; i++)
        if (!strcasecmp(known[i], json_string_value(given)))
            return *method = known[i], 0;
    return given ? ctx->services->fail(ctx, JIANMU_INVALID, "argument 'method' is '%s'; it may be GET, HEAD, POST, "
                                       "PUT, PATCH, DELETE or OPTIONS", json_string_value(given)) : 0;
}

static json_t *url_error(jianmu_context *ctx, const char *url, const char *what)
{
    return tool_error(ctx, "'%s': %s", url, what);
}

/* Takes the URL apart; what libcurl would do with it beside http is refused here. */
static int set_url(jianmu_context *ctx, struct http_request *request, const char *url, json_t **answer)
{
    char *scheme = NULL, *host = NULL, *port = NULL, *user = NULL, *whole = NULL, *origin = NULL;
    const char *wrong = NULL;
    CURLU *parts = curl_url();
    CURLUcode code = parts ? curl_url_set(parts, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) : CURLUE_OUT_OF_MEMORY;
    if (code == CURLUE_OK)
        code = curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0);
    if (code == CURLUE_OK && strcasecmp(scheme, "http") && strcasecmp(scheme, "https"))
        wrong = "only http and https can be asked";
    else if (code == CURLUE_OK && (curl_url_get(parts, CURLUPART_USER, &user, 0) == CURLUE_OK ||
                                   curl_url_get(parts, CURLUPART_PASSWORD, &user, 0) == CURLUE_OK))
        wrong = "a URL must not hold a user name or password";
    else if (code == CURLUE_OK && !(code = curl_url_get(parts, CURLUPART_HOST, &host, 0)) &&
             !(code = curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT)))
        code = curl_url_get(parts, CURLUPART_URL, &whole, 0);
    if (!wrong && code != CURLUE_OK && code != CURLUE_OUT_OF_MEMORY)
        wrong = curl_url_strerror(code);
    if (!wrong && (code == CURLUE_OUT_OF_MEMORY || asprintf(&origin, "%s://%s:%s", scheme, host, port) < 0 ||
                   !(request->url = strdup(whole))))
        *answer = tool_memory(ctx);
    else if (wrong)
        *answer = url_error(ctx, url, wrong);
    request->origin = origin;
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
    curl_free(user);
    curl_free(whole);
    curl_url_cleanup(parts);
    return request->url && request->origin ? 0 : -1;
}

int http_request_read(jianmu_context *ctx, json_t *args, struct http_request *request, json_t **answer)
{
    static const struct tool_arg known[] = {{"url", TOOL_STRING, true}, {"method", TOOL_STRING, false},
                                            {"headers", TOOL_OBJECT, false}, {"body", TOOL_TEXT, false}};
    *answer = NULL;
    if (tool_args(ctx, args, known, jm_countof(known)))
        return -1;
    json_t *body = json_object_get(args, "body");
    request->headers = json_object_get(args, "headers");
    request->body = json_string_value(body);
    request->body_len = json_string_length(body);
    if (read_method(ctx, json_object_get(args, "method"), body != NULL, &request->method) ||
        check_headers(ctx, request->headers))
        return -1;
    return set_url(ctx, request, json_string_value(json_object_get(args, "url")), answer);
}

int http_request_redirect(jianmu_context *ctx, struct http_request *request, long status, const char *target,
                          json_t **answer)
{
    jm_auto_free char *old_origin = jm_steal(request->origin);
    bool post = !strcmp(request->method, "POST"), head = !strcmp(request->method, "HEAD");
    *answer = NULL;
    free(jm_steal(request->url));
    if ((status == 303 && !head) || ((status == 301 || status == 302) && post)) {
        request->method = "GET";
        request->body = NULL;
    }
    if (set_url(ctx, request, target, answer))
        return -1;
    if (strcasecmp(old_origin, request->origin))
        request->strange = true;
    return 0;
}

static int add_line(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);
    if (!longer)
        return -1;
    *list = longer;
    return 0;
}

struct curl_slist *http_request_headers(const struct http_request *request)
{
    struct curl_slist *list = NULL;
    const char *name;
    json_t *value;
    bool typed = false, failed = add_line(&list, "Expect:") != 0;
    json_object_foreach (request->headers, name, value) {
        jm_auto_free char *line = NULL;
        bool content = !strncasecmp(name, "Content-", 8);
        if ((request->strange && !listed(harmless, name)) || (content && !request->body))
            continue;
        typed |= !strcasecmp(name, "Content-Type");
        /* libcurl's words for an empty value: "Name;" */
        if (asprintf(&line, json_string_length(value) ? "%s: %s" : "%s;", name, json_string_value(value)) < 0)
            line = NULL;
        failed |= !line || add_line(&list, line);
    }
    if (request->body && !typed) /* else libcurl says that it is a form */
        failed |= add_line(&list, "Content-Type: text/plain; charset=utf-8") != 0;
    if (failed) {
        curl_slist_free_all(list);
        return NULL;
    }
    return list;
}

void http_request_free(struct http_request *request)
{
    free(request->url);
    free(request->origin);
}
