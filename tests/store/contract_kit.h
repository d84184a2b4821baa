/* contract_kit.h: contracts, certificates and jobs along their routes, for the tests of the store.
 * Whatever goes wrong in here fails the test that called, but for what returns a code. */
#ifndef TESTS_STORE_CONTRACT_KIT_H
#define TESTS_STORE_CONTRACT_KIT_H

#include "testdb.h"

#include "store/certificate_store.h"
#include "store/contract_store.h"

/* Reads the definition and puts it. */
enum rc contract_put(struct db *db, const char *name, const char *json, bool *new_out,
		     size_t *unknown_out, struct definition_row *row_out);

/* The same for a contract over these providers (with blanks between), without side effects, with
 * one fixture, and with `more` members ("" or ", ..."). Returns its version. */
uint32_t contract_new(const char *name, const char *providers, const char *more);

/* Its definition; until the 4th next call. */
const char *contract_over(const char *providers, const char *more);

enum rc provider_put(struct db *db, const char *name, const char *json);

/* A verdict on a route as a poller gives it: asked for, taken, ended. Returns its id. */
struct id certify(const char *contract, const char *provider, bool passed);

struct intent contract_intent(const char *contract, const char *input);
struct id contract_job(const char *contract); /* of ann, queued */

/* The one attempt that a new poller can start now; "" where there is none. The name lasts until the
 * next call; attempt_out may be NULL. */
const char *start_one(struct id *attempt_out);

/* The attempt failed for certain. */
void fail_it(const struct id *attempt, enum reason reason, bool retryable);

/* "state provider reason" of a job: where it would go next while it is queued, and what it failed
 * for. */
void stands(const struct id *job, const char *want);

#endif
