/* SPDX-License-Identifier: Apache-2.0
 * A schema as its readers elsewhere like it: draft 2020-12 without saying so, and each $ref replaced by what it leads
 * to, since many APIs take neither. It means what it meant. */
#include "config.h"

#include "schema/formats.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "schema/uri.h"
#include "schema/words.h"
#include <string.h>

enum { DEEPEST = 64, MOST = 10000 };

struct inliner {
    const json_t *root;
    bool draft_7;
    unsigned made;
    jianmu_error **err;
};

static json_t *one(struct inliner *in, const json_t *schema, int depth);

static json_t *fail(struct inliner *in, const char *what)
{
    jm_fail(in->err, JIANMU_INVALID, "%s", what);
    return NULL;
}

/* What "#" or "#/a/b" leads to. */
static const json_t *target(struct inliner *in, const char *reference)
{
    int bad = reference[0] != '#' || (reference[1] && reference[1] != '/');
    jm_auto_free char *pointer = bad ? NULL : jm_uri_decode(reference + 1, &bad);
    const json_t *json = in->root;
    if (!pointer && !bad) {
        jm_fail_memory(in->err);
        return NULL;
    }
    for (const char *at = pointer; at && json && *at;) {
        size_t len = strcspn(++at, "/");
        json = jm_pointer_step(json, at, len);
        at += len;
    }
    if (bad || !json)
        jm_fail(in->err, JIANMU_INVALID, "the $ref \"%.200s\" cannot be replaced by what it leads to", reference);
    return bad ? NULL : json;
}

/* All members of a list or an object of schemas. dependencies may hold lists of names. */
static json_t *several(struct inliner *in, const json_t *schemas, int depth)
{
    jm_auto_json json_t *made = json_is_object(schemas) ? json_object() : json_array();
    const char *name;
    json_t *item;
    size_t i;
    int bad = made ? 0 : -1;
    json_object_foreach((json_t *)schemas, name, item)
        bad = bad || json_object_set_new_nocheck(made, name, one(in, item, depth));
    json_array_foreach(schemas, i, item)
        bad = bad || json_array_append_new(made, one(in, item, depth));
    if (bad)
        jm_fail_memory(in->err); /* unless one of them failed: the first failure stays */
    return bad ? NULL : jm_steal(made);
}

/* draft-07's dependencies become what 2020-12 has for them. */
static int dependencies(struct inliner *in, json_t *made, const json_t *map, int depth)
{
    const char *name;
    json_t *item;
    json_object_foreach((json_t *)map, name, item) {
        const char *word = json_is_array(item) ? "dependentRequired" : "dependentSchemas";
        json_t *to = json_object_get(made, word);
        json_t *value = json_is_array(item) ? jm_json_deep_copy(item) : one(in, item, depth);
        if (!to && json_object_set_new(made, word, to = json_object()))
            to = NULL;
        if (!value || !to || json_object_set_new_nocheck(to, name, value)) {
            if (value && !to)
                json_decref(value);
            return jm_fail_memory(in->err);
        }
    }
    return 0;
}

static int member(struct inliner *in, json_t *made, const char *name, const json_t *value, int depth)
{
    enum jm_holds holds = jm_keyword_holds(name, value);
    bool tuple = !strcmp(name, "items") && json_is_array(value);
    json_t *new = NULL;
    if (holds == JM_HOLDS_NAME || !strcmp(name, "$defs") || !strcmp(name, "definitions") || !strcmp(name, "$comment"))
        return 0;
    if (!strcmp(name, "dependencies"))
        return dependencies(in, made, value, depth);
    if (holds == JM_HOLDS_SCHEMA)
        new = one(in, value, depth);
    else if (holds >= JM_HOLDS_SCHEMAS)
        new = several(in, value, depth);
    else
        new = jm_json_deep_copy(value);
    if (!new || json_object_set_new_nocheck(made, tuple ? "prefixItems" : name, new))
        return jm_fail_memory(in->err);
    return 0;
}

/* additionalItems has a meaning behind an array of items alone, and there it is 2020-12's items. */
static int members(struct inliner *in, json_t *made, const json_t *schema, bool notes_alone, int depth)
{
    const char *name;
    json_t *value;
    bool tuple = json_is_array(json_object_get(schema, "items"));
    json_object_foreach((json_t *)schema, name, value) {
        bool rest = !strcmp(name, "additionalItems");
        if ((notes_alone && jm_keyword_holds(name, value) != JM_HOLDS_NOTE) || (rest && !tuple))
            continue;
        if (member(in, made, rest ? "items" : name, value, depth))
            return -1;
    }
    return 0;
}

static bool says_more_than_notes(const json_t *schema)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)schema, name, value) {
        enum jm_holds holds = jm_keyword_holds(name, value);
        if (holds != JM_HOLDS_NOTE && holds != JM_HOLDS_NAME && strcmp(name, "$defs") && strcmp(name, "definitions"))
            return true;
    }
    return false;
}

/* Notes beside a $ref go before the target's own; more than notes stands beside it in an allOf. */
static json_t *referenced(struct inliner *in, const json_t *schema, const char *reference, int depth)
{
    const json_t *to = target(in, reference);
    jm_auto_json json_t *inner = to ? one(in, to, depth) : NULL, *made = inner ? json_object() : NULL;
    bool more = !in->draft_7 && says_more_than_notes(schema);
    if (!inner)
        return NULL;
    if (json_is_boolean(inner) && !more)
        return jm_steal(inner);
    if (!made || members(in, made, schema, !more, depth)) {
        jm_fail_memory(in->err);
        return NULL;
    }
    int bad = 0;
    if (more) {
        json_t *all = json_object_get(made, "allOf");
        if (!all)
            bad = json_object_set_new(made, "allOf", all = json_array());
        bad = bad || json_array_append(all, inner);
    } else {
        const char *name;
        json_t *value;
        json_object_foreach(inner, name, value)
            if (!json_object_get(made, name))
                bad = bad || json_object_set_nocheck(made, name, value);
    }
    if (bad)
        jm_fail_memory(in->err);
    return bad ? NULL : jm_steal(made);
}

static json_t *one(struct inliner *in, const json_t *schema, int depth)
{
    if (!json_is_object(schema))
        return jm_json_deep_copy(schema);
    if (depth > DEEPEST)
        return fail(in, "its $ref leads back to itself, so that it cannot be written without one");
    if (++in->made > MOST)
        return fail(in, "without $ref it would be too large");
    const char *reference = json_string_value(json_object_get(schema, "$ref"));
    if (reference)
        return referenced(in, schema, reference, depth + 1);
    jm_auto_json json_t *made = json_object();
    if (!made || members(in, made, schema, false, depth + 1)) {
        jm_fail_memory(in->err);
        return NULL;
    }
    return jm_steal(made);
}

json_t *jm_schema_inline(const json_t *schema, jianmu_error **err)
{
    const char *dialect = json_string_value(json_object_get(schema, "$schema"));
    struct inliner in = {.root = schema, .draft_7 = dialect && strstr(dialect, "draft-07"), .err = err};
    jianmu_error *why = NULL;
    in.err = &why; /* so that a later failure is known to be a later one */
    json_t *made = one(&in, schema, 0);
    if (made) {
        jianmu_error_free(why);
        return made;
    }
    if (!why)
        jm_fail_memory(&why);
    jm_fail_take(err, why);
    return NULL;
}
