/* SPDX-License-Identifier: Apache-2.0
 * From an item to its callbacks: the file is judged again, loaded, and its descriptors compared with its notes. */
#include "config.h"
#include "plugin/item.h"
#include "plugin/first.h"
#include "base/cleanup.h"
#include "base/error.h"
#include <string.h>

_Static_assert(JM_FIRST_HEAD <= sizeof(struct jianmu_head) && JM_FIRST_PLUGIN <= sizeof(struct jianmu_plugin) &&
               JM_FIRST_TOOL <= sizeof(struct jianmu_tool_plugin) &&
               JM_FIRST_BACKEND <= sizeof(struct jianmu_backend_plugin) &&
               JM_FIRST_GUARD <= sizeof(struct jianmu_guard_plugin) &&
               JM_FIRST_SINK <= sizeof(struct jianmu_sink_plugin), "structs only grow");

/* What was listed must still be what the file says, before any of its code runs. */
static int same_notes(jm_registry *registry, const struct jm_file *file, const struct jm_notes *notes,
                      struct jm_refusal *r)
{
    size_t next = 0;
    for (size_t i = 0; i < registry->count; i++) {
        const struct jm_note *note = &registry->items[i]->note;
        if (registry->items[i]->file != file)
            continue;
        if (next == notes->count || notes->list[next].raw_len != note->raw_len ||
            memcmp(notes->list[next].raw, note->raw, note->raw_len))
            break;
        if (++next == notes->count)
            return 0;
    }
    return jm_refuse(r, "changed", "%s has changed since it was listed", file->path);
}

static int check_plugin(const struct jm_file *file, struct jm_refusal *r)
{
    const struct jianmu_plugin *plugin = file->plugin;
    if (!plugin)
        return jm_refuse(r, "no_descriptor", "%s: its jianmu_plugin_entry returned NULL", file->path);
    if (plugin->abi != JIANMU_ABI)
        return jm_refuse(r, "abi", "%s is built for ABI %u, and this is ABI %u; it must be built again with this "
                         "jianmu-plugin.h", file->path, (unsigned)plugin->abi, JIANMU_ABI);
    if (plugin->size < JM_FIRST_PLUGIN)
        return jm_refuse(r, "size", "%s: its struct jianmu_plugin has %u bytes, less than the %u of the first release",
                         file->path, (unsigned)plugin->size, JM_FIRST_PLUGIN);
    if (!plugin->items || !plugin->count || plugin->count > JM_NOTES)
        return jm_refuse(r, "no_descriptor", "%s: its struct jianmu_plugin lists %u items, not 1 to %u", file->path,
                         plugin->items ? (unsigned)plugin->count : 0, JM_NOTES);
    return 0;
}

static int open_module(jm_registry *registry, struct jm_file *file, struct jm_refusal *r)
{
    jm_auto_place struct jm_place dir = JM_PLACE_INIT;
    jm_auto_place struct jm_place place = JM_PLACE_INIT;
    struct jm_notes notes = {0};
    const char *slash = strrchr(file->path, '/');
    jm_auto_free char *parent = strndup(file->path, (size_t)(slash - file->path));
    if (!parent)
        return jm_refuse_errno(r, "unreadable", ENOMEM, "%s", file->path);
    int rc = jm_trust_dir(parent, &dir, r);
    if (rc)
        return rc < 0 ? -1 : jm_refuse(r, "unreadable", "%s is no longer there", parent);
    if (jm_trust_file(&dir, slash + 1, &place, r) || jm_inspect(place.fd, file->path, file->kind, &notes, r))
        return -1;
    rc = same_notes(registry, file, &notes, r);
    jm_notes_free(&notes);
    if (rc || !(file->module = jm_module_open(place.fd, place.real, r)))
        return -1;
    file->plugin = jm_module_entry(file->module)();
    if (check_plugin(file, r)) {
        jm_module_close(file->module);
        file->module = NULL;
        file->plugin = NULL;
        return -1;
    }
    return 0;
}

/* The heads are compared before the rest, since the descriptor's note may be a shorter one. */
static bool is_note(const void *note, const struct jm_note *read)
{
    return note && !memcmp(note, read->raw, sizeof(struct jianmu_note_head)) && !memcmp(note, read->raw, read->raw_len);
}

static const struct jianmu_head *find_head(const struct jm_entry_item *entry, struct jm_refusal *r)
{
    const struct jianmu_plugin *plugin = entry->file->plugin;
    const struct jm_item *item = &entry->item;
    for (uint32_t i = 0; i < plugin->count; i++) {
        const struct jianmu_head *head = plugin->items[i];
        if (!head)
            continue;
        if (head->size < JM_FIRST_HEAD) {
            jm_refuse(r, "size", "%s: descriptor %u has %u bytes, less than its head", item->path, (unsigned)i,
                      (unsigned)head->size);
            return NULL;
        }
        if (is_note(head->note, &entry->note))
            return head;
    }
    jm_refuse(r, "mismatch", "%s: no descriptor belongs to the note of \"%s\"; is JIANMU_ITEM(%s) missing in its "
              "JIANMU_PLUGIN?", item->path, item->name, item->name);
    return NULL;
}

static int check_callbacks(const struct jm_item *item, struct jm_refusal *r)
{
    const char *missing = NULL;
    if (item->kind == JIANMU_KIND_TOOL)
        missing = item->plugin.tool.run ? NULL : "run";
    else if (item->kind == JIANMU_KIND_BACKEND)
        missing = !item->plugin.backend.run_job ? "run_job" : item->plugin.backend.run_tool ? NULL : "run_tool";
    else if (item->kind == JIANMU_KIND_GUARD)
        missing = item->plugin.guard.decide ? NULL : "decide";
    else
        missing = item->plugin.sink.event ? NULL : "event";
    if (!missing)
        return 0;
    return jm_refuse(r, "callback", "%s: the %s \"%s\" has no %s callback", item->path, jm_kind_name(item->kind),
                     item->name, missing);
}

/* What a descriptor of that kind had in the first release, and has now. */
static void sizes_of(uint32_t kind, uint32_t *first, size_t *today)
{
    static const struct { uint32_t first; size_t today; } sizes[] = {
        [JIANMU_KIND_TOOL] = {JM_FIRST_TOOL, sizeof(struct jianmu_tool_plugin)},
        [JIANMU_KIND_BACKEND] = {JM_FIRST_BACKEND, sizeof(struct jianmu_backend_plugin)},
        [JIANMU_KIND_GUARD] = {JM_FIRST_GUARD, sizeof(struct jianmu_guard_plugin)},
        [JIANMU_KIND_SINK] = {JM_FIRST_SINK, sizeof(struct jianmu_sink_plugin)}};
    *first = sizes[kind].first;
    *today = sizes[kind].today;
}

static int take_descriptor(struct jm_entry_item *entry, struct jm_refusal *r)
{
    struct jm_item *item = &entry->item;
    const struct jianmu_head *head = find_head(entry, r);
    uint32_t first;
    size_t today;
    sizes_of(item->kind, &first, &today);
    if (!head)
        return -1;
    if (head->abi != JIANMU_ABI)
        return jm_refuse(r, "abi", "%s: \"%s\" is built for ABI %u, and this is ABI %u", item->path, item->name,
                         (unsigned)head->abi, JIANMU_ABI);
    if (head->kind != item->kind)
        return jm_refuse(r, "mismatch", "%s: the note of \"%s\" says %s, its descriptor does not", item->path,
                         item->name, jm_kind_name(item->kind));
    if (head->size < first)
        return jm_refuse(r, "size", "%s: the descriptor of \"%s\" has %u bytes, less than the %u of the first release",
                         item->path, item->name, (unsigned)head->size, (unsigned)first);
    memset(&item->plugin, 0, sizeof item->plugin);
    memcpy(&item->plugin, head, head->size < today ? head->size : today);
    return check_callbacks(item, r);
}

static int load(jm_registry *registry, struct jm_entry_item *entry, struct jm_refusal *r)
{
    if (!entry->file->module && open_module(registry, entry->file, r))
        return -1;
    if (take_descriptor(entry, r))
        return -1;
    entry->item.module = entry->file->module;
    entry->item.loaded = true;
    return 0;
}

int jm_item_load(jm_registry *registry, struct jm_item *item, jianmu_error **err)
{
    struct jm_refusal r = {0};
    int rc = 0;
    pthread_mutex_lock(&registry->lock);
    if (item->state != JM_USABLE) {
        rc = jm_fail(err, JIANMU_UNAVAILABLE, "%s", item->sentence);
    } else if (!item->loaded && load(registry, (struct jm_entry_item *)item, &r)) {
        rc = jm_fail_refused(err, &r, item->path);
        if (!r.shortage)
            jm_item_refuse(item, &r);
        jm_refusal_free(&r);
    }
    pthread_mutex_unlock(&registry->lock);
    return rc;
}

void jm_item_pin(jm_registry *registry, struct jm_item *item)
{
    pthread_mutex_lock(&registry->lock);
    if (item->module)
        jm_module_pin(item->module);
    pthread_mutex_unlock(&registry->lock);
}
