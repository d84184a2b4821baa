/* json_number.h: numbers as exact decimals. For base, and core's schemas and checks; others have
 * json_to_i64() and json_equal(). */
#ifndef BASE_JSON_NUMBER_H
#define BASE_JSON_NUMBER_H

#include "base/json.h"

/* The number is (its digits as an integer) * 10^exponent. Neither end of the digits is a zero; 0
 * has no digits. The exponent fits whatever was written: 18 digits of it, moved by at most
 * JSON_TEXT_MAX_BYTES. */
struct json_decimal {
	const char *digits; /* inside the text; a point may stand among them */
	uint32_t span;	    /* bytes from the first digit to the last, with the point */
	uint32_t count;	    /* digits, without the point */
	int64_t exponent;
	bool negative; /* never for 0 */
};

/* `number`: a JSON_NUMBER. */
struct json_decimal json_number_decimal(const struct json_value *number);

/* < 0, 0, > 0 */
int json_number_compare(const struct json_decimal *a, const struct json_decimal *b);
bool json_number_equal(const struct json_decimal *a, const struct json_decimal *b);

/* False where it is no integer or outside int64_t. */
bool json_number_i64(const struct json_decimal *decimal, int64_t *number_out);

/* A longer divisor is refused. */
#define JSON_DIVISOR_DIGITS_MAX 1000

/* Is `number` / `divisor` an integer? `divisor` isn't 0. *steps_left is what the answer may cost,
 * in words of the divisor that are looked at, and what is left of it after. False: it would cost
 * more, or the divisor is too long; *multiple_out is untouched. */
bool json_number_multiple_of(const struct json_decimal *number, const struct json_decimal *divisor,
			     uint64_t *steps_left, bool *multiple_out);

void json_number_canon(const struct json_decimal *decimal, struct text *out);

#endif
