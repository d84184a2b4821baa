#include "store/definition.h"

#include "base/json.h"
#include "core/flaws.h"

#define DEPTH_MAX 16

enum rc definition_read(const struct blob *definition, struct provider_def *def_out)
{
	struct json_doc *doc;
	struct json_error error;
	struct flaws flaws;
	enum rc rc = json_parse(definition->bytes, definition->len, DEPTH_MAX, &doc, &error);

	if (rc != RC_OK)
		return rc;
	flaws_init(&flaws);
	rc = provider_def_read(json_root(doc), def_out, &flaws);
	flaws_release(&flaws);
	json_free(doc);
	return rc;
}

bool definition_can_ask(const struct blob *definition, bool named)
{
	struct provider_def def;

	if (!definition->bytes)
		return false;
	if (definition_read(definition, &def) != RC_OK)
		return true;
	bool can = provider_def_can_ask(&def, named);
	provider_def_release(&def);
	return can;
}
