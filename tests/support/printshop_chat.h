/* printshop_chat.h: a printer that answers like an OpenAI-style chat completion, or like a
 * tokenizer beside one, and the ways in which such services miss what they were asked for.
 *
 * chat[=WAY] in a list of modes. The request is read: `model` comes back; the last message of role
 * user is the text; the last of role system says how. What is made is a JSON object of
 *   "text"    the user's text, in capitals where the system message says "capital"
 *   "words"   how many there are
 *   "amount"  the first number in it, to the digit, or null
 *   "model"   the name that was asked for
 * as far as the system message names them; without one, those that response_format names. Where
 * nothing is named the answer is prose. WAY, "answer" where none is given:
 *
 *   answer           as asked
 *   error-429        {"error": {"code": 429}} in a 200, and no choices
 *   error-503        the same with 503
 *   choice-error     a choice that ends with "error"
 *   fence            the object inside ```json fences
 *   prose-fence      the same after a sentence
 *   prose            the object with a sentence before and after it
 *   length-cut       finish_reason "length", the JSON cut
 *   length-whole     the same, but the JSON happens to be whole
 *   length-null      the same, content null
 *   refusal          content null, a refusal, "stop"
 *   refusal-empty    content "", a refusal, "stop"
 *   filter           content "", "content_filter"
 *   tool-call        a tool call, content null, "tool_calls"
 *   other-model      "model": "substitute"
 *   no-schema        takes no notice of response_format: prose
 *   no-system        takes no notice of the system message
 *   system-refused   400 to a request with a system message; nothing is printed
 *   schema-echo      content is the schema that was asked for
 *   extra-key        one member too many
 *   wrapper          {"result": the object}
 *   stream           server-sent events, a word of the content each, then [DONE]
 *   stream-cut       the first five of them, and no more
 *   short            reads the first 64 bytes of the user's text, and says nothing of the rest
 *   tokenize         {"content": TEXT} -> {"tokens": [...]}, a token a byte; to {"prompt": TEXT},
 *                    vLLM's form, "count" and "max_model_len" beside them
 *   detokenize       {"tokens": [...]} -> {"content": TEXT}, or {"prompt": TEXT} where the request
 *                    has a "model", as vLLM's has
 *   detokenize-lossy the same, but two blanks become one, and what isn't ASCII becomes '?'
 *
 * A request that can't be read as one is answered with 400. */
#ifndef PRINTSHOP_CHAT_H
#define PRINTSHOP_CHAT_H

#include "printshop_buf.h"

enum { CHAT_NONE = 0 };

/* A way by its name, NULL and 0 for the default; CHAT_NONE: there is no such way. */
int chat_way(const char *name, size_t len);

/* Writes the answer to a body, and returns its status: 200 or 400. `type_out` is static. */
int chat_answer(int way, const char *body, size_t len, struct buf *out, const char **type_out);

#endif
