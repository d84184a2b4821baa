#include "store/race.h"

#include <string.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/log.h"

#define HEX_LEN (2 * SHA256_BYTES)

static void to_hex(const unsigned char digest[SHA256_BYTES], char hex_out[HEX_LEN + 1])
{
	for (int i = 0; i < SHA256_BYTES; i++) {
		hex_out[2 * i] = "0123456789abcdef"[digest[i] >> 4];
		hex_out[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
	}
	hex_out[HEX_LEN] = '\0';
}

static void log_race(const struct locked_job *job, const struct word *word, enum race_why why, const char *hex)
{
	char job_text[ID_TEXT_LEN + 1], attempt_text[ID_TEXT_LEN + 1];

	log_info("race", "job=%s attempt=%s why=%s sha256=%s bytes=%zu", id_format(&job->id, job_text),
		 id_format(&word->attempt_id, attempt_text), race_why_name(why), hex, word->result_len);
}

enum rc race_add(struct db *db, const struct locked_job *job, const struct word *word, enum race_why why, bool *logged_out)
{
	unsigned char digest[SHA256_BYTES];
	char hex[HEX_LEN + 1];
	struct id id = clock_id();

	*logged_out = false;
	digest_sha256(word->result, word->result_len, digest);
	to_hex(digest, hex);
	if (why == RACE_CONTRADICTION && strcmp(hex, job->result_sha256) == 0)
		return RC_OK;	/* the winner said the same once more */

	struct stmt *st = db_stmt(db, SQL_RACE_ADD);

	bind_id(st, &id);
	bind_id(st, &job->id);
	bind_id(st, &word->attempt_id);
	bind_id(st, job->has_completed_by ? &job->completed_by : NULL);
	bind_str(st, race_why_name(why));
	bind_bytes(st, digest, sizeof digest);
	bind_u64(st, word->result_len);
	enum rc rc = stmt_run(st);

	if (rc == RC_CONFLICT)
		return RC_OK;
	if (rc == RC_OK) {
		*logged_out = true;
		log_race(job, word, why, hex);
	}
	return rc;
}
