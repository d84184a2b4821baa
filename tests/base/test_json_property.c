/* test_json_property.c: random values, each written in two random ways, are one value; with one
 * small change, two.
 *
 * ONEJOB_TEST_SEED repeats a run that failed; the seed of every failure is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define ROUNDS 3000
#define DEPTH_MAX 5
#define CHILDREN_MAX 12
#define STRING_MAX 8
#define DIGITS_MAX 25
#define TEXT_CAP (1 << 22)

/* A value in the test's own terms. A number is digits * 10^exponent; a string is code points. */
struct tree {
	enum json_kind type;
	bool negative;
	char digits[DIGITS_MAX + 1];
	int exponent;
	uint32_t points[STRING_MAX];
	size_t point_count;
	struct tree *children[CHILDREN_MAX];
	struct tree *names[CHILDREN_MAX]; /* JSON_STRING trees, no two alike */
	size_t count;
};

static uint64_t random_state;

/* splitmix64 */
static uint64_t random_u64(void)
{
	uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static size_t below(size_t bound)
{
	return random_u64() % bound;
}

static uint32_t random_point(void)
{
	static const uint32_t edges[] = {
		0,     1,     0x1f,   '"',    '\\',   '/',    '\n',    0x7f,	 0x80,
		0x7ff, 0x800, 0xd7ff, 0xe000, 0xfffd, 0xffff, 0x10000, 0x10ffff,
	};
	uint32_t point;

	switch (below(3)) {
	case 0: return (uint32_t)('a' + below(4)); /* few, so that names share beginnings */
	case 1: return edges[below(sizeof edges / sizeof edges[0])];
	}
	do
		point = (uint32_t)below(0x110000);
	while (point >= 0xd800 && point <= 0xdfff);
	return point;
}

static struct tree *new_tree(enum json_kind type)
{
	struct tree *tree = calloc(1, sizeof *tree);

	assert_non_null(tree);
	tree->type = type;
	return tree;
}

static struct tree *random_string(void)
{
	struct tree *tree = new_tree(JSON_STRING);

	tree->point_count = below(STRING_MAX);
	for (size_t i = 0; i < tree->point_count; i++)
		tree->points[i] = random_point();
	return tree;
}

/* Without zeros at either end, so that other digits are another number. */
static struct tree *random_number(void)
{
	struct tree *tree = new_tree(JSON_NUMBER);
	size_t len = 1 + below(DIGITS_MAX - 1);

	for (size_t i = 0; i < len; i++)
		tree->digits[i] = (char)('0' + (i == 0 || i == len - 1 ? 1 + below(9) : below(10)));
	tree->negative = below(2);
	tree->exponent = (int)below(60) - 30;
	if (below(8) == 0)
		*tree = (struct tree){ .type = JSON_NUMBER }; /* zero: no digits */
	return tree;
}

static bool same_points(const struct tree *a, const struct tree *b)
{
	return a->point_count == b->point_count &&
	       memcmp(a->points, b->points, a->point_count * sizeof a->points[0]) == 0;
}

static void free_tree(struct tree *tree)
{
	if (!tree)
		return;
	for (size_t i = 0; i < tree->count; i++) {
		free_tree(tree->children[i]);
		free_tree(tree->names[i]);
	}
	free(tree);
}

static bool name_taken(const struct tree *object, const struct tree *name)
{
	for (size_t i = 0; i < object->count; i++) {
		if (same_points(object->names[i], name))
			return true;
	}
	return false;
}

static struct tree *random_tree(int depth)
{
	struct tree *tree = new_tree(depth == 0 ? JSON_OBJECT : (enum json_kind)below(JSON__MAX));

	if (tree->type == JSON_STRING || tree->type == JSON_NUMBER) {
		bool string = tree->type == JSON_STRING;
		free_tree(tree);
		return string ? random_string() : random_number();
	}
	if ((tree->type != JSON_ARRAY && tree->type != JSON_OBJECT) || depth == DEPTH_MAX)
		return tree;
	for (size_t left = below(depth < 2 ? CHILDREN_MAX : 4); left > 0; left--) {
		struct tree *name = tree->type == JSON_OBJECT ? random_string() : NULL;
		if (name && name_taken(tree, name)) {
			free_tree(name);
			continue;
		}
		tree->names[tree->count] = name;
		tree->children[tree->count++] = random_tree(depth + 1);
	}
	return tree;
}

static void write_space(struct text *out)
{
	while (below(3) == 0)
		text_add(out, &" \t\r\n"[below(4)], 1);
}

static void write_utf8(struct text *out, uint32_t point)
{
	char bytes[4] = { (char)point };
	size_t len = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
	static const unsigned char leads[] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = len; len > 1 && i-- > 0; point >>= 6)
		bytes[i] = (char)(i == 0 ? leads[len] | point : 0x80 | (point & 0x3f));
	text_add(out, bytes, len);
}

static void write_point(struct text *out, uint32_t point)
{
	static const char shorts[] = "\"\\/\b\f\n\r\t", letters[] = "\"\\/bfnrt";
	const char *found = point && point < 0x80 ? strchr(shorts, (int)point) : NULL;
	bool must = point < 0x20 || point == '"' || point == '\\';

	if (found && below(2))
		text_addf(out, "\\%c", letters[found - shorts]);
	else if (!must && below(3))
		write_utf8(out, point);
	else if (point < 0x10000)
		text_addf(out, below(2) ? "\\u%04x" : "\\u%04X", point);
	else
		text_addf(out, below(2) ? "\\u%04x\\u%04x" : "\\u%04X\\u%04X",
			  0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
}

static void write_string(struct text *out, const struct tree *tree)
{
	text_add(out, "\"", 1);
	for (size_t i = 0; i < tree->point_count; i++)
		write_point(out, tree->points[i]);
	text_add(out, "\"", 1);
}

/* The digits with zeros added at both ends, a point set anywhere, and the exponent that makes up
 * for it. */
static void write_number(struct text *out, const struct tree *tree)
{
	char digits[DIGITS_MAX + 40];
	size_t front = below(3), back = below(4), len = strlen(tree->digits);
	int exponent = tree->exponent;

	memset(digits, '0', sizeof digits);
	memcpy(digits + front, tree->digits, len);
	len += front + back;
	exponent -= (int)back;
	if (len == 0)
		len = 1;
	size_t whole = 1 + below(len); /* digits before the point */
	const char *begin = digits;
	while (whole > 1 && *begin == '0') { /* JSON allows no needless zero in front */
		begin++;
		whole--;
		len--;
	}
	if (tree->digits[0] ? tree->negative : below(2))
		text_add(out, "-", 1);
	text_add(out, begin, whole);
	if (len > whole) {
		text_add(out, ".", 1);
		text_add(out, begin + whole, len - whole);
	}
	exponent += (int)(len - whole);
	if (exponent != 0 || below(2))
		text_addf(out, "%c%s%s%d", below(2) ? 'e' : 'E',
			  exponent < 0 ? "-"
			  : below(2)   ? "+"
				       : "",
			  below(4) ? "" : "000000000000000000", abs(exponent));
}

static void write_tree(struct text *out, const struct tree *tree);

static void write_children(struct text *out, const struct tree *tree)
{
	size_t order[CHILDREN_MAX];

	for (size_t i = 0; i < tree->count; i++) {
		size_t k = tree->type == JSON_OBJECT ? below(i + 1) : i; /* a shuffle for members */
		order[i] = order[k];
		order[k] = i;
	}
	for (size_t i = 0; i < tree->count; i++) {
		if (i > 0)
			text_add(out, ",", 1);
		write_space(out);
		if (tree->type == JSON_OBJECT) {
			write_string(out, tree->names[order[i]]);
			write_space(out);
			text_add(out, ":", 1);
		}
		write_tree(out, tree->children[order[i]]);
	}
}

static void write_tree(struct text *out, const struct tree *tree)
{
	write_space(out);
	switch (tree->type) {
	case JSON_NULL: text_add_str(out, "null"); break;
	case JSON_FALSE: text_add_str(out, "false"); break;
	case JSON_TRUE: text_add_str(out, "true"); break;
	case JSON_NUMBER: write_number(out, tree); break;
	case JSON_STRING: write_string(out, tree); break;
	case JSON_ARRAY:
	case JSON_OBJECT:
		text_add_str(out, tree->type == JSON_ARRAY ? "[" : "{");
		write_children(out, tree);
		write_space(out);
		text_add_str(out, tree->type == JSON_ARRAY ? "]" : "}");
		break;
	case JSON__MAX: fail();
	}
	write_space(out);
}

static size_t tree_size(const struct tree *tree)
{
	size_t size = 1;

	for (size_t i = 0; i < tree->count; i++)
		size += tree_size(tree->children[i]);
	return size;
}

static void change_number(struct tree *tree)
{
	size_t len = strlen(tree->digits);

	if (len == 0 || below(4) == 0) {
		tree->negative = len > 0 && !tree->negative;
		if (len == 0)
			strcpy(tree->digits, "1");
	} else if (below(2)) {
		tree->exponent += below(2) ? 1 : -1;
	} else {
		char *digit = &tree->digits[below(len)]; /* 1 to 9, and another one */
		*digit = *digit == '9' ? '1' : (char)(*digit + 1);
	}
}

static void change_children(struct tree *tree)
{
	if (tree->count > 0) {
		tree->count--;
		free_tree(tree->children[tree->count]);
		free_tree(tree->names[tree->count]);
		return;
	}
	tree->names[0] = tree->type == JSON_OBJECT ? random_string() : NULL;
	tree->children[0] = new_tree(JSON_NULL);
	tree->count = 1;
}

/* Changes the value number *index_io in the order of writing, so that it is another one. */
static void change(struct tree *tree, size_t *index_io)
{
	if ((*index_io)-- > 0) {
		for (size_t i = 0; i < tree->count && *index_io != SIZE_MAX; i++)
			change(tree->children[i], index_io);
		return;
	}
	*index_io = SIZE_MAX; /* done */
	switch (tree->type) {
	case JSON_NULL: tree->type = JSON_FALSE; break;
	case JSON_FALSE: tree->type = JSON_TRUE; break;
	case JSON_TRUE: tree->type = JSON_NULL; break;
	case JSON_NUMBER: change_number(tree); break;
	case JSON_STRING:
		if (tree->point_count > 0 && below(2))
			tree->point_count--;
		else
			tree->points[tree->point_count++] = random_point();
		break;
	case JSON_ARRAY:
	case JSON_OBJECT: change_children(tree); break;
	case JSON__MAX: fail();
	}
}

struct written {
	struct text text;
	struct json_doc *doc;
	struct text canon;
};

static void write_and_parse(struct written *w, const struct tree *tree, uint64_t seed)
{
	struct json_error error;

	text_init(&w->text, TEXT_CAP);
	text_init(&w->canon, TEXT_CAP);
	write_tree(&w->text, tree);
	assert_true(text_ok(&w->text));
	if (json_parse(w->text.bytes, w->text.len, DEPTH_MAX + 1, &w->doc, &error) != RC_OK)
		fail_msg("seed %" PRIu64 ": refused at %zu (%s): %s", seed, error.offset,
			 error.detail, w->text.bytes);
	json_canon(json_root(w->doc), &w->canon);
	assert_true(text_ok(&w->canon));
}

static void release(struct written *w)
{
	text_release(&w->text);
	text_release(&w->canon);
	json_free(w->doc);
}

static void compare(const struct written *a, const struct written *b, bool equal, uint64_t seed)
{
	bool same = a->canon.len == b->canon.len &&
		    memcmp(a->canon.bytes, b->canon.bytes, a->canon.len) == 0;

	if (json_equal(json_root(a->doc), json_root(b->doc)) != equal ||
	    json_equal(json_root(b->doc), json_root(a->doc)) != equal || same != equal)
		fail_msg("seed %" PRIu64 ": equal should be %d, canonical bytes are %s\n%s\n%s",
			 seed, equal, same ? "the same" : "different", a->text.bytes,
			 b->text.bytes);
}

static void one_round(uint64_t seed)
{
	struct written first, second, changed, again;

	random_state = seed;
	struct tree *tree = random_tree(0);
	write_and_parse(&first, tree, seed);
	write_and_parse(&second, tree, seed);
	compare(&first, &second, true, seed);

	size_t index = below(tree_size(tree));
	change(tree, &index);
	write_and_parse(&changed, tree, seed);
	compare(&first, &changed, false, seed);

	/* The canonical form is JSON and its own canonical form. */
	struct json_error error;
	assert_int_equal(
		json_parse(first.canon.bytes, first.canon.len, DEPTH_MAX + 1, &again.doc, &error),
		RC_OK);
	text_init(&again.canon, TEXT_CAP);
	json_canon(json_root(again.doc), &again.canon);
	again.text = again.canon;
	compare(&first, &again, true, seed);
	text_release(&again.canon);
	json_free(again.doc);
	release(&first);
	release(&second);
	release(&changed);
	free_tree(tree);
}

static void one_value_written_twice_is_equal_and_a_changed_one_is_not(void **state)
{
	const char *seed = getenv("ONEJOB_TEST_SEED");

	(void)state;
	if (seed) {
		one_round(strtoull(seed, NULL, 10));
		return;
	}
	for (uint64_t round = 1; round <= ROUNDS; round++)
		one_round(round);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_value_written_twice_is_equal_and_a_changed_one_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
