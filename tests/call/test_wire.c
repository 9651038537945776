/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "call/wire.h"
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void test_there_and_back(void **state)
{
    (void)state;
    int p[2];
    struct jm_frame frame;
    jianmu_error *err = NULL;
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    assert_int_equal(jm_frame_write(p[1], JM_FRAME_REQUEST, 7, "{}", 2), 0);
    assert_int_equal(jm_frame_write(p[1], JM_FRAME_EVENT, UINT64_MAX, "", 0), 0);
    close(p[1]);
    assert_int_equal(jm_frame_read(p[0], &frame, &err), 0);
    assert_int_equal(frame.type, JM_FRAME_REQUEST);
    assert_int_equal(frame.id, 7);
    assert_int_equal(frame.len, 2);
    assert_string_equal(frame.data, "{}");
    free(frame.data);
    assert_int_equal(jm_frame_read(p[0], &frame, &err), 0);
    assert_true(frame.id == UINT64_MAX);
    assert_int_equal(frame.len, 0);
    free(frame.data);
    assert_int_equal(jm_frame_read(p[0], &frame, &err), 1);
    close(p[0]);
}

/* The header's bytes are the protocol: they must not change unseen. */
static void test_bytes(void **state)
{
    (void)state;
    unsigned char header[JM_FRAME_HEADER];
    const unsigned char expected[] = "JMF0\2\0\0\0\10\7\6\5\4\3\2\1\3\0\0\0\0\0\0";
    jm_frame_header(header, JM_FRAME_RESULT, UINT64_C(0x0102030405060708), 3);
    assert_memory_equal(header, expected, sizeof header);
}

static void expect_bad(const void *bytes, size_t len, const char *part)
{
    int p[2];
    struct jm_frame frame;
    jianmu_error *err = NULL;
    assert_int_equal(pipe2(p, O_CLOEXEC), 0);
    assert_int_equal(write(p[1], bytes, len), len);
    close(p[1]);
    assert_int_equal(jm_frame_read(p[0], &frame, &err), -1);
    assert_non_null(strstr(jianmu_error_message(err), part));
    jianmu_error_free(err);
    close(p[0]);
}

static void test_bad_frames(void **state)
{
    (void)state;
    unsigned char header[JM_FRAME_HEADER + 3];
    jm_frame_header(header, JM_FRAME_RESULT, 1, 4);
    memcpy(header + JM_FRAME_HEADER, "abc", 3);
    expect_bad(header, sizeof header, "ends before its end");
    expect_bad(header, 10, "ends before its end");
    jm_frame_header(header, JM_FRAME_RESULT, 1, JM_FRAME_MOST + 1);
    expect_bad(header, JM_FRAME_HEADER, "no frame");
    jm_frame_header(header, JM_FRAME_RESULT, 1, UINT64_MAX);
    expect_bad(header, JM_FRAME_HEADER, "no frame");
    expect_bad("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", 36, "no frame");
}

static void test_pieces_of_every_size(void **state)
{
    (void)state;
    unsigned char stream[3 * (JM_FRAME_HEADER + 10)];
    size_t len = 0;
    for (size_t i = 0; i < 3; i++) {
        jm_frame_header(stream + len, JM_FRAME_EVENT, i, 5 * i);
        len += JM_FRAME_HEADER;
        memset(stream + len, 'a' + (int)i, 5 * i);
        len += 5 * i;
    }
    for (size_t piece = 1; piece <= len; piece++) {
        struct jm_frame_reader reader = {0};
        size_t at = 0, frames = 0;
        while (at < len) {
            size_t n = piece < len - at ? piece : len - at;
            for (size_t used = 0; used < n;) {
                bool ready;
                used += jm_frame_feed(&reader, stream + at + used, n - used, &ready);
                if (ready) {
                    assert_int_equal(reader.frame.id, frames);
                    assert_int_equal(reader.frame.len, 5 * frames);
                    for (size_t k = 0; k < reader.frame.len; k++)
                        assert_int_equal(reader.frame.data[k], 'a' + (int)frames);
                    free(reader.frame.data);
                    frames++;
                }
            }
            at += n;
        }
        assert_int_equal(frames, 3);
    }
}

static void test_closed_reader(void **state)
{
    (void)state;
    int s[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s), 0);
    close(s[1]);
    assert_int_equal(jm_frame_write(s[0], JM_FRAME_EVENT, 1, "x", 1), -1); /* and no SIGPIPE */
    close(s[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),       cmocka_unit_test(test_bytes),         cmocka_unit_test(test_bad_frames),
        cmocka_unit_test(test_pieces_of_every_size), cmocka_unit_test(test_closed_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
