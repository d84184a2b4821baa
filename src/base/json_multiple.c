/* json_multiple.c: division of exact decimals, as far as the question goes whether anything is left
 * over. */
#include "base/json_number.h"

#define WORD_DIGITS 9
#define WORD UINT32_C(1000000000)
#define WORDS_MAX (JSON_DIVISOR_DIGITS_MAX / WORD_DIGITS + 2)

/* Natural numbers in words of nine digits, the lowest first. */
struct natural {
	uint32_t words[WORDS_MAX];
	size_t len;
};

static void natural_read(const struct json_decimal *decimal, struct natural *out)
{
	uint32_t scale = 1;

	*out = (struct natural){ .len = 1 };
	for (uint32_t i = decimal->span; i-- > 0;) {
		if (decimal->digits[i] == '.')
			continue;
		if (scale == WORD) {
			out->len++;
			scale = 1;
		}
		out->words[out->len - 1] += scale * (uint32_t)(decimal->digits[i] - '0');
		scale *= 10;
	}
}

/* number * 10 + digit; `words` of it are in use, one more may be needed. */
static void natural_shift(struct natural *number, size_t words, unsigned int digit)
{
	uint64_t carry = digit;

	for (size_t i = 0; i < words; i++) {
		carry += (uint64_t)number->words[i] * 10;
		number->words[i] = (uint32_t)(carry % WORD);
		carry /= WORD;
	}
	number->words[words] = (uint32_t)carry;
}

/* Takes `other` away if there is that much, and says so. `words`: of both. */
static bool natural_take(struct natural *number, const struct natural *other, size_t words)
{
	size_t i = words;

	while (i > 0 && number->words[i - 1] == other->words[i - 1])
		i--;
	if (i > 0 && number->words[i - 1] < other->words[i - 1])
		return false;
	uint32_t borrow = 0;
	for (i = 0; i < words; i++) {
		uint32_t take = other->words[i] + borrow;
		borrow = number->words[i] < take;
		number->words[i] += (borrow ? WORD : 0) - take;
	}
	return true;
}

/* The rest of the digits, and of `zeros` more behind them, by schoolbook. */
static bool rest_is_zero(const struct json_decimal *number, uint64_t zeros,
			 const struct natural *divisor)
{
	struct natural rest = { .len = divisor->len };
	size_t words = divisor->len + 1;

	for (uint64_t i = 0; i < number->span + zeros; i++) {
		char digit = i < number->span ? number->digits[i] : '0';

		if (digit == '.')
			continue;
		natural_shift(&rest, divisor->len, (unsigned int)(digit - '0'));
		while (natural_take(&rest, divisor, words))
			;
	}
	for (size_t i = 0; i < words; i++)
		if (rest.words[i] != 0)
			return false;
	return true;
}

bool json_number_multiple_of(const struct json_decimal *number, const struct json_decimal *divisor,
			     uint64_t *steps_left, bool *multiple_out)
{
	struct natural natural;

	if (divisor->count > JSON_DIVISOR_DIGITS_MAX)
		return false;
	/* The digits don't end in a zero, so ten can't be divided out of them. */
	if (number->count == 0 || number->exponent < divisor->exponent) {
		*multiple_out = number->count == 0;
		return true;
	}
	/* A power of ten helps only as far as the divisor holds twos and fives, and each digit of
	 * it holds fewer than four of them. */
	uint64_t zeros = (uint64_t)(number->exponent - divisor->exponent);
	if (zeros > 4 * (uint64_t)divisor->count)
		zeros = 4 * (uint64_t)divisor->count;

	natural_read(divisor, &natural);
	/* For each digit one multiplication, and at most ten times a comparison and a difference */
	uint64_t cost = (number->span + zeros) * (natural.len + 1) * 21;
	if (cost > *steps_left)
		return false;
	*steps_left -= cost;
	*multiple_out = rest_is_zero(number, zeros, &natural);
	return true;
}
