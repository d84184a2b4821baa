/* attempts.c: asking for an attempt, and an operator's word about one. */
#include <string.h>

#include "api/handlers.h"
#include "api/query.h"
#include "api/rows.h"
#include "base/clock.h"
#include "core/flaws.h"
#include "store/attempt_store.h"
#include "store/settle.h"

#define ERROR_MAX_BYTES 1000
#define NOTE_MAX_BYTES 4000

enum member { OUTCOME, RESULT, ERROR_TEXT, NOTE, PROVIDER, MEMBER__MAX };

static const char *const member_names[MEMBER__MAX] = {
	[OUTCOME] = "outcome", [RESULT] = "result",	[ERROR_TEXT] = "error",
	[NOTE] = "note",       [PROVIDER] = "provider",
};

/* A body being read: its members, and room for the strings that the store wants with a NUL. */
struct reading {
	const struct json_value
		*members[MEMBER__MAX]; /* NULL: left out, or null where that means the same */
	struct flaws flaws;
	char error[ERROR_MAX_BYTES + 1];
	char note[NOTE_MAX_BYTES + 1];
	char provider[NAME_MAX_LEN + 1];
};

static void wrong(struct reading *r, enum member member, const char *why)
{
	flaws_add(&r->flaws, "", member_names[member], strlen(member_names[member]), "%s", why);
}

static enum member member_of(const struct json_value *value)
{
	enum member m = 0;

	while (m < MEMBER__MAX && (strlen(member_names[m]) != value->name_len ||
				   memcmp(member_names[m], value->name, value->name_len) != 0))
		m++;
	return m;
}

/* `known`: the members that mean something here, as bits. False: the body has no members at all. */
static bool find_members(struct reading *r, const struct json_value *body, unsigned int known)
{
	if (body->type != JSON_OBJECT) {
		flaws_add(&r->flaws, "", NULL, 0, "must be an object");
		return false;
	}
	for (const struct json_value *v = body->child; v; v = v->next) {
		enum member m = member_of(v);

		if (m == MEMBER__MAX || !(known & 1u << m))
			flaws_add(&r->flaws, "", v->name, v->name_len, "there is no such member");
		else if (v->type != JSON_NULL || m == RESULT)
			r->members[m] = v;
	}
	return true;
}

static bool has_control(const char *text, size_t len, const char *but)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\0' || c == 0x7f || (c < 0x20 && !strchr(but, c)))
			return true;
	}
	return false;
}

/* Copies a string member and returns the copy, or NULL where it is left out or wrong. `but`:
 * controls it may hold. */
static const char *read_text(struct reading *r, enum member member, char *out, size_t max,
			     const char *but)
{
	const struct json_value *v = r->members[member];

	if (!v)
		return NULL;
	if (v->type != JSON_STRING) {
		wrong(r, member, "must be a string");
	} else if (v->string_len > max) {
		flaws_add(&r->flaws, "", member_names[member], strlen(member_names[member]),
			  "is longer than %zu bytes", max);
	} else if (has_control(v->string, v->string_len, but)) {
		wrong(r, member, "holds a control byte");
	} else {
		memcpy(out, v->string, v->string_len);
		out[v->string_len] = '\0';
		return out;
	}
	return NULL;
}

static const char *read_provider(struct reading *r)
{
	const char *name = read_text(r, PROVIDER, r->provider, NAME_MAX_LEN, "");

	if (name && !name_valid(name, strlen(name)))
		wrong(r, PROVIDER, "is no name: 1 to 64 of a-z, 0-9, '-', '_' and '.'");
	return name;
}

static void refuse_body(struct reply *reply, const struct reading *r)
{
	reply_problem(reply, PROBLEM_INVALID_REQUEST, "The body has %zu flaw%s.", r->flaws.count,
		      r->flaws.count == 1 ? "" : "s");
	reply_add_flaws(reply, &r->flaws);
}

static void request_attempt(const struct api *api, const struct call *call, const char *provider,
			    struct reply *reply)
{
	struct job job = { 0 };
	struct refusal refusal;
	enum changed changed;

	changed = job_store_request_attempt(api->db, &call->who, &call->id, provider,
					    &call->if_match, &job, &refusal);
	answer_changed(reply, changed, 202, &job, &refusal);
	if (changed == CHANGED_DONE)
		reply->retry_after_s = job_retry_hint_s(&job, clock_real_us());
	job_release(&job);
}

void jobs_request_attempt(const struct api *api, struct call *call, struct reply *reply)
{
	struct reading r = { .provider = "" };
	const char *provider = NULL;

	flaws_init(&r.flaws);
	if (call->body && find_members(&r, call->body, 1u << PROVIDER))
		provider = read_provider(&r);
	if (r.flaws.count > 0)
		refuse_body(reply, &r);
	else
		request_attempt(api, call, provider, reply);
	flaws_release(&r.flaws);
}

/* Which event an outcome is, and which members it takes. */
static const struct outcome_row {
	const char *name;
	enum attempt_event event;
	unsigned int takes;
} outcomes[] = {
	{ "succeeded", ON_RESULT, 1u << OUTCOME | 1u << NOTE | 1u << RESULT },
	{ "failed", ON_FAILURE, 1u << OUTCOME | 1u << NOTE | 1u << PROVIDER | 1u << ERROR_TEXT },
	{ "cancelled", ON_CANCEL, 1u << OUTCOME | 1u << NOTE | 1u << PROVIDER },
	{ "released", ON_RELEASE, 1u << OUTCOME | 1u << NOTE | 1u << PROVIDER },
};

static const struct outcome_row *read_outcome(struct reading *r)
{
	const struct json_value *v = r->members[OUTCOME];

	if (!v) {
		wrong(r, OUTCOME, "is required");
		return NULL;
	}
	for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++)
		if (json_is_string(v, outcomes[i].name))
			return &outcomes[i];
	wrong(r, OUTCOME, "must be \"succeeded\", \"failed\", \"cancelled\" or \"released\"");
	return NULL;
}

/* Members that are known, but mean nothing beside this outcome. */
static void check_members(struct reading *r, const struct outcome_row *outcome)
{
	for (enum member m = 0; m < MEMBER__MAX; m++) {
		bool is_null = r->members[m] && r->members[m]->type == JSON_NULL;

		if (r->members[m] && !is_null && !(outcome->takes & 1u << m))
			flaws_add(&r->flaws, "", member_names[m], strlen(member_names[m]),
				  "has no meaning beside the outcome %s", outcome->name);
	}
	if ((outcome->takes & 1u << RESULT) && !r->members[RESULT])
		wrong(r, RESULT, "is required");
}

/* False: the flaws say why. The word points into the reading and the body. */
static bool read_word(struct reading *r, const struct call *call, struct word *word_out)
{
	const struct outcome_row *outcome;

	if (!find_members(r, call->body, (1u << MEMBER__MAX) - 1))
		return false;
	outcome = read_outcome(r);
	*word_out = (struct word){
		.attempt_id = call->id, .by = BY_OPERATOR, .delay_ms = -1, .retry_after_ms = -1
	};
	word_out->note = read_text(r, NOTE, r->note, NOTE_MAX_BYTES, "\t\n\r");
	word_out->detail = read_text(r, ERROR_TEXT, r->error, ERROR_MAX_BYTES, "");
	word_out->provider = read_provider(r);
	if (outcome) {
		check_members(r, outcome);
		word_out->event = outcome->event;
	}
	if (r->flaws.count > 0)
		return false;
	if (word_out->event == ON_RESULT) {
		word_out->result = r->members[RESULT]->raw;
		word_out->result_len = r->members[RESULT]->raw_len;
	} else if (word_out->event == ON_FAILURE) {
		word_out->reason = REASON_OPERATOR;
		word_out->retryable = true;
	}
	return true;
}

void attempts_settle(const struct api *api, struct call *call, struct reply *reply)
{
	struct reading r = { .provider = "" };
	struct job job = { 0 };
	struct word word;

	flaws_init(&r.flaws);
	if (read_word(&r, call, &word)) {
		word.who = call->who.owner;
		struct refusal refusal;
		enum changed changed =
			settle_by_operator(api->db, &word, &call->if_match, &job, &refusal);

		refusal.attempt_id = call->id;
		answer_changed(reply, changed, 200, &job, &refusal);
	} else {
		refuse_body(reply, &r);
	}
	job_release(&job);
	flaws_release(&r.flaws);
}
