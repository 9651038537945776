/* SPDX-License-Identifier: Apache-2.0
 * jianmu tools, backends, plugins: what the directories hold. */
#include "config.h"
#include "cli.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option tools_options[] = {
    {"format", "NAME", NULL, "as JSON for: jianmu, mcp, openai, openai-responses, anthropic, gemini"},
    {"strict", NULL, NULL, "with --format: claim \"strict\" for tools of which it is true"},
    {0}};

static const char *member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

/* The first sentence; the whole stands in --json. */
static char *first_sentence(const char *text)
{
    const char *end = strstr(text, ". ");
    size_t len = strcspn(text, "\n");
    return strndup(text, end && (size_t)(end - text) < len ? (size_t)(end - text) + 1 : len);
}

static char *joined(const json_t *names)
{
    size_t len = 1, i;
    json_t *item;
    json_array_foreach(names, i, item)
        len += json_string_length(item) + 1;
    char *text = malloc(len), *end = text;
    if (!text)
        return NULL;
    *end = 0;
    json_array_foreach(names, i, item)
        end = stpcpy(stpcpy(end, end == text ? "" : " "), json_string_value(item) ? json_string_value(item) : "");
    return text;
}

static int list(struct cli *cli, json_t *(*get)(const jianmu_config *), int (*print)(const json_t *), bool json)
{
    jianmu_config *config = NULL;
    if (cli->word_count)
        return cli_usage(cli, "%s takes no argument", cli->command->name);
    int status = session_config(cli, &config);
    if (status)
        return status;
    json_t *items = get(config);
    if (!items) {
        say("out of memory");
        status = EXIT_COULD_NOT;
    } else {
        status = json ? put_json(items) : print(items);
    }
    json_decref(items);
    jianmu_config_free(config);
    return status;
}

static int print_tools(const json_t *tools)
{
    struct table table = {0};
    size_t i;
    json_t *tool;
    json_array_foreach(tools, i, tool) {
        char *text = first_sentence(member(tool, "description"));
        table_row(&table,
                  (const char *[TABLE_COLUMNS]){member(tool, "name"), member(tool, "danger"), text ? text : ""});
        free(text);
    }
    return table_print(&table);
}

/* Renders and lint take the list of specifications, and nothing else. */
static int on_specs(struct cli *cli, json_t *(*make)(struct cli *, const json_t *, json_t **, jianmu_error **),
                    int (*put)(struct cli *, const json_t *))
{
    jianmu_config *config = NULL;
    jianmu_error *err = NULL;
    json_t *warnings = NULL, *warning;
    size_t i;
    int status = session_config(cli, &config);
    if (status)
        return status;
    json_t *tools = jianmu_config_tools(config), *made = tools ? make(cli, tools, &warnings, &err) : NULL;
    json_array_foreach(warnings, i, warning)
        say("%s", json_string_value(warning));
    if (made) {
        status = put(cli, made);
    } else if (err) {
        status = report_error(cli, err, EXIT_NOT_FOUND);
    } else {
        say("out of memory");
        status = EXIT_COULD_NOT;
    }
    json_decref(warnings);
    json_decref(made);
    json_decref(tools);
    jianmu_config_free(config);
    return status;
}

static json_t *make_format(struct cli *cli, const json_t *tools, json_t **warnings, jianmu_error **err)
{
    return jianmu_tools_render(tools, cli_value(cli, "format"), cli_has(cli, "strict") ? JIANMU_STRICT : 0, warnings, err);
}

static int put_format(struct cli *cli, const json_t *made)
{
    (void)cli;
    return put_json(made);
}

static json_t *make_lint(struct cli *cli, const json_t *tools, json_t **warnings, jianmu_error **err)
{
    (void)cli;
    (void)warnings;
    return jianmu_tools_lint(tools, err);
}

static int put_lint(struct cli *cli, const json_t *found)
{
    size_t i;
    json_t *item;
    int status = cli->json ? put_json(found) : 0;
    json_array_foreach(found, i, item) {
        if (!status && !strcmp(member(item, "level"), "error"))
            status = EXIT_TOOL_FAILED;
        if (cli->json)
            continue;
        put_clean(member(item, "tool"));
        out(": %s: ", member(item, "level"));
        put_clean(member(item, "at"));
        out("%s", *member(item, "at") ? ": " : "");
        put_clean(member(item, "text"));
        out("\n");
    }
    return status;
}

int command_tools(struct cli *cli)
{
    static const char *const known[] = {"jianmu", "mcp", "openai", "openai-responses", "anthropic", "gemini"};
    const char *format = cli_value(cli, "format");
    bool good = !format;
    for (size_t i = 0; format && i < sizeof known / sizeof known[0]; i++)
        good |= !strcmp(format, known[i]);
    if (!good)
        return cli_usage(cli, "unknown format '%.100s'; known are jianmu, mcp, openai, openai-responses, anthropic, gemini",
                         format);
    if (cli_has(cli, "strict") && !format)
        return cli_usage(cli, "--strict needs --format");
    bool lint = cli->word_count == 1 && !strcmp(cli->words[0], "lint");
    if (lint && format)
        return cli_usage(cli, "--format and lint do not go together");
    if (lint)
        return on_specs(cli, make_lint, put_lint);
    if (cli->word_count)
        return cli_usage(cli, "tools takes no argument but lint");
    if (format)
        return on_specs(cli, make_format, put_format);
    return list(cli, jianmu_config_tools, print_tools, cli->json);
}

static int print_backends(const json_t *backends)
{
    size_t i;
    json_t *backend;
    json_array_foreach(backends, i, backend) {
        char *text = first_sentence(member(backend, "description"));
        char *limits = joined(json_object_get(backend, "enforces"));
        put_clean(member(backend, "mode"));
        out("  ");
        put_clean(text ? text : "");
        out("\n    can enforce: ");
        put_clean(limits && *limits ? limits : "nothing");
        out("\n");
        free(text);
        free(limits);
    }
    return 0;
}

int command_backends(struct cli *cli)
{
    return list(cli, jianmu_config_backends, print_backends, cli->json);
}

static int print_plugins(const json_t *plugins)
{
    size_t i;
    json_t *plugin;
    bool colour = colours();
    json_array_foreach(plugins, i, plugin) {
        const char *state = member(plugin, "state"), *code = member(plugin, "code");
        const char *start = *state == 'r' ? "\033[31m" : *state == 's' ? "\033[33m" : "\033[32m";
        out("%s%-8s%s  %-7s  ", colour ? start : "", state, colour ? "\033[0m" : "", member(plugin, "kind"));
        put_clean(*member(plugin, "name") ? member(plugin, "name") : "-");
        out("  ");
        put_clean(member(plugin, "path"));
        out("  (%s)\n", member(plugin, "origin"));
        if (*member(plugin, "sentence")) {
            out("          %s%s", code, *code ? ": " : "");
            put_clean(member(plugin, "sentence"));
            out("\n");
        }
    }
    return 0;
}

int command_plugins(struct cli *cli)
{
    return list(cli, jianmu_config_plugins, print_plugins, cli->json);
}
