/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "plugin/item.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "plugin/symbols.h"
#include <string.h>

const char *jm_kind_name(uint32_t kind)
{
    static const char *const names[] = {[JIANMU_KIND_TOOL] = "tool", [JIANMU_KIND_BACKEND] = "backend",
                                        [JIANMU_KIND_GUARD] = "guard", [JIANMU_KIND_SINK] = "sink"};
    return names[kind];
}

/* Every file but a tool is asked for by its name, so what it says of itself must be the same. */
static int check_kind(const char *path, uint32_t kind, const struct jm_note *note, struct jm_refusal *r)
{
    const char *base = strrchr(path, '/') + 1;
    size_t stem = strlen(base) - strlen(".so");
    if (note->kind != kind)
        return jm_refuse(r, "kind", "%s: \"%s\" is not a %s, and this directory is for %ss", path, note->name,
                         jm_kind_name(kind), jm_kind_name(kind));
    if (kind != JIANMU_KIND_TOOL && (strlen(note->name) != stem || strncmp(note->name, base, stem)))
        return jm_refuse(r, "name", "%s is the %s \"%s\" and must be named %s.so", path, jm_kind_name(kind),
                         note->name, note->name);
    return 0;
}

int jm_inspect(int fd, const char *path, uint32_t kind, struct jm_notes *notes, struct jm_refusal *r)
{
    struct jm_elf elf;
    *notes = (struct jm_notes){0};
    if (jm_elf_open(&elf, fd, path, r) || jm_notes_read(&elf, notes, r))
        return -1;
    int rc = jm_symbols_check(&elf, r);
    for (size_t i = 0; i < notes->count && !rc; i++)
        rc = check_kind(path, kind, &notes->list[i], r);
    if (rc)
        jm_notes_free(notes);
    return rc;
}

void jm_item_refuse(struct jm_item *item, struct jm_refusal *r)
{
    free(item->sentence);
    item->state = JM_REFUSED;
    item->code = r->code;
    item->sentence = r->sentence;
    r->sentence = NULL;
    jm_refusal_free(r);
}

int jm_fail_refused(jianmu_error **err, const struct jm_refusal *r, const char *path)
{
    if (r->shortage == ENOMEM)
        return jm_fail_memory(err);
    if (r->shortage)
        return jm_fail_errno(err, JIANMU_INTERNAL, r->shortage, "%s cannot be opened", path);
    return jm_fail(err, JIANMU_UNAVAILABLE, "%s", r->sentence);
}
