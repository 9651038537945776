/* SPDX-License-Identifier: Apache-2.0
 *
 * libltdl binds lazily and calls every failure "file not found". So the file is opened by dlopen first, bound
 * now and kept local, which gives the true reason; libltdl then finds it loaded under the same name and holds
 * the lasting reference. dlopen and libltdl know files by name and ask the file system only for new ones. */
#include "config.h"
#include "plugin/loader.h"
#include "plugin/symbols.h"
#include "base/cleanup.h"
#include <dlfcn.h>
#include <locale.h>
#include <ltdl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_SPELLINGS 8

struct jm_module {
    lt_dlhandle handle;
    jm_entry entry;
    char *name; /* as the dynamic linker knows it */
};

/* What follows is state of the process, like libltdl's own. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t probes;

/* The dynamic linker's complaint, in English whatever the locale. */
static int refuse_dlerror(const char *path, struct jm_refusal *r)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = plain ? uselocale(plain) : (locale_t)0;
    const char *text = dlerror();
    if (!text)
        text = "no reason given";
    if (strstr(text, strerrordesc_np(ENOMEM)) || strstr(text, strerrordesc_np(EMFILE)) ||
        strstr(text, strerrordesc_np(ENFILE)))
        r->shortage = strstr(text, strerrordesc_np(ENOMEM)) ? ENOMEM : EMFILE;
    const char *code = strstr(text, "undefined symbol") || strstr(text, "symbol not found") ? "undefined_symbol"
                     : strstr(text, "cannot open shared object file") ? "dependency" : "load";
    size_t len = strlen(path);
    if (!strncmp(text, path, len) && !strncmp(text + len, ": ", 2))
        text += len + 2;
    jm_refuse(r, code, "%s cannot be loaded: %s", path, text);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    return -1;
}

/* Is what was loaded the file behind fd? The dynamic linker is asked for fd by a name that it has not heard
 * before, as it would otherwise answer from memory: it then compares device and inode with what it has mapped. */
static bool is_file(void *loaded, int fd, const char *name)
{
    char path[128], *p = path;
    struct stat st, mapped;
    p += sprintf(p, "/proc/self/fd");
    uint32_t number = ++probes;
    for (unsigned bit = 0; bit < 32; bit++)
        p += sprintf(p, number >> bit & 1 ? "/." : "/");
    sprintf(p, "/%d", fd);
    if (stat(path, &st)) /* no /proc here: what the name leads to now is the next best */
        return !fstat(fd, &st) && !stat(name, &mapped) && st.st_dev == mapped.st_dev && st.st_ino == mapped.st_ino;
    void *same = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (same)
        dlclose(same);
    else
        dlerror();
    return same == loaded;
}

/* path, with as many "./" before its last name */
static char *spell(const char *path, unsigned dots)
{
    const char *slash = strrchr(path, '/');
    char *name = malloc(strlen(path) + 2 * (size_t)dots + 1);
    if (!name)
        return NULL;
    char *p = mempcpy(name, path, (size_t)(slash - path) + 1);
    while (dots--)
        p = mempcpy(p, "./", 2);
    strcpy(p, slash + 1);
    return name;
}

/* A file of the same path that was replaced since may still be loaded, by another registry or for ever. Another
 * spelling of the path makes the dynamic linker look at the disk again. */
static void *open_file(int fd, const char *path, char **name, struct jm_refusal *r)
{
    for (unsigned dots = 0; dots < MOST_SPELLINGS; dots++) {
        jm_auto_free char *spelled = spell(path, dots);
        if (!spelled) {
            r->shortage = ENOMEM;
            return NULL;
        }
        void *loaded = dlopen(spelled, RTLD_NOW | RTLD_LOCAL);
        if (!loaded) {
            refuse_dlerror(path, r);
            return NULL;
        }
        if (is_file(loaded, fd, spelled)) {
            *name = jm_steal(spelled);
            return loaded;
        }
        dlclose(loaded);
    }
    jm_refuse(r, "changed", "%s was replaced between the look at it and its loading", path);
    return NULL;
}

static lt_dlhandle hold(const char *name)
{
    lt_dladvise advise;
    if (lt_dlinit())
        return NULL;
    lt_dlhandle handle = NULL;
    if (!lt_dladvise_init(&advise)) {
        if (!lt_dladvise_local(&advise))
            handle = lt_dlopenadvise(name, advise);
        lt_dladvise_destroy(&advise);
    }
    if (!handle)
        lt_dlexit();
    return handle;
}

static void refuse_libltdl(const char *path, struct jm_refusal *r)
{
    const char *text = lt_dlerror();
    if (text && strstr(text, "memory"))
        r->shortage = ENOMEM;
    jm_refuse(r, "load", "%s cannot be loaded: libltdl says: %s", path, text ? text : "nothing");
}

void jm_module_forget(struct jm_module *module)
{
    if (!module)
        return;
    free(module->name);
    free(module);
}

static void close_locked(struct jm_module *module)
{
    if (module->handle) {
        lt_dlclose(module->handle);
        lt_dlexit(); /* counted: the last one ends libltdl, unless the host uses it too */
    }
    jm_module_forget(module);
}

static struct jm_module *open_locked(int fd, const char *path, struct jm_refusal *r)
{
    struct jm_module *module = calloc(1, sizeof *module);
    if (!module) {
        r->shortage = ENOMEM;
        return NULL;
    }
    void *loaded = open_file(fd, path, &module->name, r);
    if (!loaded) {
        close_locked(module);
        return NULL;
    }
    module->entry = (jm_entry)dlsym(loaded, JM_ENTRY);
    module->handle = hold(module->name);
    if (!module->handle)
        refuse_libltdl(path, r);
    else if (!module->entry || (jm_entry)lt_dlsym(module->handle, JM_ENTRY) != module->entry)
        jm_refuse(r, "no_entry", "%s does not export %s: JIANMU_PLUGIN is missing in it", path, JM_ENTRY);
    dlclose(loaded);
    if (r->code || r->shortage) {
        close_locked(module);
        return NULL;
    }
    return module;
}

struct jm_module *jm_module_open(int fd, const char *path, struct jm_refusal *r)
{
    pthread_mutex_lock(&lock);
    struct jm_module *module = open_locked(fd, path, r);
    pthread_mutex_unlock(&lock);
    return module;
}

jm_entry jm_module_entry(const struct jm_module *module)
{
    return module->entry;
}

/* Not lt_dlmakeresident: its handle counts as a leak after lt_dlexit. */
void jm_module_pin(struct jm_module *module)
{
    pthread_mutex_lock(&lock);
    void *again = dlopen(module->name, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
    if (again)
        dlclose(again);
    else
        module->handle = NULL; /* no memory: then its reference is never given back */
    pthread_mutex_unlock(&lock);
}

void jm_module_close(struct jm_module *module)
{
    if (!module)
        return;
    pthread_mutex_lock(&lock);
    close_locked(module);
    pthread_mutex_unlock(&lock);
}
