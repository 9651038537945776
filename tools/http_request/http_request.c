/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "http_request/transfer.h"
#include <signal.h>
#include <string.h>
#include <time.h>

static json_int_t integer_setting(jianmu_context *ctx, const char *name, json_int_t otherwise)
{
    json_t *value = ctx->services->setting(ctx, name);
    return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

static json_t *answer_response(jianmu_context *ctx, const struct http_request *request,
                               const struct http_response *response)
{
    uint64_t dropped = 0;
    const char *body = response->body.data ? response->body.data : "";
    json_t *text = tool_text(body, response->body.len, tool_max_output(ctx), &dropped);
    json_t *value = text ? json_pack("{s:I, s:s, s:O, s:o, s:b}", "status", (json_int_t)response->status,
                                     "url", request->url, "headers", response->headers, "body", text,
                                     "truncated", response->truncated || dropped > 0) : NULL;
    if (value && dropped && json_object_set_new(value, "body_dropped", json_integer((json_int_t)dropped))) {
        json_decref(value);
        value = NULL;
    }
    return value ? value : tool_memory(ctx);
}

/* The request, and those it is redirected to. */
static json_t *follow(jianmu_context *ctx, struct http_client *client, struct http_request *request)
{
    json_int_t most = integer_setting(ctx, "max_redirects", 5), count = 0;
    struct http_response response = {0};
    json_t *answer = NULL;
    while (http_transfer(client, request, &response, &answer) == 0) {
        if (!response.redirect || most == 0) {
            answer = answer_response(ctx, request, &response);
            break;
        }
        if (count++ == most) {
            answer = tool_error(ctx, "more than %" JSON_INTEGER_FORMAT " redirects, the last to '%s'", most,
                                response.redirect);
            break;
        }
        if (http_request_redirect(ctx, request, response.status, response.redirect, &answer))
            break;
    }
    http_response_free(&response);
    return answer;
}

/* A TLS library may write to a socket that the server has closed: SIGPIPE must not reach the host. */
static void block_sigpipe(sigset_t *old, bool *was_pending)
{
    sigset_t pipe, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    *was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe, old);
}

static void restore_sigpipe(const sigset_t *old, bool was_pending)
{
    static const struct timespec at_once = {0, 0};
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    while (!was_pending && sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, old, NULL);
}

static json_t *http_request(void *instance, jianmu_context *ctx, json_t *args)
{
    struct http_request request = {0};
    struct http_limits limits = {.bytes = (uint64_t)integer_setting(ctx, "max_bytes", 1 << 20),
                                 .allow_private = json_is_true(ctx->services->setting(ctx, "allow_private"))};
    json_t *answer = NULL;
    sigset_t old;
    bool was_pending;
    (void)instance;
    if (http_request_read(ctx, args, &request, &answer) == 0) {
        block_sigpipe(&old, &was_pending);
        struct http_client *client = http_client_new(ctx, &limits);
        if (client)
            answer = follow(ctx, client, &request);
        http_client_free(client);
        restore_sigpipe(&old, was_pending);
    }
    http_request_free(&request);
    return answer;
}

JIANMU_TOOL(http_request, http_request, JIANMU_DANGER_WRITE, JIANMU_OPEN_WORLD | JIANMU_COOPERATES,
    "Asks a web server by http or https and answers status, headers, body and the final url. Redirects are "
    "followed, and headers that could be secrets are not sent on to another server. Only public addresses can be "
    "reached: not this machine, not its local network. It runs no scripts, keeps no cookies and uses no proxy. A "
    "status such as 404 is an answer like any other. The body is text; long ones are cut and then truncated is "
    "true.",
    "{\"type\":\"object\",\"properties\":{"
    "\"url\":{\"type\":\"string\",\"description\":\"http://... or https://..., without user name and password\"},"
    "\"method\":{\"type\":\"string\",\"enum\":[\"GET\",\"HEAD\",\"POST\",\"PUT\",\"PATCH\",\"DELETE\",\"OPTIONS\"],"
    "\"description\":\"GET by default, POST where there is a body\"},"
    "\"headers\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},"
    "\"description\":\"request headers, such as {\\\"Accept\\\": \\\"application/json\\\"}\"},"
    "\"body\":{\"type\":\"string\",\"description\":\"what is sent, such as JSON text\"}},"
    "\"required\":[\"url\"],\"additionalProperties\":false,"
    "\"x-jianmu\":{\"defaults\":{\"timeout_s\":20.0,\"max_output\":20000},\"keys\":{"
    "\"max_bytes\":{\"type\":\"size\",\"default\":1048576,\"doc\":\"bytes of a body that http_request reads\"},"
    "\"max_redirects\":{\"type\":\"int\",\"default\":5,"
    "\"doc\":\"redirects that http_request follows; 0: answer them\"},"
    "\"allow_private\":{\"type\":\"bool\",\"default\":false,"
    "\"doc\":\"let http_request reach loopback, private and link-local addresses\"}}}}")
JIANMU_PLUGIN(JIANMU_ITEM(http_request))
