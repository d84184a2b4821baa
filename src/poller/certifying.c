#include "poller/certifying.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "poller/desk_own.h"

#define RUNS_MAX 4
#define LOOK_MS 500
#define UNSENT_MS 1000
#define REFUSED_MS 10000
#define REPORT_END_BYTES 256 /* of a report that is cut */
#define WHY_BYTES 256

static void free_run(struct certifying *run)
{
	certify_free(run->certify);
	certify_task_release(&run->task);
	free(run);
}

static void take_run(struct desk *d, struct certify_task *task)
{
	struct certifying *run = calloc(1, sizeof *run);

	if (!run || certify_open(task->contract, task->route, &run->certify) != RC_OK) {
		free(run);
		certify_task_release(task); /* its lease ends, and another begins it */
		desk_give_up_id(d, "there is no memory for a certification");
		return;
	}
	run->task = *task;
	run->poller = d->id;
	run->next = d->runs;
	d->runs = run;
	d->runs_len++;
	log_info("certify.begun", "contract=%s version=%u provider=%s requests=%u",
		 run->task.contract_name, run->task.contract_version, run->task.route->provider,
		 certify_total(run->certify));
}

static void take_runs(struct desk *d)
{
	struct certify_task *tasks;
	size_t len;
	int64_t now_ms = clock_monotonic_ms();

	if (now_ms < d->certify_at_ms || !d->registered)
		return;
	d->certify_at_ms = now_ms + LOOK_MS; /* without room too: the desk wakes up for it */
	if (d->runs_len >= RUNS_MAX)
		return;
	enum rc rc = certify_store_take(d->db, &d->id, RUNS_MAX - d->runs_len, &tasks, &len);

	if (rc == RC_UNCERTAIN) /* as with a claim: there may be a run that nobody is at */
		desk_give_up_id(d, "the answer to the taking of a certification was lost");
	if (rc != RC_OK)
		desk_say_trouble(d);
	for (size_t i = 0; i < len; i++) {
		if (rc == RC_UNCERTAIN)
			certify_task_release(&tasks[i]);
		else
			take_run(d, &tasks[i]);
	}
	free(tasks);
}

static void send_step(struct desk *d, struct certifying *run)
{
	struct errand_list list = { 0 };
	struct errand *errand = calloc(1, sizeof *errand);

	if (!errand) {
		run->next_ms = clock_monotonic_ms() + UNSENT_MS;
		return;
	}
	*errand = (struct errand){
		.kind = ERRAND_CERTIFY,
		.run = run,
		.job_id = clock_id(),
		.attempt_id = clock_id(),
		.tries = 1,
		.provider = run->task.route->provider,
		.def = &run->task.def,
		.has_contract = true,
		.contract = run->task.contract,
		.route = run->task.route,
		.traceparent = "",
		.budget_ms = -1,
		.claimed_us = clock_real_us(),
		.claimed_ms = clock_monotonic_ms(),
	};
	run->out = true;
	errand_push(&list, errand);
	desk_hand_out(d, list);
}

/* RC_NOT_FOUND: no. Else but RC_OK: the database is away; later. */
static enum rc ask_to_go_on(struct desk *d, struct certifying *run)
{
	if (!d->registered || !id_equal(&run->poller, &d->id))
		return RC_NOT_FOUND; /* its lease has ended; another poller may be at it */
	enum rc rc = certify_store_progress(d->db, &d->id, &run->task, certify_done(run->certify));

	if (rc != RC_OK && rc != RC_NOT_FOUND)
		desk_say_trouble(d);
	return rc;
}

static enum rc write_verdict(struct desk *d, struct certifying *run, bool passed, size_t max)
{
	struct text report;
	enum rc rc = RC_FAULT;

	text_init(&report, max + REPORT_END_BYTES);
	certify_report(run->certify, max, &report);
	if (text_ok(&report))
		rc = certify_store_end(d->db, &d->id, &run->task, passed, report.bytes, report.len);
	text_release(&report);
	return rc;
}

/* False: later, and nothing is sent meanwhile. Said twice it finds the run gone. What the database
 * refuses is said without its entries, and at last as no verdict: the requests were made, and must
 * not be made again and again for want of a row. */
static bool end_run(struct desk *d, struct certifying *run)
{
	bool passed = certify_passed(run->certify);
	enum rc rc = write_verdict(d, run, passed, CERTIFY_REPORT_MAX);

	if (db_refused(rc))
		rc = write_verdict(d, run, passed, 0);
	if (db_refused(rc)) {
		log_error("certify.unwritten", "contract=%s version=%u provider=%s: %s",
			  run->task.contract_name, run->task.contract_version,
			  run->task.route->provider, db_error(d->db));
		run->next_ms = clock_monotonic_ms() + REFUSED_MS;
		return certify_store_drop(d->db, &d->id, &run->task) == RC_OK;
	}
	if (rc == RC_RETRY || rc == RC_UNCERTAIN) {
		desk_say_trouble(d);
		return false;
	}
	log_info("certify.ended", "contract=%s version=%u provider=%s passed=%s written=%s",
		 run->task.contract_name, run->task.contract_version, run->task.route->provider,
		 passed ? "yes" : "no", rc == RC_OK ? "yes" : "no");
	return true;
}

/* True: nothing is left of it to do here. */
static bool advance(struct desk *d, struct certifying *run)
{
	if (run->out || clock_monotonic_ms() < run->next_ms || desk_in_trouble(d))
		return false;
	if (certify_next(run->certify) == CERTIFY_DONE)
		return end_run(d, run);
	enum rc rc = ask_to_go_on(d, run);

	if (rc == RC_OK)
		send_step(d, run);
	if (rc == RC_NOT_FOUND)
		log_info("certify.left", "contract=%s version=%u provider=%s",
			 run->task.contract_name, run->task.contract_version,
			 run->task.route->provider);
	return rc == RC_NOT_FOUND;
}

void certifying_run(struct desk *d)
{
	if (!desk_is_claiming(d)) {
		certifying_drop(d);
		return;
	}
	if (!desk_in_trouble(d))
		take_runs(d);
	for (struct certifying **at = &d->runs; *at;) {
		struct certifying *run = *at;

		if (!advance(d, run)) {
			at = &run->next;
			continue;
		}
		*at = run->next;
		d->runs_len--;
		free_run(run);
	}
}

void certifying_drop(struct desk *d)
{
	for (struct certifying **at = &d->runs; *at;) {
		struct certifying *run = *at;

		if (run->out) {
			at = &run->next;
			continue;
		}
		*at = run->next;
		d->runs_len--;
		free_run(run);
	}
}

bool certifying_idle(struct desk *d)
{
	bool any = false;

	return d->runs_len == 0 && certify_store_any(d->db, &any) == RC_OK && !any;
}

void certifying_back(struct errand *errand)
{
	errand->run->out = false;
	if (errand->keeps) /* it wasn't sent */
		errand->run->next_ms = clock_monotonic_ms() + UNSENT_MS;
	errand_free(errand);
}

static void conclude_tool(struct certify *certify, const struct seen *seen)
{
	bool whole = seen->end == SEEN_WHOLE && !seen->too_large && !seen->two_lengths;
	bool ok = whole && seen->http_status >= 200 && seen->http_status <= 299;
	char why[WHY_BYTES];

	if (whole)
		snprintf(why, sizeof why, "the tokenizer answered %" PRIu32, seen->http_status);
	else
		snprintf(why, sizeof why, "the tokenizer gave no whole answer");
	certify_tokenizer_answer(certify, ok, seen->body, seen->body_len, why);
}

void certifying_conclude(struct errand *errand, const struct seen *seen)
{
	struct certify *certify = errand->run->certify;
	const struct fixture *fixture = certify_fixture(certify);
	const struct terms terms = { .contract = errand->contract,
				     .route = errand->route,
				     .input = fixture ? fixture->input : NULL };

	if (errand->run->step != CERTIFY_WORK) {
		conclude_tool(certify, seen);
		return;
	}
	if (outcome_of(seen, errand->def, &terms, &errand->outcome) != RC_OK)
		errand->outcome = (struct outcome){ .kind = OUTCOME_UNKNOWN };
	certify_work_answer(certify, &errand->outcome);
}
