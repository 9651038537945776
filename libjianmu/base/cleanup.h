/* SPDX-License-Identifier: Apache-2.0
 * Scope cleanup: jm_auto_free char *p = NULL; ... return jm_steal(p); */
#ifndef JM_CLEANUP_H
#define JM_CLEANUP_H

#include "jianmu.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static inline void jm_cleanup_free(void *p)
{
    free(*(void **)p);
}

static inline void jm_cleanup_fd(int *fd)
{
    if (*fd >= 0) {
        int saved = errno;
        close(*fd);
        errno = saved;
    }
}

static inline void jm_cleanup_json(json_t **json)
{
    json_decref(*json);
}

#define jm_auto_free __attribute__((cleanup(jm_cleanup_free)))
#define jm_auto_fd __attribute__((cleanup(jm_cleanup_fd)))
#define jm_auto_json __attribute__((cleanup(jm_cleanup_json)))

#define jm_steal(p) __extension__({ __typeof__(p) stolen_ = (p); (p) = NULL; stolen_; })
#define jm_steal_fd(fd) __extension__({ int stolen_ = (fd); (fd) = -1; stolen_; })
#define jm_countof(a) (sizeof(a) / sizeof((a)[0]))

#endif
