#include "core/address.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

struct block_v4 {
	unsigned char start[4];
	unsigned int bits;
};

static const struct block_v4 closed_v4[] = {
	{ { 0, 0, 0, 0 }, 8 },	      /* "this network" */
	{ { 10, 0, 0, 0 }, 8 },	      /* private */
	{ { 100, 64, 0, 0 }, 10 },    /* shared by a carrier's customers */
	{ { 127, 0, 0, 0 }, 8 },      /* loopback */
	{ { 168, 63, 129, 16 }, 32 }, /* a cloud's host agent, on the machine's own link */
	{ { 169, 254, 0, 0 }, 16 },   /* link-local; clouds' metadata */
	{ { 172, 16, 0, 0 }, 12 },    /* private */
	{ { 192, 0, 0, 0 }, 24 },     /* protocols */
	{ { 192, 0, 2, 0 }, 24 },     /* documentation */
	{ { 192, 88, 99, 0 }, 24 },   /* 6to4 relays */
	{ { 192, 168, 0, 0 }, 16 },   /* private */
	{ { 198, 18, 0, 0 }, 15 },    /* benchmarks */
	{ { 198, 51, 100, 0 }, 24 },  /* documentation */
	{ { 203, 0, 113, 0 }, 24 },   /* documentation */
	{ { 224, 0, 0, 0 }, 4 },      /* multicast */
	{ { 240, 0, 0, 0 }, 4 },      /* reserved; broadcast */
};

struct block_v6 {
	unsigned char start[16];
	unsigned int bits;
};

/* Only what is not outside 2000::/3 already, which is all that is globally routed. */
static const struct block_v6 closed_v6[] = {
	{ { 0x20, 0x01, 0x00 }, 23 },	    /* protocols, Teredo */
	{ { 0x20, 0x01, 0x0d, 0xb8 }, 32 }, /* documentation */
	{ { 0x3f, 0xff, 0x00 }, 20 },	    /* documentation */
};

static const struct block_v6 routed_v6 = { { 0x20 }, 3 };

/* An IPv4 address stands in these, right behind the prefix: what it reaches is what that one
 * reaches. */
static const struct block_v6 carriers[] = {
	{ { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff }, 96 }, /* mapped */
	{ { 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0 }, 96 }, /* translated, RFC 2765 */
	{ { 0x00, 0x64, 0xff, 0x9b }, 96 },		      /* translated, RFC 6052 */
	{ { 0x20, 0x02 }, 16 },				      /* 6to4 */
};

static bool inside(const unsigned char *address, const unsigned char *start, unsigned int bits)
{
	unsigned int rest = bits % 8;

	if (memcmp(address, start, bits / 8) != 0)
		return false;
	return rest == 0 || (address[bits / 8] ^ start[bits / 8]) >> (8 - rest) == 0;
}

bool address_public_v4(const unsigned char address[4])
{
	for (size_t i = 0; i < sizeof closed_v4 / sizeof closed_v4[0]; i++)
		if (inside(address, closed_v4[i].start, closed_v4[i].bits))
			return false;
	return true;
}

bool address_public_v6(const unsigned char address[16])
{
	for (size_t i = 0; i < sizeof carriers / sizeof carriers[0]; i++)
		if (inside(address, carriers[i].start, carriers[i].bits))
			return address_public_v4(address + carriers[i].bits / 8);
	for (size_t i = 0; i < sizeof closed_v6 / sizeof closed_v6[0]; i++)
		if (inside(address, closed_v6[i].start, closed_v6[i].bits))
			return false;
	return inside(address, routed_v6.start, routed_v6.bits);
}

#define HOST_MAX_BYTES 255

/* What stands between "://" and a port, path or query; brackets of IPv6 and its zone taken off.
 * False: nothing that an address could be. */
static bool host_of(const char *url, char host_out[HOST_MAX_BYTES + 1])
{
	const char *host = strstr(url, "://");
	size_t len;

	if (!host)
		return false;
	host += 3;
	if (*host == '[') {
		host++;
		len = strcspn(host, "]%");
	} else {
		len = strcspn(host, ":/?#");
	}
	while (len > 0 && host[len - 1] == '.') /* of a name that is complete */
		len--;
	if (len == 0 || len > HOST_MAX_BYTES)
		return false;
	memcpy(host_out, host, len);
	host_out[len] = '\0';
	return true;
}

static bool is_localhost(const char *host)
{
	static const char name[] = "localhost";
	size_t len = strlen(host), name_len = sizeof name - 1;

	return len >= name_len && strcasecmp(host + len - name_len, name) == 0 &&
	       (len == name_len || host[len - name_len - 1] == '.');
}

bool address_url_closed(const char *url)
{
	char host[HOST_MAX_BYTES + 1];
	struct in6_addr v6;
	struct in_addr v4;

	if (!host_of(url, host))
		return false;
	if (inet_aton(host, &v4)) /* 127.1 and 0x7f000001 too */
		return !address_public_v4((const unsigned char *)&v4);
	if (inet_pton(AF_INET6, host, &v6) == 1)
		return !address_public_v6((const unsigned char *)&v6);
	return is_localhost(host);
}
