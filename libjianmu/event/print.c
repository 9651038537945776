/* SPDX-License-Identifier: Apache-2.0
 * An event as text, straight from the struct. What others wrote is cut at a length, so that no line is endless. */
#include "config.h"
#include "event/event.h"
#include "base/text.h"
#include <string.h>

enum { LONGEST_ID = 256, LONGEST_NAME = 128, LONGEST_SENTENCE = 4096, LARGEST_PAYLOAD = 65536 };

static void member(struct jm_line *line, const char *key, const char *text, size_t most)
{
    jm_line_lit(line, ",\"");
    jm_line_add(line, key, strlen(key));
    jm_line_lit(line, "\":");
    if (text)
        jm_line_text(line, text, strlen(text), most);
    else
        jm_line_lit(line, "null");
}

/* A word of the core's own, in which there is nothing to look for. */
static void word(struct jm_line *line, const char *key, const char *text)
{
    jm_line_lit(line, ",\"");
    jm_line_add(line, key, strlen(key));
    jm_line_lit(line, "\":\"");
    jm_line_add(line, text, strlen(text));
    jm_line_lit(line, "\"");
}

/* A tool's own words stay with the caller: they may hold arguments and what the tool printed. */
static void print_quoted(struct jm_line *line, const struct jianmu_event *e)
{
    bool job = !strcmp(e->tool, "job");
    struct jm_line text;
    jm_line_init(&text);
    if (!job)
        jm_line_lit(&text, "Tool '");
    jm_line_add(&text, job ? "Job" : e->tool, job ? 3 : strlen(e->tool));
    if (!job)
        jm_line_lit(&text, "'");
    if (e->ended_by_error) {
        const char *code = jianmu_code_name(e->code);
        jm_line_lit(&text, " could not run: ");
        jm_line_add(&text, code, strlen(code));
    } else {
        jm_line_lit(&text, " failed");
    }
    jm_line_lit(line, ",\"error\":");
    jm_line_text(line, text.data, text.len, LONGEST_SENTENCE);
    jm_line_free(&text);
}

static void print_timeout(struct jm_line *line, double timeout_s)
{
    jm_line_lit(line, ",\"error\":\"tool_timeout: timed out after ");
    jm_line_real(line, timeout_s);
    jm_line_lit(line, "s\",\"timeout_s\":");
    jm_line_real(line, timeout_s);
}

static void print_failure(struct jm_line *line, const struct jianmu_event *e)
{
    if (e->ended_by_error)
        word(line, "code", jianmu_code_name(e->code));
    else
        member(line, "reason", jianmu_reason_name(e->reason), LONGEST_NAME);
    if (!e->ended_by_error && e->reason == JIANMU_TIMEOUT)
        print_timeout(line, e->timeout_s);
    else if (e->quoted && !(e->rules && e->rules->include & JM_INCLUDE_ERROR))
        print_quoted(line, e);
    else
        member(line, "error", e->error ? e->error : "", LONGEST_SENTENCE);
    if (e->abandoned)
        jm_line_lit(line, ",\"abandoned\":true");
}

/* The plug-in's payload; what the core says of the call stands, whatever is in it. */
static void print_others(struct jm_line *line, const json_t *payload)
{
    size_t begin = line->len;
    const char *key;
    json_t *item;
    bool whole = true;
    if (!json_is_object(payload))
        whole = jm_line_member(line, "value", payload, LARGEST_PAYLOAD);
    json_object_foreach ((json_t *)payload, key, item) {
        size_t used = line->len - begin;
        if (strcmp(key, "backend") && strcmp(key, "tool"))
            whole = used < LARGEST_PAYLOAD && jm_line_member(line, key, item, LARGEST_PAYLOAD - used);
        if (!whole)
            break;
    }
    if (whole)
        return;
    line->len = begin;
    jm_line_lit(line, ",\"cut\":true");
}

/* What somebody asked for; too large, only that it is. */
static void print_asked(struct jm_line *line, const char *key, const json_t *value)
{
    if (!value || jm_line_member(line, key, value, LARGEST_PAYLOAD))
        return;
    jm_line_lit(line, ",\"");
    jm_line_add(line, key, strlen(key));
    jm_line_lit(line, "_cut\":true");
}

static void print_decision(struct jm_line *line, const struct jm_decision *d)
{
    const char *const texts[][2] = {{",\"verdict\":", d->verdict}, {",\"rule\":", d->rule}, {",\"source\":", d->source},
                                    {",\"guard\":", d->guard}, {",\"code\":", d->code}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i][1]) {
            jm_line_add(line, texts[i][0], strlen(texts[i][0]));
            jm_line_string(line, texts[i][1], strlen(texts[i][1]), LONGEST_NAME * 4);
        }
    if (d->retry_after_s > 0) {
        jm_line_lit(line, ",\"retry_after_s\":");
        jm_line_real(line, d->retry_after_s);
    }
    if (d->confirmed >= 0)
        jm_line_add(line, d->confirmed ? ",\"confirmed\":true" : ",\"confirmed\":false", d->confirmed ? 17 : 18);
}

static void print_payload(struct jm_line *line, const struct jianmu_event *e)
{
    jm_line_lit(line, ",\"payload\":{\"backend\":");
    jm_line_string(line, e->backend, strlen(e->backend), LONGEST_NAME);
    member(line, "tool", e->tool, LONGEST_NAME);
    if (e->kind == JM_EVENT_COMPLETED || e->kind == JM_EVENT_FAILED) {
        jm_line_lit(line, ",\"duration_s\":");
        jm_line_seconds(line, e->duration);
        jm_line_lit(line, ",\"attempts\":");
        jm_line_integer(line, e->attempts);
    }
    if (e->kind == JM_EVENT_COMPLETED)
        word(line, "reason", jianmu_reason_name(e->reason));
    if (e->kind == JM_EVENT_FAILED)
        print_failure(line, e);
    if (e->rules && e->rules->include & JM_INCLUDE_ARGUMENTS)
        print_asked(line, "arguments", e->arguments);
    if (e->rules && e->rules->include & JM_INCLUDE_RESULT)
        print_asked(line, "result", e->result);
    if (e->decision)
        print_decision(line, e->decision);
    if (e->payload)
        print_others(line, e->payload);
    jm_line_lit(line, "}");
}

static void print_id(struct jm_line *line, const char *key, const uint8_t *id, int bytes)
{
    char text[32];
    static const uint8_t none[8];
    if (bytes == 8 && !memcmp(id, none, 8))
        return;
    jm_line_add(line, key, strlen(key));
    jm_hex(text, id, bytes);
    jm_line_add(line, text, (size_t)bytes * 2);
    jm_line_lit(line, "\"");
}

static void print(struct jm_line *line, const struct jianmu_event *e)
{
    jm_line_lit(line, "{\"event\":");
    if (e->kind == JM_EVENT_OTHER && !e->decision)
        jm_line_text(line, e->name, strlen(e->name), LONGEST_NAME);
    else
        jm_line_string(line, e->name, strlen(e->name), LONGEST_NAME);
    jm_line_lit(line, ",\"time\":");
    jm_line_time(line, jm_event_real(e));
    member(line, "run_id", e->run_id, LONGEST_ID);
    member(line, "node_name", e->node_name, LONGEST_ID);
    member(line, "tool_call_id", e->tool_call_id, LONGEST_ID);
    if (e->trace) {
        print_id(line, ",\"trace_id\":\"", e->trace->trace_id, 16);
        print_id(line, ",\"span_id\":\"", e->trace->span_id, 8);
        print_id(line, ",\"parent_span_id\":\"", e->trace->parent_id, 8);
    }
    print_payload(line, e);
    jm_line_lit(line, "}\n");
}

void jm_event_print(const struct jianmu_event *event, struct jm_line *line)
{
    line->len = 0;
    line->failed = false;
    line->work = JM_LINE_WORK;
    line->rules = event->rules;
    print(line, event);
    if (line->failed) { /* what is left fits into the line's own bytes */
        struct jianmu_event bare = *event;
        bare.error = NULL;
        bare.payload = NULL;
        bare.arguments = bare.result = NULL;
        jm_line_free(line);
        line->most = 16;
        print(line, &bare);
        line->most = SIZE_MAX;
    }
    line->data[line->len] = 0;
}
