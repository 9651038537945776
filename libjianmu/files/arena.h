/* SPDX-License-Identifier: Apache-2.0
 * Many small pieces of memory with one end: nothing is freed but all of it. Zeroed is empty. */
#ifndef JM_ARENA_H
#define JM_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct jm_arena {
    struct jm_chunk *chunks;
    char *at;    /* what jm_arena_room gave and nobody took */
    size_t left, last;
};

/* n bytes, not taken yet: the next call gives the same again. NULL without memory. */
char *jm_arena_room(struct jm_arena *arena, size_t n);
void jm_arena_take(struct jm_arena *arena, size_t n); /* n: at most what was asked for */
/* n bytes of their own, for what is large; taken. NULL without memory. */
char *jm_arena_block(struct jm_arena *arena, size_t n);
void jm_arena_drop_block(struct jm_arena *arena); /* the last one, directly after it was made */
char *jm_arena_text(struct jm_arena *arena, const char *text, size_t len); /* copied, with a NUL; taken */
void jm_arena_free(struct jm_arena *arena);

#endif
