#include "core/address.h"

#include <stddef.h>
#include <string.h>

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
