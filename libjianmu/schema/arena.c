/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "schema/compiler.h"
#include <stdalign.h>

struct jm_block {
    struct jm_block *next;
    size_t used, room;
    alignas(max_align_t) char bytes[];
};

enum { BLOCK = 4000 };

void *jm_schema_take(struct jm_compiler *c, size_t size)
{
    struct jm_block *block = c->schema->blocks;
    size = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (!block || block->room - block->used < size) {
        size_t room = size > BLOCK ? size : BLOCK;
        block = calloc(1, sizeof *block + room);
        if (!block) {
            jm_fail_memory(c->err);
            return NULL;
        }
        block->room = room;
        block->next = c->schema->blocks;
        c->schema->blocks = block;
    }
    void *taken = block->bytes + block->used;
    block->used += size;
    return taken;
}

void jm_schema_blocks_free(struct jm_block *blocks)
{
    while (blocks) {
        struct jm_block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}
