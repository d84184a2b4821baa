/* create_many.c: which of the creates that are there at one moment share a statement, which go
 * alone, and which are second clicks. */
#include <string.h>

#include "store/create_private.h"
#include "store/db_private.h"

#define GROUP_BYTES_MAX (256u << 10) /* of inputs and metadata; a larger create goes alone */

/* Where a statement for several writes nothing it was lost work, and the next one likely is, for
 * the same locked row or whatever it was: so many creates go alone before it is tried again, twice
 * as many each time. */
#define ALONE_MIN 16
#define ALONE_MAX 4096

static void learn(struct db *db, bool lost)
{
	unsigned int cost = db->alone_next > 0 ? db->alone_next : ALONE_MIN;

	db->alone = lost ? cost : 0;
	db->alone_next = !lost ? 0 : cost < ALONE_MAX ? 2 * cost : cost;
}

/* What is neither written nor answered has to go alone, and learns there why. Returns how many are
 * decided, which come first then. */
static size_t write_group(struct db *db, struct create **creates, size_t n)
{
	struct ticket tickets[CREATES_MAX] = { 0 };
	size_t decided = 0, left = n;

	for (size_t i = 0; i < n; i++)
		tickets[i].create = creates[i];
	learn(db, create_write(db, tickets, n) != RC_OK);
	for (size_t i = n; i-- > 0;) {
		struct ticket *t = &tickets[i];

		if (t->answered)
			continue;
		t->create->created = CREATED_NEW;
		t->create->alone =
			!t->written || create_fill(&t->create->job, t->create, t->owner,
						   t->owner_len, t->contract_version) != RC_OK;
		if (t->create->alone)
			creates[--left] = t->create;
	}
	for (size_t i = 0; i < n; i++)
		if (!tickets[i].create->alone)
			creates[decided++] = tickets[i].create;
	return decided;
}

static bool same_caller(const struct caller *a, const struct caller *b)
{
	if (a->has_token || b->has_token)
		return a->has_token && b->has_token && !a->owner && !b->owner &&
		       memcmp(a->token_sha256, b->token_sha256, SHA256_BYTES) == 0;
	return a->owner_len == b->owner_len && memcmp(a->owner, b->owner, a->owner_len) == 0;
}

/* Sure only where it is true: a caller may have two tokens, or one and a name. */
static bool same_caller_and_key(const struct create *a, const struct create *b)
{
	return a->key->len == b->key->len &&
	       memcmp(a->key->bytes, b->key->bytes, a->key->len) == 0 &&
	       same_caller(a->caller, b->caller);
}

static bool is_second_click(struct create *const *creates, size_t n, const struct create *c)
{
	size_t at = 0;

	while (at < n && !same_caller_and_key(creates[at], c))
		at++;
	return at < n;
}

static void move_up(struct create **creates, size_t from, size_t to)
{
	struct create *c = creates[from];

	memmove(creates + to + 1, creates + to, (from - to) * sizeof(struct create *));
	creates[to] = c;
}

/* As many as go into one statement, the first among them: a number that a statement is prepared
 * for. They come first then. The second of a double click is a repeat of the first once that is
 * written, and isn't among them. */
static size_t gather(const struct db *db, struct create **creates, size_t n)
{
	size_t taken = 0, bytes = 0;

	for (size_t i = 0; i < n && db->alone == 0; i++) {
		struct create *c = creates[i];

		c->alone |= c->caller->has_token && c->caller->owner;
		if (!c->alone && is_second_click(creates, taken, c))
			c->alone = c->met = true;
		if (c->alone && i > 0)
			continue;
		bytes += c->intent->input_len + c->intent->metadata_len;
		if (c->alone || bytes > GROUP_BYTES_MAX)
			break;
		move_up(creates, i, taken++);
	}
	return stmt_group(taken);
}

/* And nothing has become of it yet. */
static bool just_written(const struct create *c)
{
	return c->created == CREATED_NEW && c->job.version == 0 && c->job.revision == 0;
}

/* The one that was written a moment ago, of which `c` is the second click. */
static const struct create *twin_of(struct create *const *written, size_t n, const struct create *c)
{
	for (size_t i = 0; i < n; i++)
		if (just_written(written[i]) && same_caller_and_key(written[i], c))
			return written[i];
	return NULL;
}

/* As the first is answered, so without what only the database's clock says: that the deadline has
 * passed, and when it runs to the millisecond. */
static bool answer_twin(struct create *c, const struct create *twin)
{
	const struct job *job = &twin->job;
	bool same = memcmp(c->intent->fingerprint, twin->intent->fingerprint, SHA256_BYTES) == 0;

	c->created = same ? CREATED_REPLAYED : CREATED_KEY_REUSED;
	if (same)
		return create_fill(&c->job, twin, job->owner.bytes, job->owner.len,
				   job->contract_version) == RC_OK;
	c->job.id = twin->id;
	return true;
}

/* Of those after the first `decided`: the second clicks on what has just been written. Returns how
 * many are decided now. */
static size_t answer_twins(struct create **creates, size_t n, size_t decided)
{
	size_t written = decided;

	for (size_t i = decided; i < n; i++) {
		struct create *c = creates[i];
		const struct create *twin = c->met ? twin_of(creates, written, c) : NULL;

		if (!twin || !answer_twin(c, twin))
			continue;
		c->alone = false;
		move_up(creates, i, decided++);
	}
	return decided;
}

size_t job_store_create(struct db *db, struct create **creates, size_t n)
{
	size_t group = gather(db, creates, n);

	struct create *first = creates[0];

	if (group > 1)
		return answer_twins(creates, n, write_group(db, creates, group));
	if (db->alone > 0 && first->rounds == 0)
		db->alone--;
	if (create_alone(db, first))
		return answer_twins(creates, n, 1);
	first->alone = true;
	memmove(creates, creates + 1, (n - 1) * sizeof(struct create *));
	creates[n - 1] = first;
	return 0;
}
