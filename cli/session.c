/* SPDX-License-Identifier: Apache-2.0
 * From options to a runner, and from an error or a result to an exit status. */
#include "config.h"
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLURP_MOST ((size_t)1 << 30)

int report_error(const struct cli *cli, jianmu_error *err, int not_found)
{
    int status = EXIT_COULD_NOT;
    switch (jianmu_error_code(err)) {
    case JIANMU_NOT_FOUND:
        status = not_found;
        break;
    case JIANMU_DENIED:
    case JIANMU_NEEDS_CONFIRMATION:
    case JIANMU_RATE_LIMITED:
    case JIANMU_OVER_BUDGET:
        status = EXIT_DENIED;
        break;
    default:
        break;
    }
    say("%s", jianmu_error_message(err));
    if (jianmu_error_code(err) == JIANMU_NEEDS_CONFIRMATION)
        say("--yes confirms it, where there is no terminal to ask on");
    if (cli->json) {
        json_t *object = json_pack("{s:o}", "error", jianmu_error_json(err));
        put_json(object);
        json_decref(object);
    }
    jianmu_error_free(err);
    return status;
}

int result_status(const jianmu_result *result)
{
    switch (jianmu_result_reason(result)) {
    case JIANMU_EXITED:
        return jianmu_result_exit_code(result);
    case JIANMU_SIGNALLED:
        return 128 + jianmu_result_signal(result);
    case JIANMU_TOOL_FAILED:
        return EXIT_TOOL_FAILED;
    case JIANMU_TIMEOUT:
        return EXIT_TIMEOUT;
    case JIANMU_CANCELLED:
        return 128 + (signals_caught() ? signals_caught() : 2);
    default:
        return EXIT_LIMIT;
    }
}

int slurp(int fd, char **data, size_t *len)
{
    size_t cap = 1 << 16, n = 0;
    char *text = malloc(cap);
    while (text) {
        ssize_t got = read(fd, text + n, cap - n - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break;
        n += (size_t)got;
        if (!got) {
            text[n] = 0;
            *data = text;
            *len = n;
            return 0;
        }
        if (n < cap - 1)
            continue;
        if (cap >= SLURP_MOST) {
            errno = EFBIG;
            break;
        }
        char *more = realloc(text, cap *= 2);
        if (!more)
            break;
        text = more;
    }
    int saved = errno;
    free(text);
    errno = saved;
    return -1;
}

static char *read_argument(const char *option, const char *text, size_t *len)
{
    char *data = NULL;
    bool standard = !strcmp(text, "-") && !strcmp(option, "args");
    if (*text != '@' && !standard) {
        *len = strlen(text);
        return strdup(text);
    }
    const char *name = standard ? "standard input" : text + 1;
    int fd = standard ? 0 : open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || slurp(fd, &data, len))
        say("--%s: %s: %s", option, name, strerror(errno));
    if (fd > 0)
        close(fd);
    return data;
}

static json_t *parse_argument(const char *option, const char *text, size_t len)
{
    json_error_t error;
    json_t *value = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (!value)
        say("--%s: bad JSON: %s (line %d, column %d)", option, error.text, error.line, error.column);
    return value;
}

json_t *json_argument(const char *option, const char *text, int *status)
{
    size_t len;
    *status = EXIT_COULD_NOT;
    char *data = read_argument(option, text, &len);
    if (!data)
        return NULL;
    json_t *value = parse_argument(option, data, len);
    free(data);
    if (json_is_string(value) && !strcmp(option, "args")) { /* as an API of a model hands them over */
        json_t *inner = parse_argument(option, json_string_value(value), json_string_length(value));
        json_decref(value);
        value = inner;
    }
    if (value && !json_is_object(value)) {
        say("--%s: must be a JSON object", option);
        json_decref(value);
        value = NULL;
    }
    *status = value ? 0 : EXIT_COULD_NOT;
    return value;
}

/* new: a relative path would mean something else to a job, and after a chdir. NULL after saying why. */
static char *absolute(const char *option, const char *path)
{
    char *full = NULL, *here = *path == '/' || !*path ? NULL : getcwd(NULL, 0);
    if (*path == '/' || !*path) {
        full = strdup(path);
    } else if (!here) {
        say("--%s %s: the current directory is unknown: %s", option, path, strerror(errno));
        return NULL;
    } else if (asprintf(&full, "%s/%s", here, path) < 0) {
        full = NULL;
    }
    free(here);
    if (!full)
        say("out of memory");
    return full;
}

static int add_plugin_dir(struct cli *cli, jianmu_config *config, const char *dir)
{
    jianmu_error *err = NULL;
    char *path = absolute("plugin-dir", dir);
    if (!path)
        return EXIT_COULD_NOT;
    int bad = jianmu_config_add_plugin_dir(config, path, &err);
    free(path);
    return bad ? report_error(cli, err, EXIT_COULD_NOT) : 0;
}

int session_config(struct cli *cli, jianmu_config **config)
{
    jianmu_error *err = NULL;
    int status = 0;
    *config = jianmu_config_new();
    if (!*config) {
        say("out of memory");
        return EXIT_COULD_NOT;
    }
    /* a list of tools is read from the files alone, without a runner that would know its skill */
    const char *skill = strcmp(cli->command->name, "tools") ? NULL : cli_value(cli, "skill");
    if (skill)
        status = add_plugin_dir(cli, *config, skill);
    for (size_t i = 0; i < cli->given_count && !status; i++)
        if (!strcmp(cli->given[i].option->name, "plugin-dir"))
            status = add_plugin_dir(cli, *config, cli->given[i].value);
    if (!status && jianmu_config_load(*config, cli_value(cli, "config"), &err))
        status = report_error(cli, err, EXIT_COULD_NOT);
    if (status) {
        jianmu_config_free(*config);
        *config = NULL;
    }
    return status;
}

static int set_field(struct cli *cli, jianmu_constraints *c, const struct cli_given *given)
{
    jianmu_error *err = NULL;
    const char *name = given->option->name;
    bool folder = !strcmp(name, "workspace") || !strcmp(name, "skill");
    char *path = folder ? absolute(name, given->value) : NULL;
    if (folder && !path)
        return EXIT_COULD_NOT;
    int bad = jianmu_constraints_set(c, given->option->field, folder ? path : given->value, &err);
    free(path);
    return bad ? report_error(cli, err, EXIT_COULD_NOT) : 0;
}

static int set_fields(struct cli *cli, jianmu_constraints *c)
{
    int status = 0;
    for (size_t i = 0; i < cli->given_count && !status; i++)
        if (cli->given[i].option->field)
            status = set_field(cli, c, &cli->given[i]);
    return status;
}

static int make_constraints(struct cli *cli, jianmu_constraints **out, bool *scoped)
{
    int status = 0;
    const char *text = cli_value(cli, "constraints");
    json_t *base = text ? json_argument("constraints", text, &status) : NULL;
    if (text && !base)
        return status;
    jianmu_error *err = NULL;
    jianmu_constraints *c = base ? jianmu_constraints_from_json(base, &err) : jianmu_constraints_new();
    if (!c)
        status = report_error(cli, err, EXIT_COULD_NOT);
    if (!status)
        status = set_fields(cli, c);
    const json_t *inner = json_object_get(base, "execution");
    *scoped = json_object_get(inner ? inner : base, "scope");
    json_decref(base);
    if (status)
        jianmu_constraints_free(c);
    else
        *out = c;
    return status;
}

/* The library checks the text as it checks a constraint; what has passed is digits and units only. */
static int timeout_seconds(struct cli *cli, const char *text, double *seconds)
{
    jianmu_error *err = NULL;
    jianmu_constraints *c = jianmu_constraints_new();
    int bad = !c || jianmu_constraints_set(c, "timeout_s", text, &err);
    jianmu_constraints_free(c);
    if (bad)
        return report_error(cli, err, EXIT_COULD_NOT);
    *seconds = 0;
    for (char *p = (char *)text; *p;) {
        char *unit;
        double number = strtod(p, &unit);
        size_t len = strcspn(unit, "0123456789.");
        if (unit == p)
            break;
        if (!strncmp(unit, "ms", 2))
            number /= 1000;
        else if (*unit == 'm')
            number *= 60;
        else if (*unit == 'h')
            number *= 3600;
        *seconds += number;
        p = unit + len;
    }
    return 0;
}

static int make_call(struct cli *cli, jianmu_call **call)
{
    jianmu_error *err = NULL;
    double seconds = 0;
    const char *text = cli_value(cli, "timeout");
    *call = jianmu_call_new();
    if (!*call) {
        say("out of memory");
        return EXIT_COULD_NOT;
    }
    if (!text)
        return 0;
    int status = timeout_seconds(cli, text, &seconds);
    if (!status && jianmu_call_set_timeout(*call, seconds, &err))
        status = report_error(cli, err, EXIT_COULD_NOT);
    return status;
}

int session_open(struct cli *cli, struct session *s)
{
    jianmu_error *err = NULL;
    *s = (struct session){0};
    int status = make_constraints(cli, &s->constraints, &s->scoped);
    if (!status)
        status = make_call(cli, &s->call);
    if (!status)
        status = session_config(cli, &s->config);
    if (status)
        return status;
    if (events_open(cli, s) || signals_catch(s->call))
        return EXIT_COULD_NOT;
    s->runner = jianmu_runner_from_constraints(s->constraints, s->config, NULL, NULL, s->bus, &err);
    s->executor = s->runner ? jianmu_executor_new(s->runner, &err) : NULL;
    if (!s->executor)
        return report_error(cli, err, EXIT_COULD_NOT);
    confirm_with(cli, s->executor);
    return 0;
}

void say_notice(struct session *s, const char *subject)
{
    json_t *plan = s->scoped ? jianmu_runner_explain(s->runner, subject, s->call, NULL) : NULL;
    const char *notice = json_string_value(json_object_get(plan, "notice"));
    if (notice)
        say("%s", notice);
    json_decref(plan);
}

void session_close(struct session *s)
{
    signals_release();
    jianmu_executor_free(s->executor);
    jianmu_runner_free(s->runner);
    events_close(s);
    jianmu_call_free(s->call);
    jianmu_constraints_free(s->constraints);
    jianmu_config_free(s->config);
}
