/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "kit.h"
#include "plugin/trust.h"
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int kit_make_dir(void **state)
{
    const char *tmp = getenv("TMPDIR");
    char pattern[4096];
    struct jm_place place = JM_PLACE_INIT;
    struct jm_refusal r = {0};
    umask(022);
    snprintf(pattern, sizeof pattern, "%s/jianmu-plugins.XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(pattern) || jm_trust_dir(pattern, &place, &r)) {
        print_error("no directory in which plug-ins are trusted: %s\n", r.sentence ? r.sentence : pattern);
        return -1;
    }
    *state = strdup(place.real);
    jm_place_close(&place);
    mkdir(kit_path(*state, "tools"), 0755);
    mkdir(kit_path(*state, "backends"), 0755);
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

int kit_remove_dir(void **state)
{
    int rc = nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(*state);
    return rc;
}

const char *kit_path(const char *dir, const char *name)
{
    static char paths[4][4096];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", dir, name);
    return path;
}

void kit_put(const char *dir, const char *fixture, const char *name)
{
    char built[256];
    snprintf(built, sizeof built, "plugins/.libs/%s.so", fixture);
    kit_put_from(dir, built, name);
}

void kit_put_from(const char *dir, const char *built, const char *name)
{
    char from[4096], block[4096];
    const char *to = kit_path(dir, name), *fresh = kit_path(dir, "fresh");
    snprintf(from, sizeof from, "%s/tests/%s", getenv("JIANMU_BUILD"), built);
    FILE *in = fopen(from, "re"), *out = fopen(fresh, "wex");
    assert_non_null(in);
    assert_non_null(out);
    size_t n;
    while ((n = fread(block, 1, sizeof block, in)) > 0)
        assert_int_equal(fwrite(block, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
    assert_int_equal(rename(fresh, to), 0);
}

jm_registry *kit_scan(const char *dir)
{
    struct jm_search_dir search = {dir, "--plugin-dir", 0};
    jianmu_error *err = NULL;
    jm_registry *registry = jm_registry_scan(&search, 1, &err);
    if (!registry)
        fail_msg("%s", jianmu_error_message(err));
    return registry;
}

struct jm_item *kit_load(jm_registry *registry, uint32_t kind, const char *name)
{
    jianmu_error *err = NULL;
    struct jm_item *item = jm_registry_find(registry, kind, name, &err);
    if (!item || jm_item_load(registry, item, &err))
        fail_msg("%s", jianmu_error_message(err));
    return item;
}

long kit_run(const struct jm_item *item)
{
    json_t *value = item->plugin.tool.run(NULL, NULL, NULL);
    long number = (long)json_integer_value(value);
    json_decref(value);
    return number;
}

int kit_count_fds(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int count = 0;
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}
