/* SPDX-License-Identifier: Apache-2.0
 * The scan: names sorted, so that the order in which a file system lists them never matters. */
#include "config.h"
#include "plugin/item.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/error.h"
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_FILES 4096u

struct names {
    char **list;
    size_t count;
};

/* Directories that were looked into, to find one that is given twice. */
struct seen {
    dev_t dev;
    ino_t ino;
    uint32_t kind;
};

/* A directory that is being looked into. */
struct scan {
    jm_registry *registry;
    const char *path, *origin;
    uint32_t kind;
    size_t first;        /* of its items */
    struct jm_refusal r; /* why the file at hand is refused */
};

static char *join(const char *dir, const char *name)
{
    struct jm_buffer b = {0};
    jm_buffer_adds(&b, dir);
    if (!b.len || b.data[b.len - 1] != '/')
        jm_buffer_adds(&b, "/");
    jm_buffer_adds(&b, name);
    return jm_buffer_take(&b);
}

static void names_free(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_candidate(const char *name)
{
    size_t len = strlen(name);
    return name[0] != '.' && len > 3 && !strcmp(name + len - 3, ".so");
}

static void close_dir(DIR **dir)
{
    if (*dir)
        closedir(*dir);
}

/* dir: the directory's descriptor; "." is opened below it, as it is none for reading. */
static int list_names(int dir, const char *path, struct names *names, struct jm_refusal *r)
{
    jm_auto_fd int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    __attribute__((cleanup(close_dir))) DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream)
        return jm_refuse_errno(r, "unreadable", errno, "directory %s", path);
    fd = -1;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(stream);
        if (!entry)
            break;
        if (!is_candidate(entry->d_name))
            continue;
        if (names->count == MOST_FILES)
            return jm_refuse(r, "too_many", "directory %s holds more than %u files *.so", path, MOST_FILES);
        if ((names->count & (names->count - 1)) == 0) {
            char **list = realloc(names->list, (names->count ? 2 * names->count : 1) * sizeof *list);
            if (!list)
                return jm_refuse_errno(r, "unreadable", ENOMEM, "%s", path);
            names->list = list;
        }
        if (!(names->list[names->count] = strdup(entry->d_name)))
            return jm_refuse_errno(r, "unreadable", ENOMEM, "%s", path);
        names->count++;
    }
    if (errno)
        return jm_refuse_errno(r, "unreadable", errno, "directory %s", path);
    if (names->count)
        qsort(names->list, names->count, sizeof *names->list, by_bytes);
    return 0;
}

static struct jm_entry_item *add_item(struct scan *s, const char *path)
{
    jm_registry *registry = s->registry;
    struct jm_entry_item **items = realloc(registry->items, (registry->count + 1) * sizeof *items);
    if (!items)
        return NULL;
    registry->items = items;
    struct jm_entry_item *entry = calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    entry->item.path = strdup(path);
    if (!entry->item.path) {
        free(entry);
        return NULL;
    }
    entry->item.origin = s->origin;
    entry->item.kind = s->kind;
    items[registry->count++] = entry;
    return entry;
}

static int add_refused(struct scan *s, const char *path)
{
    struct jm_entry_item *entry = s->r.shortage ? NULL : add_item(s, path);
    if (!entry) {
        s->r.shortage = s->r.shortage ? s->r.shortage : ENOMEM;
        return -1;
    }
    jm_item_refuse(&entry->item, &s->r);
    return 0;
}

static struct jm_file *add_file(struct scan *s, const char *path)
{
    jm_registry *registry = s->registry;
    struct jm_file **files = realloc(registry->files, (registry->files_count + 1) * sizeof *files);
    if (!files)
        return NULL;
    registry->files = files;
    struct jm_file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->kind = s->kind;
    file->path = strdup(path);
    if (!file->path) {
        free(file);
        return NULL;
    }
    files[registry->files_count++] = file;
    return file;
}

static int clash(struct jm_item *item, const char *other)
{
    struct jm_refusal r = {0};
    jm_refuse(&r, "clash", "%s and %s in one directory both hold a %s \"%s\"; one of them must go", item->path, other,
              jm_kind_name(item->kind), item->name);
    if (r.shortage)
        return -1;
    jm_item_refuse(item, &r);
    return 0;
}

/* The same name in this directory: both are refused, as no order is better than the other. In an earlier one:
 * that one wins. */
static int settle(struct scan *s, struct jm_item *item)
{
    jm_registry *registry = s->registry;
    for (size_t i = 0; i + 1 < registry->count; i++) {
        struct jm_item *other = &registry->items[i]->item;
        if (other->kind != item->kind || !other->name || strcmp(other->name, item->name))
            continue;
        if (i >= s->first) {
            bool first_pair = !other->code || strcmp(other->code, "clash");
            if ((first_pair && clash(other, item->path)) || clash(item, other->path))
                return -1;
            return 0;
        }
        if (other->state == JM_USABLE && item->state == JM_USABLE) {
            item->state = JM_SHADOWED;
            if (jm_format(&item->sentence, "%s is hidden by %s, which holds the %s \"%s\" too and is found first",
                         item->path, other->path, jm_kind_name(item->kind), item->name) < 0) {
                item->sentence = NULL;
                return -1;
            }
        }
    }
    return 0;
}

static int add_usable(struct scan *s, struct jm_file *file, struct jm_note *note)
{
    struct jm_entry_item *entry = add_item(s, file->path);
    if (!entry)
        return -1;
    entry->file = file;
    entry->note = *note;
    *note = (struct jm_note){0};
    struct jm_item *item = &entry->item;
    item->name = entry->note.raw + (entry->note.name - entry->note.raw);
    item->text = entry->note.raw + (entry->note.text - entry->note.raw);
    item->danger = entry->note.danger;
    item->flags = entry->note.flags;
    item->json = entry->note.json;
    return settle(s, item);
}

static int scan_file(struct scan *s, const struct jm_place *dir, const char *name)
{
    jm_auto_place struct jm_place place = JM_PLACE_INIT;
    jm_auto_free char *path = join(s->path, name);
    struct jm_notes notes = {0};
    if (!path) {
        s->r.shortage = ENOMEM;
        return -1;
    }
    if (jm_trust_file(dir, name, &place, &s->r) || jm_inspect(place.fd, path, s->kind, &notes, &s->r))
        return add_refused(s, path);
    struct jm_file *file = add_file(s, path);
    int rc = file ? 0 : -1;
    for (size_t i = 0; i < notes.count && !rc; i++)
        rc = add_usable(s, file, &notes.list[i]);
    jm_notes_free(&notes);
    if (rc)
        s->r.shortage = ENOMEM;
    return rc;
}

/* Nothing in a directory that others can write to is looked at; but its files are named, each with the reason. */
static int scan_untrusted(struct scan *s)
{
    struct jm_refusal r = s->r;
    __attribute__((cleanup(names_free))) struct names names = {0};
    s->r = (struct jm_refusal){0};
    int rc = r.shortage ? -1 : 0;
    jm_auto_fd int fd = rc ? -1 : open(s->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct jm_refusal unread = {0};
    if (fd < 0 || list_names(fd, s->path, &names, &unread) || !names.count) {
        r.shortage = unread.shortage ? unread.shortage : r.shortage;
        jm_refusal_free(&unread);
        s->r = r;
        return add_refused(s, s->path);
    }
    for (size_t i = 0; i < names.count && !rc; i++) {
        jm_auto_free char *path = join(s->path, names.list[i]);
        if (!path)
            s->r.shortage = ENOMEM;
        jm_refuse(&s->r, r.code, "%s", r.sentence);
        rc = add_refused(s, path);
    }
    jm_refusal_free(&r);
    return rc;
}

static int scan_dir(struct scan *s, struct seen *seen, size_t *seen_count)
{
    jm_auto_place struct jm_place place = JM_PLACE_INIT;
    __attribute__((cleanup(names_free))) struct names names = {0};
    struct stat st;
    if (stat(s->path, &st) && (errno == ENOENT || errno == ENOTDIR)) /* few directories have all kinds */
        return 0;
    int rc = jm_trust_dir(s->path, &place, &s->r);
    if (rc > 0)
        return 0;
    if (rc < 0)
        return scan_untrusted(s);
    for (size_t i = 0; i < *seen_count; i++)
        if (seen[i].dev == place.st.st_dev && seen[i].ino == place.st.st_ino && seen[i].kind == s->kind)
            return 0;
    seen[(*seen_count)++] = (struct seen){place.st.st_dev, place.st.st_ino, s->kind};
    if (list_names(place.fd, s->path, &names, &s->r))
        return add_refused(s, s->path);
    for (size_t i = 0; i < names.count && !rc; i++)
        rc = scan_file(s, &place, names.list[i]);
    return rc;
}

static int scan_all(jm_registry *registry, const struct jm_search_dir *dirs, size_t count, jianmu_error **err)
{
    static const struct { const char *name; uint32_t kind; } sub[] = {
        {"backends", JIANMU_KIND_BACKEND}, {"tools", JIANMU_KIND_TOOL},
        {"guards", JIANMU_KIND_GUARD}, {"sinks", JIANMU_KIND_SINK}};
    jm_auto_free struct seen *seen = calloc(count ? count * jm_countof(sub) : 1, sizeof *seen);
    size_t seen_count = 0;
    if (!seen)
        return jm_fail_memory(err);
    for (size_t i = 0; i < count * jm_countof(sub); i++) {
        const struct jm_search_dir *dir = &dirs[i / jm_countof(sub)];
        if (dir->kinds && !(dir->kinds & 1u << sub[i % jm_countof(sub)].kind))
            continue;
        jm_auto_free char *path = join(dir->path, sub[i % jm_countof(sub)].name);
        struct scan s = {registry, path, dir->origin, sub[i % jm_countof(sub)].kind, registry->count, {0}};
        if (!path)
            return jm_fail_memory(err);
        if (scan_dir(&s, seen, &seen_count)) {
            jm_fail_refused(err, &s.r, path);
            jm_refusal_free(&s.r);
            return -1;
        }
    }
    return 0;
}

jm_registry *jm_registry_scan(const struct jm_search_dir *dirs, size_t count, jianmu_error **err)
{
    jm_registry *registry = calloc(1, sizeof *registry);
    if (!registry) {
        jm_fail_memory(err);
        return NULL;
    }
    registry->owner = getpid();
    pthread_mutex_init(&registry->lock, NULL);
    if (scan_all(registry, dirs, count, err)) {
        jm_registry_free(registry);
        return NULL;
    }
    return registry;
}

void jm_registry_free(jm_registry *registry)
{
    if (!registry)
        return;
    void (*end)(struct jm_module *module) = registry->owner == getpid() ? jm_module_close : jm_module_forget;
    for (size_t i = 0; i < registry->files_count; i++) {
        end(registry->files[i]->module);
        free(registry->files[i]->path);
        free(registry->files[i]);
    }
    for (size_t i = 0; i < registry->count; i++) {
        jm_note_clear(&registry->items[i]->note);
        free(registry->items[i]->item.sentence);
        free(registry->items[i]->item.path);
        free(registry->items[i]);
    }
    free(registry->files);
    free(registry->items);
    pthread_mutex_destroy(&registry->lock);
    free(registry);
}

size_t jm_registry_count(const jm_registry *registry)
{
    return registry->count;
}

struct jm_item *jm_registry_item(const jm_registry *registry, size_t i)
{
    return i < registry->count ? &registry->items[i]->item : NULL;
}
