/* SPDX-License-Identifier: Apache-2.0
 * Options stand before or after the command; a command's own only after it. */
#include "config.h"
#include "cli.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option cli_common[] = {
    {"mode", "MODE", "mode", "the backend that runs it (default local)"},
    {"timeout", "TIME", NULL, "wall-clock limit: 30s, 2m, 500ms, 1h, 1m30s, seconds"},
    {"cpu-time", "TIME", "cpu_time_s", "limit of processor time of the whole tree"},
    {"memory", "SIZE", "memory", "memory limit: 512m, 1g, 64k, bytes"},
    {"cpus", "N", "cpus", "processor share: 0.5, 2"},
    {"pids", "N", "pids", "limit of processes"},
    {"fsize", "SIZE", "fsize", "limit of one written file"},
    {"nofile", "N", "nofile", "limit of open files of one process"},
    {"disk", "SIZE", "disk", "limit of all written files"},
    {"network", "NAME", "network", "network of the call: none, or a name the backend knows"},
    {"image", "REF", "docker_image", "container image"},
    {"capture", "SIZE", "capture", "bytes of output kept per stream; more is cut from the middle"},
    {"max-output", "N", "max_output", "characters of text a tool may hand back"},
    {"output-limit", "SIZE", "output_limit", "bytes of output after which it is stopped"},
    {"env", "NAME=VALUE", "env", "one more environment variable; repeatable"},
    {"workspace", "DIR[:rw]", "workspace", "a folder the call may read, with :rw also write"},
    {"skill", "DIR", "skill", "a read-only folder of tools and scripts"},
    {"constraints", "JSON|@FILE", NULL, "constraints as an object; the options above win over it"},
    {"config", "FILE", NULL, "configuration file instead of the one looked for"},
    {"plugin-dir", "DIR", NULL, "a plug-in directory, searched first; repeatable"},
    {"events", "FILE", NULL, "append each event to FILE as a line of JSON"},
    {"json", NULL, NULL, "print one JSON object"},
    {"yes", NULL, NULL, "confirm what would have to be confirmed"},
    {"help", NULL, NULL, "show this text (also -h)"},
    {"version", NULL, NULL, "show the version"},
    {0}};

int cli_usage(const struct cli *cli, const char *format, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (cli->command)
        say("%s (see 'jianmu %s --help')", text, cli->command->name);
    else
        say("%s (see 'jianmu --help')", text);
    return EXIT_USAGE;
}

/* Levenshtein's distance of words up to 31 letters. */
static size_t distance(const char *a, const char *b)
{
    size_t row[33], n = strlen(b);
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; *a; a++, i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (*a != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

const char *cli_nearest(const char *word, const char *(*name)(size_t i))
{
    const char *best = NULL;
    size_t limit = strlen(word) / 3 + 1;
    if (strlen(word) > 31)
        return NULL;
    for (size_t i = 0; name(i); i++) {
        size_t d = distance(word, name(i));
        if (d <= limit && d < strlen(word)) {
            best = name(i);
            limit = d ? d - 1 : 0;
        }
    }
    return best;
}

static const char *command_name(size_t i)
{
    return cli_commands[i].name;
}

static const char *common_name(size_t i)
{
    return cli_common[i].name;
}

static const struct cli_option *find_option(const struct cli_option *list, const char *name, size_t len)
{
    for (; list && list->name; list++)
        if (strlen(list->name) == len && !memcmp(list->name, name, len))
            return list;
    return NULL;
}

static int unknown_option(const struct cli *cli, const char *name, int len)
{
    char word[32];
    const char *near = NULL, *owner = NULL;
    snprintf(word, sizeof word, "%.*s", len, name);
    for (const struct cli_command *c = cli_commands; c->name; c++)
        if (!owner && c != cli->command && find_option(c->options, name, (size_t)len))
            owner = c->name;
    if (owner && cli->command)
        return cli_usage(cli, "option '--%.*s' belongs to 'jianmu %s'", len, name, owner);
    if (owner)
        return cli_usage(cli, "option '--%.*s' must stand behind its command ('jianmu %s')", len, name, owner);
    for (const struct cli_option *o = cli->command ? cli->command->options : NULL; o && o->name; o++)
        if (len < 32 && distance(word, o->name) <= strlen(word) / 3 + 1)
            near = o->name;
    if (!near && len < 32)
        near = cli_nearest(word, common_name);
    if (near)
        return cli_usage(cli, "unknown option '--%.*s'; did you mean '--%s'?", len, name, near);
    return cli_usage(cli, "unknown option '--%.*s'", len, name);
}

static int parse_option(struct cli *cli, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    size_t len = equals ? (size_t)(equals - name) : strlen(name);
    const struct cli_option *option = find_option(cli_common, name, len);
    if (!option && cli->command)
        option = find_option(cli->command->options, name, len);
    if (!option)
        return unknown_option(cli, name, (int)len);
    const char *value = equals ? equals + 1 : NULL;
    if (!option->arg && value)
        return cli_usage(cli, "option '--%s' takes no value", option->name);
    if (option->arg && !value) {
        if (*i + 1 >= argc)
            return cli_usage(cli, "option '--%s' needs a value (%s)", option->name, option->arg);
        value = argv[++*i];
    }
    cli->given[cli->given_count++] = (struct cli_given){option, value};
    return 0;
}

static int parse_word(struct cli *cli, const char *word)
{
    if (cli->command) {
        cli->words[cli->word_count++] = word;
        return 0;
    }
    for (const struct cli_command *c = cli_commands; c->name; c++)
        if (!strcmp(c->name, word)) {
            cli->command = c;
            return 0;
        }
    const char *near = cli_nearest(word, command_name);
    if (near)
        return cli_usage(cli, "unknown command '%.200s'; did you mean '%s'?", word, near);
    return cli_usage(cli, "unknown command '%.200s'", word);
}

int cli_parse(struct cli *cli, int argc, char **argv)
{
    bool options = true;
    cli->given = calloc((size_t)argc + 1, sizeof *cli->given);
    cli->words = calloc((size_t)argc + 1, sizeof *cli->words);
    if (!cli->given || !cli->words) {
        say("out of memory");
        return EXIT_COULD_NOT;
    }
    const struct cli_option *help = find_option(cli_common, "help", 4);
    for (int i = 1; i < argc; i++) {
        int status = 0;
        if (options && !strcmp(argv[i], "--")) {
            options = false;
            cli->words_before = cli->word_count;
        } else if (options && !strncmp(argv[i], "--", 2)) {
            status = parse_option(cli, argc, argv, &i);
        } else if (options && !strcmp(argv[i], "-h")) {
            cli->given[cli->given_count++] = (struct cli_given){help, NULL};
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            status = cli_usage(cli, "unknown option '%.200s'", argv[i]);
        } else {
            status = parse_word(cli, argv[i]);
        }
        if (status)
            return status;
    }
    if (options)
        cli->words_before = cli->word_count;
    cli->json = cli_has(cli, "json");
    if (!cli->command && !cli_has(cli, "help") && !cli_has(cli, "version"))
        return cli_usage(cli, "no command given");
    return 0;
}

const char *cli_value(const struct cli *cli, const char *name)
{
    for (size_t i = cli->given_count; i--;)
        if (!strcmp(cli->given[i].option->name, name))
            return cli->given[i].value ? cli->given[i].value : "";
    return NULL;
}

bool cli_has(const struct cli *cli, const char *name)
{
    return cli_value(cli, name) != NULL;
}
