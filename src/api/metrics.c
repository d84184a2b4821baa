/* metrics.c: GET /metrics, in Prometheus' text format (version 0.0.4). What the database tells in a
 * few bounded questions; names of contracts and providers need no escapes. */
#include <inttypes.h>
#include <stdlib.h>

#include "api/handlers.h"
#include "store/certificate_store.h"
#include "store/vitals.h"

#define ROUTES_MAX 1000
#define WARN_S 86400

static void head(struct text *out, const char *name, const char *help, const char *type)
{
	text_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void gauge(struct text *out, const char *name, const char *help)
{
	head(out, name, help, "gauge");
}

static void count(struct text *out, const char *name, const char *help, uint64_t value)
{
	gauge(out, name, help);
	text_addf(out, "%s %" PRIu64 "\n", name, value);
}

/* How long ago by the database's clock; 0 where there is none. */
static void age(struct text *out, const char *name, const char *help, bool has, int64_t since_us,
		int64_t now_us)
{
	int64_t age_us = has && now_us > since_us ? now_us - since_us : 0;

	gauge(out, name, help);
	text_addf(out, "%s %" PRId64 ".%03" PRId64 "\n", name, age_us / 1000000,
		  age_us % 1000000 / 1000);
}

static void add_vitals(struct text *out, const struct vitals *v)
{
	count(out, "onejob_pollers_alive", "Pollers whose lease runs.", v->pollers_alive);
	count(out, "onejob_attempts_unknown", "Attempts whose outcome nobody knows.",
	      v->unknown_attempts);
	head(out, "onejob_races_total",
	     "Results thrown away and kept as races: another attempt had won, or the job had "
	     "ended.",
	     "counter");
	text_addf(out, "onejob_races_total %" PRIu64 "\n", v->races_total);
	age(out, "onejob_oldest_due_job_seconds", "Since the oldest due job could have started.",
	    v->has_oldest_due, v->oldest_due_us, v->database_now_us);
	age(out, "onejob_oldest_unknown_job_seconds", "Since the oldest unknown job was heard of.",
	    v->has_oldest_unknown, v->oldest_unknown_us, v->database_now_us);
	count(out, "onejob_jobs_stranded",
	      "Queued jobs whose provider is disabled or gone; 1000 at most.", v->stranded);
	count(out, "onejob_webhook_endpoints_disabled", "Owners' endpoints that are disabled.",
	      v->endpoints_disabled);
	count(out, "onejob_webhook_messages_given_up", "Messages that are tried no more.",
	      v->messages_given_up);
	count(out, "onejob_webhook_messages_failing",
	      "Messages that failed and are tried again; 1000 at most.", v->messages_failing);
}

static void add_labels(struct text *out, const char *name, const struct route_standing *route)
{
	text_addf(out, "%s{contract=\"%s\",provider=\"%s\"} ", name, route->contract,
		  route->provider);
}

/* Each later route of the contracts that count now. */
static void add_routes(struct text *out, const struct route_standing *routes, size_t len)
{
	gauge(out, "onejob_route_certified", "1: jobs may fail over along this route now.");
	for (size_t i = 0; i < len; i++) {
		if (routes[i].place == 0)
			continue;
		add_labels(out, "onejob_route_certified", &routes[i]);
		text_addf(out, "%d\n", routes[i].now == STANDING_VALID);
	}
	gauge(out, "onejob_certificate_expiry_timestamp_seconds",
	      "When the newest certificate of this route runs out, Unix time.");
	for (size_t i = 0; i < len; i++) {
		if (routes[i].expires_us == 0)
			continue;
		add_labels(out, "onejob_certificate_expiry_timestamp_seconds", &routes[i]);
		text_addf(out, "%" PRId64 "\n", routes[i].expires_us / 1000000);
	}
}

void metrics_show(const struct api *api, struct call *call, struct reply *reply)
{
	struct route_standing *routes = calloc(ROUTES_MAX, sizeof *routes);
	struct vitals vitals;
	size_t len;
	bool more;

	(void)call;
	if (!routes || vitals_read(api->db, &vitals) != RC_OK ||
	    certificate_store_standings(api->db, NULL, WARN_S, routes, ROUTES_MAX, &len, &more) !=
		    RC_OK) {
		answer_unavailable(reply);
	} else {
		struct text *out = reply_plain(reply, 200);

		add_vitals(out, &vitals);
		add_routes(out, routes, len);
	}
	free(routes);
}
