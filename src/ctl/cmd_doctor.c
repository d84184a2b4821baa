/* cmd_doctor.c: onejob doctor: looks at everything it can reach, and goes on where it can. Secrets
 * are never printed: of a provider's only names are looked at. */
#include "ctl/cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/keyring.h"
#include "core/fill.h"
#include "core/intent.h"
#include "core/secret_ref.h"
#include "ctl/doctor.h"
#include "ctl/socket_check.h"
#include "ctl/table.h"
#include "store/contract_store.h"
#include "store/provider_store.h"
#include "store/token_store.h"

#define PROVIDERS_LOOKED_AT 200
#define CONTRACTS_LOOKED_AT 50 /* each may have a megabyte */
#define ROUTES_LOOKED_AT 2000
#define GRANT_RIGHTS                                                                               \
	"grant this user SELECT, INSERT, UPDATE, DELETE on the database, or use the account that " \
	"has them"

static void look_at_settings(struct ctl *ctl, struct findings *findings)
{
	if (ctl->conf_ok)
		findings_add(findings, HEALTH_OK, "settings", "", "all within their bounds");
	else
		findings_add(findings, HEALTH_BAD, "settings",
			     "correct the variables named on standard error",
			     "one or more can't be used");
	struct text strangers;

	text_init(&strangers, FINDING_MAX_BYTES / 2);
	conf_strangers(&strangers);
	doctor_strangers(findings, strangers.bytes ? strangers.bytes : "");
	text_release(&strangers);
}

static void unreached(struct ctl *ctl, struct findings *findings, const char *file)
{
	char fix[512];

	if (db_lacks_right(ctl->db))
		snprintf(fix, sizeof fix, "%s", GRANT_RIGHTS);
	else if (file && access(file, R_OK) != 0)
		snprintf(fix, sizeof fix, "ONEJOB_DEFAULTS_FILE is %s, which this user can't read",
			 file);
	else
		snprintf(fix, sizeof fix,
			 "set host or socket, user, password and database in the group [onejob] of "
			 "%s",
			 file ? file
			      : "an option file (~/.my.cnf, or a file that ONEJOB_DEFAULTS_FILE "
				"names)");
	findings_add(findings, HEALTH_BAD, "database", fix, "can't be reached: %s",
		     db_error(ctl->db));
}

/* False: it would refuse whatever else is asked. */
static bool look_at_node(struct ctl *ctl, struct findings *findings)
{
	struct node_vitals node;

	if (vitals_read_node(ctl->db, &node) != RC_OK) {
		findings_add(findings, HEALTH_BAD, "cluster", "look at the node's log",
			     "the node doesn't tell how it is: %s", db_error(ctl->db));
		return false;
	}
	doctor_node(findings, &node);
	return strcmp(node.status, "Primary") == 0;
}

/* True when connected. An unsound setting elsewhere doesn't keep us from trying. */
static bool look_at_database(struct ctl *ctl, struct findings *findings)
{
	const char *file = ctl->conf_ok ? ctl->conf.defaults_file : getenv("ONEJOB_DEFAULTS_FILE");

	ctl->db = db_new(file);
	if (!ctl->db) {
		findings->failed = true;
		return false;
	}
	if (db_ready(ctl->db) != RC_OK) {
		unreached(ctl, findings, file);
		return false;
	}
	findings_add(findings, HEALTH_OK, "database", "", "reached");
	doctor_versions(findings, db_versions(ctl->db));
	return !db_in_cluster(ctl->db) || look_at_node(ctl, findings);
}

static bool look_at_schema(struct ctl *ctl, struct findings *findings)
{
	struct schema_state schema;

	if (migrate_check(ctl->db, &schema) != RC_OK) {
		findings_add(findings, HEALTH_BAD, "schema", GRANT_RIGHTS, "can't be read: %s",
			     db_error(ctl->db));
		return false;
	}
	doctor_schema(findings, &schema);
	return schema.verdict == SCHEMA_CURRENT || schema.verdict == SCHEMA_NEWER;
}

static void look_at_rights(struct ctl *ctl, struct findings *findings)
{
	if (vitals_try_writing(ctl->db) == RC_OK)
		findings_add(findings, HEALTH_OK, "rights", "", "may read and write");
	else
		findings_add(findings, HEALTH_BAD, "rights",
			     GRANT_RIGHTS "; a server that is read-only can't be used",
			     "can't write: %s", db_error(ctl->db));
}

static void look_at_vitals(struct ctl *ctl, struct findings *findings)
{
	struct vitals vitals;
	int64_t before_us = clock_real_us();
	enum rc rc = vitals_read(ctl->db, &vitals);
	int64_t after_us = clock_real_us();

	if (rc != RC_OK) {
		findings_add(findings, HEALTH_BAD, "vitals", GRANT_RIGHTS, "can't be read: %s",
			     db_error(ctl->db));
		return;
	}
	doctor_clock(findings, vitals.database_now_us, before_us, after_us);
	doctor_vitals(findings, &vitals, ctl->conf_ok ? ctl->conf.lease_s : 0);
}

/* It may accept us and refuse nginx: the eye of who runs this sees it from the rights. */
static void accepts(struct findings *findings, const char *path)
{
	char rights[256];

	socket_rights(path, rights, sizeof rights);
	findings_add(findings, HEALTH_OK, "API socket", "", "%s accepts; it is %s", path, rights);
}

static void look_at_sockets(struct ctl *ctl, struct findings *findings)
{
	const char *path = ctl->conf.api_socket;
	const char *url = ctl->conf.url;
	const char *why = path ? socket_check(path) : NULL;

	if (!path)
		findings_add(findings, HEALTH_OK, "API socket", "",
			     "not looked at: ONEJOB_API_SOCKET isn't set here");
	else if (why)
		findings_add(findings, HEALTH_BAD, "API socket",
			     "start onejob-api there (spawn-fcgi, systemd); nginx must be able to "
			     "connect too",
			     "%s: %s", path, why);
	else
		accepts(findings, path);
	why = url ? socket_check_url(url) : NULL;
	if (why)
		findings_add(findings, HEALTH_BAD, "API address",
			     "start nginx, or correct ONEJOB_URL", "%s: %s", url, why);
	else if (url)
		findings_add(findings, HEALTH_OK, "API address", "", "%s accepts connections", url);
}

/* The first few, with ", " between. */
struct names {
	struct text list;
	size_t count;
};

static void names_add(struct names *names, const char *before, const char *name, size_t len,
		      const char *behind)
{
	text_addf(&names->list, "%s%s%.*s%s", names->count++ ? ", " : "", before, (int)len, name,
		  behind);
}

/* Keys that only this user may not read are the poller's and the API's to read. */
static void look_at_callbacks(struct ctl *ctl, struct findings *findings,
			      const struct names *callers)
{
	const char *path = ctl->conf.callback_keys;
	struct keyring ring = { .len = 0 };
	bool hidden = path && access(path, R_OK) != 0 && errno == EACCES;
	bool sound = !path || hidden || keyring_load(path, &ring) == RC_OK;

	doctor_callbacks(findings,
			 &(struct callback_facts){ .url = ctl->conf.callback_base,
						   .keys_path = path,
						   .hidden = hidden,
						   .sound = sound,
						   .wanted_by = ctl->conf_ok && callers->list.bytes
									? callers->list.bytes
									: "" });
	keyring_release(&ring);
}

static bool seen_from_here(const struct secret_ref *ref)
{
	char name[SECRET_NAME_MAX + 1];

	snprintf(name, sizeof name, "%.*s", (int)ref->name_len, ref->name);
	return ref->kind == SECRET_ENV ? getenv(name) != NULL : access(name, R_OK) == 0;
}

/* Secrets that can't be seen from here are the poller's to read, so this is no fault by itself. */
static void scan_value(const char *value, struct names *hidden)
{
	size_t len = strlen(value);
	struct secret_ref ref;

	for (size_t at = 0; at <= len; at += ref.len) {
		ref = secret_ref_next(value + at, len - at);
		if (ref.kind != SECRET_ENV && ref.kind != SECRET_FILE)
			return;
		if (seen_from_here(&ref))
			continue;
		names_add(hidden, ref.kind == SECRET_ENV ? "${env:" : "${file:", ref.name,
			  ref.name_len, "}");
	}
}

static bool wants_callbacks(const struct provider_def *def)
{
	unsigned int named = 0;
	bool broken;

	for (size_t i = 0; i < def->headers_len; i++) {
		const char *value = def->headers[i].value;

		named |= fill_names(value, strlen(value), &broken);
	}
	return named & 1u << FILL_CALLBACK_URL;
}

static bool scan_provider(const struct definition_row *row, struct names *hidden,
			  struct names *callers)
{
	struct provider_def def;
	struct json_doc *doc;
	struct json_error error;
	struct flaws flaws;
	bool sound = false;

	flaws_init(&flaws);
	if (json_parse(row->definition.bytes, row->definition.len, INTENT_DEPTH_MAX, &doc,
		       &error) == RC_OK)
		sound = provider_def_read(json_root(doc), &def, &flaws) == RC_OK;
	for (size_t i = 0; sound && i < def.headers_len; i++)
		scan_value(def.headers[i].value, hidden);
	if (sound && wants_callbacks(&def))
		names_add(callers, "provider ", row->name, strlen(row->name), "");
	if (sound)
		provider_def_release(&def);
	flaws_release(&flaws);
	json_free(doc);
	return sound;
}

static void judge_providers(struct findings *findings, const struct definition_row *rows,
			    size_t len, bool more, struct names *callers)
{
	struct names hidden = { .count = 0 };

	text_init(&hidden.list, FINDING_MAX_BYTES / 2);
	for (size_t i = 0; i < len; i++) {
		if (!scan_provider(&rows[i], &hidden, callers))
			findings_add(findings, HEALTH_BAD, "provider",
				     "put it again: onejob provider put NAME FILE",
				     "%s: its stored definition can't be read", rows[i].name);
	}
	if (len == 0)
		findings_add(findings, HEALTH_WARN, "providers", "onejob provider put NAME FILE",
			     "there is none yet");
	else
		findings_add(findings, HEALTH_OK, "providers", "", "%zu%s", len,
			     more ? " looked at, and more" : "");
	if (hidden.count > 0)
		findings_add(findings, HEALTH_OK, "secrets", "only the pollers must see them",
			     "not to be seen from here: %s%s",
			     hidden.list.bytes ? hidden.list.bytes : "",
			     text_ok(&hidden.list) ? "" : " and more");
	text_release(&hidden.list);
}

static void look_at_providers(struct ctl *ctl, struct findings *findings, struct names *callers)
{
	struct definition_row *rows = NULL;
	size_t len = 0;
	bool more = false;

	if (provider_store_list(ctl->db, NULL, PROVIDERS_LOOKED_AT, &rows, &len, &more) != RC_OK) {
		findings_add(findings, HEALTH_BAD, "providers", GRANT_RIGHTS, "can't be read: %s",
			     db_error(ctl->db));
		return;
	}
	judge_providers(findings, rows, len, more, callers);
	definition_list_free(rows, len);
}

/* Their templates may name the URL anywhere, so the whole text is looked at. What can't be read is
 * told of by others. */
static void look_at_contracts(struct ctl *ctl, struct names *callers)
{
	static const char placeholder[] = "{{callback_url}}";
	struct definition_row *rows = NULL;
	size_t len = 0;
	bool more = false;

	if (contract_store_list(ctl->db, NULL, CONTRACTS_LOOKED_AT, &rows, &len, &more) != RC_OK)
		return;
	for (size_t i = 0; i < len; i++)
		if (memmem(rows[i].definition.bytes, rows[i].definition.len, placeholder,
			   sizeof placeholder - 1))
			names_add(callers, "contract ", rows[i].name, strlen(rows[i].name), "");
	definition_list_free(rows, len);
}

static void look_at_routes(struct ctl *ctl, struct findings *findings)
{
	struct route_standing *list = calloc(ROUTES_LOOKED_AT, sizeof *list);
	size_t len = 0;
	bool more = false;

	if (!list) {
		findings->failed = true;
		return;
	}
	if (certificate_store_standings(ctl->db, NULL, CERTIFICATES_SOON_S, list, ROUTES_LOOKED_AT,
					&len, &more) != RC_OK)
		findings_add(findings, HEALTH_BAD, "routes", GRANT_RIGHTS, "can't be read: %s",
			     db_error(ctl->db));
	else
		doctor_routes(findings, list, len);
	if (more)
		findings_add(findings, HEALTH_OK, "routes", "", "%d looked at, and more",
			     ROUTES_LOOKED_AT);
	free(list);
}

static enum ctl_exit print_findings(struct ctl *ctl, const struct findings *findings)
{
	static const struct table_column columns[] = {
		{ "", "health", false, TABLE_WHOLE },
		{ "WHAT", "what", false, TABLE_WHOLE },
		{ "FINDING", "finding", false, TABLE_WHOLE },
		{ "HOW TO FIX", "fix", false, TABLE_WHOLE },
	};
	static const char *const colours[HEALTH__MAX] = { "green", "yellow", "red" };
	struct table *table = table_new(columns, sizeof columns / sizeof columns[0], ctl->terminal);

	for (size_t i = 0; i < findings->len; i++) {
		const struct finding *finding = &findings->list[i];

		table_row(table);
		table_str(table, health_name(finding->health));
		table_colour(table, colours[finding->health]);
		table_str(table, finding->what);
		table_str(table, finding->found);
		table_str(table, finding->fix);
	}
	enum ctl_exit end = table_finish(table, ctl, "findings");
	table_free(table);
	return end;
}

enum ctl_exit cmd_doctor(struct ctl *ctl, const struct args *args)
{
	struct names callers = { .count = 0 };
	struct findings findings;

	(void)args;
	findings_init(&findings);
	text_init(&callers.list, FINDING_MAX_BYTES / 2);
	look_at_settings(ctl, &findings);
	const struct client_library client = db_client_library();
	doctor_client(&findings, &client);
	if (look_at_database(ctl, &findings) && look_at_schema(ctl, &findings)) {
		look_at_rights(ctl, &findings);
		look_at_vitals(ctl, &findings);
		look_at_providers(ctl, &findings, &callers);
		look_at_contracts(ctl, &callers);
		look_at_routes(ctl, &findings);
	}
	look_at_sockets(ctl, &findings);
	look_at_callbacks(ctl, &findings, &callers);
	text_release(&callers.list);
	enum ctl_exit end = print_findings(ctl, &findings);
	if (ctl->conf_ok && !ctl->json) {
		ctl_line(ctl, "%s", "");
		conf_print(&ctl->conf, ctl->out);
	}
	if (findings_worst(&findings) == HEALTH_BAD)
		end = CTL_REFUSED;
	findings_release(&findings);
	return end;
}
