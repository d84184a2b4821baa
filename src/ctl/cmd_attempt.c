/* cmd_attempt.c: onejob attempt list, settle: an operator's word about what nobody here can tell.
 */
#include "ctl/cmd.h"

#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/view.h"
#include "ctl/advice.h"
#include "ctl/build.h"
#include "ctl/input.h"
#include "ctl/print.h"
#include "ctl/table.h"
#include "store/attempt_store.h"
#include "store/settle.h"

#define RESULT_MAX_BYTES (64u << 20)
#define ERROR_MAX_BYTES 1000
#define NOTE_MAX_BYTES 4000
#define SECOND_US 1000000

struct wanted {
	struct input_page page;
	bool has_state;
	enum attempt_state state;
	bool with_commands;
};

static enum ctl_exit read_wanted(struct ctl *ctl, const struct args *args,
				 struct wanted *wanted_out)
{
	const char *state = args->option[OPTION_STATE];
	bool unknown = args->option[OPTION_UNKNOWN] != NULL;

	*wanted_out = (struct wanted){ .has_state = state || unknown,
				       .state = ATTEMPT_UNKNOWN,
				       .with_commands = unknown };
	if (state && unknown)
		return ctl_usage(ctl, "--unknown and --state can't stand together");
	if (state && !attempt_state_parse(state, strlen(state), &wanted_out->state))
		return ctl_usage(ctl, "--state %s: " ATTEMPT_STATE_NAMES, state);
	return input_page(ctl, args, &wanted_out->page);
}

static void add_row(struct table *table, const struct attempt *attempt, int64_t now_us)
{
	char age[PRINT_AGE_MAX];

	table_row(table);
	table_id(table, &attempt->id);
	table_str(table, print_age(now_us - attempt->started_us, age));
	table_str(table, attempt->provider);
	table_str(table, attempt_state_name(attempt->state));
	table_str(table, phase_name(attempt->phase));
	table_str(table, reason_name(attempt->reason));
	table_id(table, &attempt->job_id);
	table_bytes(table, attempt->settled_by.bytes, attempt->settled_by.len);
	table_time(table, attempt->settled_us, "-");
	table_bytes(table, attempt->detail.bytes, attempt->detail.len);
}

static enum ctl_exit print_table(struct ctl *ctl, const struct attempt *attempts, size_t len,
				 const struct id *before)
{
	static const struct table_column columns[] = {
		{ "ATTEMPT", "id", false, TABLE_WHOLE },
		{ "AGE", "age", true, TABLE_WHOLE },
		{ "PROVIDER", "provider", false, TABLE_WHOLE },
		{ "STATE", "state", false, TABLE_WHOLE },
		{ "PHASE", "phase", false, TABLE_WHOLE },
		{ "REASON", "reason", false, TABLE_WHOLE },
		{ "JOB", "job_id", false, TABLE_WHOLE },
		{ "SETTLED BY", "settled_by", false, TABLE_WHOLE },
		{ "SETTLED", "settled_at", false, TABLE_WHOLE },
		{ "DETAIL", "detail", false, TABLE_WHOLE },
	};
	struct table *table = table_new(columns, sizeof columns / sizeof columns[0], ctl->terminal);
	struct json_object *rows = build_array();
	int64_t now_us = clock_real_us();

	for (size_t i = 0; i < len; i++) {
		add_row(table, &attempts[i], now_us);
		if (ctl->json)
			build_push(&rows, view_attempt_row(&attempts[i]));
	}
	enum ctl_exit end = table_finish_page(table, ctl, "attempts", rows, before);
	table_free(table);
	return end;
}

static const char *word_or_dash(const char *word)
{
	return word ? word : "-";
}

/* What the provider was asked since, and what it said. */
static void print_questions(struct ctl *ctl, const struct attempt *attempt, int64_t now_us)
{
	char wait[PRINT_AGE_MAX];

	if (attempt->reference.bytes)
		ctl_line(ctl, "  the provider's reference: %s", attempt->reference.bytes);
	if (attempt->asked > 0)
		ctl_line(ctl, "  asked %u times; last: %s", attempt->asked,
			 attempt->last_answer.bytes ? attempt->last_answer.bytes : "no answer yet");
	if (attempt->next_ask_us > now_us)
		ctl_line(ctl, "  asked again in %s",
			 print_age(attempt->next_ask_us - now_us + SECOND_US - 1, wait));
	else if (attempt->next_ask_us == 0)
		ctl_line(ctl, "  its provider isn't asked about it");
}

static void print_doubts(struct ctl *ctl, const struct attempt *attempts, size_t len,
			 const struct id *before)
{
	int64_t now_us = clock_real_us();
	char id[ID_TEXT_LEN + 1];
	char age[PRINT_AGE_MAX];

	if (len == 0)
		ctl_line(ctl, "no attempt is unknown");
	for (size_t i = 0; i < len; i++) {
		const struct attempt *attempt = &attempts[i];

		ctl_line(ctl, "attempt %s", id_format(&attempt->id, id));
		ctl_line(ctl, "  started %s ago, provider %s, phase %s, reason %s, job %s",
			 print_age(now_us - attempt->started_us, age), attempt->provider,
			 word_or_dash(phase_name(attempt->phase)),
			 word_or_dash(reason_name(attempt->reason)),
			 id_format(&attempt->job_id, id));
		if (attempt->detail.bytes && attempt->detail.len > 0)
			ctl_line(ctl, "  %s", attempt->detail.bytes);
		print_questions(ctl, attempt, now_us);
		advice_settle(ctl, "    ", attempt);
	}
	fflush(ctl->out);
	if (before)
		ctl_say(ctl, "there are older ones: --before %s", id_format(before, id));
}

enum ctl_exit cmd_attempt_list(struct ctl *ctl, const struct args *args)
{
	struct wanted wanted;
	struct attempt *attempts = NULL;
	size_t len = 0;
	bool more = false;
	enum ctl_exit end = read_wanted(ctl, args, &wanted);

	if (end == CTL_DONE)
		end = ctl_ready(ctl);
	if (end != CTL_DONE)
		return end;
	enum rc rc = attempt_store_list(ctl->db, wanted.has_state, wanted.state,
					wanted.page.has_before ? &wanted.page.before : NULL,
					wanted.page.limit, &attempts, &len, &more);
	if (rc != RC_OK)
		return ctl_failed(ctl, rc, "the attempts");
	const struct id *before = more && len > 0 ? &attempts[len - 1].id : NULL;
	if (wanted.with_commands && !ctl->json)
		print_doubts(ctl, attempts, len, before);
	else
		end = print_table(ctl, attempts, len, before);
	attempt_list_free(attempts, len);
	return end;
}

/* What each outcome is to the store, and the option it needs; the others of the two are refused
 * with it. */
static const struct outcome_row {
	const char *name;
	enum attempt_event event;
	int needs; /* an OPTION_X, or -1 */
} outcomes[] = {
	{ "succeeded", ON_RESULT, OPTION_RESULT },
	{ "failed", ON_FAILURE, OPTION_ERROR },
	{ "cancelled", ON_CANCEL, -1 },
	{ "released", ON_RELEASE, -1 },
};

static bool is_utf8(const char *text)
{
	size_t len = strlen(text);
	size_t bad;

	for (size_t at = 0; at < len;) {
		size_t step = text_utf8_next(text + at, len - at, &bad);

		if (step == 0)
			return false;
		at += step;
	}
	return true;
}

static enum ctl_exit read_text(struct ctl *ctl, const char *option, const char *text,
			       size_t max_bytes)
{
	if (!text || (text[0] && strlen(text) <= max_bytes && is_utf8(text)))
		return CTL_DONE;
	return ctl_usage(ctl, "%s: UTF-8, 1 to %zu bytes", option, max_bytes);
}

static enum ctl_exit check_options(struct ctl *ctl, const struct args *args,
				   const struct outcome_row *outcome)
{
	const char *provider = args->option[OPTION_PROVIDER];

	if (args->option[OPTION_RESULT] && outcome->needs != OPTION_RESULT)
		return ctl_usage(ctl, "--result goes with succeeded only");
	if (args->option[OPTION_ERROR] && outcome->needs != OPTION_ERROR)
		return ctl_usage(ctl, "--error goes with failed only");
	if (outcome->needs == OPTION_RESULT && !args->option[OPTION_RESULT])
		return ctl_usage(ctl, "succeeded needs --result FILE");
	if (outcome->needs == OPTION_ERROR && !args->option[OPTION_ERROR])
		return ctl_usage(ctl, "failed needs --error TEXT");
	if (provider && outcome->event == ON_RESULT)
		return ctl_usage(
			ctl, "--provider names the next attempt's; after succeeded there is none");
	if (provider && !name_valid(provider, strlen(provider)))
		return ctl_usage(ctl, "--provider %s: no provider can have this name", provider);
	enum ctl_exit end = read_text(ctl, "--error", args->option[OPTION_ERROR], ERROR_MAX_BYTES);
	return end == CTL_DONE ? read_text(ctl, "--note", args->option[OPTION_NOTE], NOTE_MAX_BYTES)
			       : end;
}

/* Whom the record names: the account that runs the command. */
static const char *operator_here(void)
{
	const struct passwd *account = getpwuid(getuid());

	return account && strlen(account->pw_name) <= OWNER_MAX ? account->pw_name : "?";
}

static enum ctl_exit read_word(struct ctl *ctl, const struct args *args, struct word *word_out)
{
	const struct outcome_row *outcome = NULL;

	for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++) {
		if (strcmp(outcomes[i].name, args->operand[1]) == 0)
			outcome = &outcomes[i];
	}
	if (!outcome)
		return ctl_usage(
			ctl,
			"'%s': an attempt is settled as succeeded, failed, cancelled or released",
			args->operand[1]);
	enum ctl_exit end = check_options(ctl, args, outcome);
	if (end != CTL_DONE)
		return end;
	*word_out = (struct word){
		.event = outcome->event,
		.by = BY_OPERATOR,
		.detail = args->option[OPTION_ERROR],
		.reason = outcome->event == ON_FAILURE ? REASON_OPERATOR : REASON_NONE,
		.note = args->option[OPTION_NOTE],
		.who = operator_here(),
		.provider = args->option[OPTION_PROVIDER],
		.retryable = outcome->event == ON_FAILURE,
		.retry_after_ms = -1,
	};
	return ctl_read_id(ctl, "an attempt", args->operand[0], &word_out->attempt_id);
}

static enum ctl_exit say_word(struct ctl *ctl, const struct args *args, const struct word *word)
{
	static const struct if_match no_condition = { .present = false };
	char id[ID_TEXT_LEN + 1];
	struct job job = { .state = JOB_STATE__MAX };
	struct refusal refusal;
	enum changed changed = settle_by_operator(ctl->db, word, &no_condition, &job, &refusal);
	enum ctl_exit end = advice_changed(ctl, changed, "attempt", args->operand[0],
					   word->provider, &job, &refusal);

	if (end == CTL_DONE && ctl->json)
		end = ctl_print_json(ctl, view_job(&job));
	else if (end == CTL_DONE)
		ctl_line(ctl, "attempt %s is %s; job %s is %s", args->operand[0], args->operand[1],
			 id_format(&job.id, id), job_state_name(job.state));
	job_release(&job);
	return end;
}

/* The result is one JSON text, kept as it is written less the white space around it. */
static enum ctl_exit with_result(struct ctl *ctl, const struct args *args, struct word *word)
{
	struct text bytes;
	struct json_doc *doc = NULL;

	text_init(&bytes, RESULT_MAX_BYTES);
	enum ctl_exit end = input_file(ctl, args->option[OPTION_RESULT], &bytes);
	if (end == CTL_DONE)
		end = input_json(ctl, "the result", &bytes, &doc);
	if (end == CTL_DONE) {
		word->result = json_root(doc)->raw;
		word->result_len = json_root(doc)->raw_len;
		end = ctl_ready(ctl);
	}
	if (end == CTL_DONE)
		end = say_word(ctl, args, word);
	json_free(doc);
	text_release(&bytes);
	return end;
}

enum ctl_exit cmd_attempt_settle(struct ctl *ctl, const struct args *args)
{
	struct word word;
	enum ctl_exit end = read_word(ctl, args, &word);

	if (end != CTL_DONE)
		return end;
	if (word.event == ON_RESULT)
		return with_result(ctl, args, &word);
	end = ctl_ready(ctl);
	return end == CTL_DONE ? say_word(ctl, args, &word) : end;
}
