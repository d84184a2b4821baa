/* fuzz_json.c: a libFuzzer target for the scanner and what works on its tree. `./check` walks a few
 * steps with it; to go on from there:
 *	clang -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined -I src -o fuzz_json \
 *		tests/base/fuzz_json.c src/base/json_*.c src/base/text.c
 *	./fuzz_json -max_total_time=120 corpus tests/data/json-parsing */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

#define DEPTH 64
#define CANON_CAP (1 << 26)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool holds)
{
	if (!holds)
		abort();
}

static void canon(const struct json_doc *doc, struct text *out)
{
	text_init(out, CANON_CAP);
	json_canon(json_root(doc), out);
	need(text_ok(out));
}

static bool same(const struct text *a, const struct text *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

/* The canonical form is JSON again, unless an exponent has grown a nineteenth digit. */
static void check_canon(const struct json_doc *doc, const struct text *form)
{
	struct json_doc *again;
	struct json_error error;
	struct text form_again;

	if (json_parse(form->bytes, form->len, DEPTH, &again, &error) != RC_OK) {
		need(strcmp(error.detail, "an exponent has more than 18 digits") == 0);
		return;
	}
	canon(again, &form_again);
	need(same(form, &form_again));
	need(json_equal(json_root(doc), json_root(again)) &&
	     json_equal(json_root(again), json_root(doc)));
	text_release(&form_again);
	json_free(again);
}

static void check_accepted(const char *text, size_t len, const struct json_doc *doc)
{
	struct json_doc *twin;
	struct json_error error;
	struct text form, form_twin;
	int64_t number;

	need(json_parse(text, len, DEPTH, &twin, &error) == RC_OK);
	need(json_equal(json_root(doc), json_root(twin)));
	canon(doc, &form);
	canon(twin, &form_twin);
	need(same(&form, &form_twin));
	need(form.len <= 2 * (size_t)json_root(doc)->raw_len);
	check_canon(doc, &form);
	json_to_i64(json_root(doc)->child, INT64_MIN, INT64_MAX, &number);
	json_at(json_root(doc), text, len); /* as good a pointer as any */
	text_release(&form);
	text_release(&form_twin);
	json_free(twin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct json_doc *doc;
	struct json_error error;
	enum rc rc = json_parse(text, size, DEPTH, &doc, &error);

	if (rc == RC_OK)
		check_accepted(text, size, doc);
	else
		need(rc == RC_INVALID && !doc && error.offset <= size && error.detail);
	json_free(doc);
	return 0;
}
