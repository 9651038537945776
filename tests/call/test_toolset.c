/* SPDX-License-Identifier: Apache-2.0
 * Which tools a runner has: the built-in ones that are offered, and before them those of its skill. */
#include "config.h"
#include "support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char skill[4096], place[64];

static int find_skill(void **state)
{
    const char *build = getenv("JIANMU_BUILD");
    snprintf(skill, sizeof skill, "%s/tests/call/skill", build ? build : ".");
    return use_build_tree(state);
}

/* The world's runner again, with these names and that skill. */
static void open_set(struct world *w, const char *yaml, const char *const *names, const char *skill_dir)
{
    jianmu_error *err = NULL;
    world_open(w, yaml, NULL);
    jianmu_runner_free(w->runner);
    w->runner = jianmu_runner_from_constraints(w->constraints, w->config, names, skill_dir, w->bus, &err);
    if (!w->runner)
        fail_msg("%s", jianmu_error_message(err));
}

static const char *from(struct world *w, const char *tool)
{
    static char text[100];
    jianmu_result *r = call_tool(w, tool, "{\"from\": \"built-in\"}", NULL);
    snprintf(text, sizeof text, "%s", json_string_value(json_object_get(jianmu_result_value(r), "from")));
    jianmu_result_free(r);
    return text;
}

static json_t *listed(struct world *w, const char *name)
{
    json_t *all = jianmu_runner_tools(w->runner, NULL), *tool, *found = NULL;
    size_t i, count = 0;
    json_array_foreach(all, i, tool)
        if (!strcmp(json_string_value(json_object_get(tool, "name")), name) && !count++)
            found = json_incref(tool);
    assert_true(count <= 1);
    json_decref(all);
    return found;
}

static void test_the_skill_goes_before(void **state)
{
    (void)state;
    struct world w;
    open_set(&w, NULL, NULL, NULL);
    assert_string_equal(from(&w, "echo_it"), "built-in");
    call_refused(&w, "skill_only", NULL, NULL, JIANMU_NOT_FOUND, "skill_only");
    world_close(&w);
    open_set(&w, NULL, NULL, skill);
    assert_string_equal(from(&w, "echo_it"), "skill");
    assert_string_equal(from(&w, "skill_only"), "skill");
    jianmu_result *r = call_tool(&w, "skill_only", NULL, NULL); /* with the keys and defaults of its own note */
    assert_string_equal(json_string_value(json_object_get(jianmu_result_value(r), "flavour")), "mint");
    jianmu_result_free(r);
    json_t *plan = jianmu_runner_explain(w.runner, "skill_only", NULL, NULL);
    json_t *seconds = json_object_get(json_object_get(json_object_get(plan, "settings"), "timeout_s"), "value");
    assert_true(json_number_value(seconds) == 20);
    json_decref(plan);
    r = call_tool(&w, "where", NULL, NULL);
    jianmu_result_free(r);
    world_close(&w);
}

/* Constraints name a skill too, and have a scope. */
static void test_a_skill_in_constraints(void **state)
{
    (void)state;
    static const char *const scopes[] = {"tools", "all", "skill"};
    for (size_t i = 0; i < 3; i++) {
        struct world w;
        char text[5000];
        snprintf(text, sizeof text, "{\"skill\": \"%s:ro\", \"scope\": \"%s\"}", skill, scopes[i]);
        world_open(&w, NULL, text);
        assert_string_equal(from(&w, "echo_it"), i < 2 ? "skill" : "built-in");
        world_close(&w);
    }
}

static void test_placed_like_any_other(void **state)
{
    (void)state;
    struct world w;
    open_set(&w, "tools: {'skill_o*': {mode: hosted}, 'e*': {timeout_s: 7}}\n", NULL, skill);
    jianmu_result *r = call_tool(&w, "skill_only", NULL, NULL);
    assert_int_not_equal(json_integer_value(json_object_get(jianmu_result_value(r), "pid")), getpid());
    assert_string_equal(json_string_value(json_object_get(jianmu_result_value(r), "flavour")), "mint");
    jianmu_result_free(r);
    json_t *tool = listed(&w, "skill_only");
    assert_string_equal(json_string_value(json_object_get(tool, "mode")), "hosted");
    json_decref(tool);
    r = call_tool(&w, "echo_it", NULL, NULL);
    assert_int_equal(json_integer_value(json_object_get(jianmu_result_value(r), "pid")), getpid());
    jianmu_result_free(r);
    world_close(&w);
}

static void assert_graded(struct world *w, const char *name, const char *danger, const char *promises)
{
    char text[100] = "";
    size_t i;
    json_t *flag, *tool = listed(w, name);
    assert_string_equal(json_string_value(json_object_get(tool, "danger")), danger);
    json_array_foreach(json_object_get(tool, "flags"), i, flag)
        if (!strcmp(json_string_value(flag), "read_only") || !strcmp(json_string_value(flag), "idempotent"))
            strcat(strcat(text, json_string_value(flag)), " ");
    assert_string_equal(text, promises);
    json_decref(tool);
}

static void test_what_is_listed(void **state)
{
    (void)state;
    struct world w;
    open_set(&w, "tools: {where: {mode: hosted, timeout_s: 3}, prints: {mode: nowhere}}\n", NULL, skill);
    json_t *tool = listed(&w, "echo_it");
    assert_true(json_is_true(json_object_get(tool, "custom")));
    assert_string_equal(json_string_value(json_object_get(tool, "danger")), "write"); /* the skill's, not the built-in one's */
    assert_non_null(strstr(json_string_value(json_object_get(tool, "path")), "/skill/tools/"));
    json_decref(tool);
    assert_graded(&w, "echo_it", "write", "");
    assert_graded(&w, "starter", "dangerous", ""); /* whatever it says of itself */
    assert_graded(&w, "skill_only", "write", "");
    assert_graded(&w, "fails", "write", "read_only idempotent "); /* here it takes nobody's place */
    assert_graded(&w, "where", "read", "read_only ");
    tool = listed(&w, "where");
    assert_true(json_is_false(json_object_get(tool, "custom")));
    assert_string_equal(json_string_value(json_object_get(tool, "mode")), "hosted");
    assert_non_null(strstr(json_string_value(json_object_get(tool, "description")), "3.0 seconds of time"));
    json_decref(tool);
    tool = listed(&w, "prints");
    assert_true(json_is_null(json_object_get(tool, "mode"))); /* where it should run cannot be had */
    json_decref(tool);
    tool = listed(&w, "skill_only");
    assert_string_equal(json_string_value(json_object_get(json_object_get(tool, "parameters"), "type")), "object");
    assert_null(json_object_get(json_object_get(tool, "parameters"), "x-jianmu"));
    json_decref(tool);
    world_close(&w);
}

static void test_names_and_patterns_are_offered(void **state)
{
    (void)state;
    struct world w;
    static const char *const names[] = {"where", "p*", NULL};
    open_set(&w, NULL, names, NULL);
    static const struct {
        const char *name;
        bool there;
    } list[] = {{"where", true}, {"prints", true}, {"patient", true}, {"echo_it", false}, {"writes", false}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        json_t *tool = listed(&w, list[i].name);
        assert_int_equal(tool != NULL, list[i].there);
        json_decref(tool);
        if (list[i].there)
            assert_non_null(jianmu_runner_tool(w.runner, list[i].name, NULL));
    }
    call_refused(&w, "echo_it", NULL, NULL, JIANMU_NOT_FOUND, "tool 'echo_it' is not among the tools of this runner");
    call_refused(&w, "were", NULL, NULL, JIANMU_NOT_FOUND, "did you mean 'where'?");
    call_refused(&w, "print", NULL, NULL, JIANMU_NOT_FOUND, "did you mean 'prints'?");
    world_close(&w);
    /* a skill's come beside those that are offered, and are suggested too */
    open_set(&w, NULL, names, skill);
    assert_string_equal(from(&w, "echo_it"), "skill");
    call_refused(&w, "skil_only", NULL, NULL, JIANMU_NOT_FOUND, "did you mean 'skill_only'?");
    call_refused(&w, "writes", NULL, NULL, JIANMU_NOT_FOUND, "is not among the tools of this runner");
    world_close(&w);
}

static void refused_names(const char *name, const char *skill_dir, const char *sentence)
{
    struct world w;
    jianmu_error *err = NULL;
    const char *const names[] = {"where", name, NULL};
    world_open(&w, NULL, NULL);
    jianmu_runner *r = jianmu_runner_from_constraints(w.constraints, w.config, names, skill_dir, NULL, &err);
    assert_int_equal(r == NULL, sentence != NULL);
    if (sentence) {
        assert_int_equal(jianmu_error_code(err), JIANMU_NOT_FOUND);
        if (!strstr(jianmu_error_message(err), sentence))
            fail_msg("%s", jianmu_error_message(err));
    }
    jianmu_error_free(err);
    jianmu_runner_free(r);
    world_close(&w);
}

/* What is offered must be there. */
static void test_unknown_names_are_refused(void **state)
{
    (void)state;
    refused_names("ecko_it", NULL, "the tools offered: unknown tool \"ecko_it\", did you mean \"echo_it\"?");
    refused_names("zz*", NULL, "the tools offered: the pattern 'zz*' means no tool that is here");
    refused_names("skill_only", NULL, "the tools offered: unknown tool \"skill_only\"");
    refused_names("skill_only", skill, NULL);
    refused_names("skill_*", skill, NULL);
    refused_names("echo_it", skill, NULL);
}

static void copy_file(const char *source, const char *to)
{
    char block[4096];
    FILE *in = fopen(source, "re"), *out = fopen(to, "we");
    size_t n;
    assert_true(in && out);
    while ((n = fread(block, 1, sizeof block, in)) > 0)
        assert_int_equal(fwrite(block, 1, n, out), n);
    fclose(in);
    fclose(out);
}

static int make_place(void **state)
{
    const char *tmp = getenv("TMPDIR");
    char path[200];
    (void)state;
    umask(022);
    snprintf(place, sizeof place, "%s/jianmu-skill.XXXXXX", tmp && *tmp == '/' && strlen(tmp) < 40 ? tmp : "/tmp");
    if (!mkdtemp(place) || chmod(place, 0755))
        return -1;
    snprintf(path, sizeof path, "%s/tools", place);
    return mkdir(path, 0755);
}

static int remove_place(void **state)
{
    static const char *const names[] = {"tools/echo_it.so", "tools/where.so", "tools", ""};
    char path[200];
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", place, names[i]);
        remove(path);
    }
    return 0;
}

/* A tool of the skill that cannot be used is an error; the built-in one does not slip into its place. */
static void test_a_bad_tool_of_a_skill(void **state)
{
    (void)state;
    struct world w;
    char source[4200], path[200];
    snprintf(path, sizeof path, "%s/tools/where.so", place);
    FILE *out = fopen(path, "we");
    assert_non_null(out);
    fputs("no plug-in", out);
    fclose(out);
    open_set(&w, NULL, NULL, place);
    call_refused(&w, "where", NULL, NULL, JIANMU_UNAVAILABLE, path);
    json_t *tool = listed(&w, "where");
    assert_null(tool);
    assert_string_equal(from(&w, "echo_it"), "built-in");
    world_close(&w);
    /* what others can write to is not loaded */
    snprintf(source, sizeof source, "%s/tools/skilltools.so", skill);
    snprintf(path, sizeof path, "%s/tools/echo_it.so", place);
    copy_file(source, path);
    open_set(&w, NULL, NULL, place);
    assert_string_equal(from(&w, "echo_it"), "skill");
    world_close(&w);
    assert_int_equal(chmod(path, 0666), 0);
    open_set(&w, NULL, NULL, place);
    call_refused(&w, "echo_it", NULL, NULL, JIANMU_UNAVAILABLE, "chmod");
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_skill_goes_before),
        cmocka_unit_test(test_a_skill_in_constraints),
        cmocka_unit_test(test_placed_like_any_other),
        cmocka_unit_test(test_what_is_listed),
        cmocka_unit_test(test_names_and_patterns_are_offered),
        cmocka_unit_test(test_unknown_names_are_refused),
        cmocka_unit_test_setup_teardown(test_a_bad_tool_of_a_skill, make_place, remove_place),
    };
    return cmocka_run_group_tests(tests, find_skill, NULL);
}
