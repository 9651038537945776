/* SPDX-License-Identifier: Apache-2.0
 * Its streams: nothing is lost, nobody waits for the other. */
#include "config.h"
#include "fixture.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void stdin_is_echoed(void **state)
{
    (void)state;
    size_t size = 8 << 20;
    unsigned char *input = malloc(size);
    assert_non_null(input);
    for (size_t i = 0; i < size; i++)
        input[i] = (unsigned char)(i * 7 >> 2);
    RUN(o, "cat");
    spec.input = input;
    spec.input_len = size;
    spec.capture = size;
    run_well(&o, &spec);
    assert_int_equal(o.r.exit_code, 0);
    assert_int_equal(o.r.out.len, size);
    assert_memory_equal(o.r.out.data, input, size);
    assert_int_equal(o.r.out.dropped, 0);
    done(&o);
    free(input);
}

static void without_stdin_it_reads_the_end(void **state)
{
    (void)state;
    RUN(o, "cat");
    spec.deadline = now_ns() + 20 * SECOND;
    run_well(&o, &spec);
    assert_int_equal(o.r.reason, JIANMU_EXITED);
    assert_int_equal(o.r.exit_code, 0);
    assert_int_equal(o.r.out.len, 0);
    assert_string_equal(o.r.out.data, "");
    done(&o);
}

static void stdin_may_be_a_descriptor(void **state)
{
    (void)state;
    jm_auto_fd int fd = open(put_file("input", "from a file", 0600), O_RDONLY | O_CLOEXEC);
    RUN(o, "cat");
    spec.stdin_fd = fd;
    run_well(&o, &spec);
    assert_string_equal(o.r.out.data, "from a file");
    done(&o);
}

static void nobody_waits_for_a_deaf_job(void **state)
{
    (void)state;
    size_t size = 1 << 20;
    char *input = calloc(1, size);
    assert_non_null(input);
    RUN(o, "deaf", "1048576");
    spec.input = input;
    spec.input_len = size;
    spec.deadline = now_ns() + 30 * SECOND;
    run_well(&o, &spec);
    assert_int_equal(o.r.reason, JIANMU_EXITED);
    assert_int_equal(o.r.err.len, 1 << 20);
    assert_string_equal(o.r.out.data, "1048576\n");
    done(&o);
    free(input);
}

static void unread_stdin_is_no_failure(void **state)
{
    (void)state;
    size_t size = 4 << 20;
    char *input = calloc(1, size);
    assert_non_null(input);
    RUN(o, "close_stdin");
    spec.input = input;
    spec.input_len = size;
    run_well(&o, &spec);
    assert_int_equal(o.r.reason, JIANMU_EXITED);
    assert_string_equal(o.r.out.data, "closed\n");
    done(&o);
    free(input);
}

static unsigned char flood_byte(uint64_t i)
{
    return (unsigned char)(i * 31 >> 3);
}

static void assert_capture(uint64_t bytes, uint64_t capture, int stream)
{
    char text[24], number[2] = {(char)('0' + stream), 0};
    snprintf(text, sizeof text, "%llu", (unsigned long long)bytes);
    RUN(o, "flood", text, number);
    spec.capture = capture;
    run_well(&o, &spec);
    struct jm_stream *s = stream == 1 ? &o.r.out : &o.r.err;
    uint64_t kept = bytes < capture ? bytes : capture, dropped = bytes - kept;
    assert_int_equal(o.r.exit_code, 0);
    assert_int_equal(s->len, kept);
    assert_int_equal(s->dropped, dropped);
    assert_int_equal(s->head, dropped ? capture - capture / 2 : kept);
    assert_int_equal(s->data[s->len], 0);
    for (uint64_t i = 0; i < kept; i++) {
        unsigned char wanted = flood_byte(i < s->head ? i : i + dropped);
        if ((unsigned char)s->data[i] != wanted)
            fail_msg("byte %llu of %llu bytes in %llu is %d, not %d", (unsigned long long)i, (unsigned long long)bytes,
                     (unsigned long long)capture, (unsigned char)s->data[i], wanted);
    }
    assert_int_equal(stream == 1 ? o.r.err.len : o.r.out.len, 0);
    done(&o);
}

static void capture_keeps_head_and_tail(void **state)
{
    static const uint64_t sizes[] = {0, 1, 9, 10, 11, 100, 4095, 4096, 4097, 65536, 200000, 1048576, 1048577, 3000001};
    static const uint64_t limits[] = {0, 1, 2, 10, 4096, 100000, 131072, 1048576};
    (void)state;
    for (size_t i = 0; i < jm_countof(sizes); i++)
        for (size_t k = 0; k < jm_countof(limits); k++)
            assert_capture(sizes[i], limits[k], 1 + (int)((i + k) % 2));
}

struct collected {
    uint64_t bytes[3], wrong;
};

static void collect(void *data, int stream, const void *bytes, size_t len)
{
    struct collected *c = data;
    const unsigned char *p = bytes;
    if (stream < 1 || stream > 2) {
        c->wrong++;
        return;
    }
    for (size_t i = 0; i < len; i++)
        c->wrong += p[i] != flood_byte(c->bytes[stream] + i);
    c->bytes[stream] += len;
}

static void every_byte_is_handed_on(void **state)
{
    (void)state;
    static const char *const streams[] = {"1", "2"};
    for (int i = 0; i < 2; i++) {
        struct collected c = {0};
        RUN(o, "flood", "5000001", streams[i]);
        spec.capture = 10;
        spec.output = collect;
        spec.output_data = &c;
        run_well(&o, &spec);
        assert_int_equal(c.bytes[i + 1], 5000001);
        assert_int_equal(c.bytes[2 - i], 0);
        assert_int_equal(c.wrong, 0);
        done(&o);
    }
}

/* kB, of /proc/self/status */
static long memory(const char *name)
{
    char line[256];
    long kb = -1;
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0)
            kb = strtol(line + strlen(name), NULL, 10);
    if (f)
        fclose(f);
    return kb;
}

static void a_flood_is_not_kept(void **state)
{
    (void)state;
    RUN(o, "pour", "1073741824");
    jm_auto_fd int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(fd, "5", 1), 1); /* the highest is what it is now */
    long before = memory("VmRSS:");
    run_well(&o, &spec);
    long more = memory("VmHWM:") - before;
    assert_int_equal(o.r.exit_code, 0);
    assert_int_equal(o.r.out.len, 1 << 20);
    assert_int_equal(o.r.out.dropped, (1 << 30) - (1 << 20));
    if (before < 0 || more < 0 || more > (2 << 10) + (8 << 10))
        fail_msg("1 GB of output cost %ld kB of memory", more);
    done(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flood_is_not_kept), /* while the heap is small */
        cmocka_unit_test(stdin_is_echoed),
        cmocka_unit_test(without_stdin_it_reads_the_end),
        cmocka_unit_test(stdin_may_be_a_descriptor),
        cmocka_unit_test(nobody_waits_for_a_deaf_job),
        cmocka_unit_test(unread_stdin_is_no_failure),
        cmocka_unit_test(capture_keeps_head_and_tail),
        cmocka_unit_test(every_byte_is_handed_on),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
