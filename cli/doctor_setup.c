/* SPDX-License-Identifier: Apache-2.0
 * The configuration, the plug-ins, and what each backend can enforce here. */
#include "config.h"
#include "doctor.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static const json_t *find_plugin(const struct doctor *d, const char *kind, const char *name, const char *state)
{
    size_t i;
    json_t *plugin;
    json_array_foreach(d->plugins, i, plugin)
        if (!strcmp(member(plugin, "kind"), kind) && !strcmp(member(plugin, "name"), name) &&
            !strcmp(member(plugin, "state"), state))
            return plugin;
    return NULL;
}

static void check_config(struct doctor *d)
{
    const char *file = jianmu_config_file(d->config);
    if (file)
        doctor_line(d, "configuration", false, DOCTOR_OK, "", "%s was read without complaint", file);
    else
        doctor_line(d, "configuration", false, DOCTOR_OK, "",
                    "no file was found; the defaults hold (see jianmu.yaml(5))");
}

static void check_plugins(struct doctor *d)
{
    size_t i, usable = 0, refused = 0;
    json_t *plugin;
    const json_t *first = NULL;
    json_array_foreach(d->plugins, i, plugin) {
        usable += !strcmp(member(plugin, "state"), "usable");
        if (strcmp(member(plugin, "state"), "refused"))
            continue;
        refused++;
        first = first ? first : plugin;
    }
    if (!refused)
        doctor_line(d, "plug-ins", false, DOCTOR_OK, "", "%zu usable, none refused", usable);
    else
        doctor_line(d, "plug-ins", false, DOCTOR_LIMITED, "'jianmu plugins' lists all, with what mends each",
                    "%zu usable, %zu refused; the first: %s", usable, refused, member(first, "sentence"));
}

static void check_local(struct doctor *d)
{
    const json_t *plugin = find_plugin(d, "backend", "local", "usable");
    if (d->runner)
        doctor_line(d, "backend local", true, DOCTOR_OK, "", "loaded from %s (%s)", member(plugin, "path"),
                    member(plugin, "origin"));
    else
        doctor_line(d, "backend local", true, DOCTOR_MISSING,
                    "install local.so below backends/ of a plug-in directory, or name one with --plugin-dir", "%s",
                    d->refusal);
}

static void check_tools(struct doctor *d)
{
    size_t i;
    json_t *tool;
    char what[64];
    if (!json_array_size(d->tools))
        doctor_line(d, "tools", false, DOCTOR_LIMITED,
                    "install tools below tools/ of a plug-in directory, or name one with --plugin-dir",
                    "none was found");
    json_array_foreach(d->tools, i, tool) {
        const char *name = member(tool, "name");
        jianmu_error *err = NULL;
        snprintf(what, sizeof what, "tool %s", name);
        if (!d->runner)
            doctor_no_job(d, what, false, "", NULL);
        else if (jianmu_runner_tool(d->runner, name, &err))
            doctor_line(d, what, false, DOCTOR_OK, "", "loaded from %s",
                        member(find_plugin(d, "tool", name, "usable"), "path"));
        else
            doctor_line(d, what, false, DOCTOR_MISSING, "the sentence says what it lacks", "%s",
                        jianmu_error_message(err));
        jianmu_error_free(err);
    }
}

static void check_curl(struct doctor *d)
{
    void *curl = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    char *(*version)(void) = curl ? (char *(*)(void))dlsym(curl, "curl_version") : NULL;
    if (version)
        doctor_line(d, "libcurl", false, DOCTOR_OK, "", "%s", version());
    else
        doctor_line(d, "libcurl", false, DOCTOR_MISSING, "install libcurl (Debian: libcurl4) to use http_request", "%s",
                    dlerror());
}

static bool listed(const json_t *names, const char *name)
{
    size_t i;
    json_t *item;
    json_array_foreach(names, i, item)
        if (json_is_string(item) && !strcmp(json_string_value(item), name))
            return true;
    return false;
}

static void add_word(char *list, size_t size, const char *word)
{
    size_t len = strlen(list);
    snprintf(list + len, size - len, "%s%s", len ? " " : "", word);
}

/* What a backend's description promises is asked of the opened backend, which knows this host. */
static void check_limits(struct doctor *d, const json_t *backend)
{
    static const char *const limits[] = {"timeout_s", "cpu_time_s", "memory", "cpus",         "pids",      "fsize",
                                         "nofile",    "disk",       "network", "output_limit", "max_output"};
    char what[64], held[256] = "", broken[256] = "", never[256] = "", advice[400] = "";
    const char *name = member(backend, "mode");
    jianmu_error *err = NULL;
    snprintf(what, sizeof what, "limits of %s", name);
    jianmu_backend *opened = jianmu_backend_open(d->config, name, &err);
    jianmu_runner *runner = opened ? jianmu_runner_take_backend(opened, NULL, NULL, &err) : NULL;
    if (!runner) {
        doctor_line(d, what, false, DOCTOR_MISSING, "the sentence says what it lacks", "%s", jianmu_error_message(err));
        jianmu_error_free(err);
        return;
    }
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        int enforced = jianmu_runner_enforces(runner, limits[i]);
        bool promised = listed(json_object_get(backend, "enforces"), limits[i]);
        if (enforced >= 0)
            add_word(enforced ? held : promised ? broken : never, sizeof held, limits[i]);
    }
    jianmu_runner_free(runner);
    if (*broken)
        snprintf(advice, sizeof advice,
                 "a call that asks for %s is refused here; the backend's manual says what it takes",
                 broken);
    else if (*never)
        snprintf(advice, sizeof advice, "a call that asks for %s is refused; other backends may have it", never);
    doctor_line(d, what, false, *broken ? DOCTOR_LIMITED : DOCTOR_OK, advice, "enforces %s%s%s",
                *held ? held : "nothing", *broken ? "; cannot here: " : "", broken);
}

void doctor_setup(struct doctor *d)
{
    size_t i;
    json_t *backend;
    check_config(d);
    check_plugins(d);
    check_local(d);
    check_tools(d);
    check_curl(d);
    json_array_foreach(d->backends, i, backend)
        check_limits(d, backend);
}
