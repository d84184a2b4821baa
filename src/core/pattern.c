/* pattern.c: PCRE2, kept on a short lead. Its own match limit counts anew from each place where a
 * match may begin, and doesn't count what a repeated character runs over. So each item of a pattern
 * calls out before it is tried, and what that cost since the last call is taken from the purse. */
#include "core/pattern.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/pattern_ecma.h"
#include "core/utf8.h"

#define TRANSLATED_MAX_BYTES (128 * 1024)
#define MATCH_LIMIT 5000000
#define DEPTH_LIMIT 5000000
#define HEAP_LIMIT_KIB (32 * 1024)
#define ITEM_STEPS 2   /* what calling out costs beside a byte that is looked at */
#define MATCH_STEPS 32 /* what each match costs by itself: its set-up, measured at about 20 */

struct pattern {
	pcre2_code *code;
};

struct purse {
	uint64_t left;
	size_t position;
};

static int pay(pcre2_callout_block *block, void *arg)
{
	struct purse *purse = arg;
	size_t now = block->current_position, then = purse->position;
	uint64_t cost = ITEM_STEPS + (now > then ? now - then : then - now);

	purse->position = now;
	if (cost > purse->left) {
		purse->left = 0;
		return PCRE2_ERROR_CALLOUT;
	}
	purse->left -= cost;
	return 0;
}

/* The translated text is our own work: what PCRE2 refuses in it is beyond its limits, or a
 * lookbehind without a fixed length. */
static enum rc compile_translated(const struct text *text, struct pattern *pattern,
				  char why[PATTERN_WHY_MAX])
{
	int error;
	PCRE2_SIZE offset;

	pattern->code = pcre2_compile((PCRE2_SPTR)(text->bytes ? text->bytes : ""), text->len,
				      PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C |
					      PCRE2_AUTO_CALLOUT,
				      &error, &offset, NULL);
	if (pattern->code)
		return RC_OK;
	switch (error) {
	case PCRE2_ERROR_HEAP_FAILED: return RC_FAULT;
	case PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH:
		snprintf(why, PATTERN_WHY_MAX, "has a lookbehind without a fixed length");
		return RC_INVALID;
	case PCRE2_ERROR_UNKNOWN_UNICODE_PROPERTY:
		snprintf(why, PATTERN_WHY_MAX, "has a script that isn't known here");
		return RC_INVALID;
	default:
		snprintf(why, PATTERN_WHY_MAX, "is too large when its repetitions are written out");
		return RC_INVALID;
	}
}

enum rc pattern_compile(const char *text, size_t len, struct pattern **out,
			char why[PATTERN_WHY_MAX])
{
	struct text translated;
	enum rc rc = RC_INVALID;

	*out = NULL;
	if (len > PATTERN_MAX_BYTES) {
		snprintf(why, PATTERN_WHY_MAX, "is longer than %d bytes", PATTERN_MAX_BYTES);
		return RC_INVALID;
	}
	if (!utf8_valid(text, len)) {
		snprintf(why, PATTERN_WHY_MAX, "is no UTF-8");
		return RC_INVALID;
	}
	struct pattern *pattern = calloc(1, sizeof *pattern);
	if (!pattern)
		return RC_FAULT;
	text_init(&translated, TRANSLATED_MAX_BYTES);
	if (!pattern_ecma_translate(text, len, &translated, why))
		goto fail;
	if (!text_ok(&translated)) {
		snprintf(why, PATTERN_WHY_MAX, "is too large when its sets are written out");
		goto fail;
	}
	rc = compile_translated(&translated, pattern, why);
	if (rc != RC_OK)
		goto fail;
	text_release(&translated);
	*out = pattern;
	return RC_OK;
fail:
	text_release(&translated);
	free(pattern);
	return rc;
}

void pattern_free(struct pattern *pattern)
{
	if (!pattern)
		return;
	pcre2_code_free(pattern->code);
	free(pattern);
}

enum pattern_verdict pattern_match(const struct pattern *pattern, const char *subject, size_t len,
				   uint64_t *steps_left)
{
	enum pattern_verdict verdict = PATTERN_UNJUDGED;
	pcre2_match_context *context = NULL;
	pcre2_match_data *data = NULL;
	uint64_t most = PATTERN_STEPS(len) < *steps_left ? PATTERN_STEPS(len) : *steps_left;
	uint64_t rest = *steps_left - most;
	struct purse purse = { .left = most };

	if (MATCH_STEPS + (uint64_t)len >= purse.left) {
		*steps_left = 0;
		return PATTERN_UNJUDGED;
	}
	purse.left -= MATCH_STEPS + len; /* PCRE2 looks whether it is UTF-8 */
	context = pcre2_match_context_create(NULL);
	data = pcre2_match_data_create(1, NULL);
	if (context && data) {
		pcre2_set_callout(context, pay, &purse);
		pcre2_set_match_limit(context, MATCH_LIMIT);
		pcre2_set_depth_limit(context, DEPTH_LIMIT);
		pcre2_set_heap_limit(context, HEAP_LIMIT_KIB);
		int rc = pcre2_match(pattern->code, (PCRE2_SPTR)subject, len, 0, 0, data, context);
		if (rc >= 0)
			verdict = PATTERN_MATCHES;
		else if (rc == PCRE2_ERROR_NOMATCH)
			verdict = PATTERN_DIFFERS;
	}
	pcre2_match_data_free(data);
	pcre2_match_context_free(context);
	*steps_left = rest + purse.left;
	return verdict;
}
