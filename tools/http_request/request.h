/* SPDX-License-Identifier: Apache-2.0
 * What is asked of a server: read from the arguments, and changed by each redirect. */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include "common/tool.h"
#include <curl/curl.h>

struct http_request {
    const char *method;  /* static */
    char *url, *origin;  /* as libcurl writes them: "http://host:80/", "http://host:80" */
    json_t *headers;     /* object of strings, or NULL; borrowed */
    const char *body;    /* NULL: none; borrowed */
    size_t body_len;
    bool strange;        /* a redirect has led to another origin: only harmless headers go there */
};

/* 0; -1: *answer is what the tool answers, NULL after fail(). */
int http_request_read(jianmu_context *ctx, json_t *args, struct http_request *request, json_t **answer);
/* The request that a response of that status with that target asks for. Like the above. */
int http_request_redirect(jianmu_context *ctx, struct http_request *request, long status, const char *target,
                          json_t **answer);
/* The header lines for libcurl; new. NULL without memory. */
struct curl_slist *http_request_headers(const struct http_request *request);
void http_request_free(struct http_request *request);

#endif
