/* doctor.c: see doctor.h. */
#include "ctl/doctor.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ctl/ctl.h"
#include "ctl/print.h"

#define CLOCK_WARN_US (2 * INT64_C(1000000))
#define CLOCK_BAD_US (60 * INT64_C(1000000))
#define DUE_WARN_US (60 * INT64_C(1000000))

static const char *const health_names[HEALTH__MAX] = { "ok", "warn", "bad" };

const char *health_name(enum health health)
{
	return health_names[health];
}

void findings_init(struct findings *findings)
{
	*findings = (struct findings){ .len = 0 };
}

void findings_release(struct findings *findings)
{
	for (size_t i = 0; i < findings->len; i++) {
		free(findings->list[i].found);
		free(findings->list[i].fix);
	}
	findings_init(findings);
}

enum health findings_worst(const struct findings *findings)
{
	enum health worst = findings->failed ? HEALTH_BAD : HEALTH_OK;

	for (size_t i = 0; i < findings->len; i++) {
		if (findings->list[i].health > worst)
			worst = findings->list[i].health;
	}
	return worst;
}

void findings_add(struct findings *findings, enum health health, const char *what, const char *fix,
		  const char *format, ...)
{
	char found[FINDING_MAX_BYTES];
	va_list args;

	if (findings->len == FINDINGS_MAX) {
		findings->failed = true;
		return;
	}
	va_start(args, format);
	vsnprintf(found, sizeof found, format, args);
	va_end(args);
	struct finding finding = {
		.health = health, .what = what, .found = strdup(found), .fix = strdup(fix)
	};
	if (!finding.found || !finding.fix) {
		free(finding.found);
		free(finding.fix);
		findings->failed = true;
		return;
	}
	findings->list[findings->len++] = finding;
}

/* Servers name themselves in several ways: "10.11.19-MariaDB-log", the same behind "5.5.5-" (which
 * MariaDB says to old clients), "8.0.36"; with or without the product's name before it. */
static bool is_mariadb(const char *versions, const char **number_out)
{
	static const char *const prefixes[] = { "MariaDB ", "MySQL ", "5.5.5-" };
	const char *name = strstr(versions, "MariaDB");
	const char *by = strstr(versions, " by ");

	*number_out = versions;
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
		size_t len = strlen(prefixes[i]);

		if (strncmp(*number_out, prefixes[i], len) == 0)
			*number_out += len;
	}
	return name && (!by || name < by);
}

bool doctor_supports(const char *versions)
{
	static const unsigned int least[2][3] = { { 8, 0, 16 }, { 10, 6, 0 } };
	unsigned int is[3] = { 0 };
	const char *number;
	bool mariadb = is_mariadb(versions, &number);

	if (sscanf(number, "%u.%u.%u", &is[0], &is[1], &is[2]) < 2)
		return false;
	for (size_t part = 0; part < 3; part++) {
		if (is[part] != least[mariadb][part])
			return is[part] > least[mariadb][part];
	}
	return true;
}

void doctor_versions(struct findings *findings, const char *versions)
{
	if (doctor_supports(versions))
		findings_add(findings, HEALTH_OK, "versions", "", "%s", versions);
	else
		findings_add(findings, HEALTH_BAD, "versions",
			     "use MariaDB 10.6 or later, or MySQL 8.0.16 or later", "%s", versions);
}

void doctor_node(struct findings *findings, const struct node_vitals *node)
{
	if (strcmp(node->status, "Primary") != 0)
		findings_add(
			findings, HEALTH_BAD, "cluster",
			"bring back the nodes that this one has lost sight of; until then, use "
			"one that still sees most of them",
			"this node is not in the primary component (%s), and answers nothing",
			node->status[0] ? node->status : "it doesn't say where it is");
	else if (strcmp(node->state, "Synced") != 0)
		findings_add(findings, HEALTH_WARN, "cluster",
			     "wait until it has caught up, or use another node",
			     "this node is not in step: %s", node->state);
	else
		findings_add(findings, HEALTH_OK, "cluster", "",
			     "this node is in step, and sees %" PRIu64 " with itself", node->size);
	if (!node->sound)
		findings_add(findings, HEALTH_BAD, "cluster settings",
			     "set binlog_format = ROW and innodb_autoinc_lock_mode = 2 at every "
			     "node",
			     "not those that Galera works with");
}

void doctor_client(struct findings *findings, const struct client_library *client)
{
	bool fits =
		strcmp(client->name, client->compiled_name) == 0 &&
		strtoul(client->version, NULL, 10) == strtoul(client->compiled_version, NULL, 10);

	findings_add(findings, fits ? HEALTH_OK : HEALTH_WARN, "client library",
		     fits ? ""
			  : "install the library that the programs were compiled for, or compile "
			    "them on this host",
		     "%s %s, compiled for %s %s", client->name, client->version,
		     client->compiled_name, client->compiled_version);
}

void doctor_schema(struct findings *findings, const struct schema_state *schema)
{
	switch (schema->verdict) {
	case SCHEMA_CURRENT:
		findings_add(findings, HEALTH_OK, "schema", "", "at %" PRIu32, schema->at);
		break;
	case SCHEMA_OLDER:
		findings_add(findings, HEALTH_BAD, "schema", "run " CTL_HOW_TO_MIGRATE,
			     "at %" PRIu32 ", this program wants %" PRIu32, schema->at,
			     schema->wants);
		break;
	case SCHEMA_NEWER:
		findings_add(findings, HEALTH_WARN, "schema",
			     "use the newer programs on every host",
			     "at %" PRIu32 ", this program knows %" PRIu32 " only", schema->at,
			     schema->wants);
		break;
	case SCHEMA_CHANGED:
		findings_add(findings, HEALTH_BAD, "schema",
			     "use the programs that made this schema, or another database",
			     "migration %" PRIu32 " isn't the one that was applied",
			     schema->changed);
		break;
	case SCHEMA__MAX: break;
	}
}

void doctor_clock(struct findings *findings, int64_t database_us, int64_t before_us,
		  int64_t after_us)
{
	int64_t ahead_us = database_us > after_us ? database_us - after_us : 0;
	int64_t behind_us = database_us < before_us ? before_us - database_us : 0;
	int64_t apart_us = ahead_us > behind_us ? ahead_us : behind_us;
	enum health health = apart_us > CLOCK_BAD_US	? HEALTH_BAD
			     : apart_us > CLOCK_WARN_US ? HEALTH_WARN
							: HEALTH_OK;

	findings_add(findings, health, "clock", health == HEALTH_OK ? "" : "run NTP on both hosts",
		     "the database's clock is %" PRId64 ".%03d s %s this one", apart_us / 1000000,
		     (int)(apart_us / 1000 % 1000),
		     ahead_us > 0    ? "ahead of"
		     : behind_us > 0 ? "behind"
				     : "away from");
}

static void judge_settings(struct findings *findings, const struct vitals *vitals)
{
	if (vitals->strict)
		findings_add(findings, HEALTH_OK, "strict mode", "", "on");
	else
		findings_add(
			findings, HEALTH_BAD, "strict mode",
			"let the server accept SET SESSION sql_mode; a proxy between may drop it",
			"off: values that don't fit would be cut");
	if (vitals->durable)
		findings_add(findings, HEALTH_OK, "flush at commit", "", "on");
	else
		findings_add(findings, HEALTH_BAD, "flush at commit",
			     "set innodb_flush_log_at_trx_commit = 1 at the server",
			     "off: a power cut loses jobs that were acknowledged");
}

void doctor_strangers(struct findings *findings, const char *names)
{
	if (names[0])
		findings_add(findings, HEALTH_WARN, "unknown settings",
			     "correct the names, or unset them; what there is is listed below",
			     "nothing reads %s", names);
}

static void judge_keys(struct findings *findings, const struct callback_facts *facts)
{
	if (!facts->sound)
		findings_add(
			findings, HEALTH_BAD, "callbacks",
			"put a line of 64 to 256 hexadecimal digits there: openssl rand -hex 32",
			"the keys in %s can't be used (see above): neither the pollers nor "
			"the API start with them",
			facts->keys_path);
	else if (facts->hidden)
		findings_add(findings, HEALTH_OK, "callbacks", "",
			     "this user may not read %s; the pollers and the API must",
			     facts->keys_path);
	else
		findings_add(findings, HEALTH_OK, "callbacks", "", "%s",
			     !facts->keys_path ? "not set up here"
			     : facts->url      ? "URL and keys are set"
					       : "keys are set; ONEJOB_CALLBACK_URL isn't, here");
}

void doctor_callbacks(struct findings *findings, const struct callback_facts *facts)
{
	if (facts->sound && facts->url && !facts->keys_path)
		findings_add(findings, HEALTH_BAD, "callbacks",
			     "set ONEJOB_CALLBACK_KEYS too, for the pollers and the API",
			     "ONEJOB_CALLBACK_URL is set without ONEJOB_CALLBACK_KEYS: nothing "
			     "can be signed, so no provider can call back");
	else
		judge_keys(findings, facts);
	if (!facts->url && facts->wanted_by[0])
		findings_add(
			findings, HEALTH_WARN, "callback URL",
			"set ONEJOB_CALLBACK_URL and ONEJOB_CALLBACK_KEYS for the pollers, the "
			"API and here",
			"not set here, and {{callback_url}} is named by %s: a poller without "
			"it sends nothing there (never_sent)",
			facts->wanted_by);
}

/* A lease is renewed at a third, and lives on after its poller was killed: so how long the most
 * silent of them hasn't been heard is told too. */
static void add_alive(struct findings *findings, const struct vitals *vitals, uint32_t lease_s)
{
	int64_t silent_us =
		(int64_t)lease_s * 1000000 - (vitals->first_lease_us - vitals->database_now_us);
	char age[PRINT_AGE_MAX];

	if (lease_s == 0 || vitals->first_lease_us == 0)
		findings_add(findings, HEALTH_OK, "pollers", "", "%" PRIu64 " alive",
			     vitals->pollers_alive);
	else
		findings_add(findings, HEALTH_OK, "pollers", "",
			     "%" PRIu64 " alive by their leases of %" PRIu32
			     " s; last sign of life of the most silent one %s ago",
			     vitals->pollers_alive, lease_s,
			     print_age(silent_us > 0 ? silent_us : 0, age));
}

static void judge_pollers(struct findings *findings, const struct vitals *vitals, uint32_t lease_s)
{
	static const char start[] = "start onejob-poller, or look at its log for why it ended";

	if (vitals->pollers_alive == 0 && vitals->has_oldest_due)
		findings_add(findings, HEALTH_BAD, "pollers", start,
			     "none is alive, and jobs are due");
	else if (vitals->pollers_alive == 0)
		findings_add(findings, HEALTH_WARN, "pollers", start,
			     "none is alive; no job is due");
	else
		add_alive(findings, vitals, lease_s);
	if (vitals->pollers_dead > 0)
		findings_add(findings, HEALTH_WARN, "dead pollers",
			     "a poller that is alive turns their attempts into unknown by itself; "
			     "look why they died",
			     "%" PRIu64 " left without a word", vitals->pollers_dead);
}

static void judge_due(struct findings *findings, const struct vitals *vitals)
{
	char id[ID_TEXT_LEN + 1];
	char age[PRINT_AGE_MAX];
	char fix[160];
	int64_t late_us = vitals->database_now_us - vitals->oldest_due_us;

	if (!vitals->has_oldest_due) {
		findings_add(findings, HEALTH_OK, "oldest due job", "", "none is due");
		return;
	}
	id_format(&vitals->oldest_due, id);
	snprintf(fix, sizeof fix,
		 "onejob job show %s; start more pollers, or raise its provider's max_in_flight",
		 id);
	findings_add(findings, late_us > DUE_WARN_US ? HEALTH_WARN : HEALTH_OK, "oldest due job",
		     late_us > DUE_WARN_US ? fix : "", "%s, due for %s", id,
		     print_age(late_us, age));
}

static void judge_unknown(struct findings *findings, const struct vitals *vitals)
{
	char id[ID_TEXT_LEN + 1];
	char age[PRINT_AGE_MAX];

	if (vitals->has_oldest_unknown)
		findings_add(findings, HEALTH_WARN, "oldest unknown job",
			     "onejob attempt list --unknown   shows them with the commands that "
			     "settle them",
			     "%s, unknown for %s; %" PRIu64 " %s unknown",
			     id_format(&vitals->oldest_unknown, id),
			     print_age(vitals->database_now_us - vitals->oldest_unknown_us, age),
			     vitals->unknown_attempts,
			     vitals->unknown_attempts == 1 ? "attempt is" : "attempts are");
	else if (vitals->unknown_attempts > 0)
		findings_add(findings, HEALTH_OK, "oldest unknown job", "",
			     "no job is; %" PRIu64 " %s", vitals->unknown_attempts,
			     vitals->unknown_attempts == 1 ? "attempt of a settled job is"
							   : "attempts of settled jobs are");
	else
		findings_add(findings, HEALTH_OK, "oldest unknown job", "", "none is unknown");
}

static void judge_stranded(struct findings *findings, const struct vitals *vitals)
{
	if (vitals->stranded > 0)
		findings_add(findings, HEALTH_WARN, "stranded jobs",
			     "onejob provider list; put the provider again, or enable it, or "
			     "cancel those jobs",
			     "%" PRIu64 " queued for a provider that isn't there or is disabled",
			     vitals->stranded);
	else
		findings_add(findings, HEALTH_OK, "stranded jobs", "", "none");
}

static void judge_webhooks(struct findings *findings, const struct vitals *vitals)
{
	static const char again[] =
		"onejob webhook list   shows what their endpoints said; `onejob "
		"webhook enable OWNER` sends them again";

	if (vitals->endpoints_disabled > 0)
		findings_add(findings, HEALTH_WARN, "webhooks",
			     "onejob webhook list   shows why; `onejob webhook enable OWNER` once "
			     "the endpoint wants messages again",
			     "%" PRIu64 " %s disabled", vitals->endpoints_disabled,
			     vitals->endpoints_disabled == 1 ? "endpoint is" : "endpoints are");
	else
		findings_add(findings, HEALTH_OK, "webhooks", "", "no endpoint is disabled");
	if (vitals->messages_given_up > 0)
		findings_add(findings, HEALTH_WARN, "webhook messages", again,
			     "%" PRIu64 " %s given up", vitals->messages_given_up,
			     vitals->messages_given_up == 1 ? "was" : "were");
	else
		findings_add(findings, HEALTH_OK, "webhook messages", "", "none was given up");
	if (vitals->messages_failing > 0)
		findings_add(findings, HEALTH_WARN, "failing webhooks",
			     "onejob webhook list   shows whose endpoint it is; they are tried "
			     "again by themselves",
			     "%" PRIu64 " %s for another try; the last answer: %s",
			     vitals->messages_failing,
			     vitals->messages_failing == 1 ? "message has failed and waits"
							   : "messages have failed and wait",
			     vitals->failing_answer);
}

void doctor_vitals(struct findings *findings, const struct vitals *vitals, uint32_t lease_s)
{
	judge_settings(findings, vitals);
	judge_pollers(findings, vitals, lease_s);
	judge_due(findings, vitals);
	judge_unknown(findings, vitals);
	judge_stranded(findings, vitals);
	judge_webhooks(findings, vitals);
}

/* What may be wrong with a later route. */
enum trouble { TROUBLE_NONE, TROUBLE_VOID, TROUBLE_SOON, TROUBLE_UNPROVEN };

static enum trouble trouble_of(const struct route_standing *route)
{
	if (route->place == 0)
		return TROUBLE_NONE;
	switch (route->now) {
	case STANDING_VALID: return route->expiring ? TROUBLE_SOON : TROUBLE_NONE;
	case STANDING_FAILED:
	case STANDING_SUBJECT_CHANGED:
	case STANDING_EXPIRED: return TROUBLE_VOID;
	case STANDING_NOT_CERTIFIED: return TROUBLE_UNPROVEN;
	case STANDING_DISABLED:
	case STANDING_SATURATED:
	case STANDING_NO_ROUTE:
	case STANDING__MAX: break;
	}
	return TROUBLE_NONE;
}

#define ROUTES_NAMED 5

/* "spare of summary (expired); b of order (failed)": the first few; how many there are. */
static size_t name_routes(struct text *out, const struct route_standing *list, size_t len,
			  enum trouble trouble)
{
	size_t count = 0;

	for (size_t i = 0; i < len; i++) {
		const char *why = standing_name(list[i].now);

		if (trouble_of(&list[i]) != trouble || count++ >= ROUTES_NAMED)
			continue;
		text_addf(out, "%s%s of %s", count > 1 ? "; " : "", list[i].provider,
			  list[i].contract);
		if (trouble == TROUBLE_VOID && why)
			text_addf(out, " (%s)", why);
	}
	if (count > ROUTES_NAMED)
		text_addf(out, "; and %zu more", count - ROUTES_NAMED);
	return count;
}

/* The command for the first contract in that trouble. */
static void name_command(struct text *out, const struct route_standing *list, size_t len,
			 enum trouble trouble)
{
	const char *contract = NULL;

	for (size_t i = 0; i < len; i++) {
		if (trouble_of(&list[i]) != trouble)
			continue;
		if (!contract)
			text_addf(out, "onejob contract certify %s", list[i].contract);
		else if (strcmp(contract, list[i].contract) != 0)
			break;
		contract = list[i].contract;
		text_addf(out, " --route %s", list[i].provider);
	}
	text_add_str(out, "   (and --side-effects where its work has them)");
}

static void judge_routes(struct findings *findings, const struct route_standing *list, size_t len,
			 enum trouble trouble, const char *what, const char *meaning)
{
	struct text found, fix;

	text_init(&found, FINDING_MAX_BYTES / 2);
	text_init(&fix, 2048);
	if (name_routes(&found, list, len, trouble) > 0) {
		if (trouble == TROUBLE_SOON)
			text_add_str(&fix, "onejob contract certify --renew   (from cron; "
					   "--side-effects for contracts that have them)");
		else
			name_command(&fix, list, len, trouble);
		findings_add(findings, HEALTH_WARN, what,
			     text_ok(&fix) ? fix.bytes : "onejob contract certify NAME", "%s %s",
			     meaning, found.bytes);
	} else {
		findings_add(findings, HEALTH_OK, what, "", "none");
	}
	text_release(&found);
	text_release(&fix);
}

void doctor_routes(struct findings *findings, const struct route_standing *list, size_t len)
{
	judge_routes(findings, list, len, TROUBLE_VOID, "void certificates",
		     "no job fails over to");
	judge_routes(findings, list, len, TROUBLE_SOON, "certificates that expire soon",
		     "within a day no job will fail over to");
	judge_routes(findings, list, len, TROUBLE_UNPROVEN, "routes never certified",
		     "no job fails over to");
}
