/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "common/beneath.h"
#include "common/tool.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define MOST_LINKS 8
#define CHUNK ((size_t)1 << 20)

/* Where the file is to be: an open directory and one name in it. */
struct target {
    int dir;
    char name[NAME_MAX + 1];
    char *path; /* below the workspace, links resolved */
};

static int fail_with(int errnum)
{
    errno = errnum;
    return -1;
}

/* Opens the directory path[0..len) below root, making what is missing. */
static int open_parents(int root, const char *path, size_t len)
{
    jm_auto_free char *prefix = strndup(path, len);
    if (!prefix)
        return fail_with(ENOMEM);
    int fd = tool_open_beneath(root, *prefix ? prefix : ".", O_PATH | O_DIRECTORY, 0);
    if (fd >= 0 || errno != ENOENT)
        return fd;
    while (len && prefix[len - 1] == '/')
        prefix[--len] = 0;
    char *slash = strrchr(prefix, '/');
    const char *name = slash ? slash + 1 : prefix;
    if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
        return fail_with(ENOENT);
    jm_auto_fd int above = open_parents(root, prefix, slash ? (size_t)(slash - prefix) : 0);
    if (above < 0 || (mkdirat(above, name, 0777) && errno != EEXIST))
        return -1;
    return tool_open_beneath(root, prefix, O_PATH | O_DIRECTORY, 0);
}

/* A link in the last place: the path becomes what it says. */
static int follow(struct target *t, size_t parent_len)
{
    char to[PATH_MAX], *path;
    ssize_t n = readlinkat(t->dir, t->name, to, sizeof to - 1);
    if (n < 0)
        return -1;
    to[n] = 0;
    if (*to == '/')
        return fail_with(EXDEV);
    if (asprintf(&path, "%.*s%s%s", (int)parent_len, t->path, parent_len ? "/" : "", to) < 0)
        return fail_with(ENOMEM);
    free(t->path);
    t->path = path;
    close(t->dir);
    t->dir = -1;
    return 0;
}

/* Fills t; st: what stands there now, st_mode 0: nothing. */
static int find_target(int root, const char *path, struct target *t, struct stat *st)
{
    if (!(t->path = strdup(path)))
        return fail_with(ENOMEM);
    for (int links = 0; links <= MOST_LINKS; links++) {
        const char *slash = strrchr(t->path, '/'), *name = slash ? slash + 1 : t->path;
        size_t parent_len = slash ? (size_t)(slash - t->path) : 0;
        if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
            return fail_with(EISDIR);
        if (strlen(name) > NAME_MAX)
            return fail_with(ENAMETOOLONG);
        snprintf(t->name, sizeof t->name, "%s", name);
        t->dir = open_parents(root, t->path, parent_len);
        if (t->dir < 0)
            return -1;
        if (fstatat(t->dir, t->name, st, AT_SYMLINK_NOFOLLOW)) {
            st->st_mode = 0;
            return errno == ENOENT ? 0 : -1;
        }
        if (!S_ISLNK(st->st_mode))
            return S_ISDIR(st->st_mode) ? fail_with(EISDIR) : S_ISREG(st->st_mode) ? 0 : fail_with(ENXIO);
        if (follow(t, parent_len))
            return -1;
    }
    return fail_with(ELOOP);
}

static int write_all(jianmu_context *ctx, int fd, const char *data, size_t len)
{
    while (len) {
        if (ctx->services->cancelled(ctx))
            return fail_with(ECANCELED);
        ssize_t n = write(fd, data, len < CHUNK ? len : CHUNK);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

/* A new file beside the old one takes its place when it is complete. */
static int replace(jianmu_context *ctx, const struct target *t, const struct stat *old, const char *data, size_t len)
{
    uint64_t random;
    char temporary[32];
    if (old->st_mode && faccessat(t->dir, t->name, W_OK, AT_EACCESS))
        return -1;
    if (getrandom(&random, sizeof random, 0) != sizeof random)
        return -1;
    snprintf(temporary, sizeof temporary, ".jianmu-%016llx", (unsigned long long)random);
    jm_auto_fd int fd = openat(t->dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
        return -1;
    struct stat st;
    int failed = write_all(ctx, fd, data, len) || fstat(fd, &st);
    /* the owner is kept where we may give files away, the mode always, but never set-id bits */
    if (!failed && old->st_mode && (st.st_uid != old->st_uid || st.st_gid != old->st_gid) &&
        fchown(fd, old->st_uid, old->st_gid) && errno != EPERM)
        failed = -1;
    if (!failed && old->st_mode)
        failed = fchmod(fd, old->st_mode & 0777);
    if (!failed)
        failed = renameat(t->dir, temporary, t->dir, t->name);
    if (failed) {
        int saved = errno;
        unlinkat(t->dir, temporary, 0);
        return fail_with(saved);
    }
    return 0;
}

/* All of it or nothing: what was written is taken back where the rest does not fit. */
static int append(jianmu_context *ctx, const struct target *t, const char *data, size_t len, json_int_t *size)
{
    struct stat st;
    jm_auto_fd int fd = openat(t->dir, t->name,
        O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (fd < 0 || fstat(fd, &st))
        return -1;
    if (!S_ISREG(st.st_mode))
        return fail_with(ENXIO);
    *size = st.st_size + (json_int_t)len;
    if (write_all(ctx, fd, data, len) == 0)
        return 0;
    int saved = errno;
    return ftruncate(fd, st.st_size) ? -1 : fail_with(saved);
}

static json_t *put(jianmu_context *ctx, const struct tool_place *place, const char *path, json_t *content, bool appends)
{
    struct stat st = {0};
    struct target t = {.dir = -1};
    const char *data = json_string_value(content);
    size_t len = json_string_length(content);
    json_int_t size = (json_int_t)len;
    json_t *value;
    int failed = find_target(place->dir, place->path, &t, &st);
    if (!failed)
        failed = appends ? append(ctx, &t, data, len, &size) : replace(ctx, &t, &st, data, len);
    if (failed && errno == ECANCELED)
        value = tool_stopped(ctx);
    else if (failed)
        value = tool_path_error(ctx, path, errno);
    else if (!(value = json_pack("{s:I, s:I}", "bytes", (json_int_t)len, "size", size)))
        tool_memory(ctx);
    if (t.dir >= 0)
        close(t.dir);
    free(t.path);
    return value;
}

static json_t *write_file(void *instance, jianmu_context *ctx, json_t *args)
{
    static const struct tool_arg known[] = {
        {"path", TOOL_STRING, true}, {"content", TOOL_TEXT, true}, {"append", TOOL_BOOL, false}};
    json_t *answer = NULL;
    struct tool_place place;
    (void)instance;
    if (tool_args(ctx, args, known, jm_countof(known)))
        return NULL;
    const char *path = json_string_value(json_object_get(args, "path"));
    if (tool_find_place(ctx, path, &place, &answer))
        return answer;
    if (!place.writable)
        return tool_error(ctx, "'%s' cannot be written: the directory it is in is read-only "
                          "(a workspace is writable when it is given as --workspace DIR:rw)", path);
    return put(ctx, &place, path, json_object_get(args, "content"), json_is_true(json_object_get(args, "append")));
}

JIANMU_TOOL(write_file, write_file, JIANMU_DANGER_WRITE, JIANMU_COOPERATES,
    "Writes a text file of the workspace: a new one, or over an old one, or, with append, behind it. Missing "
    "directories are made. Paths are relative to the workspace; nothing outside can be reached, also not through "
    "links; the skill is read-only. An old file is replaced in one step: readers see all of the old or all of the "
    "new content. It can neither delete nor rename, and it makes no file executable.",
    "{\"type\":\"object\",\"properties\":{"
    "\"path\":{\"type\":\"string\",\"description\":\"the file, such as notes/plan.md\"},"
    "\"content\":{\"type\":\"string\",\"description\":\"the whole content, or what is to be added\"},"
    "\"append\":{\"type\":\"boolean\",\"description\":\"true: add to the end; false (the default): replace\"}},"
    "\"required\":[\"path\",\"content\"],\"additionalProperties\":false,"
    "\"x-jianmu\":{\"defaults\":{\"timeout_s\":10.0}}}")
JIANMU_PLUGIN(JIANMU_ITEM(write_file))
