/* json_private.h: what the files json_*.c share: the document's memory, tokens, the order of
 * members. */
#ifndef BASE_JSON_PRIVATE_H
#define BASE_JSON_PRIVATE_H

#include "base/json.h"

/* A document and its memory: one piece with the first block inside, and more blocks as they are
 * needed. */
struct json_block {
	struct json_block *older;
	char bytes[];
};

struct json_doc {
	struct json_value *root;
	struct json_block *blocks;
	char *free; /* what is left of the block in use */
	size_t free_bytes;
	size_t block_bytes; /* of the next block */
	char first[];
};

/* NULL: no memory. A piece is aligned for a value. */
struct json_doc *json_tree_new(void);
void *json_tree_alloc(struct json_doc *doc, size_t bytes);

/* What is left of the text is [at, end). A token function moves `at` past its token and returns
 * true, or stops `at` at the first byte that can't be, says why in `detail` and returns false. */
struct json_cursor {
	const char *at;
	const char *end;
	const char *detail;
};

bool json_token_word(struct json_cursor *in, const char *word);
bool json_token_number(struct json_cursor *in);
bool json_token_string(struct json_cursor *in, bool *escaped_out); /* `at` is the opening quote */

/* Stops there, with a detail of its own where that is the end. Always false. */
bool json_token_stop(struct json_cursor *in, const char *at, const char *detail);

/* Unescapes what json_token_string() has passed, without its quotes, into `out` (`len` bytes are
 * enough). Returns how many bytes came out. */
size_t json_token_unescape(const char *raw, size_t len, char *out);

/* Links the object's members by name. Returns the first member in the text that repeats a name, or
 * NULL. */
const struct json_value *json_order_members(struct json_value *object);

#endif
