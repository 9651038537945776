/* SPDX-License-Identifier: Apache-2.0
 * Notes as no compiler writes them. */
#include "config.h"
#include "image.h"
#include "jianmu-plugin.h"
#include "plugin/note.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static int read_image(struct jm_buffer *image, struct jm_notes *notes, struct jm_refusal *r)
{
    struct jm_elf elf;
    int fd = image_fd(image);
    assert_true(fd >= 0);
    *notes = (struct jm_notes){0};
    int rc = jm_elf_open(&elf, fd, "x.so", r) || jm_notes_read(&elf, notes, r) ? -1 : 0;
    close(fd);
    jm_buffer_free(image);
    return rc;
}

static void must_read(struct jm_buffer *image, size_t count)
{
    struct jm_notes notes;
    struct jm_refusal r = {0};
    if (read_image(image, &notes, &r))
        fail_msg("%s", r.sentence);
    assert_int_equal(notes.count, count);
    jm_notes_free(&notes);
}

static void must_refuse(struct jm_buffer *image, const char *code, const char *sentence)
{
    struct jm_notes notes;
    struct jm_refusal r = {0};
    assert_int_equal(read_image(image, &notes, &r), -1);
    assert_string_equal(r.sentence, sentence);
    assert_string_equal(r.code, code);
    assert_int_equal(notes.count, 0);
    jm_refusal_free(&r);
}

static void tool_image(struct jm_buffer *image, const char *name, const char *text, const char *json)
{
    image_begin(image);
    image_tool(image, name, text, json);
    image_end(image, 4);
}

/* An image with one note whose descriptor is desc. */
static void raw_image(struct jm_buffer *image, const void *desc, size_t len)
{
    image_begin(image);
    image_note(image, "jianmu", JIANMU_NOTE_TYPE, desc, len, 4);
    image_end(image, 4);
}

static void test_good(void **state)
{
    (void)state;
    struct jm_buffer image;
    struct jm_notes notes;
    struct jm_refusal r = {0};
    image_begin(&image);
    image_note(&image, "GNU", 3, "0123456789abcdef01", 18, 4);
    image_tool(&image, "zz-last_1", "Größe, 木", "{\"a\": [1, {\"b\": null}]}");
    image_note(&image, "jianmu", 7, "of another type", 15, 4);
    image_note(&image, "jianmX", JIANMU_NOTE_TYPE, "of another owner", 16, 4);
    image_tool(&image, "0", "", "{}");
    image_end(&image, 4);
    assert_int_equal(read_image(&image, &notes, &r), 0);
    assert_int_equal(notes.count, 2);
    assert_string_equal(notes.list[0].name, "0");
    assert_string_equal(notes.list[0].text, "");
    assert_string_equal(notes.list[1].name, "zz-last_1");
    assert_string_equal(notes.list[1].text, "Größe, 木");
    assert_int_equal(json_array_size(json_object_get(notes.list[1].json, "a")), 2);
    jm_notes_free(&notes);
}

static void test_segment_of_8(void **state)
{
    (void)state;
    struct jm_buffer image;
    struct { struct jianmu_note_head head; char texts[8]; } desc = {
        {JIANMU_ABI, JIANMU_KIND_TOOL, JIANMU_DANGER_READ, 2, 1, 3, 0, 0}, "x\0\0{}"};
    image_begin(&image);
    image_note(&image, "GNU", 5, "12345", 5, 8);
    image_note(&image, "jianmu", JIANMU_NOTE_TYPE, &desc, sizeof desc, 8);
    image_end(&image, 8);
    must_read(&image, 1);
}

static void add_words(struct jm_buffer *image, unsigned count)
{
    while (count--)
        jm_buffer_add(image, "\0\0\0", 4);
}

/* What the address sanitizer puts behind an object. */
static void test_zeros_between(void **state)
{
    (void)state;
    struct jm_buffer image;
    for (unsigned words = 1; words < 12; words++) {
        image_begin(&image);
        add_words(&image, words);
        image_tool(&image, "a", "", "{}");
        add_words(&image, words + 7);
        image_tool(&image, "b", "", "{}");
        add_words(&image, words);
        image_end(&image, 4);
        must_read(&image, 2);
    }
    image_begin(&image);
    add_words(&image, 16385);
    image_tool(&image, "a", "", "{}");
    image_end(&image, 4);
    must_refuse(&image, "bad_note", "x.so describes itself wrongly: it has more than 1024 notes of all kinds");
}

static void test_none(void **state)
{
    (void)state;
    static const char sentence[] = "x.so has no note of jianmu: it is some other shared object, or was built without "
                                   "JIANMU_TOOL or JIANMU_BACKEND";
    struct jm_buffer image;
    image_begin(&image);
    image_end(&image, 4);
    must_refuse(&image, "no_note", sentence);
    image_begin(&image);
    image_note(&image, "GNU", JIANMU_NOTE_TYPE, "", 0, 4);
    jm_buffer_add(&image, "jianmu", 7); /* too short for a note */
    image_end(&image, 4);
    must_refuse(&image, "no_note", sentence);
}

static void test_lengths(void **state)
{
    (void)state;
    static const char too_short[] = "x.so describes itself wrongly: its note is too short";
    static const char unfit[] = "x.so describes itself wrongly: the lengths in its note do not fit";
    static const char unended[] = "x.so describes itself wrongly: a text in its note does not end where it should";
    struct { struct jianmu_note_head head; char texts[8]; } good = {
        {JIANMU_ABI, JIANMU_KIND_TOOL, JIANMU_DANGER_READ, 2, 3, 3, 0, 0}, "x\0ab\0{}"}, bad;
    struct jm_buffer image;
    raw_image(&image, &good, sizeof good);
    must_read(&image, 1);
    raw_image(&image, "", 0);
    must_refuse(&image, "bad_note", too_short);
    raw_image(&image, &good, sizeof good.head - 1);
    must_refuse(&image, "bad_note", too_short);
    raw_image(&image, &good, sizeof good - 1);
    must_refuse(&image, "bad_note", unfit);
    for (int i = 0; i < 3; i++) {
        static const uint32_t lengths[] = {0, 4, 0x7fffffff, 0xfffffffd, 0xffffffff};
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
            bad = good;
            (&bad.head.name_len)[i] = lengths[k];
            raw_image(&image, &bad, sizeof bad);
            must_refuse(&image, "bad_note", unfit);
        }
    }
    static const uint32_t dangers[] = {0, 4, 0xffffffff};
    for (size_t k = 0; k < sizeof dangers / sizeof dangers[0]; k++) {
        bad = good;
        bad.head.danger = dangers[k];
        raw_image(&image, &bad, sizeof bad);
        must_refuse(&image, "bad_note",
                    "x.so describes itself wrongly: a tool must say whether it reads, writes or is dangerous");
    }
    bad = good;
    bad.head.name_len = 3;
    bad.head.text_len = 2;
    raw_image(&image, &bad, sizeof bad);
    must_refuse(&image, "bad_note", unended);
    bad = good;
    memcpy(bad.texts, "x\0ab\0{}}", 8);
    raw_image(&image, &bad, sizeof bad);
    must_refuse(&image, "bad_note", unended);
    bad = good;
    memcpy(bad.texts, "x\0a\0\0{}", 8);
    raw_image(&image, &bad, sizeof bad);
    must_refuse(&image, "bad_note", unended);
}

static void test_segment_ends(void **state)
{
    (void)state;
    struct jm_buffer image;
    tool_image(&image, "x", "ab", "{}");
    uint32_t len = 1000000;
    memcpy(image.data + sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + 4, &len, sizeof len);
    must_refuse(&image, "bad_note", "x.so describes itself wrongly: its note is longer than its segment");
    tool_image(&image, "x", "ab", "{}");
    image.len -= 4;
    must_refuse(&image, "truncated", "x.so is cut short: it has 176 bytes, and segment 0 ends behind them");
    static const uint32_t types[] = {PT_LOAD, PT_NOTE, PT_DYNAMIC};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        for (int far = 0; far < 2; far++) {
            Elf64_Phdr segment = {.p_type = types[i], .p_offset = far ? UINT64_MAX - 4 : 8, .p_filesz = far ? 8 : 173};
            tool_image(&image, "x", "ab", "{}");
            memcpy(image.data + sizeof(Elf64_Ehdr), &segment, sizeof segment);
            must_refuse(&image, "truncated", "x.so is cut short: it has 180 bytes, and segment 0 ends behind them");
        }
    }
}

static void test_caps(void **state)
{
    (void)state;
    struct jm_buffer image;
    char *long_text = malloc(JM_NOTE_BYTES);
    size_t fits = JM_NOTE_BYTES - sizeof(struct jianmu_note_head) - 2 - 3 - 1;
    memset(long_text, 'a', fits + 1);
    long_text[fits + 1] = 0;
    tool_image(&image, "x", long_text, "{}");
    must_refuse(&image, "bad_note", "x.so describes itself wrongly: a note of 262145 bytes is longer than 262144");
    long_text[fits] = 0;
    tool_image(&image, "x", long_text, "{}");
    must_read(&image, 1);
    free(long_text);
    for (unsigned count = 64; count <= 65; count++) {
        image_begin(&image);
        for (unsigned i = 0; i < count; i++) {
            const char name[] = {(char)('a' + i / 26), (char)('a' + i % 26), 0};
            image_tool(&image, name, "", "{}");
        }
        image_end(&image, 4);
        if (count == 64)
            must_read(&image, 64);
        else
            must_refuse(&image, "bad_note", "x.so describes itself wrongly: it has more than 64 notes");
    }
    image_begin(&image);
    for (unsigned i = 0; i < 1025; i++)
        image_note(&image, "GNU", 1, "", 0, 4);
    image_tool(&image, "x", "", "{}");
    image_end(&image, 4);
    must_refuse(&image, "bad_note", "x.so describes itself wrongly: it has more than 1024 notes of all kinds");
}

static void test_names(void **state)
{
    (void)state;
    static const char rule[] = "\" is no name; one is 1 to 64 of a-z, 0-9, \"_\" and \"-\", and begins with "
                               "a letter or digit";
    static const struct { const char *name, *shown; } bad[] = {
        {"", ""}, {"Ab", "Ab"}, {"_a", "_a"}, {"-a", "-a"}, {"a.b", "a.b"}, {"a/b", "a/b"}, {"..", ".."},
        {"a b", "a b"}, {"a\xff", "a\xef\xbf\xbd"}, {"ä", "ä"},
        {"a23456789012345678901234567890123456789012345678901234567890123456",
         "a23456789012345678901234567890123456789012345678901234567890123456"}};
    struct jm_buffer image;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char sentence[256];
        snprintf(sentence, sizeof sentence, "x.so: \"%s%s", bad[i].shown, rule);
        tool_image(&image, bad[i].name, "", "{}");
        must_refuse(&image, "name", sentence);
    }
    tool_image(&image, "a234567890123456789012345678901234567890123456789012345678901234", "", "{}");
    must_read(&image, 1);
    image_begin(&image);
    image_tool(&image, "same", "", "{}");
    image_tool(&image, "same", "", "{}");
    image_end(&image, 4);
    must_refuse(&image, "bad_note", "x.so describes itself wrongly: it has \"same\" twice");
}

static void test_texts(void **state)
{
    (void)state;
    static const char *const bad[] = {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "ab\xe6\x9c"};
    static const char *const json[] = {"", "{", "{}x", "null", "[]", "\"x\"", "1", "{\"a\":1,\"a\":1}",
                                       "{\"a\":\"\xff\"}", "{\"a\": 1e999}", "{\"a\": \"\\u0000\"}", "{'a': 1}",
                                       "{\"a\": NaN}"};
    struct jm_buffer image;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tool_image(&image, "x", bad[i], "{}");
        must_refuse(&image, "bad_note", "x.so describes itself wrongly: its text is not UTF-8");
    }
    for (size_t i = 0; i < sizeof json / sizeof json[0]; i++) {
        struct jm_notes notes;
        struct jm_refusal r = {0};
        tool_image(&image, "x", "", json[i]);
        assert_int_equal(read_image(&image, &notes, &r), -1);
        assert_string_equal(r.code, "bad_note");
        assert_non_null(strstr(r.sentence, "x.so describes itself wrongly: the JSON of \"x\""));
        jm_refusal_free(&r);
    }
    for (unsigned depth = 64; depth <= 65; depth++) {
        char deep[1024] = "";
        for (unsigned i = 0; i < depth; i++)
            strcat(deep, "{\"\\\"[\":");
        strcat(deep, "1");
        for (unsigned i = 0; i < depth; i++)
            strcat(deep, "}");
        tool_image(&image, "x", "", deep);
        if (depth == 64)
            must_read(&image, 1);
        else
            must_refuse(&image, "bad_note",
                        "x.so describes itself wrongly: the JSON of \"x\" is nested more than 64 deep");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good), cmocka_unit_test(test_segment_of_8), cmocka_unit_test(test_none),
        cmocka_unit_test(test_zeros_between),
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_segment_ends), cmocka_unit_test(test_caps),
        cmocka_unit_test(test_names), cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
