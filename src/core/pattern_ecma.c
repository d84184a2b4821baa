#include "core/pattern_ecma.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define NESTING_MAX 64
#define REPEAT_MAX 1000 /* PCRE2 copies a group that often */

/* ECMA-262's \s and what it leaves, as ranges of a class. */
#define SPACES                                                                                     \
	"\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"       \
	"\\x{205f}\\x{3000}\\x{feff}"
#define NO_SPACES                                                                                  \
	"\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}"           \
	"\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}"             \
	"\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

struct reader {
	const char *at, *end;
	struct text *out;
	char *why;
	unsigned int nesting;
};

/* What one atom of a class, or one escape, is. */
enum atom { ATOM_BAD, ATOM_CHAR, ATOM_SET };

static bool refuse(struct reader *in, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static bool read_disjunction(struct reader *in);

static bool refuse(struct reader *in, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(in->why, PATTERN_WHY_MAX, format, args);
	va_end(args);
	return false;
}

static bool peek(const struct reader *in, char c)
{
	return in->at < in->end && *in->at == c;
}

static bool take(struct reader *in, const char *token)
{
	size_t len = strlen(token);

	if ((size_t)(in->end - in->at) < len || memcmp(in->at, token, len) != 0)
		return false;
	in->at += len;
	return true;
}

static void put_char(struct reader *in, uint32_t c)
{
	text_addf(in->out, "\\x{%x}", (unsigned int)c);
}

/* The next character, which is there. The text is UTF-8: the caller has looked. */
static uint32_t next_char(struct reader *in)
{
	size_t bad, len = text_utf8_next(in->at, (size_t)(in->end - in->at), &bad);
	uint32_t c = (unsigned char)*in->at;

	if (len > 1)
		c &= 0x7fu >> len;
	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((unsigned char)in->at[i] & 0x3f);
	in->at += len > 0 ? len : 1;
	return c;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(struct reader *in, unsigned int digits, uint32_t *value_out)
{
	uint32_t value = 0;

	if ((size_t)(in->end - in->at) < digits)
		return false;
	for (unsigned int i = 0; i < digits; i++) {
		int digit = hex_digit(in->at[i]);
		if (digit < 0)
			return false;
		value = value << 4 | (uint32_t)digit;
	}
	in->at += digits;
	*value_out = value;
	return true;
}

/* Behind \u: {...}, four digits, or two surrogates. */
static bool read_unicode(struct reader *in, uint32_t *value_out)
{
	uint32_t value = 0, low;

	if (take(in, "{")) {
		const char *begin = in->at;
		for (; in->at < in->end && hex_digit(*in->at) >= 0; in->at++) {
			value = value << 4 | (uint32_t)hex_digit(*in->at);
			if (value > 0x10ffff)
				return refuse(in, "has \\u{...} past 10FFFF");
		}
		if (in->at == begin || !take(in, "}"))
			return refuse(in, "has an unfinished \\u");
	} else if (!read_hex(in, 4, &value)) {
		return refuse(in, "has an unfinished \\u");
	} else if (value >= 0xd800 && value < 0xdc00 && take(in, "\\u")) {
		if (!read_hex(in, 4, &low) || low < 0xdc00 || low > 0xdfff)
			return refuse(in, "has a lone surrogate, which no text holds");
		value = 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
	}
	if (value >= 0xd800 && value <= 0xdfff)
		return refuse(in, "has a lone surrogate, which no text holds");
	*value_out = value;
	return true;
}

static enum atom read_property(struct reader *in, bool negated)
{
	char name[PATTERN_PROPERTY_MAX];
	const char *close = take(in, "{") ? memchr(in->at, '}', (size_t)(in->end - in->at)) : NULL;

	if (!close || !pattern_property(in->at, (size_t)(close - in->at), name)) {
		refuse(in, "has \\p or \\P without a property that is known here");
		return ATOM_BAD;
	}
	in->at = close + 1;
	text_addf(in->out, "\\%c{%s}", negated ? 'P' : 'p', name);
	return ATOM_SET;
}

static enum atom read_set(struct reader *in, char c, bool in_class)
{
	switch (c) {
	case 'd': text_add_str(in->out, in_class ? "0-9" : "[0-9]"); return ATOM_SET;
	case 'w': text_add_str(in->out, in_class ? "A-Za-z0-9_" : "[A-Za-z0-9_]"); return ATOM_SET;
	case 'D': text_add_str(in->out, "\\D"); return ATOM_SET; /* ASCII's, without PCRE2_UCP */
	case 'W': text_add_str(in->out, "\\W"); return ATOM_SET;
	case 's': text_add_str(in->out, in_class ? SPACES : "[" SPACES "]"); return ATOM_SET;
	case 'S': text_add_str(in->out, in_class ? NO_SPACES : "[" NO_SPACES "]"); return ATOM_SET;
	case 'p': return read_property(in, false);
	case 'P': return read_property(in, true);
	default: return ATOM_BAD;
	}
}

static bool read_letter_escape(struct reader *in, char c, uint32_t *char_out)
{
	static const char letters[] = "tnvfr", means[] = "\t\n\v\f\r";
	const char *letter = strchr(letters, c);

	if (c != '\0' && letter) {
		*char_out = (uint32_t)means[letter - letters];
		return true;
	}
	if (c == '0' && !(in->at < in->end && *in->at >= '0' && *in->at <= '9')) {
		*char_out = 0;
		return true;
	}
	if (c == 'c' && in->at < in->end && (*in->at | 0x20) >= 'a' && (*in->at | 0x20) <= 'z') {
		*char_out = (uint32_t)*in->at++ & 31;
		return true;
	}
	if (c == 'x')
		return read_hex(in, 2, char_out) || refuse(in, "has an unfinished \\x");
	if (c == 'u')
		return read_unicode(in, char_out);
	if ((c >= '1' && c <= '9') || c == 'k')
		return refuse(in, "has a back reference, which isn't supported");
	if (c > ' ' && c < 0x7f)
		return refuse(in, "has \\%c, which ECMA-262 doesn't have here", c);
	return refuse(in, "has a backslash before a character that needs none");
}

/* Behind a backslash. ATOM_SET has been written already; ATOM_CHAR hasn't. */
static enum atom read_escape(struct reader *in, bool in_class, uint32_t *char_out)
{
	if (in->at == in->end) {
		refuse(in, "ends in a backslash");
		return ATOM_BAD;
	}
	char c = *in->at++;
	if (strchr("dDwWsSpP", c) && c != '\0')
		return read_set(in, c, in_class);
	if ((c != '\0' && strchr("^$\\.*+?()[]{}|/", c)) || (in_class && c == '-')) {
		*char_out = (uint32_t)c;
		return ATOM_CHAR;
	}
	if (in_class && c == 'b') {
		*char_out = '\b';
		return ATOM_CHAR;
	}
	return read_letter_escape(in, c, char_out) ? ATOM_CHAR : ATOM_BAD;
}

static enum atom read_class_atom(struct reader *in, uint32_t *char_out)
{
	if (take(in, "\\"))
		return read_escape(in, true, char_out);
	*char_out = next_char(in);
	return ATOM_CHAR;
}

/* One atom of a class or a range of two. */
static bool read_class_range(struct reader *in)
{
	uint32_t first = 0, last = 0;
	enum atom atom = read_class_atom(in, &first);

	if (atom == ATOM_BAD)
		return false;
	if (!peek(in, '-') || in->at + 1 == in->end || in->at[1] == ']') {
		if (atom == ATOM_CHAR)
			put_char(in, first);
		return true;
	}
	in->at++;
	if (atom == ATOM_SET)
		return refuse(in, "has a range that begins with a set");
	atom = read_class_atom(in, &last);
	if (atom == ATOM_BAD)
		return false;
	if (atom == ATOM_SET)
		return refuse(in, "has a range that ends in a set");
	if (first > last)
		return refuse(in, "has a range whose ends are the wrong way round");
	put_char(in, first);
	text_add_str(in->out, "-");
	put_char(in, last);
	return true;
}

/* Behind the opening bracket. */
static bool read_class(struct reader *in)
{
	bool negated = take(in, "^");

	if (take(in, "]")) { /* nothing, or anything */
		text_add_str(in->out, negated ? "[\\x{0}-\\x{10ffff}]" : "[^\\x{0}-\\x{10ffff}]");
		return true;
	}
	text_add_str(in->out, negated ? "[^" : "[");
	while (in->at < in->end && *in->at != ']')
		if (!read_class_range(in))
			return false;
	if (!take(in, "]"))
		return refuse(in, "has a class that isn't closed");
	text_add_str(in->out, "]");
	return true;
}

static bool read_group_name(struct reader *in)
{
	const char *begin = in->at;

	while (in->at < in->end && *in->at != '>') {
		char c = *in->at;
		bool letter = ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || c == '$';
		if (!letter && !(in->at > begin && c >= '0' && c <= '9'))
			return refuse(in, "has a group whose name isn't of ASCII letters");
		in->at++;
	}
	if (in->at == begin || !take(in, ">"))
		return refuse(in, "has a group without a name between < and >");
	return true;
}

/* Behind the opening parenthesis. No group has to be remembered, as nothing refers back. */
static bool read_group(struct reader *in, bool *quantifiable_out)
{
	static const char *const looks[] = { "?=", "?!", "?<=", "?<!" };
	const char *open = "?:";

	*quantifiable_out = true;
	for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++) {
		if (*quantifiable_out && take(in, looks[i])) {
			open = looks[i];
			*quantifiable_out = false;
		}
	}
	if (*quantifiable_out && !take(in, "?:")) {
		if (take(in, "?<")) {
			if (!read_group_name(in))
				return false;
		} else if (peek(in, '?')) {
			return refuse(in, "has a group of a kind that ECMA-262 doesn't have");
		}
	}
	if (++in->nesting > NESTING_MAX)
		return refuse(in, "has groups nested more than %d deep", NESTING_MAX);
	text_addf(in->out, "(%s", open);
	if (!read_disjunction(in))
		return false;
	if (!take(in, ")"))
		return refuse(in, "has a group that isn't closed");
	text_add_str(in->out, ")");
	in->nesting--;
	return true;
}

static bool read_number(struct reader *in, unsigned int *number_out)
{
	const char *begin = in->at;
	unsigned int number = 0;

	for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++)
		number = number > REPEAT_MAX ? number : number * 10 + (unsigned int)(*in->at - '0');
	*number_out = number;
	return in->at > begin;
}

/* Behind the opening brace. */
static bool read_braces(struct reader *in)
{
	unsigned int min, max = 0;

	if (!read_number(in, &min))
		return refuse(in, "has a brace that is no repetition");
	bool open = take(in, ","), bounded = open && read_number(in, &max);
	if (!take(in, "}"))
		return refuse(in, "has a brace that is no repetition");
	if (min > REPEAT_MAX || (bounded && max > REPEAT_MAX))
		return refuse(in, "repeats something more than %d times", REPEAT_MAX);
	if (bounded && max < min)
		return refuse(in, "has a repetition whose bounds are the wrong way round");
	if (bounded)
		text_addf(in->out, "{%u,%u}", min, max);
	else
		text_addf(in->out, open ? "{%u,}" : "{%u}", min);
	return true;
}

static bool read_quantifier(struct reader *in, bool quantifiable)
{
	if (in->at == in->end || !strchr("*+?{", *in->at) || *in->at == '\0')
		return true;
	if (!quantifiable)
		return refuse(in, "repeats what has no length");
	char c = *in->at++;
	if (c == '{') {
		if (!read_braces(in))
			return false;
	} else {
		text_add(in->out, &c, 1);
	}
	if (take(in, "?"))
		text_add_str(in->out, "?");
	return true;
}

/* An escape outside a class. */
static bool read_atom_escape(struct reader *in, bool *quantifiable_out)
{
	uint32_t c = 0;

	if (peek(in, 'b') || peek(in, 'B')) {
		text_addf(in->out, "\\%c", *in->at++);
		*quantifiable_out = false;
		return true;
	}
	enum atom atom = read_escape(in, false, &c);
	if (atom == ATOM_CHAR)
		put_char(in, c);
	return atom != ATOM_BAD;
}

static bool read_atom(struct reader *in, bool *quantifiable_out)
{
	*quantifiable_out = true;
	if (peek(in, '^') || peek(in, '$')) {
		*quantifiable_out = false;
		text_add(in->out, in->at++, 1);
		return true;
	}
	if (take(in, "("))
		return read_group(in, quantifiable_out);
	if (take(in, "["))
		return read_class(in);
	if (take(in, "\\"))
		return read_atom_escape(in, quantifiable_out);
	if (take(in, ".")) {
		text_add_str(in->out, "[^\\x{a}\\x{d}\\x{2028}\\x{2029}]");
		return true;
	}
	if (*in->at != '\0' && strchr("*+?{}]", *in->at))
		return refuse(in, "has %c where it means nothing", *in->at);
	put_char(in, next_char(in));
	return true;
}

/* Up to the end or a closing parenthesis. */
static bool read_disjunction(struct reader *in)
{
	bool quantifiable;

	while (in->at < in->end && *in->at != ')') {
		if (take(in, "|")) {
			text_add_str(in->out, "|");
			continue;
		}
		if (!read_atom(in, &quantifiable) || !read_quantifier(in, quantifiable))
			return false;
	}
	return true;
}

bool pattern_ecma_translate(const char *text, size_t len, struct text *out,
			    char why[PATTERN_WHY_MAX])
{
	struct reader in = { .at = text, .end = text + len, .out = out, .why = why };

	if (!read_disjunction(&in))
		return false;
	return in.at == in.end || refuse(&in, "has ) without (");
}
