/* SPDX-License-Identifier: Apache-2.0
 * jianmu job: one script; its output passes through raw and as it comes. */
#include "config.h"
#include "cli.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct cli_option job_options[] = {
    {"input", "PATH[=REL]", NULL, "a file or directory for the job, as REL; repeatable; the last '=' divides"},
    {"out", "DIR", NULL, "write the files the job leaves into DIR"},
    {"force", NULL, NULL, "with --out: replace existing files"},
    {"language", "NAME", NULL, "python, sh, ...; else the #! line, else python"},
    {0}};

/* One of our own streams that the job's output goes to. */
struct stream {
    int fd, error;
    bool terminal;
    struct terminal filter;
    jianmu_call *call;
};

static void stream_put(void *data, const void *bytes, size_t len)
{
    struct stream *s = data;
    if (s->error || !write_all(s->fd, bytes, len))
        return;
    s->error = errno;
    if (s->fd == 1) /* nobody reads the result: nothing to run on for */
        jianmu_call_cancel(s->call);
}

static void on_output(void *data, int stream, const void *bytes, size_t len)
{
    struct stream *s = (struct stream *)data + (stream == 2);
    if (s->terminal)
        terminal_feed(&s->filter, bytes, len);
    else
        stream_put(s, bytes, len);
}

static char *read_script(const char *name, size_t *len, int *status)
{
    char *script = NULL;
    bool standard = !strcmp(name, "-");
    int fd = standard ? 0 : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 || slurp(fd, &script, len)) {
        *status = errno == ENOENT || errno == ENOTDIR ? EXIT_NOT_FOUND : EXIT_COULD_NOT;
        say("script '%s': %s", name, strerror(errno));
    }
    if (fd > 0)
        close(fd);
    return script;
}

/* A terminal is not handed to the job: with privileges it could type into it. A pipe carries what is typed. */
static void *copy_terminal(void *data)
{
    int fd = *(int *)data;
    char bytes[4096];
    ssize_t n;
    while ((n = read(0, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0 && write_all(fd, bytes, (size_t)n))
            break;
    close(fd);
    return NULL;
}

static int give_stdin(struct cli *cli, jianmu_job *job)
{
    static int ends[2]; /* outlives this call: the thread has it */
    jianmu_error *err = NULL;
    int fd = 0;
    if (cli->stdin_closed || !strcmp(cli->words[0], "-"))
        return 0;
    if (isatty(0)) {
        pthread_t thread;
        if (pipe2(ends, O_CLOEXEC) || (errno = pthread_create(&thread, NULL, copy_terminal, &ends[1]))) {
            say("standard input: %s", strerror(errno));
            return EXIT_COULD_NOT;
        }
        pthread_detach(thread);
        fd = ends[0];
    }
    return jianmu_job_set_stdin_fd(job, fd, &err) ? report_error(cli, err, EXIT_COULD_NOT) : 0;
}

static int make_job(struct cli *cli, jianmu_job **out)
{
    jianmu_error *err = NULL;
    size_t len;
    int status = 0;
    char *script = read_script(cli->words[0], &len, &status);
    if (!script)
        return status;
    jianmu_job *job = *out = jianmu_job_new(script, len);
    free(script);
    if (!job) {
        say("out of memory");
        return EXIT_COULD_NOT;
    }
    const char *language = cli_value(cli, "language");
    if (language && jianmu_job_set_language(job, language, &err))
        return report_error(cli, err, EXIT_COULD_NOT);
    for (size_t i = 1; i < cli->word_count; i++)
        if (jianmu_job_add_arg(job, cli->words[i], &err))
            return report_error(cli, err, EXIT_COULD_NOT);
    status = job_add_inputs(cli, job);
    return status ? status : give_stdin(cli, job);
}

/* After the job: what could not be delivered is an error of ours, whatever the job's own status was. */
static int deliver(struct cli *cli, jianmu_result *result, int out)
{
    int failed = 0;
    size_t count = jianmu_result_artifacts(result);
    json_t *entry;
    size_t i;
    if (out >= 0)
        failed = artifacts_write(result, out, cli_value(cli, "out"), cli_has(cli, "force"));
    else if (count && !cli->json)
        say("%zu artifact%s not kept; --out DIR keeps them", count, count == 1 ? " is" : "s are");
    json_array_foreach(jianmu_result_skipped(result), i, entry)
        say("skipped %s: %s", json_string_value(json_object_get(entry, "path")),
            json_string_value(json_object_get(entry, "why")));
    if (cli->json) {
        json_t *object = jianmu_result_json(result);
        failed += put_json(object) != 0;
        json_decref(object);
    }
    return failed ? EXIT_COULD_NOT : 0;
}

static int broken_output(const struct stream streams[2], const struct sigaction *before)
{
    int error = streams[0].error;
    if (!error)
        return 0;
    if (error == EPIPE && before->sa_handler == SIG_DFL) { /* end as everybody ends who writes to a closed pipe */
        signal(SIGPIPE, SIG_DFL);
        raise(SIGPIPE);
    }
    say("standard output: %s", strerror(error));
    return EXIT_COULD_NOT;
}

static int run_job(struct cli *cli, struct session *s, const jianmu_job *job, int out, const struct stream streams[2],
                   const struct sigaction *before)
{
    jianmu_error *err = NULL;
    jianmu_result *result = NULL;
    jianmu_call_set_operator(s->call, 1); /* the script was named by whoever sits here */
    if (jianmu_execute_job(s->executor, job, s->call, &result, &err)) {
        jianmu_result_free(result);
        return report_error(cli, err, EXIT_NOT_FOUND);
    }
    for (int i = 0; i < 2; i++)
        if (streams[i].terminal)
            terminal_end((struct terminal *)&streams[i].filter);
    int status = broken_output(streams, before);
    if (!status)
        status = deliver(cli, result, out);
    if (!status) {
        status = result_status(result);
        if (jianmu_result_reason(result) != JIANMU_EXITED && *jianmu_result_message(result))
            say("%s", jianmu_result_message(result));
    }
    jianmu_result_free(result);
    return status;
}

static int with_session(struct cli *cli, struct session *s, jianmu_job *job, int out)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    struct stream streams[2];
    int status = session_open(cli, s);
    if (status)
        return status;
    say_notice(s, "job");
    sigaction(SIGPIPE, &ignore, &before);
    for (int i = 0; i < 2; i++)
        streams[i] = (struct stream){.fd = i + 1, .terminal = isatty(i + 1), .call = s->call};
    for (int i = 0; i < 2; i++)
        streams[i].filter = (struct terminal){.lines = true, .put = stream_put, .data = &streams[i]};
    if (!cli->json)
        jianmu_job_set_output(job, on_output, streams);
    return run_job(cli, s, job, out, streams, &before);
}

int command_job(struct cli *cli)
{
    struct session s = {0};
    jianmu_job *job = NULL;
    int out = -1, status = 0;
    const char *dir = cli_value(cli, "out");
    if (!cli->word_count)
        return cli_usage(cli, "job needs a SCRIPT");
    if (cli->words_before > 1)
        return cli_usage(cli, "job takes one SCRIPT; arguments for it stand behind '--'");
    if (cli_has(cli, "force") && !dir)
        return cli_usage(cli, "option '--force' needs '--out'");
    status = make_job(cli, &job);
    if (!status && dir)
        status = (out = artifacts_open(dir)) < 0 ? EXIT_COULD_NOT : 0;
    if (!status)
        status = with_session(cli, &s, job, out);
    session_close(&s);
    if (out >= 0)
        close(out);
    jianmu_job_free(job);
    return status;
}
