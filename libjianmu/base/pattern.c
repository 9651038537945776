/* SPDX-License-Identifier: Apache-2.0
 * PCRE2's own match limit counts anew at every start in the text, and possessive loops not at all, so it bounds no
 * search of a long text. A callout in front of the pattern is reached once a start and looks at the processor time.
 * There is no JIT: hardened hosts refuse memory that is both written and executed. */
#include "config.h"
#define PCRE2_CODE_UNIT_WIDTH 8

#include "base/pattern.h"
#include "base/buffer.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include <pcre2.h>
#include <stdatomic.h>
#include <string.h>

enum {
    LONGEST_PATTERN = 10000,
    STEPS = 100000,          /* of one start: about 2 ms */
    HEAP_KIB = 16384,        /* of one search */
    LOOK_EVERY = 64,         /* starts; */
    LOOK_OFTEN = 8,          /* in a long text, where a start may run through all of it */
    KEEP_BELOW = 65536       /* bytes of text; longer ones may have grown what is kept */
};
#define MOST_TIME (JM_SECOND / 4)

/* What one search needs. */
struct scratch {
    pcre2_match_data *data;
    pcre2_match_context *context;
    unsigned starts, every;
    int64_t until; /* of the thread's processor time; 0: not yet looked */
};

struct jm_pattern {
    pcre2_code *code;
    _Atomic(struct scratch *) spare; /* of the last search, so that the next allocates nothing */
    char text[];
};

static int64_t processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * JM_SECOND + t.tv_nsec;
}

/* A callout of the pattern's own is only one look more. */
static int at_start(pcre2_callout_block *block, void *data)
{
    struct scratch *s = data;
    (void)block;
    if (++s->starts % s->every)
        return 0;
    int64_t now = processor_time();
    if (!s->until)
        s->until = now + MOST_TIME;
    return now < s->until ? 0 : PCRE2_ERROR_MATCHLIMIT;
}

static void scratch_free(struct scratch *s)
{
    if (!s)
        return;
    pcre2_match_data_free(s->data);
    pcre2_match_context_free(s->context);
    free(s);
}

static struct scratch *scratch_new(const pcre2_code *code)
{
    struct scratch *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->data = pcre2_match_data_create_from_pattern(code, NULL);
    s->context = pcre2_match_context_create(NULL);
    if (!s->data || !s->context) {
        scratch_free(s);
        return NULL;
    }
    pcre2_set_match_limit(s->context, STEPS);
    pcre2_set_heap_limit(s->context, HEAP_KIB);
    pcre2_set_callout(s->context, at_start, s);
    return s;
}

static int fail_pattern(jianmu_error **err, const char *text, size_t len, size_t at, int code)
{
    char why[200], shown[61];
    size_t valid_len, cut_len;
    uint64_t dropped;
    if (code == PCRE2_ERROR_HEAP_FAILED)
        return jm_fail_memory(err);
    if (pcre2_get_error_message(code, (PCRE2_UCHAR *)why, sizeof why) < 0)
        strcpy(why, "unknown error");
    jm_auto_free char *valid = jm_utf8_repair(text, len, &valid_len);
    jm_auto_free char *cut = valid ? jm_text_clip(valid, valid_len, sizeof shown - 1, &cut_len, &dropped) : NULL;
    if (!cut)
        return jm_fail_memory(err);
    return jm_fail(err, JIANMU_INVALID, "the pattern \"%s\"%s is no regular expression: %s, at byte %zu", cut,
                   dropped ? " (shortened)" : "", why, at > len ? len : at);
}

static pcre2_code *compile(const char *text, size_t len, int *code, size_t *at)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    *code = PCRE2_ERROR_HEAP_FAILED;
    if (!context)
        return NULL;
    pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
    pcre2_set_bsr(context, PCRE2_BSR_UNICODE);
    pcre2_set_parens_nest_limit(context, 100);
    pcre2_set_compile_extra_options(context, PCRE2_EXTRA_ALT_BSUX);
    pcre2_code *made = pcre2_compile((PCRE2_SPTR)text, len,
                                     PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS |
                                         PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C,
                                     code, at, context);
    pcre2_compile_context_free(context);
    return made;
}

/* The pattern with the callout in front, in a group of its own. What may swallow its end: a comment, or \Q. */
static pcre2_code *compile_counted(const char *text, size_t len, int *code, size_t *at)
{
    static const char *const ends[] = {")", "\n)", "\\E)"};
    static const char start[] = "(?C1)(?:";
    pcre2_code *made = NULL;
    jm_auto_free char *whole = malloc(sizeof start + len + 4);
    *code = PCRE2_ERROR_HEAP_FAILED;
    if (!whole)
        return NULL;
    memcpy(whole, start, sizeof start - 1);
    memcpy(whole + sizeof start - 1, text, len);
    for (size_t i = 0; i < jm_countof(ends) && !made; i++) {
        if (i && *code == PCRE2_ERROR_HEAP_FAILED)
            break; /* another end would make another pattern of it */
        memcpy(whole + sizeof start - 1 + len, ends[i], strlen(ends[i]));
        made = compile(whole, sizeof start - 1 + len + strlen(ends[i]), code, at);
        *at = *at < sizeof start - 1 ? 0 : *at - (sizeof start - 1);
    }
    return made;
}

/* JavaScript's long names of what PCRE2 knows by short ones. */
static const char *short_name(const char *name, size_t len)
{
    static const char *const names[][2] = {
        {"Letter", "L"}, {"Cased_Letter", "L&"}, {"Uppercase_Letter", "Lu"}, {"Lowercase_Letter", "Ll"},
        {"Titlecase_Letter", "Lt"}, {"Modifier_Letter", "Lm"}, {"Other_Letter", "Lo"}, {"Mark", "M"},
        {"Combining_Mark", "M"}, {"Nonspacing_Mark", "Mn"}, {"Spacing_Mark", "Mc"}, {"Enclosing_Mark", "Me"},
        {"Number", "N"}, {"Decimal_Number", "Nd"}, {"digit", "Nd"}, {"Letter_Number", "Nl"}, {"Other_Number", "No"},
        {"Punctuation", "P"}, {"punct", "P"}, {"Connector_Punctuation", "Pc"}, {"Dash_Punctuation", "Pd"},
        {"Open_Punctuation", "Ps"}, {"Close_Punctuation", "Pe"}, {"Initial_Punctuation", "Pi"},
        {"Final_Punctuation", "Pf"}, {"Other_Punctuation", "Po"}, {"Symbol", "S"}, {"Math_Symbol", "Sm"},
        {"Currency_Symbol", "Sc"}, {"Modifier_Symbol", "Sk"}, {"Other_Symbol", "So"}, {"Separator", "Z"},
        {"Space_Separator", "Zs"}, {"Line_Separator", "Zl"}, {"Paragraph_Separator", "Zp"}, {"Other", "C"},
        {"Control", "Cc"}, {"cntrl", "Cc"}, {"Format", "Cf"}, {"Surrogate", "Cs"}, {"Private_Use", "Co"},
        {"Unassigned", "Cn"}};
    for (size_t i = 0; i < jm_countof(names); i++)
        if (strlen(names[i][0]) == len && !memcmp(names[i][0], name, len))
            return names[i][1];
    return NULL;
}

/* The pattern with such names made short. */
static void translate(struct jm_buffer *b, const char *text, size_t len)
{
    const char *end = text + len, *from = text;
    while ((text = memchr(text, '\\', (size_t)(end - text))) && end - text >= 2) {
        bool property = end - text > 3 && (text[1] == 'p' || text[1] == 'P') && text[2] == '{';
        const char *name = text + 3, *close = property ? memchr(name, '}', (size_t)(end - name)) : NULL;
        const char *shorter = close ? short_name(name, (size_t)(close - name)) : NULL;
        text += 2;
        if (!shorter)
            continue;
        jm_buffer_add(b, from, (size_t)(name - from));
        jm_buffer_adds(b, shorter);
        text = from = close;
    }
    jm_buffer_add(b, from, (size_t)(end - from));
}

static pcre2_code *compile_both(const char *text, size_t len, int *code, size_t *at)
{
    struct jm_buffer b = {0};
    translate(&b, text, len);
    *code = PCRE2_ERROR_HEAP_FAILED;
    /* By itself first: a parenthesis too much would close our group. */
    pcre2_code *alone = b.failed ? NULL : compile(b.data, b.len, code, at);
    pcre2_code *counted = alone ? compile_counted(b.data, b.len, code, at) : NULL;
    pcre2_code_free(alone);
    jm_buffer_free(&b);
    return counted;
}

struct jm_pattern *jm_pattern_new(const char *text, size_t len, jianmu_error **err)
{
    int code;
    size_t at = 0;
    if (len > LONGEST_PATTERN) {
        jm_fail(err, JIANMU_INVALID, "a pattern of %zu bytes is longer than %d", len, LONGEST_PATTERN);
        return NULL;
    }
    pcre2_code *counted = compile_both(text, len, &code, &at);
    struct jm_pattern *p = counted ? malloc(sizeof *p + len + 1) : NULL;
    if (!counted || !p) {
        pcre2_code_free(counted);
        fail_pattern(err, text, len, at, counted ? PCRE2_ERROR_HEAP_FAILED : code);
        return NULL;
    }
    p->code = counted;
    atomic_init(&p->spare, NULL);
    memcpy(p->text, text, len);
    p->text[len] = 0;
    return p;
}

static int fail_search(jianmu_error **err, const struct jm_pattern *p, int rc)
{
    char why[200];
    if (rc == PCRE2_ERROR_NOMEMORY)
        return jm_fail_memory(err);
    if (rc == PCRE2_ERROR_MATCHLIMIT || rc == PCRE2_ERROR_DEPTHLIMIT || rc == PCRE2_ERROR_HEAPLIMIT)
        return jm_fail(err, JIANMU_INVALID, "the pattern \"%.100s\" needs too many steps for this text", p->text);
    if (pcre2_get_error_message(rc, (PCRE2_UCHAR *)why, sizeof why) < 0)
        strcpy(why, "unknown error");
    return jm_fail(err, JIANMU_INVALID, "the pattern \"%.100s\" cannot be searched for: %s", p->text, why);
}

int jm_pattern_find(const struct jm_pattern *p, const char *text, size_t len, size_t from, size_t span[2],
                    jianmu_error **err)
{
    _Atomic(struct scratch *) *spare = (_Atomic(struct scratch *) *)&p->spare;
    struct scratch *s = atomic_exchange(spare, NULL);
    if (!s && !(s = scratch_new(p->code)))
        return jm_fail_memory(err);
    s->starts = 0;
    s->every = len < KEEP_BELOW ? LOOK_EVERY : LOOK_OFTEN;
    s->until = 0;
    int rc = pcre2_match(p->code, (PCRE2_SPTR)text, len, from, 0, s->data, s->context);
    if (rc >= 0 && span) {
        const PCRE2_SIZE *at = pcre2_get_ovector_pointer(s->data);
        span[0] = at[0] < at[1] ? at[0] : at[1]; /* \K in a look-ahead turns them round */
        span[1] = at[1];
    }
    if (len >= KEEP_BELOW || (rc < 0 && rc != PCRE2_ERROR_NOMATCH))
        scratch_free(s);
    else
        scratch_free(atomic_exchange(spare, s));
    return rc >= 0 ? 1 : rc == PCRE2_ERROR_NOMATCH ? 0 : fail_search(err, p, rc);
}

int jm_pattern_matches(const struct jm_pattern *p, const char *text, size_t len, jianmu_error **err)
{
    return jm_pattern_find(p, text, len, 0, NULL, err);
}

const char *jm_pattern_text(const struct jm_pattern *p)
{
    return p->text;
}

void jm_pattern_free(struct jm_pattern *p)
{
    if (!p)
        return;
    scratch_free(atomic_load(&p->spare));
    pcre2_code_free(p->code);
    free(p);
}
