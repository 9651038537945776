/* SPDX-License-Identifier: Apache-2.0
 * What is left, by key. It holds so many keys and no more: those that are as good as new make room. */
#include "config.h"
#include "policy/policy.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 10000, SWEEP_EVERY_NS = 100000000 };

uint64_t policy_hash(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return h;
}

struct slot *table_find(const struct table *table, const char *key)
{
    if (!table->buckets)
        return NULL;
    uint64_t hash = policy_hash(key);
    struct slot *slot = table->heads[hash & (table->buckets - 1)];
    while (slot && (slot->hash != hash || strcmp(slot->key, key)))
        slot = slot->next;
    return slot;
}

static void sweep(struct table *table, int64_t now, bool (*spent)(const struct slot *, int64_t, const void *),
                  const void *data)
{
    for (size_t i = 0; i < table->buckets; i++) {
        for (struct slot **at = &table->heads[i]; *at;) {
            struct slot *slot = *at;
            if (slot->open || !spent(slot, now, data)) {
                at = &slot->next;
                continue;
            }
            *at = slot->next;
            free(slot);
            table->count--;
        }
    }
    table->swept = now;
}

static int grow(struct table *table)
{
    size_t buckets = table->buckets ? 4 * table->buckets : 4;
    struct slot **heads = calloc(buckets, sizeof *heads);
    if (!heads)
        return -1;
    for (size_t i = 0; i < table->buckets; i++) {
        for (struct slot *slot = table->heads[i], *next; slot; slot = next) {
            next = slot->next;
            slot->next = heads[slot->hash & (buckets - 1)];
            heads[slot->hash & (buckets - 1)] = slot;
        }
    }
    free(table->heads);
    table->heads = heads;
    table->buckets = buckets;
    return 0;
}

struct slot *table_add(struct table *table, const char *key, int64_t now,
                       bool (*spent)(const struct slot *slot, int64_t now, const void *data), const void *data,
                       bool *full)
{
    size_t len = strlen(key) + 1;
    *full = false;
    if (table->count >= MOST && (!table->swept || now - table->swept >= SWEEP_EVERY_NS))
        sweep(table, now, spent, data);
    if (table->count >= MOST) {
        *full = true;
        return NULL;
    }
    if (table->count >= table->buckets && grow(table))
        return NULL;
    struct slot *slot = calloc(1, sizeof *slot + len);
    if (!slot)
        return NULL;
    memcpy(slot->key, key, len);
    slot->hash = policy_hash(key);
    slot->used = now;
    slot->next = table->heads[slot->hash & (table->buckets - 1)];
    table->heads[slot->hash & (table->buckets - 1)] = slot;
    table->count++;
    return slot;
}

void table_free(struct table *table)
{
    for (size_t i = 0; i < table->buckets; i++) {
        for (struct slot *slot = table->heads[i], *next; slot; slot = next) {
            next = slot->next;
            free(slot);
        }
    }
    free(table->heads);
}
