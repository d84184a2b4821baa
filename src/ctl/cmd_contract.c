/* cmd_contract.c: onejob contract put, list, show, delete, certificates. */
#include "ctl/cmd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/view.h"
#include "ctl/build.h"
#include "ctl/input.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "store/certificate_store.h"
#include "store/contract_store.h"

#define PAGE_ROWS 50 /* a definition may have a megabyte */

static enum ctl_exit read_name(struct ctl *ctl, const char *name)
{
	if (name_valid(name, strlen(name)))
		return CTL_DONE;
	return ctl_usage(
		ctl,
		"'%s' can't be a contract's name: a-z and 0-9, then also - _ and ., up to %d bytes",
		name, NAME_MAX_LEN);
}

static enum ctl_exit begin(struct ctl *ctl, const char *name)
{
	enum ctl_exit end = read_name(ctl, name);

	return end == CTL_DONE ? ctl_ready(ctl) : end;
}

/* A definition from a file; contract_free() it after CTL_DONE. */
static enum ctl_exit read_definition(struct ctl *ctl, const char *path,
				     struct contract **contract_out)
{
	struct json_doc *doc = NULL;
	struct text bytes;
	struct flaws flaws;

	text_init(&bytes, CONTRACT_MAX_BYTES);
	flaws_init(&flaws);
	enum ctl_exit end = input_file(ctl, path, &bytes);
	if (end == CTL_DONE)
		end = input_json(ctl, input_name(path), &bytes, &doc);
	if (end == CTL_DONE) {
		enum rc rc = contract_read(bytes.bytes, bytes.len, contract_out, &flaws);

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

	if (contract_store_get(ctl->db, name, &row) != RC_OK)
		return 0;
	uint32_t version = row.version;
	definition_row_release(&row);
	return version;
}

/* Of one contract: `list` has room for all its routes. */
static enum rc read_routes(struct ctl *ctl, const char *name, struct route_standing *list,
			   size_t *len_out)
{
	bool more;

	return certificate_store_standings(ctl->db, name, 0, list, CONTRACT_ROUTES_MAX, len_out,
					   &more);
}

/* Jobs fail over to none of these. */
static void hint_uncertified(struct ctl *ctl, const char *name, bool side_effects)
{
	struct route_standing list[CONTRACT_ROUTES_MAX];
	size_t len = 0, without = 0;

	if (read_routes(ctl, name, list, &len) != RC_OK)
		return;
	for (size_t i = 0; i < len; i++)
		without += list[i].place > 0 && list[i].now != STANDING_VALID &&
			   list[i].now != STANDING_DISABLED;
	if (without > 0)
		ctl_line(ctl,
			 "%zu of its later routes %s no valid certificate, so no job fails over "
			 "there: onejob contract certify %s%s",
			 without, without == 1 ? "has" : "have", name,
			 side_effects ? " --side-effects" : "");
}

static enum ctl_exit print_put(struct ctl *ctl, const struct definition_row *row, const char *done,
			       bool side_effects)
{
	if (ctl->json)
		return ctl_print_json(ctl, build_definition(row));
	ctl_line(ctl, "%s %s, version %" PRIu32, row->name, done, row->version);
	hint_uncertified(ctl, row->name, side_effects);
	return CTL_DONE;
}

static enum ctl_exit store_definition(struct ctl *ctl, const char *name,
				      const struct contract *contract)
{
	struct definition_row row;
	bool is_new = false;
	size_t unknown = 0;
	uint32_t before = version_before(ctl, name);
	enum rc rc = contract_store_put(ctl->db, name, contract, &is_new, &unknown, &row);

	if (rc == RC_NOT_FOUND) {
		ctl_say(ctl,
			"/routes/%zu/provider: there is no provider '%s'; nothing was changed (see "
			"`onejob provider list`)",
			unknown, contract->routes[unknown].provider);
		return CTL_REFUSED;
	}
	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the contract");
	const char *done = is_new ? "created" : row.version == before ? "unchanged" : "changed";
	enum ctl_exit end = print_put(ctl, &row, done, contract->side_effects);

	definition_row_release(&row);
	return end;
}

enum ctl_exit cmd_contract_put(struct ctl *ctl, const struct args *args)
{
	struct contract *contract = NULL;
	enum ctl_exit end = read_name(ctl, args->operand[0]);

	if (end == CTL_DONE)
		end = read_definition(ctl, args->operand[1], &contract);
	if (end != CTL_DONE)
		return end;
	end = ctl_ready(ctl);
	if (end == CTL_DONE)
		end = store_definition(ctl, args->operand[0], contract);
	contract_free(contract);
	return end;
}

/* What is stored, read back; NULL when it can't be, which is said. */
static struct contract *parse_stored(struct ctl *ctl, const struct definition_row *row)
{
	struct contract *contract = NULL;
	struct flaws flaws;

	flaws_init(&flaws);
	if (contract_read(row->definition.bytes, row->definition.len, &contract, &flaws) != RC_OK)
		ctl_say(ctl, "the stored definition of %s can't be read: put it again", row->name);
	flaws_release(&flaws);
	return contract;
}

/* "ink, laser": in order of preference. */
static void add_routes(struct table *table, const struct contract *contract)
{
	struct text names;

	text_init(&names, CONTRACT_ROUTES_MAX * (NAME_MAX_LEN + 2));
	for (size_t i = 0; i < contract->routes_len; i++)
		text_addf(&names, "%s%s", i ? ", " : "", contract->routes[i].provider);
	table_str(table, names.bytes);
	text_release(&names);
}

/* How many of the later routes a job may fail over to now. */
static void add_certified(struct table *table, const struct route_standing *list, size_t len)
{
	size_t later = 0, valid = 0;
	char text[48];

	for (size_t i = 0; i < len; i++) {
		later += list[i].place > 0;
		valid += list[i].place > 0 && list[i].now == STANDING_VALID;
	}
	snprintf(text, sizeof text, "%zu of %zu", valid, later);
	table_str(table, later ? text : NULL);
	if (valid < later)
		table_colour(table, "yellow");
}

static enum rc add_row(struct ctl *ctl, struct table *table, const struct definition_row *row)
{
	struct route_standing list[CONTRACT_ROUTES_MAX];
	struct contract *contract = parse_stored(ctl, row);
	size_t len = 0;
	enum rc rc = RC_OK;

	if (!contract)
		return RC_OK;
	rc = read_routes(ctl, row->name, list, &len);
	if (rc == RC_OK) {
		table_row(table);
		table_str(table, row->name);
		table_number(table, row->version);
		table_bool(table, contract->side_effects);
		table_number(table, contract->fixtures_len);
		add_certified(table, list, len);
		table_time(table, row->updated_us, "-");
		add_routes(table, contract);
	}
	contract_free(contract);
	return rc;
}

/* All of them, a page at a time. */
static enum rc add_rows(struct ctl *ctl, struct table *table)
{
	char after[NAME_MAX_LEN + 1] = "";
	bool more = true;
	enum rc rc = RC_OK;

	while (more && rc == RC_OK) {
		struct definition_row *rows = NULL;
		size_t len = 0;

		rc = contract_store_list(ctl->db, after[0] ? after : NULL, PAGE_ROWS, &rows, &len,
					 &more);
		if (rc != RC_OK)
			return rc;
		for (size_t i = 0; rc == RC_OK && i < len; i++)
			rc = add_row(ctl, table, &rows[i]);
		if (len > 0)
			memcpy(after, rows[len - 1].name, sizeof after);
		more = more && len > 0;
		definition_list_free(rows, len);
	}
	return rc;
}

enum ctl_exit cmd_contract_list(struct ctl *ctl, const struct args *args)
{
	static const struct table_column columns[] = {
		{ "NAME", "name", false, TABLE_WHOLE },
		{ "VERSION", "version", true, TABLE_WHOLE },
		{ "SIDE EFFECTS", "side_effects", false, TABLE_WHOLE },
		{ "FIXTURES", "fixtures", true, TABLE_WHOLE },
		{ "CERTIFIED", "certified", false, TABLE_WHOLE },
		{ "UPDATED", "updated_at", false, TABLE_WHOLE },
		{ "ROUTES", "routes", false, TABLE_SHORTENS },
	};
	enum ctl_exit end = ctl_ready(ctl);

	(void)args;
	if (end != CTL_DONE)
		return end;
	struct table *table = table_new(columns, sizeof columns / sizeof columns[0], ctl->terminal);
	enum rc rc = add_rows(ctl, table);
	end = rc == RC_OK ? table_finish(table, ctl, "contracts")
			  : ctl_failed(ctl, rc, "the contracts");
	table_free(table);
	return end;
}

static const char *stands_as(const struct route_standing *route)
{
	if (route->now == STANDING_VALID)
		return "valid";
	if (route->place == 0 && route->now != STANDING_DISABLED)
		return "needs none";
	return standing_name(route->now);
}

static enum ctl_exit print_routes(struct ctl *ctl, const char *name)
{
	static const struct table_column columns[] = {
		{ "#", "place", true, TABLE_WHOLE },
		{ "ROUTE", "provider", false, TABLE_WHOLE },
		{ "CERTIFICATE", "certificate", false, TABLE_WHOLE },
		{ "EXPIRES", "expires_at", false, TABLE_WHOLE },
	};
	struct route_standing list[CONTRACT_ROUTES_MAX];
	size_t len = 0;
	enum rc rc = read_routes(ctl, name, list, &len);

	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the routes");
	struct table *table = table_new(columns, sizeof columns / sizeof columns[0], ctl->terminal);
	for (size_t i = 0; i < len; i++) {
		table_row(table);
		table_number(table, list[i].place + 1);
		table_str(table, list[i].provider);
		table_str(table, stands_as(&list[i]));
		if (list[i].place > 0 && list[i].now != STANDING_VALID)
			table_colour(table, "yellow");
		table_time(table, list[i].expires_us, "-");
	}
	enum ctl_exit end = table_finish(table, ctl, "routes");
	table_free(table);
	return end;
}

static enum ctl_exit print_contract(struct ctl *ctl, const struct definition_row *row)
{
	char time[PRINT_TIME_MAX];

	if (ctl->json)
		return ctl_print_json(ctl, build_definition(row));
	ctl_line(ctl, "name      %s", row->name);
	ctl_line(ctl, "version   %" PRIu32, row->version);
	ctl_line(ctl, "created   %s", print_time(row->created_us, time));
	ctl_line(ctl, "updated   %s", print_time(row->updated_us, time));
	enum ctl_exit end = print_routes(ctl, row->name);
	struct json_object *definition = build_parsed(row->definition.bytes);
	bool whole = definition && print_json(ctl->out, definition, true);
	build_drop(definition);
	return whole ? end : CTL_REFUSED;
}

static enum ctl_exit refuse_missing(struct ctl *ctl, const char *name)
{
	ctl_say(ctl, "there is no contract %s", name);
	return CTL_REFUSED;
}

enum ctl_exit cmd_contract_show(struct ctl *ctl, const struct args *args)
{
	struct definition_row row;
	enum ctl_exit end = begin(ctl, args->operand[0]);

	if (end != CTL_DONE)
		return end;
	enum rc rc = contract_store_get(ctl->db, args->operand[0], &row);
	if (rc == RC_NOT_FOUND)
		return refuse_missing(ctl, args->operand[0]);
	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the contract");
	end = print_contract(ctl, &row);
	definition_row_release(&row);
	return end;
}

enum ctl_exit cmd_contract_delete(struct ctl *ctl, const struct args *args)
{
	const char *name = args->operand[0];
	enum ctl_exit end = begin(ctl, name);

	if (end != CTL_DONE)
		return end;
	enum rc rc = contract_store_delete(ctl->db, name);
	if (rc == RC_NOT_FOUND)
		return refuse_missing(ctl, name);
	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the contract");
	if (ctl->json)
		return ctl_print_json(ctl, build_done("name", name, "deleted"));
	ctl_line(ctl, "%s deleted; jobs in flight keep their version, and fail over no more", name);
	return CTL_DONE;
}

static void add_certificate(struct table *table, const struct certificate *certificate)
{
	bool valid = certificate->now == STANDING_VALID;

	table_row(table);
	table_str(table, certificate->contract);
	table_number(table, certificate->contract_version);
	table_str(table, certificate->provider);
	table_str(table, valid ? "valid" : standing_name(certificate->now));
	if (!valid)
		table_colour(table, "yellow");
	table_number(table, certificate->rounds);
	table_time(table, certificate->issued_us, "-");
	table_time(table, certificate->expires_us, "-");
	table_id(table, &certificate->id);
}

/* All of them, a page at a time; the rows for scripts are those of the API. */
static enum rc add_certificates(struct ctl *ctl, const char *contract, struct table *table,
				struct json_object **rows)
{
	struct certificate_filter filter = { .contract = contract, .limit = PAGE_ROWS };
	bool more = true;

	while (more) {
		struct certificate *list = NULL;
		size_t len = 0;
		enum rc rc = certificate_store_list(ctl->db, &filter, &list, &len, &more);

		if (rc != RC_OK)
			return rc;
		for (size_t i = 0; i < len; i++) {
			add_certificate(table, &list[i]);
			if (ctl->json)
				build_push(rows, view_certificate(&list[i]));
		}
		more = more && len > 0;
		filter.has_before = more;
		if (more)
			filter.before = list[len - 1].id;
		certificate_list_free(list, len);
	}
	return RC_OK;
}

static enum ctl_exit print_certificates(struct ctl *ctl, const char *contract)
{
	static const struct table_column columns[] = {
		{ "CONTRACT", "contract", false, TABLE_WHOLE },
		{ "VERSION", "contract_version", true, TABLE_WHOLE },
		{ "PROVIDER", "provider", false, TABLE_WHOLE },
		{ "NOW", "now", false, TABLE_WHOLE },
		{ "ROUNDS", "rounds", true, TABLE_WHOLE },
		{ "ISSUED", "issued_at", false, TABLE_WHOLE },
		{ "EXPIRES", "expires_at", false, TABLE_WHOLE },
		{ "CERTIFICATE", "id", false, TABLE_WHOLE },
	};
	struct table *table = table_new(columns, sizeof columns / sizeof columns[0], ctl->terminal);
	struct json_object *all = build_object(), *rows = build_array();
	enum rc rc = add_certificates(ctl, contract, table, &rows);
	enum ctl_exit end;

	build_add(&all, "certificates", rows);
	if (rc != RC_OK)
		end = ctl_failed(ctl, rc, "the certificates");
	else if (!ctl->json)
		end = table_finish(table, ctl, "certificates");
	else
		end = ctl_print_json(ctl, all);
	if (rc != RC_OK || !ctl->json)
		build_drop(all);
	table_free(table);
	return end;
}

enum ctl_exit cmd_contract_certificates(struct ctl *ctl, const struct args *args)
{
	const char *name = args->operand[0];
	struct definition_row row;
	enum ctl_exit end = name ? begin(ctl, name) : ctl_ready(ctl);

	if (end != CTL_DONE)
		return end;
	if (name) {
		enum rc rc = contract_store_get(ctl->db, name, &row);

		if (rc == RC_NOT_FOUND)
			return refuse_missing(ctl, name);
		if (rc != RC_OK)
			return ctl_failed(ctl, rc, "the contract");
		definition_row_release(&row);
	}
	return print_certificates(ctl, name);
}
