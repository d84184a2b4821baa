/* cmd_provider.c: onejob provider put, list, show, delete. */
#include "ctl/cmd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/flaws.h"
#include "core/intent.h"
#include "core/provider_def.h"
#include "core/view.h"
#include "ctl/build.h"
#include "ctl/input.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "store/provider_store.h"

#define PAGE_ROWS 200

static enum ctl_exit read_name(struct ctl *ctl, const char *name)
{
	if (name_valid(name, strlen(name)))
		return CTL_DONE;
	return ctl_usage(
		ctl,
		"'%s' can't be a provider's name: a-z and 0-9, then also - _ and ., up to %d bytes",
		name, NAME_MAX_LEN);
}

/* A definition from a file; provider_def_release() it after CTL_DONE. */
static enum ctl_exit read_definition(struct ctl *ctl, const char *path,
				     struct provider_def *def_out)
{
	struct text bytes;
	struct flaws flaws;
	struct json_doc *doc = NULL;

	text_init(&bytes, PROVIDER_MAX_BYTES);
	flaws_init(&flaws);
	enum ctl_exit end = input_file(ctl, path, &bytes);
	if (end == CTL_DONE)
		end = input_json(ctl, input_name(path), &bytes, &doc);
	if (end == CTL_DONE) {
		enum rc rc = provider_def_read(json_root(doc), def_out, &flaws);

		if (rc == RC_INVALID) {
			end = input_flaws(ctl, input_name(path), &flaws);
		} else if (rc != RC_OK) {
			ctl_say(ctl, "out of memory");
			end = CTL_REFUSED;
		}
	}
	json_free(doc);
	flaws_release(&flaws);
	text_release(&bytes);
	return end;
}

/* The version that stands now; 0: there is none. It only words the message: the store decides what
 * changed. */
static uint32_t version_before(struct ctl *ctl, const char *name)
{
	struct definition_row row;

	if (provider_store_get(ctl->db, name, &row) != RC_OK)
		return 0;
	uint32_t version = row.version;
	definition_row_release(&row);
	return version;
}

static enum ctl_exit store_definition(struct ctl *ctl, const char *name,
				      const struct provider_def *def)
{
	struct definition_row row;
	bool is_new = false;
	uint32_t before = version_before(ctl, name);
	enum rc rc = provider_store_put(ctl->db, name, def, &is_new, &row);
	enum ctl_exit end = CTL_DONE;

	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the provider");
	if (ctl->json)
		end = ctl_print_json(ctl, build_definition(&row));
	else
		ctl_line(ctl, "%s %s, version %" PRIu32, name,
			 is_new			 ? "created"
			 : row.version == before ? "unchanged"
						 : "changed",
			 row.version);
	definition_row_release(&row);
	return end;
}

enum ctl_exit cmd_provider_put(struct ctl *ctl, const struct args *args)
{
	struct provider_def def;
	enum ctl_exit end = read_name(ctl, args->operand[0]);

	if (end == CTL_DONE)
		end = read_definition(ctl, args->operand[1], &def);
	if (end != CTL_DONE)
		return end;
	end = ctl_ready(ctl);
	if (end == CTL_DONE)
		end = store_definition(ctl, args->operand[0], &def);
	provider_def_release(&def);
	return end;
}

/* What is stored, read back; false when it can't be, which is said. */
static bool parse_stored(struct ctl *ctl, const struct definition_row *row,
			 struct provider_def *def_out)
{
	struct json_doc *doc;
	struct json_error error;
	struct flaws flaws;
	bool sound = false;

	flaws_init(&flaws);
	if (json_parse(row->definition.bytes, row->definition.len, INTENT_DEPTH_MAX, &doc,
		       &error) == RC_OK)
		sound = provider_def_read(json_root(doc), def_out, &flaws) == RC_OK;
	json_free(doc);
	flaws_release(&flaws);
	if (!sound)
		ctl_say(ctl, "the stored definition of %s can't be read: put it again", row->name);
	return sound;
}

static void add_row(struct ctl *ctl, struct table *table, const struct definition_row *row)
{
	struct provider_def def;

	if (!parse_stored(ctl, row, &def))
		return;
	table_row(table);
	table_str(table, row->name);
	table_bool(table, def.enabled);
	if (!def.enabled)
		table_colour(table, "yellow");
	table_number(table, row->version);
	table_str(table, def.method);
	table_number(table, def.max_in_flight);
	table_number(table, def.timeout_ms);
	table_bool(table, def.key_honoured);
	table_time(table, row->updated_us, "-");
	table_str(table, def.url);
	provider_def_release(&def);
}

/* All of them, a page at a time. */
static enum rc add_rows(struct ctl *ctl, struct table *table)
{
	char after[NAME_MAX_LEN + 1] = "";
	bool more = true;

	while (more) {
		struct definition_row *rows = NULL;
		size_t len = 0;
		enum rc rc = provider_store_list(ctl->db, after[0] ? after : NULL, PAGE_ROWS, &rows,
						 &len, &more);

		if (rc != RC_OK)
			return rc;
		for (size_t i = 0; i < len; i++)
			add_row(ctl, table, &rows[i]);
		if (len > 0)
			memcpy(after, rows[len - 1].name, sizeof after);
		more = more && len > 0;
		definition_list_free(rows, len);
	}
	return RC_OK;
}

enum ctl_exit cmd_provider_list(struct ctl *ctl, const struct args *args)
{
	static const struct table_column columns[] = {
		{ "NAME", "name", false, TABLE_WHOLE },
		{ "ENABLED", "enabled", false, TABLE_WHOLE },
		{ "VERSION", "version", true, TABLE_WHOLE },
		{ "METHOD", "method", false, TABLE_WHOLE },
		{ "IN FLIGHT", "max_in_flight", true, TABLE_WHOLE },
		{ "TIMEOUT MS", "timeout_ms", true, TABLE_WHOLE },
		{ "KEY HONOURED", "key_honoured", false, TABLE_WHOLE },
		{ "UPDATED", "updated_at", false, TABLE_WHOLE },
		{ "URL", "url", false, TABLE_SHORTENS },
	};
	enum ctl_exit end = ctl_ready(ctl);

	(void)args;
	if (end != CTL_DONE)
		return end;
	struct table *table = table_new(columns, sizeof columns / sizeof columns[0], ctl->terminal);
	enum rc rc = add_rows(ctl, table);
	end = rc == RC_OK ? table_finish(table, ctl, "providers")
			  : ctl_failed(ctl, rc, "the providers");
	table_free(table);
	return end;
}

static enum ctl_exit print_provider(struct ctl *ctl, const struct definition_row *row)
{
	char time[PRINT_TIME_MAX];

	if (ctl->json)
		return ctl_print_json(ctl, build_definition(row));
	ctl_line(ctl, "name      %s", row->name);
	ctl_line(ctl, "version   %" PRIu32, row->version);
	ctl_line(ctl, "created   %s", print_time(row->created_us, time));
	ctl_line(ctl, "updated   %s", print_time(row->updated_us, time));
	struct json_object *definition = build_parsed(row->definition.bytes);
	bool whole = definition && print_json(ctl->out, definition, true);
	build_drop(definition);
	return whole ? CTL_DONE : CTL_REFUSED;
}

enum ctl_exit cmd_provider_show(struct ctl *ctl, const struct args *args)
{
	struct definition_row row;
	enum ctl_exit end = read_name(ctl, args->operand[0]);

	if (end == CTL_DONE)
		end = ctl_ready(ctl);
	if (end != CTL_DONE)
		return end;
	enum rc rc = provider_store_get(ctl->db, args->operand[0], &row);
	if (rc == RC_NOT_FOUND) {
		ctl_say(ctl, "there is no provider %s", args->operand[0]);
		return CTL_REFUSED;
	}
	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the provider");
	end = print_provider(ctl, &row);
	definition_row_release(&row);
	return end;
}

enum ctl_exit cmd_provider_delete(struct ctl *ctl, const struct args *args)
{
	const char *name = args->operand[0];
	enum ctl_exit end = read_name(ctl, name);

	if (end == CTL_DONE)
		end = ctl_ready(ctl);
	if (end != CTL_DONE)
		return end;
	enum rc rc = provider_store_delete(ctl->db, name);
	if (rc == RC_CONFLICT) {
		ctl_say(ctl,
			"%s is in use: a queued job, an open attempt or a contract's route names "
			"it. Take it out of the contract, or, to let nothing new go there, put it "
			"with \"enabled\": false",
			name);
		return CTL_REFUSED;
	}
	if (rc == RC_NOT_FOUND) {
		ctl_say(ctl, "there is no provider %s", name);
		return CTL_REFUSED;
	}
	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the provider");
	if (ctl->json)
		return ctl_print_json(ctl, build_done("name", name, "deleted"));
	ctl_line(ctl, "%s deleted", name);
	return CTL_DONE;
}
