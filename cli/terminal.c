/* SPDX-License-Identifier: Apache-2.0
 * A job's output may hold sequences that write to the clipboard, rename the window or type for the user. A terminal
 * is shown text and colours; every other control is spelled out as \xNN. */
#include "config.h"
#include "cli.h"
#include <stdio.h>
#include <string.h>

static void put(struct terminal *t, const void *bytes, size_t len)
{
    if (len)
        t->put(t->data, bytes, len);
}

static void spell(struct terminal *t, const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char text[8];
        int n = snprintf(text, sizeof text, "\\x%02x", bytes[i]);
        put(t, text, (size_t)n);
    }
}

static size_t sequence_length(unsigned char c)
{
    return c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
}

static bool wrong_second(unsigned char first, unsigned char second)
{
    return (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
           (first == 0xf4 && second > 0x8f);
}

/* 1: c was taken by what is held; 0: what was held is gone, c is still to be looked at. */
static int continue_held(struct terminal *t, unsigned char c)
{
    unsigned char *h = t->held;
    if (h[0] == 0x1b) {
        bool parameter = t->held_len > 1 && ((c >= '0' && c <= '9') || c == ';' || c == ':');
        if (((t->held_len == 1 && c == '[') || parameter) && t->held_len < sizeof t->held - 1) {
            h[t->held_len++] = c;
            return 1;
        }
        if (t->held_len > 1 && c == 'm') {
            h[t->held_len] = c;
            put(t, h, t->held_len + 1);
            t->held_len = 0;
            return 1;
        }
        spell(t, h, 1);
        put(t, h + 1, t->held_len - 1);
        t->held_len = 0;
        return 0;
    }
    if ((c & 0xc0) != 0x80 || (t->held_len == 1 && wrong_second(h[0], c))) {
        spell(t, h, t->held_len);
        t->held_len = 0;
        return 0;
    }
    h[t->held_len++] = c;
    if (t->held_len == sequence_length(h[0])) {
        if (h[0] == 0xc2 && c < 0xa0) /* a control of the upper half */
            spell(t, h, 2);
        else
            put(t, h, t->held_len);
        t->held_len = 0;
    }
    return 1;
}

static bool plain(const struct terminal *t, unsigned char c)
{
    if (c < 0x20)
        return t->lines && (c == '\n' || c == '\t' || c == '\r' || c == '\b');
    return c < 0x7f;
}

void terminal_feed(struct terminal *t, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;
    size_t start = 0;
    for (size_t i = 0; i < len; i++) {
        if (t->held_len) {
            start = i + 1;
            if (continue_held(t, p[i]))
                continue;
            start = i;
        }
        if (plain(t, p[i]))
            continue;
        put(t, p + start, i - start);
        start = i + 1;
        if ((p[i] == 0x1b && t->lines) || sequence_length(p[i]))
            t->held[t->held_len++] = p[i];
        else
            spell(t, p + i, 1);
    }
    if (start < len)
        put(t, p + start, len - start);
}

void terminal_end(struct terminal *t)
{
    if (t->held_len && t->held[0] == 0x1b) {
        spell(t, t->held, 1);
        put(t, t->held + 1, t->held_len - 1);
    } else {
        spell(t, t->held, t->held_len);
    }
    t->held_len = 0;
}
