/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "event/trace.h"
#include <string.h>

static const char digits[] = "0123456789abcdef";

void jm_hex(char *to, const uint8_t *bytes, int count)
{
    for (int i = 0; i < count; i++) {
        to[2 * i] = digits[bytes[i] >> 4];
        to[2 * i + 1] = digits[bytes[i] & 15];
    }
}

/* Lower case only, as the standard wants it. */
static bool read_hex(const char *text, uint8_t *bytes, int count)
{
    bool any = false;
    for (int i = 0; i < count; i++) {
        const char *high = text[2 * i] ? strchr(digits, text[2 * i]) : NULL;
        const char *low = high && text[2 * i + 1] ? strchr(digits, text[2 * i + 1]) : NULL;
        if (!low)
            return false;
        bytes[i] = (uint8_t)((high - digits) << 4 | (low - digits));
        any |= bytes[i];
    }
    return any || count == 1;
}

bool jm_trace_parse(const char *text, struct jm_trace *trace)
{
    struct jm_trace t = {0};
    uint8_t version;
    if (strnlen(text, JM_TRACEPARENT) < JM_TRACEPARENT - 1 || !read_hex(text, &version, 1) || version == 0xff)
        return false;
    if (text[2] != '-' || text[35] != '-' || text[52] != '-')
        return false;
    /* what a later version adds stands behind another dash */
    if (text[55] && (version == 0 || text[55] != '-'))
        return false;
    if (!read_hex(text + 3, t.trace_id, 16) || !read_hex(text + 36, t.span_id, 8) || !read_hex(text + 53, &t.flags, 1))
        return false;
    t.flags &= 1;
    *trace = t;
    return true;
}

bool jm_tracestate_is_valid(const char *text)
{
    size_t len = strnlen(text, JM_TRACESTATE_MOST + 1);
    for (size_t i = 0; i < len; i++)
        if ((text[i] < 0x20 || text[i] > 0x7e) && text[i] != '\t')
            return false;
    return len && len <= JM_TRACESTATE_MOST;
}

/* splitmix64: every number gives another. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void put(uint8_t bytes[8], uint64_t id)
{
    if (!id)
        id = 1;
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(id >> (8 * (7 - i)));
}

void jm_trace_begin(struct jm_trace *trace, const struct jm_trace *parent, const uint64_t seed[2], uint64_t number)
{
    *trace = (struct jm_trace){.flags = 1};
    if (parent) {
        memcpy(trace->trace_id, parent->trace_id, sizeof trace->trace_id);
        memcpy(trace->parent_id, parent->span_id, sizeof trace->parent_id);
        trace->flags = parent->flags;
        trace->state = parent->state;
    } else {
        put(trace->trace_id, mix(seed[0] + 2 * number));
        put(trace->trace_id + 8, mix(seed[0] + 2 * number + 1));
    }
    put(trace->span_id, mix(seed[1] + number));
}

void jm_trace_print(const struct jm_trace *trace, char text[JM_TRACEPARENT])
{
    memcpy(text, "00-", 3);
    jm_hex(text + 3, trace->trace_id, 16);
    text[35] = '-';
    jm_hex(text + 36, trace->span_id, 8);
    text[52] = '-';
    jm_hex(text + 53, &trace->flags, 1);
    text[55] = 0;
}
