/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "files/arena.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST ((size_t)16 << 10)
#define LARGEST ((size_t)1 << 20)

struct jm_chunk {
    struct jm_chunk *next;
    char bytes[];
};

static struct jm_chunk *add_chunk(struct jm_arena *arena, size_t n)
{
    if (n > SIZE_MAX - sizeof(struct jm_chunk))
        return NULL;
    struct jm_chunk *chunk = malloc(sizeof *chunk + n);
    if (!chunk)
        return NULL;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

char *jm_arena_room(struct jm_arena *arena, size_t n)
{
    if (n <= arena->left)
        return arena->at;
    size_t size = arena->last < LARGEST ? arena->last * 2 : LARGEST;
    if (size < SMALLEST)
        size = SMALLEST;
    if (size < n)
        size = n;
    struct jm_chunk *chunk = add_chunk(arena, size);
    if (!chunk)
        return NULL;
    arena->at = chunk->bytes;
    arena->left = arena->last = size;
    return arena->at;
}

void jm_arena_take(struct jm_arena *arena, size_t n)
{
    arena->at += n;
    arena->left -= n;
}

char *jm_arena_block(struct jm_arena *arena, size_t n)
{
    struct jm_chunk *chunk = add_chunk(arena, n);
    return chunk ? chunk->bytes : NULL;
}

void jm_arena_drop_block(struct jm_arena *arena)
{
    struct jm_chunk *chunk = arena->chunks;
    arena->chunks = chunk->next;
    free(chunk);
}

char *jm_arena_text(struct jm_arena *arena, const char *text, size_t len)
{
    char *copy = jm_arena_room(arena, len + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, len);
    copy[len] = 0;
    jm_arena_take(arena, len + 1);
    return copy;
}

void jm_arena_free(struct jm_arena *arena)
{
    while (arena->chunks)
        jm_arena_drop_block(arena);
    *arena = (struct jm_arena){0};
}
