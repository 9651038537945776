/* SPDX-License-Identifier: Apache-2.0
 * Words for people on standard error, values on standard output. */
#include "config.h"
#include "cli.h"
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int write_all(int fd, const void *bytes, size_t len)
{
    const char *p = bytes;
    while (len) {
        ssize_t n = write(fd, p, len);
        if (n >= 0) {
            p += n;
            len -= (size_t)n;
        } else if (errno == EAGAIN) {
            struct pollfd wait = {.fd = fd, .events = POLLOUT};
            poll(&wait, 1, 1000);
        } else if (errno != EINTR) {
            return -1;
        }
    }
    return 0;
}

struct line {
    char *text;
    size_t len, cap;
};

static void add_to_line(void *data, const void *bytes, size_t len)
{
    struct line *line = data;
    if (line->cap - line->len < len)
        len = line->cap - line->len;
    memcpy(line->text + line->len, bytes, len);
    line->len += len;
}

/* A name in a message may hold anything; it must neither end the line nor steer the terminal. */
void say(const char *format, ...)
{
    char *text = NULL;
    va_list ap;
    va_start(ap, format);
    int n = vasprintf(&text, format, ap);
    va_end(ap);
    struct line line = {.cap = n < 0 ? 0 : 16 + 4 * (size_t)n};
    line.text = n < 0 ? NULL : malloc(line.cap);
    if (line.text) {
        struct terminal clean = {.put = add_to_line, .data = &line};
        add_to_line(&line, "jianmu: ", 8);
        terminal_feed(&clean, text, (size_t)n);
        terminal_end(&clean);
        add_to_line(&line, "\n", 1);
        write_all(2, line.text, line.len);
    } else {
        write_all(2, "jianmu: out of memory\n", 22);
    }
    free(line.text);
    if (n >= 0)
        free(text);
}

static int out_error;

void out_bytes(const void *bytes, size_t len)
{
    errno = EIO;
    if (fwrite(bytes, 1, len, stdout) != len && !out_error)
        out_error = errno;
}

void out(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    errno = EIO;
    if (vprintf(format, ap) < 0 && !out_error)
        out_error = errno;
    va_end(ap);
}

int out_finish(int status)
{
    errno = EIO;
    if ((fflush(stdout) || ferror(stdout)) && !out_error)
        out_error = errno;
    if (!out_error)
        return status;
    say("standard output: %s", strerror(out_error));
    return EXIT_COULD_NOT;
}

static void print(void *data, const void *bytes, size_t len)
{
    (void)data;
    out_bytes(bytes, len);
}

void put_clean(const char *text)
{
    struct terminal clean = {.put = print, .lines = false};
    terminal_feed(&clean, text, strlen(text));
    terminal_end(&clean);
}

bool colours(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(1) && !(no && *no) && term && *term && strcmp(term, "dumb");
}

int put_json(const json_t *value)
{
    char *text = jianmu_json_text(value, 0);
    if (!text) {
        say("out of memory");
        return EXIT_COULD_NOT;
    }
    out("%s\n", text);
    free(text);
    return 0;
}
