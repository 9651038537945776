/* SPDX-License-Identifier: Apache-2.0
 * The command line: one table of commands, one of options, and what the commands share. */
#ifndef CLI_H
#define CLI_H

#include "jianmu.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    EXIT_TOOL_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_TIMEOUT = 124,
    EXIT_COULD_NOT = 125,
    EXIT_DENIED = 126,
    EXIT_NOT_FOUND = 127,
    EXIT_LIMIT = 137
};

struct cli;

struct cli_option {
    const char *name, *arg; /* arg NULL: a switch */
    const char *field;      /* of the constraints; NULL: the command line's own */
    const char *help;
};

struct cli_command {
    const char *name, *synopsis, *summary, *text;
    const struct cli_option *options; /* its own, ended by a NULL name; NULL: none */
    int (*run)(struct cli *cli);
};

struct cli_given {
    const struct cli_option *option;
    const char *value;
};

struct cli {
    const struct cli_command *command;
    struct cli_given *given; /* in the order given */
    size_t given_count;
    const char **words;      /* not options; words_before of them stood before "--" */
    size_t word_count, words_before;
    bool json;
    bool stdin_closed;       /* descriptor 0 was closed when we started */
};

extern const struct cli_command cli_commands[];
extern const struct cli_option cli_common[];

/* options.c: 0, or the status to end with; then the sentence has been said. */
int cli_parse(struct cli *cli, int argc, char **argv);
const char *cli_value(const struct cli *cli, const char *name); /* the last one given, or NULL */
bool cli_has(const struct cli *cli, const char *name);
int cli_usage(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *cli_nearest(const char *word, const char *(*name)(size_t i)); /* NULL where nothing is near */

/* help.c */
void cli_help(const struct cli *cli);

/* text.c */
void say(const char *format, ...) __attribute__((format(printf, 1, 2))); /* one line on standard error */
int write_all(int fd, const void *bytes, size_t len);                    /* 0 or -1 and errno */
void out(const char *format, ...) __attribute__((format(printf, 1, 2)));  /* on standard output */
void out_bytes(const void *bytes, size_t len);
int out_finish(int status); /* 125 where anything of it could not be written, after saying why; else status */
int put_json(const json_t *value);                                       /* compact, one line, on standard output */
bool colours(void);
void put_clean(const char *text); /* on standard output, escaped for a terminal */

/* table.c: columns as wide as their widest cell, the last one free */
#define TABLE_COLUMNS 6
struct table {
    char *(*rows)[TABLE_COLUMNS];
    size_t count;
    bool failed;
};
void table_row(struct table *t, const char *const cells[TABLE_COLUMNS]); /* copied; NULL ends the row */
int table_print(struct table *t);                                        /* and frees it; 0 or a status */

/* terminal.c: what a terminal may be shown: text, newline, tab, return and colours; the rest is spelled out. */
struct terminal {
    bool lines;           /* newline, tab, return, backspace and colours pass */
    unsigned char held[40];
    size_t held_len;
    void (*put)(void *data, const void *bytes, size_t len);
    void *data;
};
void terminal_feed(struct terminal *t, const void *bytes, size_t len);
void terminal_end(struct terminal *t);

/* session.c: what run, job and explain need around a call */
struct session {
    jianmu_config *config;
    jianmu_constraints *constraints;
    jianmu_bus *bus;
    jianmu_runner *runner;
    jianmu_executor *executor;
    jianmu_call *call;
    bool scoped; /* the constraints name a scope, so they may not apply */
};
/* Each 0, or the status to end with. */
int session_config(struct cli *cli, jianmu_config **config);
int session_open(struct cli *cli, struct session *s);
void session_close(struct session *s);
json_t *json_argument(const char *option, const char *text, int *status); /* JSON, @FILE or -; new */
/* Says the error, prints it as an object under --json, frees it; the status to end with. */
int report_error(const struct cli *cli, jianmu_error *err, int not_found);
void say_notice(struct session *s, const char *subject); /* what of the constraints was passed over */
int result_status(const jianmu_result *result);
int slurp(int fd, char **data, size_t *len); /* new, a NUL behind it; 0 or -1 and errno */

/* events.c */
int events_open(const struct cli *cli, struct session *s); /* makes the bus; -1 after saying why */
void events_close(struct session *s);                      /* says what was lost, frees the bus */

/* confirm.c: what needs confirmation is asked on the terminal, or was confirmed by --yes */
void confirm_with(struct cli *cli, jianmu_executor *executor);

/* signals.c: the first interrupt cancels the call, the second ends us. */
int signals_catch(jianmu_call *call); /* before threads are made */
void signals_release(void);
int signals_caught(void);             /* the number, or 0 */

/* job_input.c, job_output.c */
int job_add_inputs(struct cli *cli, jianmu_job *job);
int artifacts_open(const char *dir); /* makes the last part; a descriptor, or -1 after saying why */
int artifacts_write(const jianmu_result *result, int dir, const char *name, bool force); /* how many failed */

/* one a file */
int command_run(struct cli *cli);
int command_job(struct cli *cli);
int command_tools(struct cli *cli);
int command_backends(struct cli *cli);
int command_plugins(struct cli *cli);
int command_explain(struct cli *cli);
int command_validate(struct cli *cli);
int command_doctor(struct cli *cli);
int command_gc(struct cli *cli);
extern const struct cli_option run_options[], job_options[], tools_options[], explain_options[];

#endif
