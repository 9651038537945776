/* SPDX-License-Identifier: Apache-2.0
 * Which parts of the document are subschemas, what they are called, and where references lead. */
#include "config.h"

#include "schema/compiler.h"
#include "schema/words.h"
#include "schema/uri.h"
#include <string.h>

static size_t slot(const struct jm_compiler *c, const json_t *json)
{
    size_t i = ((uintptr_t)json >> 4) * 0x9e3779b1u & (c->place_room - 1);
    while (c->places[i] && c->places[i]->json != json)
        i = (i + 1) & (c->place_room - 1);
    return i;
}

static int make_room(struct jm_compiler *c)
{
    struct jm_node **old = c->places;
    size_t room = c->place_room;
    if (room && c->place_count < room / 2)
        return 0;
    struct jm_node **places = calloc(room ? room * 2 : 64, sizeof *places);
    if (!places)
        return jm_fail_memory(c->err);
    c->places = places;
    c->place_room = room ? room * 2 : 64;
    for (size_t i = 0; i < room; i++)
        if (old[i])
            c->places[slot(c, old[i]->json)] = old[i];
    free(old);
    return 0;
}

static struct jm_node *add_node(struct jm_compiler *c, const json_t *json, size_t resource)
{
    if (c->place_count == JM_SCHEMA_NODES) {
        jm_schema_wrong(c, json, "there are more than %d subschemas", JM_SCHEMA_NODES);
        return NULL;
    }
    struct jm_node *node = make_room(c) ? NULL : jm_schema_take(c, sizeof *node);
    if (!node)
        return NULL;
    node->json = json;
    node->resource = resource;
    node->wants = JM_ANY;
    c->places[slot(c, json)] = node;
    c->place_count++;
    return node;
}

static int add_resource(struct jm_compiler *c, const json_t *json, const char *base, const char *id, size_t *resource)
{
    char *uri = jm_uri_resolve(base, id);
    if (!uri)
        return jm_fail_memory(c->err);
    for (size_t i = 0; i < c->resource_count; i++) {
        if (!strcmp(c->resources[i].uri, uri) && c->resources[i].root != json) {
            jm_schema_wrong(c, json, "\"$id\" is \"%.100s\" a second time", uri);
            free(uri);
            return -1;
        }
    }
    struct jm_resource *list = realloc(c->resources, (c->resource_count + 1) * sizeof *list);
    if (!list) {
        free(uri);
        return jm_fail_memory(c->err);
    }
    c->resources = list;
    list[c->resource_count] = (struct jm_resource){uri, json};
    *resource = c->resource_count++;
    return 0;
}

static int add_anchor(struct jm_compiler *c, const json_t *json, size_t resource, const char *name)
{
    for (size_t i = 0; i < c->anchor_count; i++)
        if (c->anchors[i].resource == resource && !strcmp(c->anchors[i].name, name))
            return jm_schema_wrong(c, json, "the anchor \"%.100s\" stands here a second time", name);
    struct jm_anchor *list = realloc(c->anchors, (c->anchor_count + 1) * sizeof *list);
    if (!list)
        return jm_fail_memory(c->err);
    c->anchors = list;
    list[c->anchor_count++] = (struct jm_anchor){resource, name, json};
    return 0;
}

/* Beside a $ref, draft-07 knows no other keyword. */
static bool is_bare_reference(const struct jm_compiler *c, const json_t *json)
{
    return c->draft == JM_DRAFT_7 && json_object_get(json, "$ref");
}

static int take_names(struct jm_compiler *c, const json_t *json, size_t *resource)
{
    static const char *const anchors[] = {"$anchor", "$dynamicAnchor"};
    const json_t *id = json_object_get(json, "$id");
    const char *text = json_string_value(id), *hash = text ? strchr(text, '#') : NULL;
    if (is_bare_reference(c, json))
        return 0;
    if (id && (!text || (c->draft == JM_DRAFT_2020 && hash && hash[1])))
        return jm_schema_wrong(c, json, "\"$id\" is no URI without a fragment");
    if (text && hash != text && add_resource(c, json, c->resources[*resource].uri, text, resource))
        return -1;
    if (hash && hash[1] && add_anchor(c, json, *resource, hash + 1))
        return -1;
    for (size_t i = 0; c->draft == JM_DRAFT_2020 && i < jm_countof(anchors); i++) {
        const json_t *anchor = json_object_get(json, anchors[i]);
        if (anchor && !json_is_string(anchor))
            return jm_schema_wrong(c, json, "\"%s\" is no string", anchors[i]);
        if (anchor && add_anchor(c, json, *resource, json_string_value(anchor)))
            return -1;
    }
    return 0;
}

static int scan(struct jm_compiler *c, const json_t *json, size_t resource, int depth);

static int scan_list(struct jm_compiler *c, const json_t *list, size_t resource, int depth)
{
    const char *name;
    json_t *item;
    size_t i;
    json_array_foreach(list, i, item)
        if (scan(c, item, resource, depth))
            return -1;
    json_object_foreach((json_t *)list, name, item)
        if (scan(c, item, resource, depth))
            return -1;
    return 0;
}

/* Anything that is no object has no place; what it is instead is said when it is compiled. */
static int scan(struct jm_compiler *c, const json_t *json, size_t resource, int depth)
{
    const char *name;
    json_t *item;
    if (!json_is_object(json) || (c->place_count && c->places[slot(c, json)]))
        return 0;
    if (depth > JM_SCHEMA_DEEPEST)
        return jm_schema_wrong(c, json, "subschemas are nested more than %d deep", JM_SCHEMA_DEEPEST);
    if (take_names(c, json, &resource) || !add_node(c, json, resource))
        return -1;
    json_object_foreach((json_t *)json, name, item) {
        enum jm_holds holds = jm_keyword_holds(name, item);
        int rc = holds == JM_HOLDS_SCHEMA    ? scan(c, item, resource, depth + 1)
                 : holds >= JM_HOLDS_SCHEMAS ? scan_list(c, item, resource, depth + 1)
                                             : 0;
        if (rc)
            return rc;
    }
    return 0;
}

int jm_locate_all(struct jm_compiler *c)
{
    const json_t *root = c->schema->json;
    c->resources = calloc(1, sizeof *c->resources);
    if (!c->resources || !(c->resources[0].uri = calloc(1, 1)))
        return jm_fail_memory(c->err);
    c->resources[0].root = root;
    c->resource_count = 1;
    return make_room(c) || scan(c, root, 0, 1);
}

struct jm_node *jm_locate_node(struct jm_compiler *c, const json_t *json)
{
    if (json_is_boolean(json))
        return json_is_true(json) ? c->always : c->never;
    struct jm_node *node = json_is_object(json) ? c->places[slot(c, json)] : NULL;
    if (!node || node->compiled)
        return node;
    struct jm_node **list = realloc(c->queue, (c->queue_count + 1) * sizeof *list);
    if (!list) {
        jm_fail_memory(c->err);
        return NULL;
    }
    c->queue = list;
    list[c->queue_count++] = node;
    node->compiled = true;
    return node;
}

/* The value a pointer leads to, and the resource it lies in. */
static const json_t *walk(struct jm_compiler *c, const char *pointer, size_t *resource)
{
    const json_t *json = c->resources[*resource].root;
    while (json && *pointer) {
        size_t len = strcspn(++pointer, "/");
        json = jm_pointer_step(json, pointer, len);
        pointer += len;
        struct jm_node *node = json_is_object(json) ? c->places[slot(c, json)] : NULL;
        if (node)
            *resource = node->resource;
    }
    return json;
}

static const json_t *find_anchor(const struct jm_compiler *c, const char *name, size_t resource)
{
    for (size_t i = 0; i < c->anchor_count; i++)
        if (c->anchors[i].resource == resource && !strcmp(c->anchors[i].name, name))
            return c->anchors[i].json;
    return NULL;
}

/* 0 found, 1 no such resource, -1 failed */
static int find_resource(struct jm_compiler *c, const struct jm_node *from, const char *reference, size_t *resource)
{
    jm_auto_free char *uri = jm_uri_resolve(c->resources[from->resource].uri, reference);
    if (!uri)
        return jm_fail_memory(c->err);
    *resource = from->resource;
    if (reference[0] == '#' || !reference[0])
        return 0;
    for (*resource = 0; *resource < c->resource_count; ++*resource)
        if (!strcmp(c->resources[*resource].uri, uri))
            return 0;
    return 1;
}

struct jm_node *jm_locate_reference(struct jm_compiler *c, const struct jm_node *from, const char *reference)
{
    size_t resource = 0;
    int bad, missing = find_resource(c, from, reference, &resource);
    if (missing) {
        if (missing > 0)
            jm_schema_wrong(c, from->json, "\"$ref\" is \"%.200s\", which is not in this schema; nothing is fetched",
                            reference);
        return NULL;
    }
    const char *hash = strchr(reference, '#');
    jm_auto_free char *fragment = jm_uri_decode(hash ? hash + 1 : "", &bad);
    if (!fragment && !bad) {
        jm_fail_memory(c->err);
        return NULL;
    }
    const json_t *json = NULL;
    if (!bad)
        json = *fragment && *fragment != '/' ? find_anchor(c, fragment, resource) : walk(c, fragment, &resource);
    if (!json || !(json_is_object(json) || json_is_boolean(json))) {
        jm_schema_wrong(c, from->json, "\"$ref\" is \"%.200s\", and there is no such subschema", reference);
        return NULL;
    }
    if (scan(c, json, resource, 1)) /* it stands where no keyword has a subschema */
        return NULL;
    return jm_locate_node(c, json);
}

void jm_locate_free(struct jm_compiler *c)
{
    for (size_t i = 0; i < c->resource_count; i++)
        free(c->resources[i].uri);
    free(c->resources);
    free(c->anchors);
    free(c->places);
    free(c->queue);
}
