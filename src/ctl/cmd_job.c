/* cmd_job.c: onejob job list, show, cancel. */
#include "ctl/cmd.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "core/intent.h"
#include "core/view.h"
#include "ctl/advice.h"
#include "ctl/build.h"
#include "ctl/input.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "store/job_store.h"

/* Who gives the orders at the command. */
static const struct identity the_operator = { .owner = "operator",
					      .owner_len = 8,
					      .role = ROLE_OPERATOR };

#define PREVIEW_BYTES 200 /* of a payload, on a terminal */

static enum ctl_exit read_filter(struct ctl *ctl, const struct args *args,
				 struct job_filter *filter_out)
{
	const char *state = args->option[OPTION_STATE];
	struct input_page page;
	enum ctl_exit end = input_page(ctl, args, &page);

	if (end != CTL_DONE)
		return end;
	*filter_out = (struct job_filter){ .has_before = page.has_before,
					   .limit = page.limit,
					   .provider = args->option[OPTION_PROVIDER],
					   .owner = args->option[OPTION_OWNER],
					   .has_state = state != NULL };
	if (page.has_before)
		filter_out->before = page.before;
	if (state && !job_state_parse(state, strlen(state), &filter_out->state))
		return ctl_usage(ctl, "--state %s: " JOB_STATE_NAMES, state);
	if (filter_out->provider && !name_valid(filter_out->provider, strlen(filter_out->provider)))
		return ctl_usage(ctl, "--provider %s: no provider can have this name",
				 filter_out->provider);
	if (filter_out->owner && !input_owner(filter_out->owner))
		return ctl_usage(ctl, "--owner: 1 to %d bytes without control bytes", OWNER_MAX);
	filter_out->owner_len = filter_out->owner ? strlen(filter_out->owner) : 0;
	return CTL_DONE;
}

static void add_row(struct table *table, const struct job *job, int64_t now_us)
{
	char age[PRINT_AGE_MAX];

	table_row(table);
	table_id(table, &job->id);
	table_str(table, job_state_name(job->state));
	if (job->state == JOB_UNKNOWN)
		table_colour(table, "yellow");
	table_bytes(table, job->owner.bytes, job->owner.len);
	table_bytes(table, job->key.bytes, job->key.len);
	table_str(table, job->provider[0] ? job->provider : job->contract);
	table_number(table, job->attempt_count);
	table_str(table, reason_name(job->error_reason));
	table_str(table, print_age(now_us - job->created_us, age));
}

static enum ctl_exit print_list(struct ctl *ctl, const struct job *jobs, size_t len, bool more)
{
	static const struct table_column columns[] = {
		{ "JOB", "id", false, TABLE_WHOLE },
		{ "STATE", "state", false, TABLE_WHOLE },
		{ "OWNER", "owner", false, TABLE_SHORTENS },
		{ "KEY", "idempotency_key", false, TABLE_SHORTENS },
		{ "FOR", "for", false, TABLE_WHOLE },
		{ "ATTEMPTS", "attempt_count", true, TABLE_WHOLE },
		{ "REASON", "reason", false, TABLE_WHOLE },
		{ "AGE", "age", true, TABLE_WHOLE },
	};
	struct table *table = table_new(columns, sizeof columns / sizeof columns[0], ctl->terminal);
	struct json_object *rows = build_array();
	int64_t now_us = clock_real_us();

	for (size_t i = 0; i < len; i++) {
		add_row(table, &jobs[i], now_us);
		if (ctl->json)
			build_push(&rows, view_job_row(&jobs[i]));
	}
	enum ctl_exit end = table_finish_page(table, ctl, "jobs", rows,
					      more && len > 0 ? &jobs[len - 1].id : NULL);
	table_free(table);
	return end;
}

enum ctl_exit cmd_job_list(struct ctl *ctl, const struct args *args)
{
	struct job_filter filter;
	struct job *jobs = NULL;
	size_t len = 0;
	bool more = false;
	enum ctl_exit end = read_filter(ctl, args, &filter);

	if (end == CTL_DONE)
		end = ctl_ready(ctl);
	if (end != CTL_DONE)
		return end;
	enum rc rc = job_store_list(ctl->db, &the_operator, &filter, &jobs, &len, &more);
	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the jobs");
	end = print_list(ctl, jobs, len, more);
	job_list_free(jobs, len);
	return end;
}

static void print_payload(struct ctl *ctl, const char *label, const struct blob *payload)
{
	if (!payload->bytes)
		return;
	if (ctl->terminal && payload->len > PREVIEW_BYTES)
		ctl_line(ctl, "%-10s %.*s... (%zu bytes; --json shows all)", label, PREVIEW_BYTES,
			 payload->bytes, payload->len);
	else
		ctl_line(ctl, "%-10s %s", label, payload->bytes);
}

static void print_times(struct ctl *ctl, const struct job *job)
{
	const struct {
		const char *label;
		int64_t us;
	} rows[] = {
		{ "created", job->created_us },
		{ "updated", job->updated_us },
		{ "not before", job->not_before_us },
		{ "expires", job->expires_us },
		{ "deadline", job->deadline_us },
		{ "due", job->state == JOB_QUEUED ? job->run_after_us : 0 },
		{ "purged", job->purged_us },
	};
	char time[PRINT_TIME_MAX];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		if (rows[i].us != 0)
			ctl_line(ctl, "%-10s %s", rows[i].label, print_time(rows[i].us, time));
	}
}

/* A string member for "%.*s"; nothing stands behind its last byte. */
static const struct json_value *string_of(const struct json_value *object, const char *name)
{
	static const struct json_value none = { .type = JSON_STRING, .string = "" };
	const struct json_value *value = json_member(object, name);

	return value && value->type == JSON_STRING ? value : &none;
}

static void print_passed(struct ctl *ctl, const struct json_value *entry, bool first)
{
	const struct json_value *provider = string_of(entry, "provider");
	const struct json_value *why = string_of(entry, "why");
	int64_t after = 0;

	(void)json_to_i64(json_member(entry, "after"), 0, UINT32_MAX, &after);
	ctl_line(ctl, "%-10s %.*s after attempt %" PRId64 ": %.*s", first ? "passed by" : "",
		 (int)provider->string_len, provider->string, after, (int)why->string_len,
		 why->string);
}

/* A line for each route that wasn't taken. What is kept is JSON objects with commas between. */
static void print_passed_over(struct ctl *ctl, const struct blob *passed_over)
{
	struct json_doc *doc = NULL;
	struct json_error error;
	struct text list;

	if (!passed_over->bytes)
		return;
	text_init(&list, passed_over->len + 2);
	text_addf(&list, "[%s]", passed_over->bytes);
	if (text_ok(&list) &&
	    json_parse(list.bytes, list.len, INTENT_DEPTH_MAX, &doc, &error) == RC_OK)
		for (const struct json_value *v = json_root(doc)->child; v; v = v->next)
			print_passed(ctl, v, v == json_root(doc)->child);
	json_free(doc);
	text_release(&list);
}

static void print_facts(struct ctl *ctl, const struct job *job)
{
	char id[ID_TEXT_LEN + 1];

	ctl_line(ctl, "%-10s %s", "job", id_format(&job->id, id));
	ctl_line(ctl, "%-10s %s, version %" PRIu64 "%s", "state", job_state_name(job->state),
		 job->version, job->in_doubt ? ", an attempt is in doubt" : "");
	ctl_line(ctl, "%-10s %s", "owner", job->owner.bytes ? job->owner.bytes : "");
	ctl_line(ctl, "%-10s %s", "key", job->key.bytes ? job->key.bytes : "");
	if (job->contract[0])
		ctl_line(ctl, "%-10s %s, version %" PRIu32, "contract", job->contract,
			 job->contract_version);
	if (job->provider[0])
		ctl_line(ctl, "%-10s %s", "provider", job->provider);
	ctl_line(ctl, "%-10s %" PRIu32 " of %" PRIu32 " that start by themselves", "attempts",
		 job->attempt_count, job->max_attempts);
	print_passed_over(ctl, &job->passed_over);
	if (job->has_completed_by)
		ctl_line(ctl, "%-10s %s", "won by", id_format(&job->completed_by, id));
	if (reason_name(job->error_reason))
		ctl_line(ctl, "%-10s %s: %s", "error", reason_name(job->error_reason),
			 job->error_detail.bytes ? job->error_detail.bytes : "");
	print_times(ctl, job);
	print_payload(ctl, "metadata", &job->metadata);
	print_payload(ctl, "input", &job->input);
	print_payload(ctl, "result", &job->result);
}

/* `certified`: there is a column for what permitted a fail-over. */
static void add_attempt(struct table *table, const struct attempt *attempt, bool certified)
{
	table_row(table);
	table_number(table, attempt->number);
	table_id(table, &attempt->id);
	table_str(table, attempt->provider);
	table_str(table, attempt_state_name(attempt->state));
	if (attempt->state == ATTEMPT_UNKNOWN)
		table_colour(table, "yellow");
	table_str(table, phase_name(attempt->phase));
	table_str(table, reason_name(attempt->reason));
	if (attempt->http_status)
		table_number(table, attempt->http_status);
	else
		table_str(table, NULL);
	table_time(table, attempt->started_us, "-");
	table_time(table, attempt->finished_us, "-");
	table_bytes(table, attempt->detail.bytes, attempt->detail.len);
	table_bytes(table, attempt->note.bytes, attempt->note.len);
	table_bytes(table, attempt->settled_by.bytes, attempt->settled_by.len);
	table_time(table, attempt->settled_us, "-");
	if (certified)
		table_id(table, attempt->has_certificate ? &attempt->certificate_id : NULL);
}

static enum ctl_exit print_attempts(struct ctl *ctl, const struct job *job)
{
	static const struct table_column columns[] = {
		{ "#", "number", true, TABLE_WHOLE },
		{ "ATTEMPT", "id", false, TABLE_WHOLE },
		{ "PROVIDER", "provider", false, TABLE_WHOLE },
		{ "STATE", "state", false, TABLE_WHOLE },
		{ "PHASE", "phase", false, TABLE_WHOLE },
		{ "REASON", "reason", false, TABLE_WHOLE },
		{ "HTTP", "http_status", true, TABLE_WHOLE },
		{ "STARTED", "started_at", false, TABLE_WHOLE },
		{ "FINISHED", "finished_at", false, TABLE_WHOLE },
		{ "DETAIL", "detail", false, TABLE_WHOLE },
		{ "NOTE", "note", false, TABLE_WHOLE },
		{ "SETTLED BY", "settled_by", false, TABLE_WHOLE },
		{ "SETTLED", "settled_at", false, TABLE_WHOLE },
		{ "CERTIFICATE", "certificate_id", false, TABLE_WHOLE },
	};
	bool certified = job->contract[0] != '\0';

	if (job->attempts_len == 0)
		return CTL_DONE;
	struct table *table =
		table_new(columns, sizeof columns / sizeof columns[0] - !certified, ctl->terminal);
	for (size_t i = 0; i < job->attempts_len; i++)
		add_attempt(table, &job->attempts[i], certified);
	ctl_line(ctl, "%s", "");
	enum ctl_exit end = table_finish(table, ctl, "attempts");
	table_free(table);
	return end;
}

static enum ctl_exit print_job(struct ctl *ctl, const struct job *job)
{
	if (ctl->json)
		return ctl_print_json(ctl, view_job(job));
	print_facts(ctl, job);
	enum ctl_exit end = print_attempts(ctl, job);
	ctl_line(ctl, "%s", "");
	advice_job(ctl, job);
	return end;
}

enum ctl_exit cmd_job_show(struct ctl *ctl, const struct args *args)
{
	struct id id;
	struct job job;
	enum ctl_exit end = ctl_read_id(ctl, "a job", args->operand[0], &id);

	if (end == CTL_DONE)
		end = ctl_ready(ctl);
	if (end != CTL_DONE)
		return end;
	enum rc rc = job_store_read(ctl->db, &the_operator, &id, &job);
	if (rc == RC_NOT_FOUND) {
		ctl_say(ctl, "there is no job %s", args->operand[0]);
		return CTL_REFUSED;
	}
	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the job");
	end = print_job(ctl, &job);
	job_release(&job);
	return end;
}

enum ctl_exit cmd_job_cancel(struct ctl *ctl, const struct args *args)
{
	static const struct if_match no_condition = { .present = false };
	struct id id;
	struct job job = { .state = JOB_STATE__MAX };
	enum ctl_exit end = ctl_read_id(ctl, "a job", args->operand[0], &id);

	if (end == CTL_DONE)
		end = ctl_ready(ctl);
	if (end != CTL_DONE)
		return end;
	enum changed changed = job_store_cancel(ctl->db, &the_operator, &id, &no_condition, &job);
	end = advice_changed(ctl, changed, "job", args->operand[0], NULL, &job, NULL);
	if (end == CTL_DONE && ctl->json)
		end = ctl_print_json(ctl, view_job(&job));
	else if (end == CTL_DONE)
		ctl_line(ctl, "job %s is cancelled%s", args->operand[0],
			 job.in_doubt
				 ? "; an attempt is still out, and what it brings is thrown away"
				 : "");
	job_release(&job);
	return end;
}
