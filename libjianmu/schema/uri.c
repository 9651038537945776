/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "schema/uri.h"
#include "base/buffer.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct part {
    const char *at;
    size_t len;
    bool there;
};

struct uri {
    struct part scheme, authority, path, query;
};

static struct part part(const char *at, size_t len)
{
    return (struct part){at, len, true};
}

static bool is_scheme(const char *text, size_t len)
{
    if (!len || !strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", text[0]))
        return false;
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.") >= len;
}

static struct uri split(const char *text)
{
    struct uri u = {0};
    const char *end = text + strcspn(text, "#");
    size_t n = strcspn(text, ":/?#");
    if (text[n] == ':' && is_scheme(text, n)) {
        u.scheme = part(text, n);
        text += n + 1;
    }
    if (end - text >= 2 && text[0] == '/' && text[1] == '/') {
        text += 2;
        u.authority = part(text, strcspn(text, "/?#"));
        text += u.authority.len;
    }
    u.path = part(text, strcspn(text, "?#"));
    text += u.path.len;
    if (*text == '?')
        u.query = part(text + 1, (size_t)(end - text - 1));
    return u;
}

/* RFC 3986, 5.2.4: path may overlap nothing of b. */
static void add_path(struct jm_buffer *b, const char *path, size_t len)
{
    size_t start = b->len;
    const char *end = path + len;
    while (path < end) {
        const char *next = memchr(path + 1, '/', (size_t)(end - path - 1));
        size_t n = next ? (size_t)(next - path) : (size_t)(end - path);
        bool slash = path[0] == '/';
        const char *name = path + slash;
        size_t name_len = n - slash;
        bool one = name_len == 1 && name[0] == '.', two = name_len == 2 && name[0] == '.' && name[1] == '.';
        if (two) {
            while (b->len > start && b->data[b->len - 1] != '/')
                b->len--;
            if (b->len > start)
                b->len--;
        }
        if (!one && !two)
            jm_buffer_add(b, path, n);
        else if (!next)
            jm_buffer_adds(b, "/");
        path += n;
    }
}

static void add_merged(struct jm_buffer *b, const struct uri *base, const struct uri *ref)
{
    struct jm_buffer path = {0};
    const char *slash = memrchr(base->path.at, '/', base->path.len);
    if (base->authority.there && !base->path.len)
        jm_buffer_adds(&path, "/");
    else if (slash)
        jm_buffer_add(&path, base->path.at, (size_t)(slash - base->path.at) + 1);
    jm_buffer_add(&path, ref->path.at, ref->path.len);
    if (path.failed)
        b->failed = true;
    else
        add_path(b, path.data, path.len);
    jm_buffer_free(&path);
}

char *jm_uri_resolve(const char *base_text, const char *reference)
{
    struct uri base = split(base_text), ref = split(reference);
    struct jm_buffer b = {0};
    const struct part *scheme = ref.scheme.there ? &ref.scheme : &base.scheme;
    bool own = ref.scheme.there || ref.authority.there;
    const struct part *authority = own ? &ref.authority : &base.authority;
    const struct part *query = own || ref.path.len || ref.query.there ? &ref.query : &base.query;
    if (scheme->there) {
        jm_buffer_add(&b, scheme->at, scheme->len);
        jm_buffer_adds(&b, ":");
    }
    if (authority->there) {
        jm_buffer_adds(&b, "//");
        jm_buffer_add(&b, authority->at, authority->len);
    }
    if (own || (ref.path.len && ref.path.at[0] == '/'))
        add_path(&b, ref.path.at, ref.path.len);
    else if (!ref.path.len)
        jm_buffer_add(&b, base.path.at, base.path.len);
    else
        add_merged(&b, &base, &ref);
    if (query->there) {
        jm_buffer_adds(&b, "?");
        jm_buffer_add(&b, query->at, query->len);
    }
    return jm_buffer_take(&b);
}

static int hex(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

char *jm_uri_decode(const char *text, int *bad)
{
    struct jm_buffer b = {0};
    *bad = 0;
    for (; *text && !*bad; text++) {
        char c = *text;
        if (c == '%') {
            int high = hex(text[1]), low = high < 0 ? -1 : hex(text[2]);
            *bad = low < 0 || (c = (char)(high * 16 + low)) == 0;
            text += *bad ? 0 : 2;
        }
        jm_buffer_add(&b, &c, 1);
    }
    if (*bad) {
        jm_buffer_free(&b);
        return NULL;
    }
    return jm_buffer_take(&b);
}

const json_t *jm_pointer_step(const json_t *json, const char *name, size_t len)
{
    char key[512], *out = key;
    if (len >= sizeof key)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        bool escaped = name[i] == '~' && i + 1 < len && (name[i + 1] == '0' || name[i + 1] == '1');
        *out++ = !escaped ? name[i] : name[i + 1] == '0' ? '~' : '/';
        i += escaped;
    }
    *out = 0;
    if (!json_is_array(json))
        return json_object_get(json, key);
    if (!len || len > 9 || strspn(key, "0123456789") != len || (key[0] == '0' && len > 1))
        return NULL;
    return json_array_get(json, (size_t)atoi(key));
}

