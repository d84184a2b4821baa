/* json_tree.c: the tree's memory, and finding and comparing what is in it. */
#include "base/json_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_number.h"

#define ALIGN 8
#define FIRST_BYTES 4000
#define BLOCK_MAX_BYTES (1u << 20)

_Static_assert(sizeof(struct json_value) <= 72, "memory for a hostile text is counted in these");
_Static_assert(sizeof(struct json_value) % ALIGN == 0 && _Alignof(struct json_value) <= ALIGN,
	       "values are aligned");
_Static_assert(offsetof(struct json_doc, first) % ALIGN == 0 &&
		       offsetof(struct json_block, bytes) % ALIGN == 0,
	       "blocks are aligned");

struct json_doc *json_tree_new(void)
{
	struct json_doc *doc = malloc(sizeof *doc + FIRST_BYTES);

	if (!doc)
		return NULL;
	*doc = (struct json_doc){ .free = doc->first, .free_bytes = FIRST_BYTES };
	doc->block_bytes = 2 * FIRST_BYTES;
	return doc;
}

/* Blocks double, so there are few of them and at most about half of the memory stays unused. */
static bool add_block(struct json_doc *doc, size_t bytes)
{
	size_t size = bytes > doc->block_bytes ? bytes : doc->block_bytes;
	struct json_block *block = malloc(sizeof *block + size);

	if (!block)
		return false;
	block->older = doc->blocks;
	doc->blocks = block;
	doc->free = block->bytes;
	doc->free_bytes = size;
	if (doc->block_bytes < BLOCK_MAX_BYTES)
		doc->block_bytes *= 2;
	return true;
}

void *json_tree_alloc(struct json_doc *doc, size_t bytes)
{
	bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
	if (bytes > doc->free_bytes && !add_block(doc, bytes))
		return NULL;
	void *piece = doc->free;
	doc->free += bytes;
	doc->free_bytes -= bytes;
	return piece;
}

void json_free(struct json_doc *doc)
{
	if (!doc)
		return;
	for (struct json_block *block = doc->blocks; block;) {
		struct json_block *older = block->older;
		free(block);
		block = older;
	}
	free(doc);
}

const struct json_value *json_root(const struct json_doc *doc)
{
	return doc->root;
}

const struct json_value *json_member(const struct json_value *object, const char *name)
{
	if (!object || object->type != JSON_OBJECT)
		return NULL;
	size_t len = strlen(name);
	const struct json_value *member = object->child;
	while (member && !(member->name_len == len && memcmp(member->name, name, len) == 0))
		member = member->next;
	return member;
}

bool json_is_string(const struct json_value *value, const char *str)
{
	return value && value->type == JSON_STRING && value->string_len == strlen(str) &&
	       memcmp(value->string, str, value->string_len) == 0;
}

bool json_to_i64(const struct json_value *value, int64_t min, int64_t max, int64_t *number_out)
{
	int64_t number;

	if (!value || value->type != JSON_NUMBER)
		return false;
	struct json_decimal decimal = json_number_decimal(value);
	if (!json_number_i64(&decimal, &number) || number < min || number > max)
		return false;
	*number_out = number;
	return true;
}

bool json_pointer_valid(const char *pointer, size_t pointer_len)
{
	if (pointer_len > 0 && pointer[0] != '/')
		return false;
	for (size_t i = 0; i < pointer_len; i++) {
		if (pointer[i] == '~' &&
		    (i + 1 == pointer_len || (pointer[i + 1] != '0' && pointer[i + 1] != '1')))
			return false;
	}
	return true;
}

static bool token_is_name(const char *token, size_t token_len, const struct json_value *member)
{
	size_t at = 0;

	for (size_t i = 0; i < token_len; i++, at++) {
		char c = token[i];
		if (c == '~')
			c = token[++i] == '1' ? '/' : '~';
		if (at == member->name_len || member->name[at] != c)
			return false;
	}
	return at == member->name_len;
}

static const struct json_value *element_at(const struct json_value *array, const char *token,
					   size_t token_len)
{
	size_t index = 0;

	if (token_len == 0 || (token[0] == '0' && token_len > 1))
		return NULL;
	for (size_t i = 0; i < token_len; i++) {
		if (token[i] < '0' || token[i] > '9')
			return NULL;
		index = index * 10 + (size_t)(token[i] - '0');
		if (index >= array->count)
			return NULL;
	}
	const struct json_value *element = array->child;
	while (index-- > 0)
		element = element->next;
	return element;
}

static const struct json_value *step(const struct json_value *value, const char *token,
				     size_t token_len)
{
	if (value->type == JSON_ARRAY)
		return element_at(value, token, token_len);
	if (value->type != JSON_OBJECT)
		return NULL;
	const struct json_value *member = value->child;
	while (member && !token_is_name(token, token_len, member))
		member = member->next;
	return member;
}

const struct json_value *json_at(const struct json_value *value, const char *pointer,
				 size_t pointer_len)
{
	if (!json_pointer_valid(pointer, pointer_len))
		return NULL;
	while (value && pointer_len > 0) {
		const char *token = pointer + 1;
		const char *slash = memchr(token, '/', pointer_len - 1);
		size_t token_len = slash ? (size_t)(slash - token) : pointer_len - 1;

		value = step(value, token, token_len);
		pointer = token + token_len;
		pointer_len -= token_len + 1;
	}
	return value;
}

static bool bytes_equal(const char *a, uint32_t a_len, const char *b, uint32_t b_len)
{
	return a_len == b_len && memcmp(a, b, a_len) == 0;
}

static bool numbers_equal(const struct json_value *a, const struct json_value *b)
{
	struct json_decimal left = json_number_decimal(a), right = json_number_decimal(b);

	return json_number_equal(&left, &right);
}

static bool arrays_equal(const struct json_value *a, const struct json_value *b)
{
	if (a->count != b->count)
		return false;
	for (a = a->child, b = b->child; a; a = a->next, b = b->next) {
		if (!json_equal(a, b))
			return false;
	}
	return true;
}

static bool objects_equal(const struct json_value *a, const struct json_value *b)
{
	if (a->count != b->count)
		return false;
	for (a = a->by_name, b = b->by_name; a; a = a->next_by_name, b = b->next_by_name) {
		if (!bytes_equal(a->name, a->name_len, b->name, b->name_len) || !json_equal(a, b))
			return false;
	}
	return true;
}

bool json_equal(const struct json_value *a, const struct json_value *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case JSON_NULL:
	case JSON_FALSE:
	case JSON_TRUE: return true;
	case JSON_NUMBER: return numbers_equal(a, b);
	case JSON_STRING: return bytes_equal(a->string, a->string_len, b->string, b->string_len);
	case JSON_ARRAY: return arrays_equal(a, b);
	case JSON_OBJECT: return objects_equal(a, b);
	case JSON__MAX: break;
	}
	return false;
}
