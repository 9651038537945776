/* SPDX-License-Identifier: Apache-2.0
 * One request to one server: libcurl, driven so that it stops when the call is told to, and never connected to an
 * address that may not be reached. */
#ifndef HTTP_TRANSFER_H
#define HTTP_TRANSFER_H

#include "base/buffer.h"
#include "http_request/request.h"

struct http_limits {
    uint64_t bytes;       /* of one body */
    bool allow_private;
};

struct http_response {
    long status;
    json_t *headers;      /* object; names in lower case */
    size_t header_bytes;
    struct jm_buffer body;
    bool truncated;       /* the body goes on */
    char *redirect;       /* where it sends us; NULL: nowhere */
};

struct http_client;
struct http_client *http_client_new(jianmu_context *ctx, const struct http_limits *limits); /* NULL after fail() */
void http_client_free(struct http_client *client);

/* Fills *response, which is emptied first. 0; -1: *answer is what the tool answers. */
int http_transfer(struct http_client *client, const struct http_request *request, struct http_response *response,
                  json_t **answer);
void http_response_free(struct http_response *response);

#endif
