/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "plugin/elf.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#if defined __x86_64__
#define OWN_MACHINE EM_X86_64
#elif defined __aarch64__
#define OWN_MACHINE EM_AARCH64
#else
#error "write down the ELF machine number"
#endif
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER ELFDATA2LSB
#else
#define OWN_ORDER ELFDATA2MSB
#endif

static bool read_all(int fd, char *p, size_t len, uint64_t offset)
{
    while (len) {
        ssize_t n = pread(fd, p, len, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        len -= (size_t)n;
        offset += (uint64_t)n;
    }
    return true;
}

bool jm_elf_read(struct jm_elf *elf, void *to, size_t len, uint64_t offset)
{
    if (offset > elf->size || len > elf->size - offset)
        return false;
    if (len > sizeof elf->window)
        return read_all(elf->fd, to, len, offset);
    if (offset < elf->window_at || len > elf->window_len || offset - elf->window_at > elf->window_len - len) {
        uint64_t rest = elf->size - offset;
        size_t most = rest < sizeof elf->window ? (size_t)rest : sizeof elf->window;
        elf->window_len = 0;
        if (!read_all(elf->fd, elf->window, most, offset))
            return read_all(elf->fd, to, len, offset); /* it shrank: the part that was asked for may still be there */
        elf->window_at = offset;
        elf->window_len = most;
    }
    memcpy(to, elf->window + (offset - elf->window_at), len);
    return true;
}

bool jm_elf_read_at(struct jm_elf *elf, void *to, size_t len, uint64_t address)
{
    for (unsigned i = 0; i < elf->count; i++) {
        const Elf64_Phdr *s = &elf->segments[i];
        if (s->p_type != PT_LOAD || address < s->p_vaddr || address - s->p_vaddr >= s->p_filesz)
            continue;
        uint64_t in = address - s->p_vaddr;
        return len <= s->p_filesz - in && jm_elf_read(elf, to, len, s->p_offset + in);
    }
    return false;
}

static const char *machine_name(unsigned machine, char number[24])
{
    switch (machine) {
    case EM_386: return "i386";
    case EM_X86_64: return "x86_64";
    case EM_ARM: return "arm";
    case EM_AARCH64: return "aarch64";
    case EM_RISCV: return "riscv";
    case EM_PPC: return "powerpc";
    case EM_PPC64: return "powerpc64";
    case EM_S390: return "s390";
    case EM_MIPS: return "mips";
    }
    snprintf(number, 24, "machine %u", machine);
    return number;
}

static int check_machine(struct jm_elf *elf, const unsigned char *ident, uint16_t machine, struct jm_refusal *r)
{
    char theirs[24], ours[24];
    unsigned class = ident[EI_CLASS] == ELFCLASS32 ? 32 : ident[EI_CLASS] == ELFCLASS64 ? 64 : 0;
    bool swapped = ident[EI_DATA] != OWN_ORDER;
    unsigned number = swapped ? (unsigned)(uint16_t)(machine >> 8 | machine << 8) : machine;
    if (class == 64 && !swapped && number == OWN_MACHINE)
        return 0;
    return jm_refuse(r, "architecture", "%s is built for %u-bit %s%s, and this is 64-bit %s", elf->path, class,
                     machine_name(number, theirs), swapped ? " of the other byte order" : "",
                     machine_name(OWN_MACHINE, ours));
}

/* A mapped page beyond the end of its file is SIGBUS, so all that will be mapped must be there. */
static int check_segments(struct jm_elf *elf, struct jm_refusal *r)
{
    for (unsigned i = 0; i < elf->count; i++) {
        const Elf64_Phdr *s = &elf->segments[i];
        if (s->p_type != PT_LOAD && s->p_type != PT_NOTE && s->p_type != PT_DYNAMIC)
            continue;
        if (s->p_offset > elf->size || s->p_filesz > elf->size - s->p_offset)
            return jm_refuse(r, "truncated", "%s is cut short: it has %llu bytes, and segment %u ends behind them",
                             elf->path, (unsigned long long)elf->size, i);
    }
    return 0;
}

int jm_elf_open(struct jm_elf *elf, int fd, const char *path, struct jm_refusal *r)
{
    struct stat st;
    Elf64_Ehdr head;
    *elf = (struct jm_elf){.fd = fd, .path = path};
    if (fstat(fd, &st))
        return jm_refuse_errno(r, "unreadable", errno, "%s", path);
    if (!S_ISREG(st.st_mode))
        return jm_refuse(r, "not_regular", "%s is not a regular file", path);
    elf->size = (uint64_t)st.st_size;
    if (elf->size == 0)
        return jm_refuse(r, "truncated", "%s is empty", path);
    memset(&head, 0, sizeof head);
    size_t have = elf->size < sizeof head ? (size_t)elf->size : sizeof head;
    if (!jm_elf_read(elf, &head, have, 0))
        return jm_refuse(r, "unreadable", "%s cannot be read", path);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG))
        return jm_refuse(r, "not_elf", "%s is not an ELF file", path);
    if (have < sizeof head)
        return jm_refuse(r, "truncated", "%s is cut short: %zu bytes are less than its head", path, have);
    if (check_machine(elf, head.e_ident, head.e_machine, r))
        return -1;
    if (head.e_type != ET_DYN || head.e_phentsize != sizeof(Elf64_Phdr) || !head.e_phnum)
        return jm_refuse(r, "not_elf", "%s is an ELF file, but not a shared object", path);
    if (head.e_phnum > JM_ELF_SEGMENTS)
        return jm_refuse(r, "not_elf", "%s has %u segments, more than %u", path, head.e_phnum, JM_ELF_SEGMENTS);
    elf->count = head.e_phnum;
    if (!jm_elf_read(elf, elf->segments, elf->count * sizeof(Elf64_Phdr), head.e_phoff))
        return jm_refuse(r, "truncated", "%s is cut short: its table of segments is missing", path);
    return check_segments(elf, r);
}
