/* SPDX-License-Identifier: Apache-2.0
 * jianmu tools, backends, plugins: what the directories hold. */
#include "config.h"
#include "cli.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option tools_options[] = {
    {"format", "NAME", NULL, "the JSON specifications in that form: jianmu"}, {0}};

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

int command_tools(struct cli *cli)
{
    const char *format = cli_value(cli, "format");
    if (format && strcmp(format, "jianmu"))
        return cli_usage(cli, "unknown format '%.100s'; known is jianmu", format);
    return list(cli, jianmu_config_tools, print_tools, cli->json || format);
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
