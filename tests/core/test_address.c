#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "core/address.h"

static bool is_public(const char *text)
{
	unsigned char address[16];

	if (inet_pton(AF_INET, text, address) == 1)
		return address_public_v4(address);
	if (inet_pton(AF_INET6, text, address) != 1)
		fail_msg("no address: %s", text);
	return address_public_v6(address);
}

/* The first and the last address of each block, and their neighbours outside. */
static void only_addresses_of_the_public_internet_pass(void **state)
{
	static const char *const closed[] = {
		"0.0.0.0",
		"0.255.255.255",
		"10.0.0.0",
		"10.255.255.255",
		"100.64.0.0",
		"100.100.100.200",
		"100.127.255.255",
		"127.0.0.1",
		"127.255.255.255",
		"168.63.129.16",
		"169.254.0.1",
		"169.254.169.254",
		"172.16.0.0",
		"172.31.255.255",
		"192.0.0.1",
		"192.0.0.192",
		"192.0.2.1",
		"192.88.99.1",
		"192.168.0.0",
		"192.168.255.255",
		"198.18.0.0",
		"198.19.255.255",
		"198.51.100.7",
		"203.0.113.255",
		"224.0.0.1",
		"239.255.255.255",
		"240.0.0.1",
		"255.255.255.255",
		"::",
		"::1",
		"::7f00:1",
		"::127.0.0.1",
		"::ffff:127.0.0.1",
		"::ffff:10.1.2.3",
		"::ffff:169.254.169.254",
		"::ffff:0:127.0.0.1",
		"64:ff9b::127.0.0.1",
		"64:ff9b::10.0.0.1",
		"64:ff9b::c0a8:101",
		"64:ff9b:1::8.8.8.8",
		"64:ff9b::1:8.8.8.8",
		"100::1",
		"2001::1",
		"2001:0:4136:e378:8000:63bf:3fff:fdd2",
		"2001:1ff:ffff::",
		"2001:db8::1",
		"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
		"2002:7f00:1::",
		"2002:a00:1::1",
		"2002:c0a8:101::",
		"2002:a9fe:a9fe::",
		"3fff::1",
		"3fff:fff:ffff::",
		"4000::1",
		"5f00::1",
		"1fff::1",
		"fc00::1",
		"fd00:ec2::254",
		"fdff::1",
		"fe80::1",
		"febf::1",
		"fec0::1",
		"feff::1",
		"ff02::1",
		"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
	};
	static const char *const open[] = {
		"1.1.1.1",
		"1.0.0.0",
		"9.255.255.255",
		"11.0.0.0",
		"100.63.255.255",
		"100.128.0.0",
		"126.255.255.255",
		"128.0.0.0",
		"168.63.129.15",
		"168.63.129.17",
		"169.253.255.255",
		"169.255.0.0",
		"172.15.255.255",
		"172.32.0.0",
		"191.255.255.255",
		"192.0.1.0",
		"192.0.3.0",
		"192.88.98.255",
		"192.88.100.0",
		"192.167.255.255",
		"192.169.0.0",
		"198.17.255.255",
		"198.20.0.0",
		"198.51.99.255",
		"198.51.101.0",
		"203.0.112.255",
		"203.0.114.0",
		"223.255.255.255",
		"2000::1",
		"2001:200::1",
		"2001:4860:4860::8888",
		"2001:db7:ffff::1",
		"2001:db9::",
		"2606:4700:4700::1111",
		"2a00:1450:4001:81b::200e",
		"3ffe::1",
		"3fff:1000::1",
		"64:ff9b::8.8.8.8",
		"::ffff:8.8.8.8",
		"2002:808:808::1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++)
		if (is_public(closed[i]))
			fail_msg("%s counts as public", closed[i]);
	for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
		if (!is_public(open[i]))
			fail_msg("%s doesn't count as public", open[i]);
}

static void a_url_shows_a_closed_address_however_it_is_written(void **state)
{
	static const struct {
		const char *url;
		bool closed;
	} rows[] = {
		{ "http://127.0.0.1/", true },
		{ "https://10.1.2.3:8443/hook", true },
		{ "http://169.254.169.254", true },
		{ "http://127.1?x", true },
		{ "http://2130706433/", true },
		{ "http://0x7f.1/", true },
		{ "http://192.168.0.1./", true },
		{ "http://[::1]:80/", true },
		{ "http://[fe80::1%25eth0]/", true },
		{ "http://[::ffff:10.0.0.1]/", true },
		{ "http://localhost:1234/", true },
		{ "http://LocalHost./", true },
		{ "http://a.localhost/", true },
		{ "https://1.1.1.1/", false },
		{ "https://[2606:4700:4700::1111]/", false },
		{ "https://alice.example/127.0.0.1", false },
		{ "https://notlocalhost/", false },
		{ "https://10.example.org/", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (address_url_closed(rows[i].url) != rows[i].closed)
			fail_msg("%s", rows[i].url);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_addresses_of_the_public_internet_pass),
		cmocka_unit_test(a_url_shows_a_closed_address_however_it_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
