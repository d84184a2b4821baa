#include "store/race.h"

#include <string.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/text.h"

#define RACES_MAX 16 /* of one attempt: more rows say nothing more */

void race_log(const struct id *job_id, const struct word *word, enum race_why why)
{
	char job[ID_TEXT_LEN + 1], attempt[ID_TEXT_LEN + 1];
	unsigned char digest[SHA256_BYTES];
	struct text hex;

	digest_sha256(word->result, word->result_len, digest);
	text_init(&hex, 2 * SHA256_BYTES);
	text_add_hex(&hex, digest, sizeof digest);
	log_info("race", "job=%s attempt=%s why=%s sha256=%s bytes=%zu", id_format(job_id, job),
		 id_format(&word->attempt_id, attempt), race_why_name(why),
		 text_ok(&hex) ? hex.bytes : "-", word->result_len);
	text_release(&hex);
}

/* The job's row is locked, so nobody else adds to it now. */
static enum rc is_full(struct db *db, const struct word *word, bool *full_out)
{
	struct stmt *st = db_stmt(db, SQL_RACE_COUNT);

	bind_id(st, &word->attempt_id);
	enum rc rc = stmt_run(st);

	if (rc == RC_OK)
		rc = stmt_fetch(st);
	if (rc != RC_OK)
		return rc;
	*full_out = col_u64(st) >= RACES_MAX;
	stmt_done(st);
	return RC_OK;
}

enum rc race_add(struct db *db, const struct locked_job *job, const struct word *word,
		 enum race_why why, enum race_added *added_out)
{
	unsigned char digest[SHA256_BYTES];
	struct id id = clock_id();

	*added_out = RACE_NONE_OWN;
	digest_sha256(word->result, word->result_len, digest);
	if (why == RACE_CONTRADICTION && job->has_result &&
	    memcmp(digest, job->result_sha256, sizeof digest) == 0)
		return RC_OK;

	bool full;
	enum rc rc = is_full(db, word, &full);

	*added_out = RACE_KNOWN;
	if (rc != RC_OK || full)
		return rc;
	struct stmt *st = db_stmt(db, SQL_RACE_ADD);

	bind_id(st, &id);
	bind_id(st, &job->id);
	bind_id(st, &word->attempt_id);
	bind_id(st, job->has_completed_by ? &job->completed_by : NULL);
	bind_str(st, race_why_name(why));
	bind_bytes(st, digest, sizeof digest);
	bind_u64(st, word->result_len);
	rc = stmt_run(st);
	*added_out = rc == RC_OK ? RACE_ADDED : RACE_KNOWN;
	return rc == RC_CONFLICT ? RC_OK : rc;
}

enum rc race_count(struct db *db, size_t added)
{
	if (added == 0)
		return RC_OK;
	struct stmt *st = db_stmt(db, SQL_RACES_COUNTED);

	bind_u64(st, added);
	bind_u64(st, added);
	return stmt_run(st);
}
