/* SPDX-License-Identifier: Apache-2.0
 * The tools as the APIs of models, and MCP, want them told: pure functions of their specifications. */
#include "config.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "schema/formats.h"
#include <string.h>

struct spec {
    const json_t *tool;
    const char *name, *description;
    json_t *parameters, *output; /* inlined; output may be NULL */
    bool strict, asked;          /* strict was asked for; may be claimed */
};

/* A member that is new, which is taken; NULL: no memory. */
static bool add(json_t *object, const char *name, json_t *value)
{
    return value && !json_object_set_new(object, name, value);
}

static json_t *texts(const struct spec *s)
{
    return json_pack("{s:s, s:s}", "name", s->name, "description", s->description);
}

static bool has_flag(const struct spec *s, const char *name)
{
    size_t i;
    json_t *flag;
    json_array_foreach(json_object_get(s->tool, "flags"), i, flag)
        if (json_is_string(flag) && !strcmp(json_string_value(flag), name))
            return true;
    return false;
}

/* Never milder than what the tool says of itself: what is not said is the worst. */
static json_t *hints(const struct spec *s)
{
    const char *danger = json_string_value(json_object_get(s->tool, "danger"));
    bool reads = danger && !strcmp(danger, "read") && has_flag(s, "read_only");
    return json_pack("{s:b, s:b, s:b, s:b}", "readOnlyHint", reads, "destructiveHint", !reads, "idempotentHint",
                     has_flag(s, "idempotent"), "openWorldHint", has_flag(s, "open_world"));
}

static json_t *as_mcp(const struct spec *s)
{
    json_t *tool = texts(s), *title = json_object_get(s->tool, "title");
    bool good = tool && add(tool, "inputSchema", json_incref(s->parameters)) && add(tool, "annotations", hints(s)) &&
                (!s->output || add(tool, "outputSchema", json_incref(s->output))) &&
                (!json_is_string(title) || add(tool, "title", json_incref(title)));
    if (good)
        return tool;
    json_decref(tool);
    return NULL;
}

static json_t *as_openai(const struct spec *s)
{
    json_t *function = texts(s);
    bool good = function && add(function, "parameters", json_incref(s->parameters)) &&
                (!s->asked || add(function, "strict", json_boolean(s->strict)));
    json_t *tool = good ? json_pack("{s:s, s:O}", "type", "function", "function", function) : NULL;
    json_decref(function);
    return tool;
}

static json_t *as_responses(const struct spec *s)
{
    return json_pack("{s:s, s:s, s:s, s:O, s:b}", "type", "function", "name", s->name, "description", s->description,
                     "parameters", s->parameters, "strict", s->strict);
}

static json_t *as_anthropic(const struct spec *s)
{
    json_t *tool = texts(s);
    bool good = tool && add(tool, "input_schema", json_incref(s->parameters)) &&
                (!s->strict || add(tool, "strict", json_true()));
    if (good)
        return tool;
    json_decref(tool);
    return NULL;
}

static json_t *as_gemini(const struct spec *s)
{
    json_t *tool = texts(s);
    bool good = tool && add(tool, "parametersJsonSchema", json_incref(s->parameters)) &&
                (!s->output || add(tool, "responseJsonSchema", json_incref(s->output)));
    if (good)
        return tool;
    json_decref(tool);
    return NULL;
}

static const struct format {
    const char *name;
    json_t *(*make)(const struct spec *s);
    const char *first, *rest; /* characters of a name */
    size_t longest;
    bool knows_strict;
} formats[] = {
    {"mcp", as_mcp, "", "-.", 128, false},        {"openai", as_openai, "-", "-", 64, true},
    {"openai-responses", as_responses, "-", "-", 64, true}, {"anthropic", as_anthropic, "-", "-", 64, true},
    {"gemini", as_gemini, NULL, "-.:", 128, false}};

static bool name_fits(const struct format *f, const char *name)
{
    static const char digits[] = "0123456789";
    static const char letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t i = 0;
    for (; name[i]; i++) {
        bool plain = strchr(letters, name[i]) || ((i || f->first) && strchr(digits, name[i]));
        if (!plain && !strchr(i || f->first ? f->rest : "", name[i]))
            return false;
    }
    return i > 0 && i <= f->longest;
}

static int warn(json_t *warnings, const struct spec *s, const char *why, jianmu_error **err)
{
    if (!warnings || (why && !json_array_append_new(warnings, json_sprintf("tool \"%s\": strict cannot be claimed: %s",
                                                                            s->name, why))))
        return 0;
    return jm_fail_memory(err);
}

static json_t *render(const json_t *tool, const struct format *f, unsigned flags, json_t *warnings, jianmu_error **err)
{
    struct spec s = {.tool = tool, .asked = flags & JIANMU_STRICT,
                     .name = json_string_value(json_object_get(tool, "name")),
                     .description = json_string_value(json_object_get(tool, "description"))};
    const json_t *output = json_object_get(tool, "output");
    jm_auto_free char *why = NULL;
    if (!s.name || !s.description || !json_is_object(json_object_get(tool, "parameters"))) {
        jm_fail(err, JIANMU_INVALID, "a tool has name, description and parameters");
        return NULL;
    }
    if (!name_fits(f, s.name)) {
        jm_fail(err, JIANMU_INVALID, "tool \"%.200s\": that is no name of a tool in the format %s", s.name, f->name);
        return NULL;
    }
    jm_auto_json json_t *parameters = jm_schema_inline(json_object_get(tool, "parameters"), err);
    jm_auto_json json_t *inlined = parameters && output ? jm_schema_inline(output, err) : NULL;
    s.parameters = parameters;
    s.output = inlined;
    if (!parameters || (output && !inlined)) {
        jm_wrap(err, "tool \"%s\"", s.name);
        return NULL;
    }
    s.strict = s.asked && f->knows_strict && jm_schema_is_strict(parameters, &why);
    if (s.asked && f->knows_strict && !s.strict && warn(warnings, &s, why, err))
        return NULL;
    json_t *made = f->make(&s);
    if (!made)
        jm_fail_memory(err);
    return made;
}

static int by_name(const void *a, const void *b)
{
    const char *x = json_string_value(json_object_get(*(json_t *const *)a, "name"));
    const char *y = json_string_value(json_object_get(*(json_t *const *)b, "name"));
    return strcmp(x ? x : "", y ? y : "");
}

/* new: borrowed tools in the order of their names; free() */
static const json_t **sorted(const json_t *tools)
{
    size_t i, count = json_array_size(tools);
    json_t *tool;
    const json_t **list = calloc(count + 1, sizeof *list);
    json_array_foreach(tools, i, tool)
        if (list)
            list[i] = tool;
    if (list)
        qsort(list, count, sizeof *list, by_name);
    return list;
}

static const struct format *find_format(const char *name, jianmu_error **err)
{
    for (size_t i = 0; i < jm_countof(formats); i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    jm_fail(err, JIANMU_INVALID, "unknown format '%.100s'; known are jianmu, mcp, openai, openai-responses, anthropic, "
            "gemini", name);
    return NULL;
}

json_t *jianmu_tools_render(const json_t *tools, const char *format, unsigned flags, json_t **warnings,
                            jianmu_error **err)
{
    bool own = !strcmp(format, "jianmu");
    const struct format *f = own ? NULL : find_format(format, err);
    if (!own && !f)
        return NULL;
    jm_auto_free const json_t **list = sorted(tools);
    jm_auto_json json_t *said = json_array(), *all = json_array();
    if (!list || !said || !all) {
        jm_fail_memory(err);
        return NULL;
    }
    for (size_t i = 0; i < json_array_size(tools); i++) {
        json_t *one = own ? jm_json_deep_copy(list[i]) : render(list[i], f, flags, said, err);
        if (!one && !own)
            return NULL;
        if (json_array_append_new(all, one)) {
            jm_fail_memory(err);
            return NULL;
        }
    }
    if (warnings)
        *warnings = jm_steal(said);
    return jm_steal(all);
}
