/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "plugin/note.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "jianmu-plugin.h"
#include <stdlib.h>
#include <string.h>

/* Notes of others are stepped over, but not without end: a segment of empty ones would cost a read each. So are
 * words of zero, which clang's address sanitizer puts behind each note. */
#define MOST_FOREIGN 1024u
#define MOST_ZEROS 16384u
#define MOST_DEPTH 64u

static const char owner[8] = "jianmu";

static int bad(struct jm_elf *elf, struct jm_refusal *r, const char *what)
{
    return jm_refuse(r, "bad_note", "%s describes itself wrongly: %s", elf->path, what);
}

static bool name_is_good(const char *name)
{
    size_t len = strlen(name);
    if (len < 1 || len > 64 || !strchr("abcdefghijklmnopqrstuvwxyz0123456789", name[0]))
        return false;
    return strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == len;
}

/* 1 valid, 0 not, -1 no memory */
static int utf8_is_valid(const char *text, size_t len)
{
    size_t repaired_len;
    jm_auto_free char *repaired = jm_utf8_repair(text, len, &repaired_len);
    if (!repaired)
        return -1;
    return repaired_len == len && !memcmp(repaired, text, len);
}

/* jansson goes down by recursion, 2048 levels; this is what a description may need. */
static bool too_deep(const char *json)
{
    unsigned depth = 0;
    bool string = false;
    for (; *json; json++) {
        if (string) {
            if (*json == '\\' && json[1])
                json++;
            else if (*json == '"')
                string = false;
        } else if (*json == '"') {
            string = true;
        } else if (*json == '{' || *json == '[') {
            if (++depth > MOST_DEPTH)
                return true;
        } else if ((*json == '}' || *json == ']') && depth) {
            depth--;
        }
    }
    return false;
}

static int parse_json(struct jm_elf *elf, struct jm_note *note, const char *json, struct jm_refusal *r)
{
    json_error_t error;
    if (too_deep(json))
        return jm_refuse(r, "bad_note", "%s describes itself wrongly: the JSON of \"%s\" is nested more than %u deep",
                         elf->path, note->name, MOST_DEPTH);
    note->json = jm_json_parse(json, strlen(json), JSON_REJECT_DUPLICATES, &error);
    if (!note->json && json_error_code(&error) == json_error_out_of_memory)
        return jm_refuse_errno(r, "bad_note", ENOMEM, "%s", elf->path);
    if (!note->json)
        return jm_refuse(r, "bad_note", "%s describes itself wrongly: the JSON of \"%s\", line %d, column %d: %s",
                         elf->path, note->name, error.line, error.column, error.text);
    if (!json_is_object(note->json))
        return jm_refuse(r, "bad_note", "%s describes itself wrongly: the JSON of \"%s\" is not an object",
                         elf->path, note->name);
    return 0;
}

static int parse_texts(struct jm_elf *elf, struct jm_note *note, const struct jianmu_note_head *head,
                       struct jm_refusal *r)
{
    const char *name = note->raw + sizeof *head, *text = name + head->name_len, *json = text + head->text_len;
    if (strnlen(name, head->name_len) != head->name_len - 1 || strnlen(text, head->text_len) != head->text_len - 1 ||
        strnlen(json, head->json_len) != head->json_len - 1)
        return bad(elf, r, "a text in its note does not end where it should");
    if (!name_is_good(name)) {
        size_t len;
        jm_auto_free char *shown = jm_utf8_repair(name, strnlen(name, 100), &len);
        if (!shown)
            return jm_refuse_errno(r, "name", ENOMEM, "%s", elf->path);
        return jm_refuse(r, "name", "%s: \"%s\" is no name; one is 1 to 64 of a-z, 0-9, \"_\" and \"-\", and begins "
                         "with a letter or digit", elf->path, shown);
    }
    note->name = name;
    note->text = text;
    int valid = utf8_is_valid(text, head->text_len - 1);
    if (valid < 0)
        return jm_refuse_errno(r, "bad_note", ENOMEM, "%s", elf->path);
    if (!valid)
        return bad(elf, r, "its text is not UTF-8");
    return parse_json(elf, note, json, r);
}

static int parse(struct jm_elf *elf, struct jm_note *note, struct jm_refusal *r)
{
    struct jianmu_note_head head;
    uint32_t abi;
    if (note->raw_len < sizeof abi)
        return bad(elf, r, "its note is too short");
    memcpy(&abi, note->raw, sizeof abi);
    if (abi != JIANMU_ABI)
        return jm_refuse(r, "abi", "%s is built for ABI %u, and this is ABI %u; it must be built again with this "
                         "jianmu-plugin.h", elf->path, (unsigned)abi, JIANMU_ABI);
    if (note->raw_len < sizeof head)
        return bad(elf, r, "its note is too short");
    memcpy(&head, note->raw, sizeof head);
    uint64_t need = sizeof head + (uint64_t)head.name_len + head.text_len + head.json_len;
    if (!head.name_len || !head.text_len || !head.json_len || need > note->raw_len)
        return bad(elf, r, "the lengths in its note do not fit");
    note->raw_len = (size_t)need;
    note->kind = head.kind;
    note->danger = head.danger;
    note->flags = (uint64_t)head.flags_high << 32 | head.flags;
    if (head.kind == JIANMU_KIND_TOOL && (head.danger < JIANMU_DANGER_READ || head.danger > JIANMU_DANGER_DANGEROUS))
        return bad(elf, r, "a tool must say whether it reads, writes or is dangerous");
    return parse_texts(elf, note, &head, r);
}

static int add(struct jm_elf *elf, struct jm_notes *notes, uint64_t offset, uint32_t len, struct jm_refusal *r)
{
    if (notes->count == JM_NOTES)
        return jm_refuse(r, "bad_note", "%s describes itself wrongly: it has more than %u notes", elf->path, JM_NOTES);
    if (len > JM_NOTE_BYTES)
        return jm_refuse(r, "bad_note", "%s describes itself wrongly: a note of %u bytes is longer than %u", elf->path,
                         (unsigned)len, JM_NOTE_BYTES);
    struct jm_note *list = realloc(notes->list, (notes->count + 1) * sizeof *list);
    if (!list)
        return jm_refuse_errno(r, "bad_note", ENOMEM, "%s", elf->path);
    notes->list = list;
    struct jm_note *note = &list[notes->count++];
    *note = (struct jm_note){.raw = malloc(len + 1u), .raw_len = len};
    if (!note->raw)
        return jm_refuse_errno(r, "bad_note", ENOMEM, "%s", elf->path);
    if (!jm_elf_read(elf, note->raw, len, offset))
        return jm_refuse(r, "truncated", "%s is cut short: its note is missing", elf->path);
    if (parse(elf, note, r))
        return -1;
    for (size_t i = 0; i + 1 < notes->count; i++)
        if (!strcmp(list[i].name, note->name))
            return jm_refuse(r, "bad_note", "%s describes itself wrongly: it has \"%s\" twice", elf->path, note->name);
    return 0;
}

static uint64_t up(uint64_t n, uint64_t align)
{
    return (n + align - 1) & ~(align - 1);
}

struct steps {
    unsigned notes, zeros;
};

/* Notes are aligned to 4 bytes or, in segments that say so, to 8. All sums stay far below 2^64: offsets are
 * within the file, the lengths are of 32 bits. */
static int walk_segment(struct jm_elf *elf, const Elf64_Phdr *segment, struct jm_notes *notes,
                        struct steps *steps, struct jm_refusal *r)
{
    uint64_t align = segment->p_align == 8 ? 8 : 4, at = segment->p_offset, end = at + segment->p_filesz;
    while (at < end && end - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr head;
        char name[sizeof owner];
        if (!jm_elf_read(elf, &head, sizeof head, at))
            return jm_refuse(r, "truncated", "%s is cut short: its note is missing", elf->path);
        uint64_t desc = up(at + sizeof head + head.n_namesz, align);
        bool zero = !head.n_namesz; /* no note is without a name */
        uint64_t next = zero ? at + 4 : up(desc + head.n_descsz, align);
        if (zero ? ++steps->zeros > MOST_ZEROS : ++steps->notes > MOST_FOREIGN)
            return jm_refuse(r, "bad_note", "%s describes itself wrongly: it has more than %u notes of all kinds",
                             elf->path, MOST_FOREIGN);
        if (head.n_type == JIANMU_NOTE_TYPE && head.n_namesz == strlen(owner) + 1 &&
            jm_elf_read(elf, name, head.n_namesz, at + sizeof head) && !memcmp(name, owner, head.n_namesz)) {
            if (desc > end || head.n_descsz > end - desc)
                return bad(elf, r, "its note is longer than its segment");
            if (add(elf, notes, desc, head.n_descsz, r))
                return -1;
        }
        at = next;
    }
    return 0;
}

/* Compilers lay objects out in an order of their own. */
static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct jm_note *)a)->name, ((const struct jm_note *)b)->name);
}

int jm_notes_read(struct jm_elf *elf, struct jm_notes *notes, struct jm_refusal *r)
{
    struct steps steps = {0};
    *notes = (struct jm_notes){0};
    for (unsigned i = 0; i < elf->count; i++) {
        if (elf->segments[i].p_type != PT_NOTE)
            continue;
        if (walk_segment(elf, &elf->segments[i], notes, &steps, r)) {
            jm_notes_free(notes);
            return -1;
        }
    }
    if (!notes->count)
        return jm_refuse(r, "no_note", "%s has no note of jianmu: it is some other shared object, or was built without "
                         "JIANMU_TOOL or JIANMU_BACKEND", elf->path);
    qsort(notes->list, notes->count, sizeof *notes->list, by_name);
    return 0;
}

void jm_note_clear(struct jm_note *note)
{
    free(note->raw);
    json_decref(note->json);
    *note = (struct jm_note){0};
}

void jm_notes_free(struct jm_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        jm_note_clear(&notes->list[i]);
    free(notes->list);
    *notes = (struct jm_notes){0};
}
