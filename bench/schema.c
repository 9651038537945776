/* SPDX-License-Identifier: Apache-2.0
 * A check of typical arguments, 200 bytes in 5 properties, beside python3-jsonschema's. */
#include "config.h"
#include "jianmu.h"
#include "measure.h"
#include <string.h>

#define ROUNDS 101
#define EACH 2000

static const char schema_text[] =
    "{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":500},\"limit\":{\"type\":"
    "\"integer\",\"minimum\":1,\"maximum\":100},\"sort\":{\"type\":\"string\",\"enum\":[\"relevance\",\"date\",\"author\"]},"
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":10},\"exact\":{\"type\":\"boolean\"}},"
    "\"required\":[\"query\"],\"additionalProperties\":false}";
static const char good_text[] =
    "{\"query\":\"how trees of stone were drawn on the walls of tombs in the second century, and by whom\",\"limit\":20,"
    "\"sort\":\"date\",\"tags\":[\"history\",\"han dynasty\",\"stone relief\",\"trees\"],\"exact\":false}";
static const char bad_text[] = "{\"querry\":\"trees\",\"limit\":\"20\",\"sort\":\"newest\"}";

static json_t *parsed(const char *text)
{
    json_t *json = json_loads(text, 0, NULL);
    if (!json)
        exit(1);
    return json;
}

static double check(const jianmu_schema *schema, const json_t *value, int want)
{
    double before = bench_now_us();
    for (int i = 0; i < EACH; i++) {
        json_t *complaints = NULL;
        if (jianmu_schema_check(schema, value, &complaints, NULL) != want)
            exit(1);
        json_decref(complaints);
    }
    return (bench_now_us() - before) / EACH;
}

static double compile(const json_t *json)
{
    double before = bench_now_us();
    for (int i = 0; i < EACH / 10; i++)
        jianmu_schema_free(jianmu_schema_new(json, NULL));
    return (bench_now_us() - before) / (EACH / 10);
}

/* The median of the other, microseconds a check; 0: it is not there. */
static double other(void)
{
    char command[4096];
    double us = 0;
    snprintf(command, sizeof command,
             "python3 -W ignore -c 'import json, jsonschema, time\n"
             "v = jsonschema.Draft202012Validator(json.loads(r\"\"\"%s\"\"\"))\n"
             "x = json.loads(r\"\"\"%s\"\"\")\n"
             "t = []\n"
             "for i in range(300):\n"
             "    a = time.perf_counter(); v.is_valid(x); t.append(time.perf_counter() - a)\n"
             "print(sorted(t)[150] * 1e6)' 2>/dev/null", schema_text, good_text);
    FILE *python = popen(command, "r");
    if (!python || fscanf(python, "%lf", &us) != 1)
        us = 0;
    if (python)
        pclose(python);
    return us;
}

int main(void)
{
    static double figures[4][ROUNDS];
    json_t *json = parsed(schema_text), *good = parsed(good_text), *bad = parsed(bad_text);
    jianmu_schema *schema = jianmu_schema_new(json, NULL);
    struct row rows[] = {{"good arguments", figures[0], 0, 0}, {"bad ones, with five complaints at most", figures[1], 0, 0},
                         {"the schema compiled", figures[2], 0, 0}, {"python3-jsonschema, good arguments", figures[3], 0, 0}};
    double python = other();
    if (!schema)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        rows[0].us[i] = check(schema, good, 1);
        rows[1].us[i] = check(schema, bad, 0);
        rows[2].us[i] = compile(json);
        rows[3].us[i] = python;
    }
    for (size_t i = 0; i < 4; i++)
        bench_settle(&rows[i], ROUNDS);
    bench_print(rows, python > 0 ? 4 : 3, 0, "JSON Schema, arguments of 200 bytes in 5 properties (ns)", 1000);
    jianmu_schema_free(schema);
    json_decref(json);
    json_decref(good);
    json_decref(bad);
    return 0;
}
