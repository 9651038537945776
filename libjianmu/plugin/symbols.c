/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "plugin/symbols.h"
#include <string.h>

#define MOST_SYMBOLS 65536u
#define MOST_DYNAMIC 512u

struct table {
    struct jm_elf *elf;
    uint64_t symbols, strings, strings_len, gnu_hash, hash;
};

static int damaged(struct jm_elf *elf, struct jm_refusal *r)
{
    return jm_refuse(r, "not_elf", "%s has a damaged table of symbols", elf->path);
}

static void note_entry(struct table *t, const Elf64_Dyn *d)
{
    switch (d->d_tag) {
    case DT_SYMTAB: t->symbols = d->d_un.d_ptr; break;
    case DT_STRTAB: t->strings = d->d_un.d_ptr; break;
    case DT_STRSZ: t->strings_len = d->d_un.d_val; break;
    case DT_GNU_HASH: t->gnu_hash = d->d_un.d_ptr; break;
    case DT_HASH: t->hash = d->d_un.d_ptr; break;
    }
}

static bool read_dynamic(struct table *t)
{
    for (unsigned i = 0; i < t->elf->count; i++) {
        const Elf64_Phdr *s = &t->elf->segments[i];
        if (s->p_type != PT_DYNAMIC)
            continue;
        uint64_t n = s->p_filesz / sizeof(Elf64_Dyn);
        for (uint64_t k = 0; k < n && k < MOST_DYNAMIC; k++) {
            Elf64_Dyn d;
            if (!jm_elf_read(t->elf, &d, sizeof d, s->p_offset + k * sizeof d) || d.d_tag == DT_NULL)
                break;
            note_entry(t, &d);
        }
    }
    return t->symbols && t->strings;
}

static bool read_symbol(const struct table *t, uint32_t i, Elf64_Sym *symbol)
{
    return jm_elf_read_at(t->elf, symbol, sizeof *symbol, t->symbols + (uint64_t)i * sizeof *symbol);
}

/* The first bytes of a name, always ended. */
static bool read_name(const struct table *t, const Elf64_Sym *symbol, char name[64])
{
    memset(name, 0, 64);
    if (symbol->st_name >= t->strings_len)
        return false;
    uint64_t left = t->strings_len - symbol->st_name;
    return jm_elf_read_at(t->elf, name, left < 63 ? (size_t)left : 63, t->strings + symbol->st_name);
}

static bool is_entry(const struct table *t, uint32_t i)
{
    Elf64_Sym symbol;
    char name[64];
    if (!read_symbol(t, i, &symbol) || symbol.st_shndx == SHN_UNDEF)
        return false;
    unsigned bind = ELF64_ST_BIND(symbol.st_info), seen = ELF64_ST_VISIBILITY(symbol.st_other);
    if ((bind != STB_GLOBAL && bind != STB_WEAK) || (seen != STV_DEFAULT && seen != STV_PROTECTED))
        return false;
    return read_name(t, &symbol, name) && !strcmp(name, JM_ENTRY);
}

static uint32_t gnu_hash(const char *name)
{
    uint32_t h = 5381;
    for (; *name; name++)
        h = h * 33 + (unsigned char)*name;
    return h;
}

/* Looks the entry up as the dynamic linker does. *imports: how many symbols stand before the exported ones. */
static bool find_by_gnu_hash(const struct table *t, uint32_t *imports, bool *found)
{
    struct { uint32_t buckets, first, words, shift; } head;
    uint32_t i, value, hash = gnu_hash(JM_ENTRY);
    if (!jm_elf_read_at(t->elf, &head, sizeof head, t->gnu_hash) || !head.buckets)
        return false;
    uint64_t buckets = t->gnu_hash + sizeof head + (uint64_t)head.words * 8;
    uint64_t chains = buckets + (uint64_t)head.buckets * 4;
    *imports = head.first;
    *found = false;
    if (!jm_elf_read_at(t->elf, &i, sizeof i, buckets + (uint64_t)(hash % head.buckets) * 4))
        return false;
    for (unsigned steps = 0; i >= head.first && i && steps < MOST_SYMBOLS; i++, steps++) {
        if (!jm_elf_read_at(t->elf, &value, sizeof value, chains + (uint64_t)(i - head.first) * 4))
            return false;
        if ((value | 1) == (hash | 1) && is_entry(t, i)) {
            *found = true;
            return true;
        }
        if (value & 1)
            break;
    }
    return true;
}

static bool find_by_hash(const struct table *t, uint32_t *imports, bool *found)
{
    uint32_t head[2];
    if (!jm_elf_read_at(t->elf, head, sizeof head, t->hash))
        return false;
    *imports = head[1];
    *found = head[1] > MOST_SYMBOLS; /* too many to look at: the load will tell */
    for (uint32_t i = 1; i < head[1] && !*found; i++)
        *found = is_entry(t, i);
    return true;
}

/* Only names that are certainly ours: others may come from a library that the file brings along. */
static int check_imports(const struct table *t, uint32_t count, struct jm_refusal *r)
{
    for (uint32_t i = 1; i < count && i < MOST_SYMBOLS; i++) {
        Elf64_Sym symbol;
        char name[64];
        if (!read_symbol(t, i, &symbol))
            return damaged(t->elf, r);
        if (symbol.st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol.st_info) == STB_WEAK || !symbol.st_name)
            continue;
        if (!read_name(t, &symbol, name))
            return damaged(t->elf, r);
        if (!strncmp(name, "jianmu_", 7))
            return jm_refuse(r, "undefined_symbol", "%s needs the symbol %s, which no plug-in can have: what the core "
                             "does for plug-ins is reached through the services of their context", t->elf->path, name);
    }
    return 0;
}

int jm_symbols_check(struct jm_elf *elf, struct jm_refusal *r)
{
    struct table t = {.elf = elf};
    uint32_t imports = 0;
    bool found = false;
    if (read_dynamic(&t) && (t.gnu_hash || t.hash)) {
        if (!(t.gnu_hash ? find_by_gnu_hash(&t, &imports, &found) : find_by_hash(&t, &imports, &found)))
            return damaged(elf, r);
    }
    if (!found)
        return jm_refuse(r, "no_entry", "%s does not export %s: JIANMU_PLUGIN is missing in it", elf->path, JM_ENTRY);
    return check_imports(&t, imports, r);
}
