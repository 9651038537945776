/* SPDX-License-Identifier: Apache-2.0
 * Which rules, rates and budgets speak of a tool is worked out at its first call. There may be so many tools; names
 * that nobody has cannot fill this, as a tool is looked up before it is judged. */
#include "config.h"
#include "policy/policy.h"
#include <stdlib.h>
#include <string.h>

static const struct tool *look(struct policy *p, const char *name, uint64_t hash)
{
    const struct tool *tool = atomic_load_explicit(&p->tools[hash % TOOLS], memory_order_acquire);
    while (tool && (tool->hash != hash || strcmp(tool->name, name)))
        tool = tool->next;
    return tool;
}

static void free_tool(struct tool *tool)
{
    free(tool->rules[OWN]);
    free(tool->rules[POLICY]);
    free(tool->charges);
    free(tool);
}

/* The rules whose pattern for tools fits; -1 where that cannot be said. */
static int choose(const struct globs *globs, const char *name, size_t i, size_t *list, size_t *count)
{
    int fits = policy_globs_fit(globs, name);
    if (fits == 1)
        list[(*count)++] = i;
    return fits < 0 ? -1 : 0;
}

static struct tool *make(const struct policy *p, const char *name, uint64_t hash)
{
    size_t len = strlen(name) + 1;
    int bad = 0;
    struct tool *tool = calloc(1, sizeof *tool + len);
    if (!tool)
        return NULL;
    memcpy(tool->name, name, len);
    tool->hash = hash;
    tool->charges = calloc(p->charge_count + 1, sizeof *tool->charges);
    for (size_t set = 0; set < 2; set++) {
        const struct set *s = &p->sets[set];
        tool->rules[set] = calloc(s->count + 1, sizeof *tool->rules[set]);
        for (size_t i = 0; i < s->count && tool->rules[set]; i++)
            bad |= choose(&s->rules[i].tool, name, i, tool->rules[set], &tool->rule_count[set]);
    }
    for (size_t i = 0; i < p->charge_count && tool->charges; i++)
        bad |= choose(&p->charges[i].tool, name, i, tool->charges, &tool->charge_count);
    if (!bad && tool->charges && tool->rules[OWN] && tool->rules[POLICY])
        return tool;
    free_tool(tool);
    return NULL;
}

const struct tool *policy_tool(struct policy *p, const char *name)
{
    uint64_t hash = policy_hash(name);
    const struct tool *found = look(p, name, hash);
    if (found)
        return found;
    pthread_mutex_lock(&p->lock);
    found = look(p, name, hash);
    struct tool *tool = found ? NULL : make(p, name, hash);
    if (tool) {
        tool->next = atomic_load_explicit(&p->tools[hash % TOOLS], memory_order_relaxed);
        atomic_store_explicit(&p->tools[hash % TOOLS], tool, memory_order_release);
        found = tool;
    }
    pthread_mutex_unlock(&p->lock);
    return found;
}
