/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "schema/words.h"
#include "base/cleanup.h"
#include "base/text.h"
#include <string.h>

/* Sorted by name. */
static const struct word {
    const char *name;
    enum jm_holds holds;
} words[] = {
    {"$anchor", JM_HOLDS_NAME}, {"$comment", JM_HOLDS_NOTE}, {"$defs", JM_HOLDS_MAP}, {"$dynamicAnchor", JM_HOLDS_NAME},
    {"$dynamicRef", JM_HOLDS_NAME}, {"$id", JM_HOLDS_NAME}, {"$recursiveRef", JM_HOLDS_NAME}, {"$ref", JM_HOLDS_NAME},
    {"$schema", JM_HOLDS_NAME}, {"$vocabulary", JM_HOLDS_NAME}, {"additionalItems", JM_HOLDS_SCHEMA},
    {"additionalProperties", JM_HOLDS_SCHEMA}, {"allOf", JM_HOLDS_SCHEMAS}, {"anyOf", JM_HOLDS_SCHEMAS},
    {"const", JM_HOLDS_PLAIN}, {"contains", JM_HOLDS_SCHEMA}, {"contentEncoding", JM_HOLDS_NOTE},
    {"contentMediaType", JM_HOLDS_NOTE}, {"contentSchema", JM_HOLDS_NOTE}, {"default", JM_HOLDS_NOTE},
    {"definitions", JM_HOLDS_MAP}, {"dependencies", JM_HOLDS_MAP}, {"dependentRequired", JM_HOLDS_PLAIN},
    {"dependentSchemas", JM_HOLDS_MAP}, {"deprecated", JM_HOLDS_NOTE}, {"description", JM_HOLDS_NOTE},
    {"else", JM_HOLDS_SCHEMA}, {"enum", JM_HOLDS_PLAIN}, {"examples", JM_HOLDS_NOTE},
    {"exclusiveMaximum", JM_HOLDS_PLAIN}, {"exclusiveMinimum", JM_HOLDS_PLAIN}, {"format", JM_HOLDS_NOTE},
    {"if", JM_HOLDS_SCHEMA}, {"items", JM_HOLDS_SCHEMA}, {"maxContains", JM_HOLDS_PLAIN}, {"maxItems", JM_HOLDS_PLAIN},
    {"maxLength", JM_HOLDS_PLAIN}, {"maxProperties", JM_HOLDS_PLAIN}, {"maximum", JM_HOLDS_PLAIN},
    {"minContains", JM_HOLDS_PLAIN}, {"minItems", JM_HOLDS_PLAIN}, {"minLength", JM_HOLDS_PLAIN},
    {"minProperties", JM_HOLDS_PLAIN}, {"minimum", JM_HOLDS_PLAIN}, {"multipleOf", JM_HOLDS_PLAIN},
    {"not", JM_HOLDS_SCHEMA}, {"oneOf", JM_HOLDS_SCHEMAS}, {"pattern", JM_HOLDS_PLAIN},
    {"patternProperties", JM_HOLDS_MAP}, {"prefixItems", JM_HOLDS_SCHEMAS}, {"properties", JM_HOLDS_MAP},
    {"propertyNames", JM_HOLDS_SCHEMA}, {"readOnly", JM_HOLDS_NOTE}, {"required", JM_HOLDS_PLAIN},
    {"then", JM_HOLDS_SCHEMA}, {"title", JM_HOLDS_NOTE}, {"type", JM_HOLDS_PLAIN},
    {"unevaluatedItems", JM_HOLDS_SCHEMA}, {"unevaluatedProperties", JM_HOLDS_SCHEMA}, {"uniqueItems", JM_HOLDS_PLAIN},
    {"writeOnly", JM_HOLDS_NOTE}};

static int by_name(const void *name, const void *word)
{
    return strcmp(name, ((const struct word *)word)->name);
}

enum jm_holds jm_keyword_holds(const char *name, const json_t *value)
{
    const struct word *word = bsearch(name, words, jm_countof(words), sizeof *words, by_name);
    if (!word)
        return JM_HOLDS_UNKNOWN;
    if (word->holds == JM_HOLDS_SCHEMA && json_is_array(value)) /* draft-07's items */
        return JM_HOLDS_SCHEMAS;
    return word->holds;
}

const char *jm_keyword_nearest(const char *name)
{
    const char *names[jm_countof(words)];
    for (size_t i = 0; i < jm_countof(words); i++)
        names[i] = words[i].name;
    return jm_text_nearest(name, names, jm_countof(names));
}
