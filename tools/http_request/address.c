/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"
#include "http_request/address.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What IANA's registries of special-purpose addresses do not call globally reachable. */
static const struct {
    uint32_t net;
    int bits;
    const char *kind;
} special4[] = {
    {0x00000000, 8, "this-network"}, {0x0a000000, 8, "private"},       {0x64400000, 10, "shared (carrier NAT)"},
    {0x7f000000, 8, "loopback"},     {0xa9fe0000, 16, "link-local"},   {0xac100000, 12, "private"},
    {0xc0000000, 24, "reserved"},    {0xc0000200, 24, "documentation"}, {0xc0586300, 24, "reserved"},
    {0xc0a80000, 16, "private"},     {0xc6120000, 15, "benchmarking"}, {0xc6336400, 24, "documentation"},
    {0xcb007100, 24, "documentation"}, {0xe0000000, 4, "multicast"},   {0xf0000000, 4, "reserved"},
};

static const char *refused4(uint32_t address)
{
    for (size_t i = 0; i < sizeof special4 / sizeof special4[0]; i++)
        if ((address ^ special4[i].net) >> (32 - special4[i].bits) == 0)
            return special4[i].kind;
    return NULL;
}

static const struct {
    uint8_t net[8];
    int bits;
    const char *kind;
} special6[] = {
    {{0xfc}, 7, "private"},
    {{0xfe, 0x80}, 10, "link-local"},
    {{0xfe, 0xc0}, 10, "private"},
    {{0xff}, 8, "multicast"},
    {{0x01}, 64, "discard-only"},
    {{0x20, 0x01, 0, 2}, 48, "benchmarking"},
    {{0x20, 0x01, 0, 0x10}, 28, "reserved"},
    {{0x20, 0x01, 0, 0x20}, 28, "reserved"},
    {{0x20, 0x01, 0x0d, 0xb8}, 32, "documentation"},
    {{0x3f, 0xff}, 20, "documentation"},
};

static int begins(const uint8_t *address, const uint8_t *net, int bits)
{
    int whole = bits / 8, rest = bits % 8;
    return memcmp(address, net, (size_t)whole) == 0 &&
           (rest == 0 || (address[whole] ^ net[whole]) >> (8 - rest) == 0);
}

static uint32_t inside(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static const char *refused6(const uint8_t a[16])
{
    static const uint8_t zero[16] = {0}, mapped[12] = {[10] = 0xff, [11] = 0xff}, nat64[12] = {0, 0x64, 0xff, 0x9b};
    static const uint8_t teredo[4] = {0x20, 0x01}, to4[2] = {0x20, 0x02}, global[1] = {0x20};
    const char *kind;
    if (begins(a, mapped, 96) || begins(a, nat64, 96))
        return refused4(inside(a + 12));
    if (begins(a, zero, 96)) /* ::, ::1 and the old IPv4-compatible ones */
        return inside(a + 12) == 1 ? "loopback" : inside(a + 12) == 0 ? "unspecified" : "reserved";
    for (size_t i = 0; i < sizeof special6 / sizeof special6[0]; i++)
        if (begins(a, special6[i].net, special6[i].bits))
            return special6[i].kind;
    if (!begins(a, global, 3))
        return "reserved";
    if (begins(a, to4, 16) && (kind = refused4(inside(a + 2))))
        return kind;
    if (begins(a, teredo, 32) && ((kind = refused4(inside(a + 4))) || (kind = refused4(~inside(a + 12)))))
        return kind;
    /* ISATAP: the interface identifier is 0000:5efe or 0200:5efe and an IPv4 address */
    if ((inside(a + 8) & ~UINT32_C(0x02000000)) == 0x5efe && (kind = refused4(inside(a + 12))))
        return kind;
    return NULL;
}

const char *address_refused(const struct sockaddr *address, socklen_t len)
{
    if (address->sa_family == AF_INET && len >= (socklen_t)sizeof(struct sockaddr_in)) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof in);
        return refused4(ntohl(in.sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6 && len >= (socklen_t)sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 in6;
        memcpy(&in6, address, sizeof in6);
        return refused6(in6.sin6_addr.s6_addr);
    }
    return "not an internet";
}
