/* SPDX-License-Identifier: Apache-2.0
 * Which addresses http_request may reach. */
#include "config.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "http_request/address.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

static const char *judge(const char *text)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
        return address_refused((const struct sockaddr *)&in, sizeof in);
    if (inet_pton(AF_INET6, text, &in6.sin6_addr) != 1)
        fail_msg("%s is no address", text);
    return address_refused((const struct sockaddr *)&in6, sizeof in6);
}

static void refused(const char *const *list)
{
    for (; *list; list++)
        if (!judge(*list))
            fail_msg("%s may be reached", *list);
}

static void permitted(const char *const *list)
{
    for (; *list; list++)
        if (judge(*list))
            fail_msg("%s is refused as %s", *list, judge(*list));
}

/* First, middle and last of each range, and its neighbours outside. */
static void test_ipv4(void **state)
{
    static const char *const in[] = {"0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0",
                                     "100.127.255.255",
        "127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.0",
        "192.0.0.255", "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255",
        "198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", NULL};
    static const char *const out[] = {"1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
                                      "126.255.255.255",
        "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0",
        "192.0.3.0", "192.88.98.255", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255",
        "203.0.114.0", "223.255.255.255", "8.8.8.8", NULL};
    (void)state;
    refused(in);
    permitted(out);
}

static void test_ipv6(void **state)
{
    static const char *const in[] = {"::", "::1", "::2", "::7f00:1", "::8.8.8.8", "100::1", "fc00::", "fdff::1",
                                     "fe80::1",
        "febf::1", "fec0::1", "feff::1", "ff02::1", "2001:db8::1", "2001:2::1", "2001:10::1", "2001:20::1", "3fff::1",
        "64:ff9b:1::8.8.8.8", "4000::1", "1::1", "0:0:0:0:0:fffe:808:808", NULL};
    static const char *const out[] = {"2001:4860:4860::8888", "2606:4700::1111", "2a00::1", "2000::1", "3ffe::1", NULL};
    (void)state;
    refused(in);
    permitted(out);
}

static void test_ipv4_inside_ipv6(void **state)
{
    static const char *const in[] = {"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0.0.0.0", "64:ff9b::192.168.1.1",
        "64:ff9b::7f00:1", "2002:7f00:1::", "2002:0a00:1::1", "2001:0:7f00:1::1", "2001:0:808:808::80ff:fffe",
        "2a00::5efe:7f00:1", "2a00::200:5efe:10.0.0.1", NULL};
    static const char *const out[] = {"::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
                                      "2001:0:808:808::f7f7:f7f7",
        "2a00::5efe:8.8.8.8", NULL};
    (void)state;
    refused(in);
    permitted(out);
}

static void test_other_families(void **state)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr = {htonl(0x08080808)}};
    (void)state;
    assert_non_null(address_refused((const struct sockaddr *)&local, sizeof local));
    assert_null(address_refused((const struct sockaddr *)&in, sizeof in));
    assert_non_null(address_refused((const struct sockaddr *)&in, sizeof in - 1));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ipv4), cmocka_unit_test(test_ipv6), cmocka_unit_test(test_ipv4_inside_ipv6),
        cmocka_unit_test(test_other_families)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
