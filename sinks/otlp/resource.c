/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "otlp/otlp.h"
#include "jianmu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

json_t *attribute(const char *name, const char *value)
{
    return value ? json_pack("{s:s, s:{s:s}}", "key", name, "value", "stringValue", value) : NULL;
}

/* 64-bit numbers are texts in OTLP/JSON. */
json_t *attribute_number(const char *name, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return json_pack("{s:s, s:{s:s}}", "key", name, "value", "intValue", text);
}

static int hex(char c)
{
    const char *at = c ? strchr("0123456789abcdefABCDEF", c) : NULL;
    if (!at)
        return -1;
    long i = at - "0123456789abcdefABCDEF";
    return (int)(i > 15 ? i - 6 : i);
}

/* new: without blanks around it and percent signs decoded; NULL without memory. */
static char *decode(const char *text, size_t len)
{
    while (len && (*text == ' ' || *text == '\t')) {
        text++;
        len--;
    }
    while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    char *out = malloc(len + 1), *to = out;
    for (size_t i = 0; out && i < len; i++) {
        int high = text[i] == '%' && i + 2 < len ? hex(text[i + 1]) : -1;
        int low = high >= 0 ? hex(text[i + 2]) : -1;
        if (low >= 0 && (high || low)) {
            *to++ = (char)(high << 4 | low);
            i += 2;
        } else {
            *to++ = text[i];
        }
    }
    if (out)
        *to = 0;
    return out;
}

/* What is no pair, or no text, is left out. */
int pairs_read(const char *text, json_t *object)
{
    while (text && *text) {
        size_t len = strcspn(text, ",");
        const char *equals = memchr(text, '=', len);
        if (equals && equals != text) {
            char *name = decode(text, (size_t)(equals - text)), *value = decode(equals + 1, len - (size_t)(equals - text) - 1);
            bool memory = name && value;
            if (memory && *name)
                json_object_set_new(object, name, json_string(value));
            free(name);
            free(value);
            if (!memory)
                return -1;
        }
        text += len + (text[len] == ',');
    }
    return 0;
}

json_t *resource_new(void)
{
    const char *service = secure_getenv("OTEL_SERVICE_NAME"), *name;
    json_t *object = json_object(), *value, *list = json_array();
    int bad = !object || !list || json_object_set_new(object, "service.name", json_string("jianmu")) ||
              pairs_read(secure_getenv("OTEL_RESOURCE_ATTRIBUTES"), object);
    if (!bad && service && *service)
        json_object_set_new(object, "service.name", json_string(service)); /* what is no text leaves it as it was */
    json_object_foreach (object, name, value)
        if (!bad)
            bad = json_array_append_new(list, attribute(name, json_string_value(value)));
    if (!bad)
        bad = json_array_append_new(list, attribute("telemetry.sdk.name", "jianmu")) ||
              json_array_append_new(list, attribute("telemetry.sdk.language", "c")) ||
              json_array_append_new(list, attribute("telemetry.sdk.version", JIANMU_VERSION)) ||
              json_array_append_new(list, attribute_number("process.pid", getpid()));
    json_decref(object);
    json_t *resource = bad ? NULL : json_pack("{s:O}", "attributes", list);
    json_decref(list);
    return resource;
}
