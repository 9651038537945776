/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "kit.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "plugin/registry.h"
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

char kit_dir[KIT_PATH];
static char none[2 * KIT_PATH], etc[2 * KIT_PATH];

void kit_put(const char *fixture, const char *to)
{
    char from[2 * KIT_PATH], target[2 * KIT_PATH], block[4096];
    snprintf(from, sizeof from, "%s/tests/settings/.libs/noted_%s.so", getenv("JIANMU_BUILD"), fixture);
    snprintf(target, sizeof target, "%s/%s", kit_dir, to);
    FILE *in = fopen(from, "re"), *out = fopen(target, "we");
    if (!in || !out)
        fail_msg("%s", in ? target : from);
    size_t n;
    while ((n = fread(block, 1, sizeof block, in)) > 0)
        assert_int_equal(fwrite(block, 1, n, out), n);
    fclose(in);
    assert_int_equal(fclose(out), 0);
}

int kit_setup(void **state)
{
    static const char *const dirs[] = {"backends", "tools", "guards", "etc", "etc/jianmu"};
    const char *tmp = getenv("TMPDIR");
    (void)state;
    umask(022);
    snprintf(kit_dir, sizeof kit_dir, "%s/jianmu-settings.XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
    if (!mkdtemp(kit_dir))
        return -1;
    for (size_t i = 0; i < jm_countof(dirs); i++) {
        char path[2 * KIT_PATH];
        snprintf(path, sizeof path, "%s/%s", kit_dir, dirs[i]);
        if (mkdir(path, 0755))
            return -1;
    }
    kit_put("tools", "tools/noted.so");
    kit_put("local", "backends/local.so");
    kit_put("boxed", "backends/boxed.so");
    kit_put("sick", "backends/sick.so");
    snprintf(none, sizeof none, "%s/none", kit_dir);
    snprintf(etc, sizeof etc, "%s/etc", kit_dir);
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

int kit_teardown(void **state)
{
    (void)state;
    return nftw(kit_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void kit_write(const char *name, const char *text)
{
    char path[2 * KIT_PATH];
    snprintf(path, sizeof path, "%s/%s", kit_dir, name);
    unlink(path);
    FILE *out = text ? fopen(path, "we") : NULL;
    if (!text)
        return;
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

jianmu_config *kit_config(void)
{
    jianmu_error *err = NULL;
    jianmu_config *config = jianmu_config_new();
    assert_non_null(config);
    config->secure = true;
    config->sysconfdir = etc;
    config->plugin_root = none;
    assert_int_equal(jianmu_config_add_plugin_dir(config, kit_dir, &err), 0);
    assert_null(err);
    return config;
}

jianmu_config *kit_load(const char *yaml)
{
    jianmu_error *err = NULL;
    jianmu_config *config = kit_config();
    if (jianmu_config_load_text(config, yaml, strlen(yaml), "jianmu.yaml", &err))
        fail_msg("%s\n%s", jianmu_error_message(err), yaml);
    assert_null(err);
    return config;
}

int kit_refuse(const char *yaml, size_t len, const char *sentence)
{
    jianmu_error *err = NULL;
    jianmu_config *config = kit_config();
    int rc = jianmu_config_load_text(config, yaml, len, "jianmu.yaml", &err);
    bool good = rc == -1 && jianmu_error_code(err) == JIANMU_INVALID && !strcmp(jianmu_error_message(err), sentence);
    if (!good)
        print_error("%s\nsays  %s\nmust  %s\n", len < 400 ? yaml : "a long one", jianmu_error_message(err), sentence);
    jianmu_error_free(err);
    jianmu_config_free(config);
    return good ? 0 : 1;
}

json_t *kit_json(const char *text)
{
    json_error_t why;
    jm_auto_free char *copy = strdup(text);
    assert_non_null(copy);
    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    json_t *value = jm_json_parse(copy, strlen(copy), JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    if (!value)
        fail_msg("%s: %s", text, why.text);
    return value;
}

json_t *kit_explain(const jianmu_config *config, const char *constraints, const char *mode, const char *subject,
                    char fail[512])
{
    jianmu_error *err = NULL;
    jm_auto_json json_t *object = constraints ? kit_json(constraints) : NULL;
    jianmu_constraints *c = object ? jianmu_constraints_from_json(object, &err) : NULL;
    const struct jm_item *tool = NULL;
    struct jm_plan *plan = NULL;
    json_t *json = NULL;
    bool ready = !err;
    if (ready && strcmp(subject, "job"))
        ready = (tool = jm_registry_find(config->registry, JIANMU_KIND_TOOL, subject, &err)) != NULL;
    if (ready && (plan = jm_plan_new(config, c, mode, subject, tool, &err)))
        json = jm_plan_json(plan);
    if (fail)
        snprintf(fail, 512, "%s", jianmu_error_message(err));
    else if (!json)
        fail_msg("%s", jianmu_error_message(err));
    assert_int_equal(!json, !!err);
    jianmu_error_free(err);
    jm_plan_free(plan);
    jianmu_constraints_free(c);
    return json;
}

const char *kit_setting(const json_t *explain, const char *name)
{
    static char text[512];
    const json_t *s = json_object_get(json_object_get(explain, "settings"), name);
    if (!s)
        return "none";
    jm_auto_free char *value = jm_json_print(json_object_get(s, "value"), 0, NULL);
    snprintf(text, sizeof text, "%s %s %s", value, json_string_value(json_object_get(s, "layer")),
             json_string_value(json_object_get(s, "source")));
    return text;
}
