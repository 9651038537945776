/* SPDX-License-Identifier: Apache-2.0
 * Any bytes as JSON, as constraints, as a duration, as a size. */
#include "config.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "settings/values.h"
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
    if (!good)
        abort();
}

/* What was read is printed, and reads back as the same, and prints the same. */
static void as_json(const char *text, size_t size)
{
    json_error_t why = {.line = -1};
    jm_auto_json json_t *value = jm_json_parse(text, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    if (!value) {
        must(why.text[0] && why.line > 0 && why.column > 0 && why.position >= 0 && (size_t)why.position <= size);
        return;
    }
    jm_auto_free char *printed = jm_json_print(value, size % 3, NULL);
    must(printed);
    jm_auto_json json_t *again = jm_json_parse(printed, strlen(printed), JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    must(again && json_equal(again, value));
    jianmu_error *err = NULL;
    jianmu_constraints *c = jianmu_constraints_from_json(value, &err);
    must(!c == !!err);
    jianmu_error_free(err);
    jianmu_constraints_free(c);
}

static void as_value(const char *text)
{
    double seconds = -1;
    uint64_t bytes = 1;
    char shown[JM_SHOWN];
    must(jm_parse_seconds(text, &seconds) || (seconds >= 0 && !isinf(seconds)));
    must(jm_parse_size(text, &bytes) || bytes <= INT64_MAX);
    must(strlen(jm_show(shown, text)) < JM_SHOWN);
    for (size_t i = 0; i < jm_knob_count; i++) {
        jianmu_error *err = NULL;
        jianmu_constraints *c = jianmu_constraints_new();
        if (c && jm_knobs[i].flags & JM_IN_CONSTRAINTS)
            must(jianmu_constraints_set(c, jm_knobs[i].name, text, &err) == (err ? -1 : 0));
        jianmu_error_free(err);
        jianmu_constraints_free(c);
    }
}

static void as_text(const char *text, size_t size)
{
    size_t len, clipped_len;
    uint64_t dropped;
    jm_auto_free char *valid = jm_utf8_repair(text, size, &len);
    must(valid && jm_utf8_is_valid(valid, len));
    must(!jm_utf8_is_valid(text, size) || (len == size && !memcmp(valid, text, size)));
    jm_auto_free char *clipped = jm_text_clip(valid, len, size * 2 / 3, &clipped_len, &dropped);
    must(clipped && jm_utf8_is_valid(clipped, clipped_len));
    must(jm_utf8_count(clipped, clipped_len) + dropped == jm_utf8_count(valid, len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    jm_auto_free char *text = malloc(size + 1);
    must(text);
    memcpy(text, data, size);
    text[size] = 0;
    as_json((const char *)data, size);
    as_value(text);
    as_text((const char *)data, size);
    return 0;
}
