/* certify_report.c: see certify_report.h. */
#include "ctl/certify_report.h"

#include <inttypes.h>

#include "base/json.h"
#include "core/contract.h"
#include "ctl/print.h"

#define LINES_MAX 20 /* of one route */
#define REPORT_DEPTH_MAX 8

bool report_is_good(const struct certificate *certificate)
{
	return certificate->passed &&
	       (certificate->now == STANDING_VALID || certificate->now == STANDING_DISABLED);
}

static bool has_passed(const struct json_value *entry)
{
	const struct json_value *passed = json_member(entry, "passed");

	return passed && passed->type == JSON_TRUE;
}

/* A string member for "%.*s"; nothing stands behind its last byte. */
static const struct json_value *string_of(const struct json_value *entry, const char *name)
{
	static const struct json_value none = { .type = JSON_STRING, .string = "" };
	const struct json_value *value = json_member(entry, name);

	return value && value->type == JSON_STRING ? value : &none;
}

static void print_failure(struct ctl *ctl, const struct json_value *entry)
{
	const struct json_value *fixture = string_of(entry, "fixture");
	const struct json_value *why = string_of(entry, "why");
	int64_t round = 0;

	(void)json_to_i64(json_member(entry, "round"), 1, CONTRACT_ROUNDS_MAX, &round);
	ctl_line(ctl, "    round %" PRId64 ", %.*s: %.*s", round, (int)fixture->string_len,
		 fixture->string, (int)why->string_len, why->string);
}

static void print_failures(struct ctl *ctl, const struct json_value *report)
{
	size_t failed = 0;

	for (const struct json_value *v = report->child; v; v = v->next)
		if (!has_passed(v) && ++failed <= LINES_MAX)
			print_failure(ctl, v);
	if (failed > LINES_MAX)
		ctl_line(ctl, "    ... and %zu more; --json shows all", failed - LINES_MAX);
}

static void print_verdict(struct ctl *ctl, const struct certificate *certificate, size_t good,
			  size_t all)
{
	char until[PRINT_TIME_MAX];
	const char *provider = certificate->provider;

	if (!certificate->passed)
		ctl_line(ctl, "  %s: FAILED, %zu of %zu passed", provider, good, all);
	else if (certificate->now == STANDING_VALID)
		ctl_line(ctl, "  %s: passed, %zu of %zu; valid until %s", provider, good, all,
			 print_time(certificate->expires_us, until));
	else
		ctl_line(ctl, "  %s: passed, %zu of %zu; not valid now: %s", provider, good, all,
			 standing_name(certificate->now));
}

void report_print(struct ctl *ctl, const struct certificate *certificate)
{
	const struct blob *report = &certificate->report;
	struct json_doc *doc = NULL;
	struct json_error error;
	size_t good = 0, all = 0;

	if (report->bytes &&
	    json_parse(report->bytes, report->len, REPORT_DEPTH_MAX, &doc, &error) == RC_OK)
		for (const struct json_value *v = json_root(doc)->child; v; v = v->next, all++)
			good += has_passed(v);
	print_verdict(ctl, certificate, good, all);
	if (doc && !certificate->passed)
		print_failures(ctl, json_root(doc));
	json_free(doc);
}
