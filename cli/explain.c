/* SPDX-License-Identifier: Apache-2.0
 * jianmu explain: each value of a plan and the layer it came from; --keys: everything that can be set. */
#include "config.h"
#include "cli.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct cli_option explain_options[] = {
    {"args", "JSON|@FILE|-", NULL, "the arguments that the call would have"},
    {"keys", NULL, NULL, "list every key: type, default, where it may stand"},
                                             {0}};

/* A string as it is, the rest as JSON; new. */
static char *cell(const json_t *value)
{
    if (!value || json_is_null(value))
        return strdup("-");
    if (json_is_string(value))
        return strdup(json_string_value(value));
    return jianmu_json_text(value, 0);
}

/* "guard: confirm (rule no-etc, jianmu.yaml:12): sentence" */
static void print_verdict(const json_t *guard)
{
    const char *rule = json_string_value(json_object_get(guard, "rule"));
    const char *source = json_string_value(json_object_get(guard, "source"));
    const char *message = json_string_value(json_object_get(guard, "message"));
    const char *verdict = json_string_value(json_object_get(guard, "verdict"));
    out("guard: ");
    put_clean(verdict ? verdict : "unknown");
    if (rule || source) {
        out(" (");
        if (rule) {
            out("rule ");
            put_clean(rule);
        }
        out("%s", rule && source ? ", " : "");
        put_clean(source ? source : "");
        out(")");
    }
    if (message) {
        out(": ");
        put_clean(message);
    }
    if (json_is_true(json_object_get(guard, "confirmed")))
        out("; nobody is asked, since it is the operator's own act");
    out("\n");
}

static int print_plan(json_t *plan)
{
    struct table table = {0};
    const char *name;
    json_t *entry, *limits = json_object_get(plan, "limits");
    const char *subject = json_string_value(json_object_get(plan, "subject"));
    const char *mode = json_string_value(json_object_get(plan, "mode"));
    const char *refusal = json_string_value(json_object_get(plan, "refusal"));
    const char *notice = json_string_value(json_object_get(plan, "notice"));
    put_clean(subject ? subject : "");
    out(" in mode ");
    put_clean(mode ? mode : "");
    out("\n");
    json_object_foreach(json_object_get(plan, "settings"), name, entry) {
        const char *source = json_string_value(json_object_get(entry, "source"));
        const char *held = json_string_value(json_object_get(limits, name));
        char *value = cell(json_object_get(entry, "value"));
        table_row(&table, (const char *[TABLE_COLUMNS]){name, value ? value : "", source ? source : "", held});
        free(value);
    }
    int status = table_print(&table);
    if (refusal) {
        out("refused: ");
        put_clean(refusal);
        out("\n");
    }
    if (notice) {
        out("notice: ");
        put_clean(notice);
        out("\n");
    }
    print_verdict(json_object_get(plan, "guard"));
    const char *complaint = json_string_value(json_object_get(plan, "arguments"));
    if (complaint) {
        put_clean(complaint);
        out("\n");
    }
    return status;
}

static int explain_call(struct cli *cli)
{
    struct session s = {0};
    jianmu_error *err = NULL;
    int status = session_open(cli, &s);
    json_t *plan = NULL, *args = NULL;
    const char *text = cli_value(cli, "args");
    if (!status && text)
        args = json_argument("args", text, &status);
    if (!status && !strcmp(cli->words[0], "job"))
        jianmu_call_set_operator(s.call, 1); /* as jianmu job does */
    if (!status && !(plan = jianmu_executor_explain(s.executor, cli->words[0], args, s.call, &err)))
        status = report_error(cli, err, EXIT_NOT_FOUND);
    json_decref(args);
    if (plan)
        status = cli->json ? put_json(plan) : print_plan(plan);
    json_decref(plan);
    session_close(&s);
    return status;
}

static int print_keys(const json_t *keys)
{
    struct table table = {0};
    size_t i;
    json_t *entry;
    json_array_foreach(keys, i, entry) {
        const char *key = json_string_value(json_object_get(entry, "key"));
        const char *type = json_string_value(json_object_get(entry, "type"));
        const char *doc = json_string_value(json_object_get(entry, "doc"));
        char *value = cell(json_object_get(entry, "default"));
        table_row(&table, (const char *[TABLE_COLUMNS]){key ? key : "", type ? type : "", value ? value : "",
                                                        doc ? doc : ""});
        free(value);
    }
    return table_print(&table);
}

static int explain_keys(struct cli *cli)
{
    jianmu_config *config = NULL;
    int status = session_config(cli, &config);
    json_t *keys = status ? NULL : jianmu_config_keys(config);
    if (!status && !keys) {
        say("out of memory");
        status = EXIT_COULD_NOT;
    }
    if (keys)
        status = cli->json ? put_json(keys) : print_keys(keys);
    json_decref(keys);
    jianmu_config_free(config);
    return status;
}

int command_explain(struct cli *cli)
{
    bool keys = cli_has(cli, "keys");
    if (keys && !cli->word_count)
        return explain_keys(cli);
    if (keys || cli->word_count != 1)
        return cli_usage(cli, "explain takes one TOOL, 'job', or --keys");
    return explain_call(cli);
}
