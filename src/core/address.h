/* address.h: is an address one of the public internet? What an owner names as its endpoint must not
 * reach what only this host or its network can see.
 *
 * By the registries of special-purpose addresses (RFC 6890 and IANA's tables): everything that
 * isn't globally reachable is refused, and so are multicast, and forms of IPv6 that carry an IPv4
 * address which is. */
#ifndef CORE_ADDRESS_H
#define CORE_ADDRESS_H

#include <stdbool.h>

/* In network order, as in struct in_addr and struct in6_addr. */
bool address_public_v4(const unsigned char address[4]);
bool address_public_v6(const unsigned char address[16]);

/* The host of an http or https URL is written as an address, in any form that a resolver takes, or
 * as localhost, and isn't public. False for other names: what they lead to shows when they are
 * looked up. */
bool address_url_closed(const char *url);

#endif
