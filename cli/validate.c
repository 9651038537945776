/* SPDX-License-Identifier: Apache-2.0
 * jianmu validate: what an author's schema makes of values. */
#include "config.h"
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* new, or NULL and *why, which is malloced (or NULL too: no memory) */
static json_t *read_json(const char *name, bool *unread, char **why)
{
    json_error_t error;
    char *data = NULL;
    size_t len;
    bool standard = !strcmp(name, "-");
    int fd = standard ? 0 : open(name, O_RDONLY | O_CLOEXEC);
    *unread = fd < 0 || slurp(fd, &data, &len);
    int saved = errno;
    if (fd > 0)
        close(fd);
    if (*unread) {
        *why = strdup(strerror(saved));
        return NULL;
    }
    json_t *json = json_loadb(data, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    free(data);
    if (!json && asprintf(why, "bad JSON: %s (line %d, column %d)", error.text, error.line, error.column) < 0)
        *why = NULL;
    return json;
}

/* new: a file's name may hold any bytes */
static json_t *name_json(const char *name)
{
    json_t *json = json_string(name);
    char *plain = json ? NULL : strdup(name);
    for (char *p = plain; p && *p; p++)
        *p = (char)((unsigned char)*p < 0x80 ? *p : '?');
    json = json ? json : json_string(plain ? plain : "");
    free(plain);
    return json;
}

static void put_result(const struct cli *cli, const char *name, int verdict, const char *why, json_t *complaints)
{
    size_t i;
    json_t *item;
    if (cli->json) {
        json_t *line = json_pack("{s:o, s:b}", "instance", name_json(name), "valid", verdict > 0);
        if (why && line)
            json_object_set_new(line, "error", json_string(why));
        if (complaints && line)
            json_object_set(line, "complaints", complaints);
        put_json(line);
        json_decref(line);
        return;
    }
    put_clean(name);
    out(": %s\n", verdict > 0 ? "valid" : why ? "not judged" : "invalid");
    if (why) {
        out("    ");
        put_clean(why);
        out("\n");
    }
    json_array_foreach(complaints, i, item) {
        const char *text = json_string_value(json_object_get(item, "text"));
        out("    ");
        put_clean(text ? text : "");
        out("\n");
    }
}

static int judge(const struct cli *cli, const jianmu_schema *schema, const char *name)
{
    bool unread;
    char *why = NULL;
    json_t *value = read_json(name, &unread, &why), *complaints = NULL;
    jianmu_error *err = NULL;
    int verdict = value ? jianmu_schema_check(schema, value, &complaints, &err) : -1;
    const char *said = value ? (err ? jianmu_error_message(err) : NULL) : why ? why : "out of memory";
    put_result(cli, name, verdict, said, complaints);
    json_decref(complaints);
    json_decref(value);
    jianmu_error_free(err);
    free(why);
    return verdict > 0 ? 0 : unread ? EXIT_COULD_NOT : EXIT_TOOL_FAILED;
}

static int unusable(const struct cli *cli, const char *name, const char *code, const char *why)
{
    say("%s: %s", name, why);
    if (cli->json) {
        json_t *line = json_pack("{s:o, s:{s:s, s:s}}", "schema", name_json(name), "error", "code", code, "message", why);
        put_json(line);
        json_decref(line);
    }
    return EXIT_USAGE;
}

int command_validate(struct cli *cli)
{
    bool unread;
    char *why = NULL;
    jianmu_error *err = NULL;
    int status = 0, standard = 0;
    for (size_t i = 0; i < cli->word_count; i++)
        standard += !strcmp(cli->words[i], "-");
    if (!cli->word_count || standard > 1)
        return cli_usage(cli, standard > 1 ? "standard input can be read once" : "no schema given");
    json_t *json = read_json(cli->words[0], &unread, &why);
    if (!json) {
        status = unusable(cli, cli->words[0], unread ? "not_found" : "invalid", why ? why : "out of memory");
        free(why);
        return status;
    }
    jianmu_schema *schema = jianmu_schema_new(json, &err);
    json_decref(json);
    if (!schema) {
        status = unusable(cli, cli->words[0], jianmu_code_name(jianmu_error_code(err)), jianmu_error_message(err));
        jianmu_error_free(err);
        return status;
    }
    for (size_t i = 1; i < cli->word_count; i++) {
        int one = judge(cli, schema, cli->words[i]);
        status = one > status ? one : status;
    }
    jianmu_schema_free(schema);
    return status;
}
