/* json_number.c: numbers as exact decimals. The scanner has passed the text, so nothing here can be
 * malformed. */
#include "base/json_number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define I64_DIGITS 19

/* At most 18 digits count, whatever zeros stand in front. */
static int64_t exponent_value(const char *at, const char *end)
{
	bool negative = *at == '-';
	int64_t value = 0;

	if (*at == '-' || *at == '+')
		at++;
	for (; at < end; at++)
		value = value * 10 + (*at - '0');
	return negative ? -value : value;
}

struct json_decimal json_number_decimal(const struct json_value *number)
{
	const char *begin = number->raw, *text_end = begin + number->raw_len;
	struct json_decimal decimal = { .digits = begin };
	bool negative = *begin == '-';
	const char *point = NULL, *end = begin + negative;

	for (; end < text_end && *end != 'e' && *end != 'E'; end++) {
		if (*end == '.')
			point = end;
	}
	if (end < text_end)
		decimal.exponent = exponent_value(end + 1, text_end);
	if (!point)
		point = end; /* where it would stand */
	for (begin += negative; begin < end && (*begin == '0' || *begin == '.');)
		begin++;
	if (begin == end)
		return (struct json_decimal){ .digits = begin };
	while (end[-1] == '0' || end[-1] == '.')
		end--;
	decimal.exponent += end > point ? point + 1 - end : point - end;
	decimal.digits = begin;
	decimal.span = (uint32_t)(end - begin);
	decimal.count = decimal.span - (begin < point && point < end);
	decimal.negative = negative;
	return decimal;
}

/* < 0, 0, > 0: the digits as they stand, the shorter ones continued with zeros. They don't end in
 * zeros. */
static int digits_compare(const struct json_decimal *a, const struct json_decimal *b)
{
	const char *left = a->digits, *left_end = left + a->span;
	const char *right = b->digits, *right_end = right + b->span;

	while (left < left_end && right < right_end) {
		if (*left == '.')
			left++;
		if (*right == '.')
			right++;
		if (*left != *right)
			return *left < *right ? -1 : 1;
		left++;
		right++;
	}
	return (left < left_end) - (right < right_end);
}

int json_number_compare(const struct json_decimal *a, const struct json_decimal *b)
{
	int sign_a = a->count == 0 ? 0 : a->negative ? -1 : 1;
	int sign_b = b->count == 0 ? 0 : b->negative ? -1 : 1;

	if (sign_a != sign_b || sign_a == 0)
		return sign_a - sign_b;
	int64_t size_a = a->exponent + a->count, size_b = b->exponent + b->count;
	if (size_a != size_b)
		return size_a < size_b ? -sign_a : sign_a;
	return sign_a * digits_compare(a, b);
}

bool json_number_equal(const struct json_decimal *a, const struct json_decimal *b)
{
	return a->negative == b->negative && a->count == b->count && a->exponent == b->exponent &&
	       digits_compare(a, b) == 0;
}

bool json_number_i64(const struct json_decimal *decimal, int64_t *number_out)
{
	uint64_t size = 0, limit = decimal->negative ? UINT64_C(1) << 63 : INT64_MAX;

	if (decimal->count == 0) {
		*number_out = 0;
		return true;
	}
	if (decimal->exponent < 0 || decimal->count + decimal->exponent > I64_DIGITS)
		return false;
	for (uint32_t i = 0; i < decimal->span; i++) {
		if (decimal->digits[i] != '.')
			size = size * 10 + (uint64_t)(decimal->digits[i] - '0');
	}
	for (int64_t i = 0; i < decimal->exponent; i++)
		size *= 10; /* 19 digits at most: fits */
	if (size > limit)
		return false;
	*number_out = decimal->negative ? -(int64_t)(size - 1) - 1 : (int64_t)size;
	return true;
}

void json_number_canon(const struct json_decimal *decimal, struct text *out)
{
	const char *point = memchr(decimal->digits, '.', decimal->span);
	char exponent[24];

	if (decimal->count == 0) {
		text_add(out, "0", 1);
		return;
	}
	if (decimal->negative)
		text_add(out, "-", 1);
	if (point) {
		size_t before = (size_t)(point - decimal->digits);
		text_add(out, decimal->digits, before);
		text_add(out, point + 1, decimal->span - before - 1);
	} else {
		text_add(out, decimal->digits, decimal->span);
	}
	if (decimal->exponent != 0) {
		int len = snprintf(exponent, sizeof exponent, "e%" PRId64, decimal->exponent);
		text_add(out, exponent, (size_t)len);
	}
}
