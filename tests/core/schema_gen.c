#include "schema_gen.h"

#include <stddef.h>
#include <string.h>

#define DEPTH 3

static void add_schema(struct gen *gen, unsigned int depth, struct text *out);

/* xorshift64* */
uint32_t gen_below(struct gen *gen, uint32_t limit)
{
	gen->state ^= gen->state >> 12;
	gen->state ^= gen->state << 25;
	gen->state ^= gen->state >> 27;
	return (uint32_t)((gen->state * UINT64_C(0x2545F4914F6CDD1D)) >> 33) % limit;
}

static const char *pick(struct gen *gen, const char *const *list, size_t len)
{
	return list[gen_below(gen, (uint32_t)len)];
}

#define PICK(gen, list) pick(gen, list, sizeof(list) / sizeof(list)[0])

/* A double holds each of them exactly, and their quotients as far as it matters. */
static const char *const numbers[] = { "-2",  "-1",   "-0",   "0",   "1",    "1.0", "2",
				       "2.5", "3",    "4",    "5",   "10",   "1e1", "0.5",
				       "1.5", "2.25", "-0.5", "100", "0.25", "6" };
static const char *const wild_numbers[] = { "0.1",
					    "0.30000000000000004",
					    "9007199254740993",
					    "1e400",
					    "-1e-400",
					    "1e999999999999999999",
					    "123456789012345678901234567890" };
static const char *const strings[] = { "\"\"",	  "\"a\"",    "\"b\"",	     "\"ab\"",
				       "\"abc\"", "\"aaaa\"", "\"\\u00e9\"", "\"\\ud83d\\udc32\"",
				       "\"1\"",	  "\"a1\"" };
static const char *const wild_strings[] = { "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"",
					    "\"2026-12-01\"",
					    "\"\\u0000\"",
					    "\"xn--a.b\"",
					    "\"xn--a.b\"",
					    "\"xn--a.b\"" };
static const char *const names[] = { "a", "b", "c", "ab" };
static const char *const patterns[] = { "^a", "b$", "^[ab]+$", "\\\\d", "^.$", "c|1", "^$" };
static const char *const wild_patterns[] = { "^(a+)+$", "^\\\\p{L}*$", "(" };
static const char *const formats[] = { "hostname", "hostname", "hostname", "hostname",
				       "date",	   "uri",      "email",	   "regex" };
static const char *const types[] = { "null",   "boolean", "integer", "number",
				     "string", "array",	  "object" };

static void add_number(struct gen *gen, struct text *out)
{
	bool wild = gen->wild && gen_below(gen, 8) == 0;

	text_add_str(out, wild ? PICK(gen, wild_numbers) : PICK(gen, numbers));
}

static void add_string(struct gen *gen, struct text *out)
{
	bool wild = gen->wild && gen_below(gen, 20) == 0;

	text_add_str(out, wild ? PICK(gen, wild_strings) : PICK(gen, strings));
}

/* The names that have a bit set. */
static uint32_t some_names(struct gen *gen)
{
	return gen_below(gen, 1u << (sizeof names / sizeof names[0]));
}

void gen_document(struct gen *gen, unsigned int depth, struct text *out)
{
	static const char *const words[] = { "null", "true", "false" };
	uint32_t kind = gen_below(gen, depth > 0 ? 10 : 5), count;
	const char *comma = "";

	if (gen->wild && gen_below(gen, 6) == 0) {
		text_add_str(out, "\"xn--a.b\"");
	} else if (kind < 1) {
		text_add_str(out, PICK(gen, words));
	} else if (kind < 3) {
		add_number(gen, out);
	} else if (kind < 5) {
		add_string(gen, out);
	} else if (kind < 7) {
		text_add_str(out, "[");
		for (count = gen_below(gen, 4); count > 0; count--, comma = ",") {
			text_add_str(out, comma);
			gen_document(gen, depth - 1, out);
		}
		text_add_str(out, "]");
	} else {
		text_add_str(out, "{");
		count = some_names(gen);
		for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
			if (!(count & 1u << i))
				continue;
			text_addf(out, "%s\"%s\":", comma, names[i]);
			gen_document(gen, depth - 1, out);
			comma = ",";
		}
		text_add_str(out, "}");
	}
}

static void add_pattern(struct gen *gen, struct text *out)
{
	bool wild = gen->wild && gen_below(gen, 30) == 0;

	text_addf(out, "\"%s\"", wild ? PICK(gen, wild_patterns) : PICK(gen, patterns));
}

static void add_type(struct gen *gen, struct text *out)
{
	uint32_t bits = 1 + gen_below(gen, (1u << (sizeof types / sizeof types[0])) - 1);
	const char *comma = "";

	if (gen_below(gen, 2) == 0) {
		text_addf(out, "\"%s\"", PICK(gen, types));
		return;
	}
	text_add_str(out, "[");
	for (uint32_t i = 0; i < sizeof types / sizeof types[0]; i++) {
		if (!(bits & 1u << i))
			continue;
		text_addf(out, "%s\"%s\"", comma, types[i]);
		comma = ",";
	}
	text_add_str(out, "]");
}

static void add_schemas(struct gen *gen, unsigned int depth, struct text *out)
{
	uint32_t count = 1 + gen_below(gen, 3);

	text_add_str(out, "[");
	for (uint32_t i = 0; i < count; i++) {
		text_add_str(out, i > 0 ? "," : "");
		add_schema(gen, depth, out);
	}
	text_add_str(out, "]");
}

static void add_string_list(uint32_t bits, struct text *out)
{
	const char *comma = "";

	text_add_str(out, "[");
	for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (!(bits & 1u << i))
			continue;
		text_addf(out, "%s\"%s\"", comma, names[i]);
		comma = ",";
	}
	text_add_str(out, "]");
}

/* `what`: s schemas, l lists of names, e either */
static void add_map(struct gen *gen, unsigned int depth, char what, struct text *out)
{
	uint32_t bits = some_names(gen);
	const char *comma = "";

	text_add_str(out, "{");
	for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (!(bits & 1u << i))
			continue;
		text_addf(out, "%s\"%s\":", comma, names[i]);
		if (what == 'l' || (what == 'e' && gen_below(gen, 2) == 0))
			add_string_list(some_names(gen), out);
		else
			add_schema(gen, depth, out);
		comma = ",";
	}
	text_add_str(out, "}");
}

static void add_pattern_map(struct gen *gen, unsigned int depth, struct text *out)
{
	text_add_str(out, "{");
	add_pattern(gen, out);
	text_add_str(out, ":");
	add_schema(gen, depth, out);
	text_add_str(out, "}");
}

static void add_enum(struct gen *gen, struct text *out)
{
	uint32_t count = 1 + gen_below(gen, 3);

	text_add_str(out, "[");
	for (uint32_t i = 0; i < count; i++) {
		/* one of each kind: another validator may insist that all differ */
		if (i == 0)
			add_number(gen, out);
		else if (i == 1)
			add_string(gen, out);
		else
			text_add_str(out, "[1,{\"a\":2}]");
		text_add_str(out, i + 1 < count ? "," : "");
	}
	text_add_str(out, "]");
}

static void add_divisor(struct gen *gen, struct text *out)
{
	static const char *const divisors[] = { "1", "2", "3", "0.5", "0.25", "1.5", "1e0" };
	static const char *const wild[] = { "0.01", "1e-300", "7e15" };

	text_add_str(out,
		     gen->wild && gen_below(gen, 4) == 0 ? PICK(gen, wild) : PICK(gen, divisors));
}

/* What stands behind a keyword: s a schema, a an array of them, m a map of them, p one with
 * patterns, l a map of lists, e a map of either, n a number, c a count, d a divisor, t a type, r
 * pattern, u names, v a value, E an enum, b true or false, i an array of schemas or one, R a
 * reference, f a format. */
static const struct row {
	const char *name;
	char value;
	char drafts; /* 2, 7, or b for both */
} rows[] = {
	{ "type", 't', 'b' },
	{ "const", 'v', 'b' },
	{ "enum", 'E', 'b' },
	{ "multipleOf", 'd', 'b' },
	{ "maximum", 'n', 'b' },
	{ "exclusiveMaximum", 'n', 'b' },
	{ "minimum", 'n', 'b' },
	{ "exclusiveMinimum", 'n', 'b' },
	{ "maxLength", 'c', 'b' },
	{ "minLength", 'c', 'b' },
	{ "pattern", 'r', 'b' },
	{ "maxItems", 'c', 'b' },
	{ "minItems", 'c', 'b' },
	{ "uniqueItems", 'b', 'b' },
	{ "maxProperties", 'c', 'b' },
	{ "minProperties", 'c', 'b' },
	{ "required", 'u', 'b' },
	{ "format", 'f', 'w' },
	{ "prefixItems", 'a', '2' },
	{ "items", 's', '2' },
	{ "items", 'i', '7' },
	{ "additionalItems", 's', '7' },
	{ "contains", 's', 'b' },
	{ "minContains", 'c', '2' },
	{ "maxContains", 'c', '2' },
	{ "properties", 'm', 'b' },
	{ "properties", 'm', 'b' }, /* more likely than others */
	{ "patternProperties", 'p', 'b' },
	{ "additionalProperties", 's', 'b' },
	{ "propertyNames", 's', 'b' },
	{ "dependentRequired", 'l', '2' },
	{ "dependentSchemas", 'm', '2' },
	{ "dependencies", 'e', '7' },
	{ "allOf", 'a', 'b' },
	{ "anyOf", 'a', 'b' },
	{ "oneOf", 'a', 'b' },
	{ "not", 's', 'b' },
	{ "if", 's', 'b' },
	{ "then", 's', 'b' },
	{ "else", 's', 'b' },
	{ "unevaluatedItems", 's', '2' },
	{ "unevaluatedProperties", 's', '2' },
	{ "unevaluatedProperties", 's', '2' },
	{ "$ref", 'R', '2' },
};

static const char *const definitions[] = { "x", "y" };

static void add_ref(struct gen *gen, struct text *out)
{
	text_addf(out, "\"#/%s/%s\"", gen->draft_7 ? "definitions" : "$defs",
		  PICK(gen, definitions));
}

static void add_value(struct gen *gen, char value, unsigned int depth, struct text *out)
{
	unsigned int below = depth > 0 ? depth - 1 : 0;

	switch (value) {
	case 's': add_schema(gen, below, out); break;
	case 'a': add_schemas(gen, below, out); break;
	case 'm':
	case 'l':
	case 'e': add_map(gen, below, value == 'm' ? 's' : value, out); break;
	case 'p': add_pattern_map(gen, below, out); break;
	case 'n': add_number(gen, out); break;
	case 'c': text_addf(out, "%u", (unsigned int)gen_below(gen, 4)); break;
	case 'd': add_divisor(gen, out); break;
	case 't': add_type(gen, out); break;
	case 'r': add_pattern(gen, out); break;
	case 'u': add_string_list(some_names(gen), out); break;
	case 'v': gen_document(gen, 1, out); break;
	case 'E': add_enum(gen, out); break;
	case 'b': text_add_str(out, gen_below(gen, 4) == 0 ? "false" : "true"); break;
	case 'i':
		if (gen_below(gen, 2) == 0)
			add_schema(gen, below, out);
		else
			add_schemas(gen, below, out);
		break;
	case 'R': add_ref(gen, out); break;
	case 'f': text_addf(out, "\"%s\"", PICK(gen, formats)); break;
	default: text_add_str(out, "true"); break;
	}
}

static bool fits(const struct gen *gen, const struct row *row)
{
	if (row->drafts == 'w')
		return gen->wild;
	return row->drafts == 'b' || row->drafts == (gen->draft_7 ? '7' : '2');
}

/* Members of an object that has been opened: up to four keywords, none of them twice. */
static void add_keywords(struct gen *gen, unsigned int depth, const char *comma, struct text *out)
{
	enum { ROWS = sizeof rows / sizeof rows[0] };
	bool used[ROWS] = { false };

	for (uint32_t count = 1 + gen_below(gen, 4); count > 0; count--) {
		uint32_t i = gen_below(gen, ROWS);
		bool applies = rows[i].value == 's' || rows[i].value == 'a' || rows[i].value == 'm';

		if (used[i] || !fits(gen, &rows[i]) || (applies && depth == 0))
			continue;
		for (uint32_t j = 0; j < ROWS; j++) /* the same name comes in several rows */
			if (strcmp(rows[j].name, rows[i].name) == 0)
				used[j] = true;
		text_addf(out, "%s\"%s\":", comma, rows[i].name);
		add_value(gen, rows[i].value, depth, out);
		comma = ",";
	}
}

static void add_schema(struct gen *gen, unsigned int depth, struct text *out)
{
	uint32_t kind = gen_below(gen, 12);

	if (kind == 0 || (kind == 1 && depth == 0)) {
		text_add_str(out, kind == 0 ? "true" : "false");
		return;
	}
	if (gen->wild && gen_below(gen, 6) == 0) { /* the cheap way to a third value */
		text_add_str(out, "{\"format\":\"hostname\"}");
		return;
	}
	text_add_str(out, "{");
	/* Alone in draft 7, where the two validators differ about what stands beside it. */
	if (gen->draft_7 && kind == 2) {
		text_add_str(out, "\"$ref\":");
		add_ref(gen, out);
	} else {
		add_keywords(gen, depth, "", out);
	}
	text_add_str(out, "}");
}

void gen_schema(struct gen *gen, const char *id, struct text *out)
{
	text_addf(out, "{\"$id\":\"%s\",\"%s\":{", id, gen->draft_7 ? "definitions" : "$defs");
	for (size_t i = 0; i < sizeof definitions / sizeof definitions[0]; i++) {
		text_addf(out, "%s\"%s\":", i > 0 ? "," : "", definitions[i]);
		add_schema(gen, DEPTH - 1, out);
	}
	text_add_str(out, "}");
	add_keywords(gen, DEPTH, ",", out);
	text_add_str(out, "}");
}
