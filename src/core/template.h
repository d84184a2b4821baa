/* template.h: a request as JSON in which string values name places of the job's input.
 *
 * Only string values are expanded, never names, and what came from the input is never expanded
 * again. A string that is only "{{/pointer}}" becomes the input's value there, whatever its type,
 * digits kept; in a longer string a string goes in as it is and anything else as its JSON text.
 * {{input}} is the whole input; {{job.id}}, {{attempt.id}}, {{callback_url}}; {{"text"}} stands for
 * the text itself, so {{"{{"}} is how two braces are written. */
#ifndef CORE_TEMPLATE_H
#define CORE_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/rc.h"
#include "base/text.h"
#include "core/flaws.h"

struct template_values {
	const struct json_value *input;
	const char *job_id;
	const char *attempt_id;
	const char *callback_url; /* NULL: callbacks aren't set up here */
};

/* A placeholder begins with "{{" and ends at the next "}}" (a literal: at the "}}" behind its
 * closing quote), without white space at its ends. So a pointer's token can't hold "}}".
 *
 * Whether every placeholder of a template can be understood; each string where one can't is a flaw
 * with its pointer below `pointer`. */
void template_check(const struct json_value *template, const char *pointer, struct flaws *flaws);

/* The same for one text. `member`: see flaws_add(); or NULL. */
void template_check_text(const char *text, size_t len, const char *pointer, const char *member,
			 struct flaws *flaws);

/* And for a header's value: placeholders, and between them what a provider's header value may be,
 * ${env:NAME} and ${file:/path} included. A placeholder within a ${...} is a flaw. No sentence
 * repeats anything of the value: it may be a secret. */
void template_check_header(const char *text, size_t len, const char *pointer, const char *member,
			   struct flaws *flaws);

/* The body, as JSON text: what the template has is written as the template's author wrote it, but
 * for the strings that were expanded. RC_INVALID: something isn't there, and `why` names it, by its
 * pointer (`why` holds nothing of the input); or it would be longer than out's cap, as `why` says.
 * RC_FAULT: no memory. */
MUST_CHECK enum rc template_render(const struct json_value *template,
				   const struct template_values *values, struct text *out,
				   struct text *why);

/* A header's value. Anything but a string goes in as its JSON text. RC_INVALID also where what came
 * in would break the line (CR, LF, NUL, other controls but tab), or be longer than out's cap.
 *
 * expand: reads the secrets in a piece of text; the poller gives secrets_expand(). It is called for
 * what the contract's author wrote between the placeholders, and for nothing else: a "${env:NAME}"
 * that comes from the input, or that a literal makes, stays the text it is, and what a secret
 * holds is never read for placeholders. So `out` must not be expanded again; it may hold secrets.
 * NULL: a ${...} goes in as it is written. What `expand` returns other than RC_OK is returned. */
MUST_CHECK enum rc
template_render_header(const char *text, size_t len, const struct template_values *values,
		       enum rc (*expand)(const char *value, struct text *out, struct text *why),
		       struct text *out, struct text *why);

/* RFC 7396: `patch` merged into the JSON text `target`. A member keeps its place; new ones follow,
 * by name. Digits and strings stay as written. RC_INVALID: target isn't JSON, or it would be
 * longer than out's cap. RC_FAULT: no memory. */
MUST_CHECK enum rc template_merge(const char *target, size_t target_len,
				  const struct json_value *patch, struct text *out);

#endif
