/* SPDX-License-Identifier: Apache-2.0
 * What is wrong with a value, in words that a model can act on. */
#include "config.h"

#include "base/cleanup.h"
#include "schema/node.h"
#include <string.h>

bool jm_complaints_wanted(const struct jm_run *run)
{
    return run->complaints && !run->no_memory && json_array_size(run->complaints) < JM_COMPLAINTS;
}

static bool all_named(const struct jm_at *at)
{
    for (; at->up; at = at->up)
        if (at->unnamed)
            return false;
    return true;
}

static void add_pointer(struct jm_buffer *b, const struct jm_at *at, bool hide)
{
    if (!at->up)
        return;
    add_pointer(b, at->up, hide);
    if (hide && at->unnamed) {
        jm_buffer_adds(b, "/*");
        return;
    }
    if (!at->key) {
        jm_buffer_addf(b, "/%zu", at->index);
        return;
    }
    jm_buffer_adds(b, "/");
    for (const char *p = at->key; *p; p++)
        jm_buffer_add(b, *p == '~' ? "~0" : *p == '/' ? "~1" : p, *p == '~' || *p == '/' ? 2 : 1);
}

/* new; NULL where an allocation failed */
static json_t *text_of(struct jm_buffer *b)
{
    jm_auto_free char *text = jm_buffer_take(b);
    return text ? json_string_nocheck(text) : NULL;
}

/* A name that only the value has may be a secret as the value may: "at" without it, for jm_schema_text. */
static int hide_names(json_t *complaint, const struct jm_at *at)
{
    struct jm_buffer pointer = {0};
    if (all_named(at))
        return 0;
    add_pointer(&pointer, at, true);
    return json_object_set_new(complaint, "named", text_of(&pointer));
}

int jm_complain_taken(struct jm_run *run, const struct jm_at *at, struct jm_complaint *what)
{
    struct jm_buffer pointer = {0}, text = {0};
    if (jm_complaints_wanted(run)) {
        add_pointer(&pointer, at, false);
        if (pointer.len && !pointer.failed)
            jm_buffer_addf(&text, "%s: ", pointer.data);
        if (what->text.len && !what->text.failed)
            jm_buffer_adds(&text, what->text.data);
        else if (!what->expected.failed && !what->found.failed)
            jm_buffer_addf(&text, "expected %s, found %s", what->expected.data, what->found.data);
        text.failed |= what->text.failed;
        json_t *expected = text_of(&what->expected), *found = text_of(&what->found);
        json_t *complaint = json_pack("{s:o*, s:o*, s:o*, s:o*}", "at", text_of(&pointer), "expected", expected,
                                      "found", found, "text", text_of(&text));
        if (!complaint || json_object_size(complaint) != 4 || hide_names(complaint, at) ||
            json_array_append(run->complaints, complaint))
            run->no_memory = true;
        json_decref(complaint);
    }
    jm_buffer_free(&pointer);
    jm_buffer_free(&text);
    jm_buffer_free(&what->expected);
    jm_buffer_free(&what->found);
    jm_buffer_free(&what->text);
    return 0;
}

int jm_complain(struct jm_run *run, const struct jm_at *at, const json_t *value, const char *format, ...)
{
    struct jm_complaint what = {0};
    va_list ap;
    if (!jm_complaints_wanted(run))
        return 0;
    va_start(ap, format);
    jm_auto_free char *text = jm_vformat(format, ap);
    va_end(ap);
    if (!text) {
        run->no_memory = true;
        return 0;
    }
    jm_buffer_adds(&what.expected, text);
    jm_value_describe(&what.found, value);
    return jm_complain_taken(run, at, &what);
}

json_t *jm_complaints_of(struct jm_run *run, const struct jm_node *node, const json_t *value, const struct jm_at *at,
                         int *rc)
{
    json_t *listener = run->complaints, *list = json_array();
    if (!list) {
        run->no_memory = true;
        return NULL;
    }
    run->complaints = list;
    *rc = jm_node_check(run, node, value, at);
    run->complaints = listener;
    return list;
}

int jm_complaints_add(struct jm_run *run, const json_t *list)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
        if (jm_complaints_wanted(run) && json_array_append(run->complaints, item))
            run->no_memory = true;
    return 0;
}

static const char *member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* What came, without its value. */
static const char *kind_found(const char *found)
{
    static const char *const kinds[][2] = {{"the string ", "a string"}, {"the number ", "a number"},
                                           {"the property ", "another"}, {"the name ", "another"}};
    for (size_t i = 0; i < jm_countof(kinds); i++)
        if (!strncmp(found, kinds[i][0], strlen(kinds[i][0])))
            return kinds[i][1];
    return found;
}

char *jm_schema_text(const json_t *complaints, bool values)
{
    struct jm_buffer b = {0};
    size_t i;
    json_t *item;
    jm_buffer_adds(&b, "");
    json_array_foreach(complaints, i, item) {
        const char *at = member(item, json_object_get(item, "named") ? "named" : "at");
        jm_buffer_adds(&b, i ? "; " : "");
        if (values)
            jm_buffer_adds(&b, member(item, "text"));
        else
            jm_buffer_addf(&b, "%s%sexpected %s, found %s", at, *at ? ": " : "", member(item, "expected"),
                           kind_found(member(item, "found")));
    }
    return jm_buffer_take(&b);
}
