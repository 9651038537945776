/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JM_REQUEST_H
#define JM_REQUEST_H

#include "process/process.h"
#include "process/protocol.h"

/* A job as it is sent. */
struct jm_request {
    struct jm_reaper_request header;
    char small[2048], *strings;   /* small, or allocated */
    int fds[JM_REAPER_FDS], fd_count;
    int input, strings_fd;        /* own memory files, or -1 */
};

/* path: the program; flags: of protocol.h, without those of descriptors; out, err_fd: borrowed. Free it in any case. */
int jm_request_pack(struct jm_request *request, const struct jm_process_spec *spec, const char *path, uint32_t flags,
                    int out, int err_fd, jianmu_error **err);
/* 0, or -1 and errno. */
int jm_request_send(struct jm_request *request, int socket);
void jm_request_free(struct jm_request *request);

#endif
