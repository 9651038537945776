/* SPDX-License-Identifier: Apache-2.0
 * libyaml's events become nodes; its recursion-free parser and our caps bound time, memory and stack. */
#include "config.h"

#include "settings/yaml.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "settings/values.h"
#include <string.h>
#include <yaml.h>

struct builder {
    const char *file;
    jianmu_error **err;
    struct jm_node *root, *top; /* top: the innermost open list or map */
    int depth, documents;
    size_t nodes;
    char *key;                  /* of the value that comes next */
    int key_line, key_column;
};

void jm_node_free(struct jm_node *node)
{
    while (node) {
        struct jm_node *next = node->next;
        jm_node_free(node->child);
        free(node->text);
        free(node->key);
        free(node);
        node = next;
    }
}

const struct jm_node *jm_node_member(const struct jm_node *map, const char *key)
{
    const struct jm_node *node = map->kind == JM_NODE_MAP ? map->child : NULL;
    while (node && strcmp(node->key, key))
        node = node->next;
    return node;
}

static int wrong(struct builder *b, const yaml_mark_t *mark, const char *what)
{
    return jm_fail(b->err, JIANMU_INVALID, "%s:%zu:%zu: %s", b->file, mark->line + 1, mark->column + 1, what);
}

static unsigned hash(const char *text)
{
    unsigned h = 2166136261u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

/* Puts a new node behind the others of the open list or map. */
static struct jm_node *add_node(struct builder *b, enum jm_node_kind kind, const yaml_mark_t *mark)
{
    if (++b->nodes > JM_YAML_NODES) {
        wrong(b, mark, "more than 10000 values in one file");
        return NULL;
    }
    struct jm_node *node = calloc(1, sizeof *node);
    if (!node) {
        jm_fail_memory(b->err);
        return NULL;
    }
    node->kind = kind;
    node->line = (int)mark->line + 1;
    node->column = (int)mark->column + 1;
    node->parent = b->top;
    node->key_line = b->key_line;
    node->key_column = b->key_column;
    if (b->key)
        node->key_hash = hash(b->key);
    node->key = jm_steal(b->key);
    if (!b->top) {
        b->root = node;
    } else if (b->top->last) {
        b->top->last->next = node;
        b->top->last = node;
    } else {
        b->top->child = b->top->last = node;
    }
    return node;
}

static int take_key(struct builder *b, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    const yaml_mark_t *mark = &event->start_mark;
    char shown[JM_SHOWN];
    unsigned h = hash(text), count = 1;
    if (!*text)
        return wrong(b, mark, "a key is empty");
    for (const struct jm_node *node = b->top->child; node; node = node->next, count++)
        if (node->key_hash == h && !strcmp(node->key, text))
            return jm_fail(b->err, JIANMU_INVALID, "%s:%zu:%zu: the key %s stands here twice, first in line %d",
                           b->file, mark->line + 1, mark->column + 1, jm_show(shown, text), node->key_line);
    if (count > JM_YAML_KEYS) /* each is compared with all before it */
        return wrong(b, mark, "more than 500 keys in one mapping");
    b->key = strdup(text);
    b->key_line = (int)mark->line + 1;
    b->key_column = (int)mark->column + 1;
    return b->key ? 0 : jm_fail_memory(b->err);
}

static int on_scalar(struct builder *b, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    if (event->data.scalar.tag)
        return wrong(b, &event->start_mark, "a tag (\"!...\") cannot stand here");
    if (event->data.scalar.anchor)
        return wrong(b, &event->start_mark, "an anchor (\"&...\") cannot stand here");
    if (strlen(text) != event->data.scalar.length)
        return wrong(b, &event->start_mark, "a NUL cannot stand here");
    if (b->top && b->top->kind == JM_NODE_MAP && !b->key)
        return take_key(b, event);
    struct jm_node *node = add_node(b, JM_NODE_SCALAR, &event->start_mark);
    if (!node)
        return -1;
    node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    node->text = strdup(text);
    return node->text ? 0 : jm_fail_memory(b->err);
}

static int on_start(struct builder *b, const yaml_event_t *event, enum jm_node_kind kind, const void *anchor,
                    const void *tag)
{
    const yaml_mark_t *mark = &event->start_mark;
    if (tag)
        return wrong(b, mark, "a tag (\"!...\") cannot stand here");
    if (anchor)
        return wrong(b, mark, "an anchor (\"&...\") cannot stand here");
    if (b->top && b->top->kind == JM_NODE_MAP && !b->key)
        return wrong(b, mark, "a key must be text");
    if (++b->depth > JM_YAML_DEEPEST)
        return wrong(b, mark, "nested more than 64 deep");
    struct jm_node *node = add_node(b, kind, mark);
    if (!node)
        return -1;
    b->top = node;
    return 0;
}

static int on_event(struct builder *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return b->documents++ ? wrong(b, &event->start_mark, "a second document; there can be one only") : 0;
    case YAML_ALIAS_EVENT:
        return wrong(b, &event->start_mark,
                     "an alias (\"*...\") cannot stand here; a text that begins with * needs quotes");
    case YAML_SCALAR_EVENT:
        return on_scalar(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return on_start(b, event, JM_NODE_LIST, event->data.sequence_start.anchor, event->data.sequence_start.tag);
    case YAML_MAPPING_START_EVENT:
        return on_start(b, event, JM_NODE_MAP, event->data.mapping_start.anchor, event->data.mapping_start.tag);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        b->depth--;
        b->top = b->top->parent;
        return 0;
    default:
        return 0;
    }
}

/* Bytes that are no text: libyaml says where in bytes. */
static int reader_error(struct builder *b, const yaml_parser_t *parser, const char *text, size_t len)
{
    size_t line = 1, column = 1, end = parser->problem_offset < len ? parser->problem_offset : len;
    for (size_t i = 0; i < end; i++) {
        if (text[i] == '\n') {
            line++;
            column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            column++;
        }
    }
    return jm_fail(b->err, JIANMU_INVALID, "%s:%zu:%zu: %s", b->file, line, column,
                   parser->problem ? parser->problem : "not UTF-8");
}

static int syntax_error(struct builder *b, const yaml_parser_t *parser, const char *text, size_t len)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return jm_fail_memory(b->err);
    if (parser->error == YAML_READER_ERROR)
        return reader_error(b, parser, text, len);
    const yaml_mark_t *mark = &parser->problem_mark;
    return jm_fail(b->err, JIANMU_INVALID, "%s:%zu:%zu: %s%s%s", b->file, mark->line + 1, mark->column + 1,
                   parser->problem ? parser->problem : "not YAML", parser->context ? ", " : "",
                   parser->context ? parser->context : "");
}

static int build(struct builder *b, yaml_parser_t *parser, const char *text, size_t len)
{
    for (;;) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return syntax_error(b, parser, text, len);
        bool last = event.type == YAML_STREAM_END_EVENT;
        int rc = on_event(b, &event);
        yaml_event_delete(&event);
        if (rc || last)
            return rc;
    }
}

struct jm_node *jm_yaml_parse(const char *text, size_t len, const char *file, jianmu_error **err)
{
    static const yaml_mark_t start;
    struct builder b = {.file = file, .err = err};
    yaml_parser_t parser;
    if (len > JM_YAML_BYTES) {
        wrong(&b, &start, "the file is larger than 1 MiB");
        return NULL;
    }
    if (!yaml_parser_initialize(&parser)) {
        jm_fail_memory(err);
        return NULL;
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    int rc = build(&b, &parser, text, len);
    yaml_parser_delete(&parser);
    if (!rc && !b.root && !add_node(&b, JM_NODE_MAP, &start))
        rc = -1;
    free(b.key);
    if (rc) {
        jm_node_free(b.root);
        return NULL;
    }
    return b.root;
}
