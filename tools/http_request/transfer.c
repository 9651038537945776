/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "http_request/transfer.h"
#include "http_request/address.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MOST_HEADER_BYTES 65536u
#define LONGEST_WAIT_MS 1000
#define BLIND_WAIT_MS 50 /* where no descriptor tells of a cancel */

struct http_client {
    jianmu_context *ctx;
    const struct http_limits *limits;
    CURLM *multi;
    CURL *easy;
    struct http_response *response; /* of the transfer under way */
    bool no_memory;
    char refused[128];              /* the address that may not be reached, and why; "": none met */
    char error[CURL_ERROR_SIZE];
};

/* ---- what libcurl calls ---- */

static curl_socket_t open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct http_client *client = data;
    const char *kind = client->limits->allow_private ? NULL : address_refused(&address->addr, address->addrlen);
    (void)purpose;
    if (kind) {
        char text[INET6_ADDRSTRLEN] = "?";
        const void *bytes = address->family == AF_INET6 ?
            (const void *)&((const struct sockaddr_in6 *)(const void *)&address->addr)->sin6_addr :
            (const void *)&((const struct sockaddr_in *)(const void *)&address->addr)->sin_addr;
        inet_ntop(address->family, bytes, text, sizeof text);
        snprintf(client->refused, sizeof client->refused, "%s, a %s address", text, kind);
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t take_body(char *bytes, size_t size, size_t count, void *data)
{
    struct http_client *client = data;
    struct http_response *response = client->response;
    size_t len = size * count, room = client->limits->bytes - response->body.len;
    jm_buffer_add(&response->body, bytes, len < room ? len : room);
    response->truncated = len > room;
    client->no_memory |= response->body.failed;
    return response->truncated || client->no_memory ? 0 : len;
}

static int add_header(json_t *headers, const char *line, size_t name_len, size_t len)
{
    char name[128];
    size_t value_len = len - name_len - 1;
    if (name_len == 0 || name_len >= sizeof name)
        return 0;
    for (size_t i = 0; i < name_len; i++)
        name[i] = (char)tolower((unsigned char)line[i]);
    name[name_len] = 0;
    json_t *key = tool_text(name, name_len, UINT64_MAX, NULL), *before;
    const char *value = tool_strip(line + name_len + 1, &value_len);
    json_t *text = tool_text(value, value_len, UINT64_MAX, NULL);
    if (text && key && (before = json_object_get(headers, json_string_value(key)))) {
        json_t *both = json_sprintf("%s, %s", json_string_value(before), json_string_value(text));
        json_decref(text);
        text = both;
    }
    int failed = !key || json_object_set_new(headers, json_string_value(key), text);
    json_decref(key);
    return failed ? -1 : 0;
}

static size_t take_header(char *line, size_t size, size_t count, void *data)
{
    struct http_client *client = data;
    struct http_response *response = client->response;
    size_t len = size * count;
    const char *colon = memchr(line, ':', len);
    if (len >= 5 && !memcmp(line, "HTTP/", 5)) { /* of an interim answer, or the real one */
        json_object_clear(response->headers);
        response->header_bytes = 0;
        return len;
    }
    response->header_bytes += len;
    if (!colon || response->header_bytes > MOST_HEADER_BYTES)
        return len;
    if (add_header(response->headers, line, (size_t)(colon - line), len)) {
        client->no_memory = true;
        return 0;
    }
    return len;
}

/* ---- one client a call ---- */

static void start_libcurl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static int set_always(struct http_client *client)
{
    CURL *easy = client->easy;
    int failed = curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) || curl_easy_setopt(easy, CURLOPT_PROXY, "") ||
                 curl_easy_setopt(easy, CURLOPT_NOPROXY, "*") || curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) ||
                 curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) ||
                 curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L) ||
#if LIBCURL_VERSION_NUM >= 0x075500
                 curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") ||
#else
                 curl_easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)) ||
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
                 /* do not wait for a name server when the call is told to stop */
                 curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) ||
#endif
                 curl_easy_setopt(easy, CURLOPT_USERAGENT, "jianmu/" PACKAGE_VERSION) ||
                 curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, client->error) ||
                 curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) ||
                 curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, client) ||
                 curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body) ||
                 curl_easy_setopt(easy, CURLOPT_WRITEDATA, client) ||
                 curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header) ||
                 curl_easy_setopt(easy, CURLOPT_HEADERDATA, client);
    return failed ? -1 : 0;
}

struct http_client *http_client_new(jianmu_context *ctx, const struct http_limits *limits)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start_libcurl);
    struct http_client *client = calloc(1, sizeof *client);
    if (client) {
        client->ctx = ctx;
        client->limits = limits;
        client->multi = curl_multi_init();
        client->easy = curl_easy_init();
    }
    if (client && client->multi && client->easy && set_always(client) == 0)
        return client;
    http_client_free(client);
    tool_memory(ctx);
    return NULL;
}

void http_client_free(struct http_client *client)
{
    if (!client)
        return;
    curl_easy_cleanup(client->easy);
    curl_multi_cleanup(client->multi);
    free(client);
}

/* ---- one transfer ---- */

static int set_request(CURL *easy, const struct http_request *request, struct curl_slist *headers)
{
    bool head = !strcmp(request->method, "HEAD");
    /* in this order: POSTFIELDS, even NULL, makes it a POST */
    int failed = curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL) || curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L) ||
                 curl_easy_setopt(easy, CURLOPT_NOBODY, head ? 1L : 0L) ||
                 curl_easy_setopt(easy, CURLOPT_URL, request->url) ||
                 curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    if (!failed && request->body && !head)
        failed = curl_easy_setopt(easy, CURLOPT_POST, 1L) ||
                 curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len) ||
                 curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body);
    return failed || curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, head ? NULL : request->method) ? -1 : 0;
}

static int wait_ms(jianmu_context *ctx, bool blind)
{
    int64_t deadline = ctx->services->deadline(ctx), most = blind ? BLIND_WAIT_MS : LONGEST_WAIT_MS;
    struct timespec now;
    if (!deadline)
        return (int)most;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left = (deadline - now.tv_sec * INT64_C(1000000000) - now.tv_nsec) / 1000000 + 1;
    return (int)(left < 0 ? 0 : left < most ? left : most);
}

/* Until it is done (0, *code), told to stop (1), or not to be driven (-1). */
static int drive(struct http_client *client, CURLcode *code)
{
    jianmu_context *ctx = client->ctx;
    struct curl_waitfd told = {.fd = ctx->services->poll_fd(ctx), .events = CURL_WAIT_POLLIN};
    unsigned told_count = told.fd >= 0 ? 1 : 0;
    for (;;) {
        int running, left;
        if (ctx->services->cancelled(ctx))
            return 1;
        if (curl_multi_perform(client->multi, &running))
            return -1;
        const CURLMsg *message = curl_multi_info_read(client->multi, &left);
        if (message && message->msg == CURLMSG_DONE)
            return *code = message->data.result, 0;
        if (client->refused[0])
            return *code = CURLE_COULDNT_CONNECT, 0;
        if (curl_multi_poll(client->multi, &told, told_count, wait_ms(ctx, !told_count), NULL))
            return -1;
    }
}

static json_t *transfer_error(struct http_client *client, const struct http_request *request, CURLcode code)
{
    if (client->no_memory || code == CURLE_OUT_OF_MEMORY)
        return tool_memory(client->ctx);
    if (client->refused[0])
        return tool_error(client->ctx, "'%s' leads to %s: only public addresses may be reached", request->url,
                          client->refused);
    return tool_error(client->ctx, "'%s': %s", request->url,
                      client->error[0] ? client->error : curl_easy_strerror(code));
}

/* 0, or -1 without memory. */
static int finish_response(struct http_client *client, struct http_response *response)
{
    const char *target = NULL;
    curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &response->status);
    curl_easy_getinfo(client->easy, CURLINFO_REDIRECT_URL, &target);
    return target && !(response->redirect = strdup(target)) ? -1 : 0;
}

int http_transfer(struct http_client *client, const struct http_request *request, struct http_response *response,
                  json_t **answer)
{
    CURLcode code = CURLE_OK;
    struct curl_slist *headers = http_request_headers(request);
    http_response_free(response);
    response->headers = json_object();
    client->response = response;
    client->error[0] = client->refused[0] = 0;
    *answer = NULL;
    int result = -1;
    if (headers && response->headers && set_request(client->easy, request, headers) == 0 &&
        curl_multi_add_handle(client->multi, client->easy) == CURLM_OK) {
        int end = drive(client, &code);
        bool complete = code == CURLE_OK || (response->truncated && code == CURLE_WRITE_ERROR);
        if (end > 0)
            *answer = tool_stopped(client->ctx);
        else if (end < 0)
            *answer = tool_memory(client->ctx);
        else if (!complete || client->refused[0] || client->no_memory)
            *answer = transfer_error(client, request, code);
        else if (finish_response(client, response))
            *answer = tool_memory(client->ctx);
        else
            result = 0;
        curl_multi_remove_handle(client->multi, client->easy);
    } else {
        *answer = tool_memory(client->ctx);
    }
    curl_easy_setopt(client->easy, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    return result;
}

void http_response_free(struct http_response *response)
{
    json_decref(response->headers);
    jm_buffer_free(&response->body);
    free(response->redirect);
    *response = (struct http_response){0};
}
