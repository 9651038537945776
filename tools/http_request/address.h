/* SPDX-License-Identifier: Apache-2.0
 * Which addresses a request of a model may reach: those of the public internet. */
#ifndef HTTP_ADDRESS_H
#define HTTP_ADDRESS_H

#include <sys/socket.h>

/* What kind of address it is that may not be reached: "loopback", "private", ...; NULL: a public one. Addresses that
 * carry an IPv4 address inside (mapped, NAT64, 6to4, Teredo, ISATAP) are judged by that one too. */
const char *address_refused(const struct sockaddr *address, socklen_t len);

#endif
