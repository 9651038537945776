/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "process/reapers.h"
#include "process/protocol.h"
#include "base/cleanup.h"
#include "base/error.h"
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifndef JM_LIBEXECDIR
#define JM_LIBEXECDIR "/usr/local/libexec/jianmu"
#endif
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#endif

int jm_process_scoped(void)
{
    return syscall(__NR_landlock_create_ruleset, NULL, 0, 1u /* the version */) >= 6;
}

struct jm_reapers *jm_reapers_new(jianmu_error **err)
{
    struct jm_reapers *reapers = calloc(1, sizeof *reapers);
    if (!reapers || pthread_mutex_init(&reapers->lock, NULL)) {
        free(reapers);
        jm_fail_memory(err);
        return NULL;
    }
    reapers->owner = getpid();
    reapers->image = jm_reaper_image();
    reapers->file = JM_LIBEXECDIR "/jianmu-reaper";
    return reapers;
}

void jm_reaper_dismiss(struct jm_reaper *reaper)
{
    uint32_t bye = JM_REAPER_BYE; /* else it would take our end for death, and remove what the job left */
    if (reaper->socket < 0)
        return;
    send(reaper->socket, &bye, sizeof bye, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(reaper->socket);
    reaper->socket = -1;
}

void jm_reapers_free(struct jm_reapers *reapers)
{
    if (!reapers)
        return;
    bool ours = getpid() == reapers->owner;
    /* in a forked child a thread that does not exist may be in the middle of a change: then only memory is freed */
    bool whole = pthread_mutex_trylock(&reapers->lock) == 0;
    while (whole && reapers->count) {
        struct jm_reaper *reaper = &reapers->kept[--reapers->count];
        if (ours)
            jm_reaper_dismiss(reaper);
        else
            close(reaper->socket);
    }
    if (reapers->image >= 0)
        close(reapers->image);
    if (whole) {
        pthread_mutex_unlock(&reapers->lock);
        pthread_mutex_destroy(&reapers->lock);
    }
    free(reapers);
}

static struct jm_credentials credentials_now(void)
{
    struct jm_credentials now;
    memset(&now, 0, sizeof now);
    getresuid(&now.uid[0], &now.uid[1], &now.uid[2]);
    getresgid(&now.gid[0], &now.gid[1], &now.gid[2]);
    now.group_count = getgroups((int)jm_countof(now.groups), now.groups);
    return now;
}

/* More groups than are compared are never the same. */
static bool same(const struct jm_credentials *a, const struct jm_credentials *b)
{
    return a->group_count >= 0 && memcmp(a, b, sizeof *a) == 0;
}

static int check_owner(const struct jm_reapers *reapers, jianmu_error **err)
{
    if (getpid() == reapers->owner)
        return 0;
    return jm_fail(err, JIANMU_FORKED, "this runner belongs to process %d, of which this one was forked",
                   (int)reapers->owner);
}

int jm_reapers_take(struct jm_reapers *reapers, struct jm_reaper *reaper, jianmu_error **err)
{
    if (check_owner(reapers, err))
        return -1;
    struct jm_credentials now = credentials_now();
    *reaper = (struct jm_reaper){.socket = -1};
    pthread_mutex_lock(&reapers->lock);
    if (!same(&now, &reapers->credentials)) {
        while (reapers->count)
            jm_reaper_dismiss(&reapers->kept[--reapers->count]);
        reapers->credentials = now;
        reapers->generation++;
    }
    unsigned generation = reapers->generation;
    if (reapers->count)
        *reaper = reapers->kept[--reapers->count];
    pthread_mutex_unlock(&reapers->lock);
    if (reaper->socket >= 0)
        return 0;
    if (jm_reaper_start(reapers->image, reapers->file, reaper, err))
        return -1;
    reaper->generation = generation;
    if (reaper->wake && !(reapers->flags & JM_REAPER_UNSCOPED) && jm_process_scoped())
        reaper->wake = 0;
    return 0;
}

void jm_reapers_put(struct jm_reapers *reapers, struct jm_reaper *reaper)
{
    pthread_mutex_lock(&reapers->lock);
    if (reapers->count < JM_REAPERS_KEPT && reaper->generation == reapers->generation) {
        reapers->kept[reapers->count++] = *reaper;
        reaper->socket = -1;
    }
    pthread_mutex_unlock(&reapers->lock);
    jm_reaper_dismiss(reaper);
}

void jm_reapers_prefetch(struct jm_reapers *reapers)
{
    struct jm_reaper reaper;
    if (jm_reapers_take(reapers, &reaper, NULL) == 0)
        jm_reapers_put(reapers, &reaper);
}
