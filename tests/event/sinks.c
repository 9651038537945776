/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "sinks.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int place_make(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    strcpy(p->dir, "/tmp/jianmu-sinks-XXXXXX");
    if (!p || !mkdtemp(p->dir))
        return -1;
    snprintf(p->file, sizeof p->file, "%s/lines", p->dir);
    *state = p;
    return 0;
}

int place_remove(void **state)
{
    struct place *p = *state;
    char name[400];
    DIR *dir = opendir(p->dir);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(name, sizeof name, "%s/%s", p->dir, e->d_name);
        unlink(name);
    }
    if (dir)
        closedir(dir);
    int rc = rmdir(p->dir);
    free(p);
    return rc;
}

void place_open(struct place *p, const char *events)
{
    char yaml[2048] = "events:\n";
    for (char *to = yaml + strlen(yaml); (*to = *events); events++) {
        if (events[0] == '%' && events[1] == 's') {
            to = stpcpy(to, p->dir);
            events++;
        } else {
            to++;
        }
    }
    world_open(&p->w, yaml, NULL);
}

void place_call(struct place *p, int times)
{
    for (int i = 0; i < times; i++) {
        jianmu_result *r = call_tool(&p->w, "echo_it", "{\"a\": \"SENTINEL\"}", NULL);
        assert_int_equal(jianmu_result_reason(r), JIANMU_EXITED);
        jianmu_result_free(r);
    }
}

json_t *place_lines(const char *file)
{
    json_t *list = json_array();
    char *line = NULL;
    size_t size = 0;
    FILE *f = fopen(file, "re");
    for (ssize_t n; f && (n = getline(&line, &size, f)) > 0;) {
        json_error_t why;
        json_t *one = json_loadb(line, (size_t)n, JSON_REJECT_DUPLICATES, &why);
        if (!one || line[n - 1] != '\n')
            fail_msg("%s: no whole line: %s", file, line);
        json_array_append_new(list, one);
    }
    if (f)
        fclose(f);
    free(line);
    return list;
}

json_int_t place_lost(struct place *p, const char *name, bool *abandoned)
{
    json_t *report = jianmu_bus_report(p->w.bus), *sink;
    json_int_t lost = -1;
    size_t i;
    json_array_foreach (report, i, sink) {
        if (strcmp(json_string_value(json_object_get(sink, "sink")), name))
            continue;
        lost = json_integer_value(json_object_get(sink, "lost"));
        if (abandoned)
            *abandoned = json_is_true(json_object_get(sink, "abandoned"));
    }
    json_decref(report);
    return lost;
}

const char *member(json_t *line, const char *name)
{
    return json_string_value(json_object_get(line, name));
}
