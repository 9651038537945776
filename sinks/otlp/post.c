/* SPDX-License-Identifier: Apache-2.0
 * libcurl is no dependency: it is loaded when the first batch is sent, and never unloaded, as its TLS library leaves exit
 * handlers behind. */
#include "config.h"
#include "otlp/otlp.h"
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_CURL
#include <curl/curl.h>
#include <dlfcn.h>

struct library {
    CURLcode (*global_init)(long);
    CURL *(*easy_init)(void);
    CURLcode (*setopt)(CURL *, CURLoption, ...);
    CURLcode (*perform)(CURL *);
    CURLcode (*getinfo)(CURL *, CURLINFO, ...);
    void (*cleanup)(CURL *);
    struct curl_slist *(*append)(struct curl_slist *, const char *);
    void (*free_all)(struct curl_slist *);
};

static bool find(void *handle, const char *name, void *place)
{
    void *symbol = dlsym(handle, name);
    memcpy(place, &symbol, sizeof symbol);
    return symbol;
}

static struct library *load(void)
{
    void *handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle)
        handle = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    struct library *l = handle ? calloc(1, sizeof *l) : NULL;
    if (l && find(handle, "curl_global_init", &l->global_init) && find(handle, "curl_easy_init", &l->easy_init) &&
        find(handle, "curl_easy_setopt", &l->setopt) && find(handle, "curl_easy_perform", &l->perform) &&
        find(handle, "curl_easy_getinfo", &l->getinfo) && find(handle, "curl_easy_cleanup", &l->cleanup) &&
        find(handle, "curl_slist_append", &l->append) && find(handle, "curl_slist_free_all", &l->free_all) &&
        !l->global_init(CURL_GLOBAL_DEFAULT))
        return l;
    free(l);
    return NULL;
}

static size_t ignore(char *bytes, size_t size, size_t count, void *data)
{
    (void)bytes;
    (void)data;
    return size * count;
}

static int look(void *data, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct post *post = data;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return post->stop(post->data);
}

static struct curl_slist *append(const struct library *l, struct curl_slist *list, const char *name, const char *value)
{
    char *line = NULL;
    size_t size = strlen(name) + strlen(value) + 3;
    if (strpbrk(name, "\r\n:") || strpbrk(value, "\r\n") || !(line = malloc(size)))
        return list;
    stpcpy(stpcpy(stpcpy(line, name), ": "), value);
    struct curl_slist *longer = l->append(list, line);
    free(line);
    return longer ? longer : list;
}

static CURLcode only_http(const struct library *l, CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
    return l->setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return l->setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static bool prepare(struct post *post)
{
    const struct library *l = post->library = load();
    const char *name;
    json_t *value;
    if (!l || !(post->easy = l->easy_init()))
        return false;
    post->list = append(l, NULL, "Content-Type", "application/json");
    json_object_foreach (post->headers, name, value)
        post->list = append(l, post->list, name, json_string_value(value));
    long milliseconds = (long)(post->timeout_s * 1000);
    int bad = l->setopt(post->easy, CURLOPT_URL, post->url) || l->setopt(post->easy, CURLOPT_NOSIGNAL, 1L) ||
              only_http(l, post->easy) ||
              l->setopt(post->easy, CURLOPT_HTTPHEADER, post->list) || l->setopt(post->easy, CURLOPT_WRITEFUNCTION, ignore) ||
              l->setopt(post->easy, CURLOPT_XFERINFOFUNCTION, look) || l->setopt(post->easy, CURLOPT_XFERINFODATA, post) ||
              l->setopt(post->easy, CURLOPT_NOPROGRESS, 0L) || l->setopt(post->easy, CURLOPT_USERAGENT, "jianmu") ||
              l->setopt(post->easy, CURLOPT_TIMEOUT_MS, milliseconds ? milliseconds : 1);
#if LIBCURL_VERSION_NUM >= 0x075700
    l->setopt(post->easy, CURLOPT_QUICK_EXIT, 1L);
#endif
    return !bad;
}

enum post_end post_send(struct post *post, const char *body, size_t len)
{
    long answer = 0;
    if (!post->library && !post->broken)
        post->broken = !prepare(post);
    if (post->broken)
        return POST_REFUSED;
    const struct library *l = post->library;
    if (l->setopt(post->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)len) ||
        l->setopt(post->easy, CURLOPT_POSTFIELDS, body))
        return POST_REFUSED;
    CURLcode rc = l->perform(post->easy);
    if (rc)
        return rc == CURLE_URL_MALFORMAT || rc == CURLE_UNSUPPORTED_PROTOCOL ? POST_REFUSED : POST_AGAIN;
    l->getinfo(post->easy, CURLINFO_RESPONSE_CODE, &answer);
    if (answer >= 200 && answer < 300)
        return POST_DONE;
    return answer == 429 || (answer >= 502 && answer <= 504) ? POST_AGAIN : POST_REFUSED;
}

bool post_is_built(void)
{
    return true;
}

static void end_library(struct post *post)
{
    struct library *l = post->library;
    if (!l)
        return;
    if (post->easy)
        l->cleanup(post->easy);
    l->free_all(post->list);
    free(l);
}
#else
enum post_end post_send(struct post *post, const char *body, size_t len)
{
    (void)post;
    (void)body;
    (void)len;
    return POST_REFUSED;
}

bool post_is_built(void)
{
    return false;
}

static void end_library(struct post *post)
{
    (void)post;
}
#endif

void post_end(struct post *post)
{
    end_library(post);
    free(post->url);
    json_decref(post->headers);
}
