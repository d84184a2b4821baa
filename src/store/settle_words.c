/* settle_words.c: words in batches. What a word comes to is decided in settle.c, one by one; rows
 * are read for many jobs at once, and results that win, which is most of what there is, are written
 * together. */
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/log.h"
#include "store/db_private.h"
#include "store/outbox.h"
#include "store/race.h"
#include "store/settle_private.h"
#include "store/stmt.h"

#define LIST_BYTES_MAX (256 * 1024) /* of results in one statement; larger ones have one each */

/* A word, and the rows that it is about. */
struct seat {
	const struct word *word;
	struct settling *settling;
	const struct locked_job *job;
	const struct facing *facing;
};

/* As many as one statement takes, each about another job. */
struct table {
	struct seat seats[STMT_GROUP_MAX];
	size_t len;
	struct locked_job jobs[STMT_GROUP_MAX];
	size_t jobs_len;
	struct facing facings[STMT_GROUP_MAX];
	size_t facings_len;
	const struct seat *winners[STMT_GROUP_MAX];
	size_t winners_len;
};

/* --- reading */

static void take_seats(struct table *t)
{
	for (size_t i = 0; i < t->len; i++) {
		struct seat *seat = &t->seats[i];

		for (size_t k = 0; k < t->jobs_len && !seat->job; k++)
			if (id_equal(&t->jobs[k].id, &seat->word->job_id))
				seat->job = &t->jobs[k];
		for (size_t k = 0; k < t->facings_len && !seat->facing; k++)
			if (id_equal(&t->facings[k].attempt_id, &seat->word->attempt_id) &&
			    id_equal(&t->facings[k].job_id, &seat->word->job_id))
				seat->facing = &t->facings[k];
	}
}

static enum rc read_rows(struct db *db, struct table *t)
{
	struct id ids[STMT_GROUP_MAX];

	for (size_t i = 0; i < t->len; i++)
		ids[i] = t->seats[i].word->job_id;
	enum rc rc = lock_jobs(db, ids, t->len, t->jobs, &t->jobs_len);

	if (rc != RC_OK)
		return rc;
	for (size_t i = 0; i < t->len; i++)
		ids[i] = t->seats[i].word->attempt_id;
	rc = settle_read_attempts(db, ids, t->len, t->facings, &t->facings_len);
	take_seats(t);
	return rc;
}

/* --- writing what wins */

/* How many of the next winners go into one statement. */
static size_t list_of(struct db *db, const struct table *t, size_t at)
{
	size_t n = stmt_group(t->winners_len - at), bytes = 0, fit = 0;
	size_t most = db->packet_max / 2 < LIST_BYTES_MAX ? db->packet_max / 2 : LIST_BYTES_MAX;

	while (fit < n && bytes + t->winners[at + fit]->word->result_len <= most)
		bytes += t->winners[at + fit++]->word->result_len;
	return stmt_group(fit > 0 ? fit : 1);
}

static void bind_jobs(struct stmt *st, const struct seat *const *winners, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bind_id(st, &winners[i]->word->job_id);
}

static void bind_attempts(struct stmt *st, const struct seat *const *winners, size_t n)
{
	bind_jobs(st, winners, n);
	for (size_t i = 0; i < n; i++)
		bind_id(st, &winners[i]->word->attempt_id);
}

/* The version that the swap wants is the attempt's, where the statement finds it. */
static enum rc complete_list(struct db *db, const struct seat *const *winners, size_t n)
{
	unsigned char digests[STMT_GROUP_MAX][SHA256_BYTES];
	struct stmt *st = db_stmt_n(db, SQL_JOBS_COMPLETE, n);

	bind_jobs(st, winners, n);
	for (size_t i = 0; i < n; i++)
		bind_bytes(st, winners[i]->word->result, winners[i]->word->result_len);
	bind_jobs(st, winners, n);
	for (size_t i = 0; i < n; i++) {
		digest_sha256(winners[i]->word->result, winners[i]->word->result_len, digests[i]);
		bind_bytes(st, digests[i], SHA256_BYTES);
	}
	bind_attempts(st, winners, n);
	bind_jobs(st, winners, n);
	bind_attempts(st, winners, n);
	return settle_run(st, n);
}

static enum rc complete_jobs(struct db *db, const struct table *t)
{
	enum rc rc = RC_OK;
	size_t n;

	for (size_t at = 0; rc == RC_OK && at < t->winners_len; at += n) {
		const struct seat *const *winners = &t->winners[at];

		n = list_of(db, t, at);
		if (n == 1)
			rc = settle_complete(db, winners[0]->word, winners[0]->facing);
		else
			rc = complete_list(db, winners, n);
	}
	return rc;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool seen_alike(const struct word *a, const struct word *b)
{
	return a->phase == b->phase && a->http_status == b->http_status &&
	       same_text(a->detail, b->detail);
}

/* The next ones that were seen alike. */
static size_t alike_from(const struct table *t, size_t at)
{
	size_t n = 1;

	while (at + n < t->winners_len &&
	       seen_alike(t->winners[at]->word, t->winners[at + n]->word))
		n++;
	return stmt_group(n);
}

static enum rc end_attempts(struct db *db, const struct table *t)
{
	enum rc rc = RC_OK;

	for (size_t at = 0; rc == RC_OK && at < t->winners_len;) {
		const struct word *first = t->winners[at]->word;
		size_t n = alike_from(t, at);
		struct stmt *st = db_stmt_n(db, SQL_ATTEMPTS_SUCCEED, n);

		bind_str(st, phase_name(first->phase));
		if (first->http_status)
			bind_u64(st, first->http_status);
		else
			bind_null(st);
		bind_str(st, first->detail);
		for (size_t i = 0; i < n; i++, at++)
			bind_id(st, &t->winners[at]->word->attempt_id);
		rc = settle_run(st, n);
	}
	return rc;
}

static bool same_owner(const struct locked_job *a, const struct locked_job *b)
{
	return a->owner_len == b->owner_len && memcmp(a->owner, b->owner, a->owner_len) == 0;
}

/* Which of these owners have an endpoint. They are named by a job of theirs. */
static enum rc read_wanted(struct db *db, const struct locked_job *const *owners, size_t len,
			   bool *wanted)
{
	enum rc rc = RC_OK;

	for (size_t at = 0; rc == RC_OK && at < len;) {
		size_t n = stmt_group(len - at);
		struct stmt *st = db_stmt_n(db, SQL_OUTBOX_WANTED, n);
		char owner[OWNER_MAX];

		for (size_t i = 0; i < n; i++, at++)
			bind_bytes(st, owners[at]->owner, owners[at]->owner_len);
		rc = stmt_run(st);
		while (rc == RC_OK && (rc = stmt_fetch(st)) == RC_OK) {
			size_t owner_len = col_bytes(st, owner, sizeof owner);

			for (size_t i = 0; i < len; i++)
				wanted[i] = wanted[i] ||
					    (owners[i]->owner_len == owner_len &&
					     memcmp(owners[i]->owner, owner, owner_len) == 0);
		}
		if (rc == RC_NOT_FOUND)
			rc = RC_OK;
	}
	return rc;
}

static enum rc tell_owners(struct db *db, const struct table *t)
{
	const struct locked_job *owners[STMT_GROUP_MAX];
	size_t whose[STMT_GROUP_MAX], owners_len = 0;
	bool wanted[STMT_GROUP_MAX] = { false };

	for (size_t i = 0; i < t->winners_len; i++) {
		whose[i] = 0;
		while (whose[i] < owners_len && !same_owner(owners[whose[i]], t->winners[i]->job))
			whose[i]++;
		if (whose[i] == owners_len)
			owners[owners_len++] = t->winners[i]->job;
	}
	enum rc rc = read_wanted(db, owners, owners_len, wanted);

	for (size_t i = 0; rc == RC_OK && i < t->winners_len; i++)
		if (wanted[whose[i]])
			rc = outbox_add(db, &t->winners[i]->word->job_id);
	return rc;
}

static enum rc write_winners(struct db *db, const struct table *t)
{
	if (t->winners_len == 0)
		return RC_OK;
	enum rc rc = complete_jobs(db, t);

	if (rc == RC_OK)
		rc = tell_owners(db, t);
	return rc == RC_OK ? end_attempts(db, t) : rc;
}

/* --- a batch */

/* What only one word says is written by itself. */
static bool plain(const struct word *word)
{
	return !word->who && !word->note && word->reason == REASON_NONE;
}

static enum rc settle_table(struct db *db, struct table *t)
{
	enum rc rc = read_rows(db, t);

	for (size_t i = 0; rc == RC_OK && i < t->len; i++) {
		struct seat *seat = &t->seats[i];

		if (!seat->job || !seat->facing)
			*seat->settling = (struct settling){ .verdict = SETTLED_NO_SUCH_ATTEMPT };
		else if (plain(seat->word) &&
			 settle_wins(seat->job, seat->word, seat->facing, seat->settling))
			t->winners[t->winners_len++] = seat;
		else
			rc = settle_locked(db, seat->job, seat->word, seat->facing, seat->settling);
	}
	return rc == RC_OK ? write_winners(db, t) : rc;
}

struct batch {
	const struct word *given;
	struct word *words; /* with their jobs' ids */
	size_t len;
	size_t *order;
	struct settling *settlings;
	struct table table;
};

static int by_job(const void *a, const void *b, void *arg)
{
	const struct word *words = arg;
	size_t left = *(const size_t *)a, right = *(const size_t *)b;
	int order = id_compare(&words[left].job_id, &words[right].job_id);

	return order ? order : (left < right ? -1 : left > right);
}

static enum rc find_jobs(struct db *db, struct batch *batch)
{
	enum rc rc = RC_OK;

	for (size_t i = 0; (rc == RC_OK || rc == RC_NOT_FOUND) && i < batch->len; i++) {
		batch->order[i] = i;
		batch->words[i] = batch->given[i];
		rc = settle_find_job(db, &batch->words[i]);
	}
	return rc == RC_NOT_FOUND ? RC_OK : rc;
}

/* The next words of the order, as long as each is about another job. */
static size_t set_table(struct batch *batch, size_t at)
{
	struct table *t = &batch->table;

	t->len = 0;
	t->winners_len = 0;
	while (at < batch->len && t->len < STMT_GROUP_MAX) {
		const struct word *word = &batch->words[batch->order[at]];

		if (t->len > 0 && id_equal(&word->job_id, &t->seats[t->len - 1].word->job_id))
			break;
		t->seats[t->len++] =
			(struct seat){ .word = word,
				       .settling = &batch->settlings[batch->order[at]] };
		at++;
	}
	return at;
}

static size_t raced(const struct batch *batch)
{
	size_t n = 0;

	for (size_t i = 0; i < batch->len; i++)
		n += batch->settlings[i].raced;
	return n;
}

/* Jobs are locked in the order of their ids, so that two batches can't wait for each other. */
static enum rc settle_batch(struct db *db, void *arg)
{
	struct batch *batch = arg;
	enum rc rc = find_jobs(db, batch);

	if (rc != RC_OK)
		return rc;
	qsort_r(batch->order, batch->len, sizeof *batch->order, by_job, batch->words);
	for (size_t at = 0; rc == RC_OK && at < batch->len;) {
		at = set_table(batch, at);
		rc = settle_table(db, &batch->table);
	}
	return rc == RC_OK ? race_count(db, raced(batch)) : rc;
}

enum rc settle_words(struct db *db, const struct word *words, size_t len,
		     enum settled *verdicts_out)
{
	struct batch *batch = malloc(sizeof *batch);
	enum rc rc = RC_FAULT;

	if (!batch)
		return RC_FAULT;
	batch->given = words;
	batch->len = len;
	batch->words = malloc((len + 1) * sizeof *words);
	batch->order = malloc((len + 1) * sizeof *batch->order);
	batch->settlings = calloc(len + 1, sizeof *batch->settlings);
	if (batch->words && batch->order && batch->settlings)
		rc = db_transact(db, settle_batch, batch);
	for (size_t i = 0; rc == RC_OK && i < len; i++) {
		verdicts_out[i] = batch->settlings[i].verdict;
		settle_log(&batch->settlings[i], &words[i]);
	}
	free(batch->words);
	free(batch->order);
	free(batch->settlings);
	free(batch);
	return rc;
}

static enum rc settle_each(struct db *db, const struct word *words, size_t len, size_t *settled)
{
	enum rc rc = RC_OK;

	for (size_t i = 0; (rc == RC_OK || db_refused(rc)) && i < len; i++) {
		char attempt[ID_TEXT_LEN + 1];
		enum settled verdict;

		rc = settle_words(db, &words[i], 1, &verdict);
		*settled += rc == RC_OK;
		if (db_refused(rc))
			log_error("attempt.unsettled", "attempt=%s: its word can't be written down",
				  id_format(&words[i].attempt_id, attempt));
	}
	return db_refused(rc) ? RC_OK : rc;
}

/* Leaves out those whose job another session holds. */
static enum rc leave_out_held(struct db *db, struct word *words, size_t *len)
{
	struct id *ids = malloc((*len + 1) * sizeof *ids);
	size_t ids_len = *len, kept = 0;

	if (!ids)
		return RC_FAULT;
	for (size_t i = 0; i < *len; i++)
		ids[i] = words[i].job_id;
	qsort(ids, ids_len, sizeof *ids, id_order);
	enum rc rc = lock_free_jobs(db, ids, &ids_len);

	for (size_t i = 0; rc == RC_OK && i < *len; i++)
		if (bsearch(&words[i].job_id, ids, ids_len, sizeof *ids, id_order))
			words[kept++] = words[i];
	*len = kept;
	free(ids);
	return rc;
}

enum rc settle_what_can(struct db *db, struct word *words, size_t len, size_t *settled_out)
{
	enum settled *verdicts = malloc((len + 1) * sizeof *verdicts);
	enum rc rc = verdicts ? leave_out_held(db, words, &len) : RC_FAULT;

	if (rc == RC_OK && len > 0)
		rc = settle_words(db, words, len, verdicts);
	free(verdicts);
	*settled_out = rc == RC_OK ? len : 0;
	return db_refused(rc) ? settle_each(db, words, len, settled_out) : rc;
}
