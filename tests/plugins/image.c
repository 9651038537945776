/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "image.h"
#include "jianmu-plugin.h"
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEADS (sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr))

void image_begin(struct jm_buffer *image)
{
    const uint16_t one = 1;
    Elf64_Ehdr head = {.e_type = ET_DYN, .e_version = EV_CURRENT, .e_phoff = sizeof head, .e_ehsize = sizeof head,
                       .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1};
#if defined __aarch64__
    head.e_machine = EM_AARCH64;
#else
    head.e_machine = EM_X86_64;
#endif
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;
    head.e_ident[EI_VERSION] = EV_CURRENT;
    Elf64_Phdr segment = {.p_type = PT_NOTE, .p_offset = HEADS};
    *image = (struct jm_buffer){0};
    jm_buffer_add(image, &head, sizeof head);
    jm_buffer_add(image, &segment, sizeof segment);
}

static void fill(struct jm_buffer *image, size_t align)
{
    while (image->len % align)
        jm_buffer_add(image, "", 1);
}

void image_note(struct jm_buffer *image, const char *owner, uint32_t type, const void *desc, size_t len, size_t align)
{
    Elf64_Nhdr head = {(uint32_t)strlen(owner) + 1, (uint32_t)len, type};
    jm_buffer_add(image, &head, sizeof head);
    jm_buffer_add(image, owner, strlen(owner) + 1);
    fill(image, align);
    jm_buffer_add(image, desc, len);
    fill(image, align);
}

void image_tool(struct jm_buffer *image, const char *name, const char *text, const char *json)
{
    struct jianmu_note_head head = {JIANMU_ABI, JIANMU_KIND_TOOL, JIANMU_DANGER_READ, (uint32_t)strlen(name) + 1,
                                    (uint32_t)strlen(text) + 1, (uint32_t)strlen(json) + 1, 0, 0};
    struct jm_buffer desc = {0};
    jm_buffer_add(&desc, &head, sizeof head);
    jm_buffer_add(&desc, name, head.name_len);
    jm_buffer_add(&desc, text, head.text_len);
    jm_buffer_add(&desc, json, head.json_len);
    image_note(image, "jianmu", JIANMU_NOTE_TYPE, desc.data, desc.len, 4);
    jm_buffer_free(&desc);
}

void image_end(struct jm_buffer *image, size_t align)
{
    Elf64_Phdr segment;
    memcpy(&segment, image->data + sizeof(Elf64_Ehdr), sizeof segment);
    segment.p_filesz = segment.p_memsz = image->len - HEADS;
    segment.p_align = align;
    memcpy(image->data + sizeof(Elf64_Ehdr), &segment, sizeof segment);
}

int image_fd(const struct jm_buffer *image)
{
    int fd = memfd_create("image", MFD_CLOEXEC);
    if (fd >= 0 && write(fd, image->data, image->len) != (ssize_t)image->len) {
        close(fd);
        return -1;
    }
    return fd;
}
