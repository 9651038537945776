/* SPDX-License-Identifier: Apache-2.0
 * The runner: what its calls share, made once; backends are opened in backend.c, tools in tool.c. */
#include "config.h"
#include "call/runner.h"
#include "base/cleanup.h"
#include "call/services.h"
#include "call/sessions.h"
#include "settings/constraints.h"
#include <string.h>
#include <sys/mman.h>

/* MADV_WIPEONFORK (madvise(2)): the page reads zero in a forked child, so the check costs one load. */
static const unsigned char *mark_alive(jianmu_error **err)
{
    unsigned char *page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        jm_fail_errno(err, JIANMU_INTERNAL, errno, "runner: memory");
        return NULL;
    }
    madvise(page, 1, MADV_WIPEONFORK);
    *page = 1;
    return page;
}

int jm_runner_check(const jianmu_runner *runner, jianmu_error **err)
{
    if (__builtin_expect(*runner->alive == 1, 1))
        return 0;
    return jm_fail(err, JIANMU_FORKED, "this runner belongs to the parent process; a forked child makes its own");
}

/* They are borrowed for the call that makes the runner; plans are made later. */
static jianmu_constraints *copy_constraints(const jianmu_constraints *constraints, jianmu_error **err)
{
    if (constraints)
        return jianmu_constraints_from_json(jm_constraints_fields(constraints), err);
    jianmu_constraints *none = jianmu_constraints_new();
    if (!none)
        jm_fail_memory(err);
    return none;
}

static void free_names(char **names)
{
    for (size_t i = 0; names && names[i]; i++)
        free(names[i]);
    free(names);
}

static char **copy_names(const char *const *names, jianmu_error **err)
{
    size_t count = 0;
    while (names[count])
        count++;
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        if (!(copy[i] = strdup(names[i]))) {
            free_names(copy);
            copy = NULL;
        }
    if (!copy)
        jm_fail_memory(err);
    return copy;
}

static jianmu_runner *new_runner(const jianmu_config *config, const jianmu_constraints *constraints, jianmu_bus *bus,
                                 jianmu_error **err)
{
    jianmu_runner *r = calloc(1, sizeof *r);
    if (!r)
        return jm_fail_memory(err), NULL;
    r->references = 1;
    r->config = jm_config_hold(config);
    pthread_mutex_init(&r->making, NULL);
    pthread_mutex_init(&r->lock, NULL);
    r->alive = mark_alive(err);
    r->constraints = r->alive ? copy_constraints(constraints, err) : NULL;
    if (!r->constraints || jm_runner_listen(r, bus, err)) {
        jianmu_runner_free(r);
        return NULL;
    }
    return r;
}

jianmu_runner *jianmu_runner_take_backend(jianmu_backend *backend, const jianmu_constraints *constraints,
                                          jianmu_bus *bus, jianmu_error **err)
{
    jianmu_runner *r = new_runner(backend->config, constraints, bus, err);
    if (!r) {
        jianmu_backend_close(backend);
        return NULL;
    }
    r->backends = backend;
    r->only = true;
    if (!(r->mode = strdup(backend->mode)))
        jm_fail_memory(err);
    /* to a tool host the one tool is given that it is for */
    if (!r->mode || (backend->item && jm_toolset_open(r, err))) {
        jianmu_runner_free(r);
        return NULL;
    }
    return r;
}

/* Constraints with a scope may mean all calls to come or none of them: then nothing is opened before it is needed. */
static int open_default(jianmu_runner *r, jianmu_error **err)
{
    const jianmu_constraints *c = r->constraints;
    r->mode = jm_mode_resolve(r->config, c, NULL, NULL, err);
    if (!r->mode)
        return -1;
    if (jm_constraints_get(c, "mode") && !jm_constraints_apply(c, NULL, false))
        return 0;
    return jm_runner_backend(r, r->mode, err) ? 0 : -1;
}

jianmu_runner *jianmu_runner_from_constraints(const jianmu_constraints *constraints, const jianmu_config *config,
                                              const char *const *builtin_names, const char *skill_dir,
                                              jianmu_bus *bus, jianmu_error **err)
{
    jianmu_config *own = NULL;
    if (!config && !(config = own = jm_config_default(err)))
        return NULL;
    jianmu_runner *r = new_runner(config, constraints, bus, err);
    jianmu_config_free(own); /* the runner holds it */
    if (r && ((skill_dir && jianmu_constraints_set(r->constraints, "skill", skill_dir, err)) ||
              (builtin_names && !(r->offered = copy_names(builtin_names, err))) || jm_toolset_open(r, err) ||
              open_default(r, err))) {
        jianmu_runner_free(r);
        return NULL;
    }
    return r;
}

const char *jianmu_runner_mode(const jianmu_runner *runner)
{
    return runner->mode;
}

struct jm_reapers *jm_runner_reapers(jianmu_runner *runner, jianmu_error **err)
{
    pthread_mutex_lock(&runner->lock);
    if (!runner->reapers)
        runner->reapers = jm_reapers_new(err);
    struct jm_reapers *reapers = runner->reapers;
    pthread_mutex_unlock(&runner->lock);
    return reapers;
}

struct jm_sessions *jm_runner_sessions(jianmu_runner *runner, jianmu_error **err)
{
    pthread_mutex_lock(&runner->lock);
    if (!runner->sessions)
        runner->sessions = jm_sessions_new(err);
    struct jm_sessions *sessions = runner->sessions;
    pthread_mutex_unlock(&runner->lock);
    return sessions;
}

static void free_tool(jianmu_tool *tool)
{
    jm_plan_free(tool->plan);
    jm_limits_free(&tool->limits);
    free(tool);
}

/* What is left when the last call, abandoned ones included, has returned: memory, and the reapers. */
void jm_runner_release(jianmu_runner *r)
{
    if (atomic_fetch_sub(&r->references, 1) != 1)
        return;
    while (r->tools) {
        jianmu_tool *tool = r->tools;
        r->tools = tool->next;
        free_tool(tool);
    }
    jm_sessions_free(r->sessions);
    jm_reapers_free(r->reapers);
    jm_plan_free(r->job_plan);
    jm_limits_free(&r->job_limits);
    free_names(r->offered);
    jm_registry_free(r->custom);
    free(r->skill);
    jianmu_constraints_free(r->constraints);
    free(r->mode);
    pthread_mutex_destroy(&r->making);
    jm_listen_free(&r->listen);
    pthread_mutex_destroy(&r->lock);
    if (r->alive)
        munmap((void *)r->alive, 1);
    jianmu_config_free(r->config);
    free(r);
}

void jianmu_runner_free(jianmu_runner *r)
{
    if (!r)
        return;
    /* in a forked child the threads are gone, and what plug-ins hold is the parent's */
    bool forked = r->alive && *r->alive != 1;
    jm_workers_stop(r, forked);
    for (jianmu_tool *tool = forked ? NULL : r->tools; tool; tool = tool->next)
        if (tool->plugin.close && tool->instance && !tool->abandoned)
            tool->plugin.close(tool->instance);
    if (!forked && r->sessions)
        jm_sessions_end_idle(r->sessions);
    while (r->backends) {
        jianmu_backend *backend = r->backends;
        r->backends = backend->next;
        if (forked)
            backend->instance = NULL;
        jianmu_backend_close(backend);
    }
    if (forked)
        r->references = 1; /* the others were threads of the parent */
    jianmu_bus_free(jm_steal(r->listen.own_bus));
    jm_runner_release(r);
}
