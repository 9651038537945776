/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "event/secret.h"
#include "base/cleanup.h"
#include <string.h>
#include <strings.h>

enum { DIGIT = 1, LETTER = 2, UNDER = 4, MINUS = 8, POINT = 16, OTHER = 32 }; /* OTHER: ~ + / = */

static int class_of(char c)
{
    if (c >= '0' && c <= '9')
        return DIGIT;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return LETTER;
    return c == '_' ? UNDER : c == '-' ? MINUS : c == '.' ? POINT : c && strchr("~+/=", c) ? OTHER : 0;
}

static const struct {
    const char *prefix;
    int of;        /* what follows */
    size_t least;  /* how much of it */
} forms[] = {{"sk-", DIGIT | LETTER | UNDER | MINUS, 16},
             {"sk_live_", DIGIT | LETTER, 10},
             {"sk_test_", DIGIT | LETTER, 10},
             {"rk_live_", DIGIT | LETTER, 10},
             {"ghp_", DIGIT | LETTER, 20},
             {"gho_", DIGIT | LETTER, 20},
             {"ghu_", DIGIT | LETTER, 20},
             {"ghs_", DIGIT | LETTER, 20},
             {"ghr_", DIGIT | LETTER, 20},
             {"github_pat_", DIGIT | LETTER | UNDER, 20},
             {"glpat-", DIGIT | LETTER | UNDER | MINUS, 16},
             {"xoxa-", DIGIT | LETTER | MINUS, 10},
             {"xoxb-", DIGIT | LETTER | MINUS, 10},
             {"xoxp-", DIGIT | LETTER | MINUS, 10},
             {"xoxr-", DIGIT | LETTER | MINUS, 10},
             {"xoxs-", DIGIT | LETTER | MINUS, 10},
             {"AKIA", DIGIT | LETTER, 16},
             {"ASIA", DIGIT | LETTER, 16},
             {"AIza", DIGIT | LETTER | UNDER | MINUS, 30},
             {"hf_", DIGIT | LETTER, 20},
             {"npm_", DIGIT | LETTER, 30},
             {"pypi-", DIGIT | LETTER | UNDER | MINUS, 30},
             {"eyJ", DIGIT | LETTER | UNDER | MINUS | POINT, 24},
             {"Bearer ", DIGIT | LETTER | UNDER | MINUS | POINT | OTHER, 16},
             {"bearer ", DIGIT | LETTER | UNDER | MINUS | POINT | OTHER, 16}};

/* A key at the beginning of a word; its length, 0: none. */
static size_t key_at(const char *p, size_t left)
{
    for (size_t i = 0; i < jm_countof(forms); i++) {
        if (*p != *forms[i].prefix)
            continue;
        size_t prefix = strlen(forms[i].prefix), n = prefix;
        if (left < prefix + forms[i].least || memcmp(p, forms[i].prefix, prefix))
            continue;
        while (n < left && class_of(p[n]) & forms[i].of)
            n++;
        if (n >= prefix + forms[i].least)
            return n;
    }
    return 0;
}

/* From "-----BEGIN ... PRIVATE KEY-----" to the end of the line that ends it, or of the text. */
static size_t private_key_at(const char *p, size_t left)
{
    static const char begin[] = "-----BEGIN ", kind[] = "PRIVATE KEY-----", end[] = "-----END ";
    if (left < sizeof begin + sizeof kind || memcmp(p, begin, sizeof begin - 1))
        return 0;
    const char *is = memmem(p, left < 80 ? left : 80, kind, sizeof kind - 1);
    if (!is)
        return 0;
    const char *stop = memmem(is, left - (size_t)(is - p), end, sizeof end - 1);
    const char *line = stop ? memchr(stop, '\n', left - (size_t)(stop - p)) : NULL;
    return line ? (size_t)(line - p) : left;
}

/* "://user:password@": what stands between the slashes and the at sign. */
static size_t login_at(const char *p, size_t left, size_t *skip)
{
    bool colon = false;
    *skip = 3;
    if (left < 6 || memcmp(p, "://", 3))
        return 0;
    for (size_t n = 3; n < left && p[n] != '/' && (unsigned char)p[n] > ' '; n++) {
        colon |= p[n] == ':';
        if (p[n] == '@')
            return colon ? n : 0;
    }
    return 0;
}

bool jm_secret_name(const char *name, size_t len)
{
    static const char *const parts[] = {"password", "passwd",     "secret",        "token",      "api_key", "apikey",
                                        "api-key",  "authorization", "credential", "private_key", "access_key", "cookie"};
    for (size_t i = 0; i < len; i++)
        for (size_t k = 0; k < jm_countof(parts); k++)
            if (len - i >= strlen(parts[k]) && !strncasecmp(name + i, parts[k], strlen(parts[k])))
                return true;
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The name before the sign at `at`, quoted or not: password=, "token":, \"api_key\" : */
static bool secret_before(const char *text, size_t at, bool *header)
{
    size_t end = at;
    while (end && at - end < 16 && (is_blank(text[end - 1]) || text[end - 1] == '"' || text[end - 1] == '\'' ||
                                    text[end - 1] == '\\'))
        end--;
    size_t begin = end;
    while (begin && end - begin < 64 && class_of(text[begin - 1]) & (DIGIT | LETTER | UNDER | MINUS))
        begin--;
    if (begin == end || !jm_secret_name(text + begin, end - begin))
        return false;
    *header = text[at] == ':' && end - begin >= 6 &&
              (!strncasecmp(text + end - 6, "cookie", 6) ||
               (end - begin >= 13 && !strncasecmp(text + end - 13, "authorization", 13)));
    return true;
}

/* Where the quoted text ends that begins at n, behind a quote with that many backslashes before it. */
static size_t quoted_end(const char *text, size_t n, size_t len, char quote, size_t slashes)
{
    for (size_t seen = 0; n < len; n++) {
        if (text[n] == quote && (seen == slashes || (!slashes && seen % 2 == 0)))
            return n - slashes;
        seen = text[n] == '\\' ? seen + 1 : 0;
    }
    return len;
}

static size_t bracket_end(const char *text, size_t n, size_t len)
{
    for (size_t open = 0; n < len; n++) {
        open += text[n] == '[' || text[n] == '{';
        open -= text[n] == ']' || text[n] == '}';
        if (!open)
            return n + 1;
    }
    return len;
}

/* password=xyz, "password": "x y", Authorization: Basic xyz: the length up to the end of the value whose sign is at `at`;
 * *skip: up to its beginning. */
static size_t assigned_at(const char *text, size_t at, size_t len, size_t *skip)
{
    bool header = false;
    size_t n = at + 1, slashes = 0;
    if (!secret_before(text, at, &header))
        return 0;
    while (n < len && is_blank(text[n]))
        n++;
    while (n + slashes < len && text[n + slashes] == '\\')
        slashes++;
    size_t begin = n, end = n;
    char first = n + slashes < len ? text[n + slashes] : 0;
    if (first == '"' || first == '\'') {
        begin = n + slashes + 1;
        end = quoted_end(text, begin, len, first, slashes);
    } else if (text[at] == ':' && len - n > 1 && text[n] == '/' && text[n + 1] == '/') {
        return 0; /* an address */
    } else if (first == '[' || first == '{') {
        end = bracket_end(text, n, len);
    } else {
        while (end < len && (header ? text[end] != '\n' && text[end] != '\r'
                                    : (unsigned char)text[end] > ' ' && !strchr("&;,", text[end])))
            end++;
    }
    *skip = begin - at;
    return end > begin ? end - at : 0;
}

bool jm_secret_find(const char *text, size_t len, size_t from, size_t span[2])
{
    /* first characters of all forms; of words only their beginnings are looked at */
    static const char starts[256] = {['s'] = 1, ['r'] = 1, ['g'] = 1, ['x'] = 1, ['A'] = 1, ['h'] = 1, ['n'] = 1, ['p'] = 1,
                                     ['e'] = 1, ['B'] = 1, ['b'] = 1, ['-'] = 2, [':'] = 3, ['='] = 4};
    for (size_t i = from; i < len; i++) {
        size_t n = 0, skip = 0;
        switch (starts[(unsigned char)text[i]]) {
        case 0: continue;
        case 1: n = i && class_of(text[i - 1]) & (DIGIT | LETTER | UNDER) ? 0 : key_at(text + i, len - i); break;
        case 2: n = private_key_at(text + i, len - i); break;
        case 3:
            if ((n = login_at(text + i, len - i, &skip)))
                break;
            __attribute__((fallthrough));
        default: n = assigned_at(text, i, len, &skip);
        }
        if (n) {
            span[0] = i + skip;
            span[1] = i + n;
            return true;
        }
    }
    return false;
}
