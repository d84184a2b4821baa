/* certify_watch.c: see certify_watch.h. */
#include "ctl/certify_watch.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/view.h"
#include "ctl/build.h"
#include "ctl/certify_report.h"
#include "store/vitals.h"

#define LOOK_EVERY_MS 200
#define NO_POLLER_MS 10000 /* pollers that cron starts leave gaps of a few seconds */
#define NO_VERDICT                                                                                 \
	"no verdict: the contract or the provider has changed meanwhile, or the verdict could "    \
	"not be written down (the poller's log says which); ask again"
#define RUNS_MAX (2 * CONTRACT_ROUTES_MAX)

struct watch *watch_new(void)
{
	return calloc(1, sizeof(struct watch));
}

void watch_free(struct watch *watch)
{
	for (size_t i = 0; watch && i < watch->len; i++)
		certificate_release(&watch->list[i].verdict);
	free(watch);
}

static const struct certificate *find_certificate(const struct certificate *list, size_t len,
						  const char *provider)
{
	for (size_t i = 0; i < len; i++)
		if (strcmp(list[i].provider, provider) == 0)
			return &list[i];
	return NULL;
}

/* Long reports come in several pages. */
static enum rc read_certificates(struct ctl *ctl, const char *contract,
				 struct certificate **list_out, size_t *len_out)
{
	struct certificate_filter filter = { .contract = contract, .limit = 200 };
	struct certificate *all = calloc(CONTRACT_ROUTES_MAX, sizeof *all);
	bool more = all != NULL;
	enum rc rc = all ? RC_OK : RC_FAULT;
	size_t len = 0;

	while (more) {
		struct certificate *page = NULL;
		size_t page_len = 0, i = 0;

		rc = certificate_store_list(ctl->db, &filter, &page, &page_len, &more);
		for (; i < page_len && len < CONTRACT_ROUTES_MAX; i++)
			all[len++] = page[i];
		more = rc == RC_OK && more && page_len > 0 && len < CONTRACT_ROUTES_MAX;
		filter.has_before = true;
		if (len > 0)
			filter.before = all[len - 1].id;
		for (; i < page_len; i++)
			certificate_release(&page[i]);
		free(page);
	}
	*list_out = all;
	*len_out = len;
	if (rc != RC_OK)
		certificate_list_free(all, len);
	return rc;
}

static void refuse(struct ctl *ctl, const struct certify_order *order, enum certify_asked asked,
		   size_t unknown)
{
	const char *name = order->contract;

	switch (asked) {
	case CERTIFY_NO_SUCH_CONTRACT: ctl_say(ctl, "there is no contract %s", name); return;
	case CERTIFY_NO_SUCH_ROUTE:
		ctl_say(ctl, "%s has no route of the provider %s; nothing was asked for", name,
			order->routes[unknown]);
		return;
	case CERTIFY_NO_FIXTURES:
		ctl_say(ctl,
			"%s: no fixture has a check of its own, so there is nothing to certify by",
			name);
		return;
	case CERTIFY_SIDE_EFFECTS:
		ctl_say(ctl,
			"%s has side effects, and each of its fixtures would really be done, in "
			"every round. If that is meant, add --side-effects",
			name);
		return;
	case CERTIFY_ASKED: return;
	case CERTIFY_NOT_STORED:
	case CERTIFY_ASKED__MAX: break;
	}
	ctl_say(ctl, "%s: the database failed, or holds a contract that can't be read here (%s)",
		name, db_error(ctl->db));
}

/* `before`: the verdicts that were there. */
static void add(struct watch *watch, const struct certify_order *order, uint32_t version,
		const char *provider, const struct certificate *before)
{
	struct watched *run = &watch->list[watch->len];

	if (watch->len == WATCHED_MAX)
		return;
	*run = (struct watched){ .version = version, .had_verdict = before != NULL };
	memcpy(run->contract, order->contract, strlen(order->contract) + 1);
	memcpy(run->provider, provider, strlen(provider) + 1);
	if (before)
		run->before = before->id;
	watch->len++;
}

enum certify_asked watch_ask(struct ctl *ctl, struct watch *watch,
			     const struct certify_order *order)
{
	char providers[CONTRACT_ROUTES_MAX][NAME_MAX_LEN + 1];
	struct certificate *before;
	size_t before_len, len = 0, unknown = 0;
	uint32_t version = 0;
	enum certify_asked asked = CERTIFY_NOT_STORED;

	if (read_certificates(ctl, order->contract, &before, &before_len) == RC_OK) {
		asked = certify_store_ask(ctl->db, order, &version, providers, &len, &unknown);
		for (size_t i = 0; asked == CERTIFY_ASKED && i < len; i++)
			add(watch, order, version, providers[i],
			    find_certificate(before, before_len, providers[i]));
		certificate_list_free(before, before_len);
	}
	refuse(ctl, order, asked, unknown);
	return asked;
}

static void take_note(struct watched *run, const struct certify_run *runs, size_t len)
{
	run->taken = false;
	run->ended = true;
	for (size_t i = 0; i < len; i++) {
		if (runs[i].contract_version != run->version ||
		    strcmp(runs[i].provider, run->provider) != 0)
			continue;
		run->ended = false;
		run->taken = runs[i].taken;
		run->done = runs[i].done;
		run->total = runs[i].total;
	}
	if (run->ended)
		run->done = run->total;
}

/* Those of one contract stand beside each other. */
static enum rc look(struct ctl *ctl, struct watch *watch)
{
	struct certify_run runs[RUNS_MAX];
	const char *of = "";
	size_t len = 0;

	for (size_t i = 0; i < watch->len; i++) {
		struct watched *run = &watch->list[i];

		if (run->ended)
			continue;
		if (strcmp(of, run->contract) != 0) {
			enum rc rc =
				certify_store_runs(ctl->db, run->contract, runs, RUNS_MAX, &len);

			if (rc != RC_OK)
				return rc;
			of = run->contract;
		}
		take_note(run, runs, len);
	}
	return RC_OK;
}

struct progress {
	size_t open; /* runs that haven't ended */
	size_t taken;
	uint64_t done, total;
};

static struct progress count(const struct watch *watch)
{
	struct progress p = { 0 };

	for (size_t i = 0; i < watch->len; i++) {
		p.open += !watch->list[i].ended;
		p.taken += watch->list[i].taken;
		p.done += watch->list[i].done;
		p.total += watch->list[i].total;
	}
	return p;
}

static void show(struct ctl *ctl, const struct watch *watch, const struct progress *p, bool alone)
{
	fprintf(ctl->err,
		"\rcertifying: %" PRIu64 " of %" PRIu64 " fixtures, %zu of %zu routes%s\033[K",
		p->done, p->total, watch->len - p->open, watch->len,
		alone ? "; no poller is alive" : "");
	fflush(ctl->err);
}

/* Whether a poller could be at it. One that is shows by the run itself. */
static enum rc find_poller(struct ctl *ctl, const struct progress *p, bool *alive_out)
{
	struct vitals vitals;

	*alive_out = true;
	if (p->open == 0 || p->taken > 0)
		return RC_OK;
	enum rc rc = vitals_read(ctl->db, &vitals);

	*alive_out = rc == RC_OK && vitals.pollers_alive > 0;
	return rc;
}

static enum ctl_exit give_up(struct ctl *ctl)
{
	ctl_say(ctl, "no poller is alive, so nothing goes on. What was asked for waits: start "
		     "onejob-poller, then see `onejob contract certificates`");
	return CTL_REFUSED;
}

static enum ctl_exit watch_on(struct ctl *ctl, struct watch *watch, bool terminal)
{
	int64_t alone_since_ms = -1;

	for (;;) {
		bool alive = true;
		enum rc rc = look(ctl, watch);
		struct progress p = count(watch);

		if (rc == RC_OK)
			rc = find_poller(ctl, &p, &alive);
		if (rc != RC_OK) {
			ctl_say(ctl,
				"the database failed; what was asked for stays so: see `onejob "
				"contract certificates` (%s)",
				db_error(ctl->db));
			return CTL_UNREACHED;
		}
		if (p.open == 0)
			return CTL_DONE;
		if (alive)
			alone_since_ms = -1;
		else if (alone_since_ms < 0)
			alone_since_ms = clock_monotonic_ms();
		else if (clock_monotonic_ms() - alone_since_ms > NO_POLLER_MS)
			return give_up(ctl);
		if (terminal)
			show(ctl, watch, &p, !alive);
		(void)poll(NULL, 0, LOOK_EVERY_MS);
	}
}

/* A verdict that was there before, or is on another version, isn't ours. */
static bool is_ours(const struct watched *run, const struct certificate *verdict)
{
	return verdict->contract_version == run->version &&
	       !(run->had_verdict && id_equal(&verdict->id, &run->before));
}

static enum rc read_verdicts(struct ctl *ctl, struct watch *watch)
{
	for (size_t i = 0; i < watch->len; i++) {
		const char *contract = watch->list[i].contract;
		struct certificate *list;
		size_t len;

		if (i > 0 && strcmp(contract, watch->list[i - 1].contract) == 0)
			continue;
		enum rc rc = read_certificates(ctl, contract, &list, &len);

		if (rc != RC_OK)
			return rc;
		for (size_t j = i; j < watch->len; j++) {
			struct watched *run = &watch->list[j];
			struct certificate *found =
				(struct certificate *)(uintptr_t)find_certificate(list, len,
										  run->provider);

			if (strcmp(run->contract, contract) != 0 || !found || !is_ours(run, found))
				continue;
			run->has_verdict = true;
			run->verdict = *found; /* the report is handed over */
			found->report = (struct blob){ 0 };
		}
		certificate_list_free(list, len);
	}
	return RC_OK;
}

enum ctl_exit watch_wait(struct ctl *ctl, struct watch *watch)
{
	bool terminal = isatty(fileno(ctl->err)) == 1;
	enum ctl_exit end = watch_on(ctl, watch, terminal);

	if (terminal)
		fputs("\r\033[K", ctl->err);
	if (end != CTL_DONE)
		return end;
	enum rc rc = read_verdicts(ctl, watch);
	return rc == RC_OK ? CTL_DONE : ctl_failed(ctl, rc, "the certificates");
}

static void print_head(struct ctl *ctl, const struct watch *watch, size_t at)
{
	const struct watched *run = &watch->list[at];

	if (at == 0 || strcmp(run->contract, watch->list[at - 1].contract) != 0)
		ctl_line(ctl, "%s, version %" PRIu32, run->contract, run->version);
}

static struct json_object *view_asked(const struct watched *run)
{
	struct json_object *view = build_object();

	build_add(&view, "contract", build_string(run->contract));
	build_add(&view, "version", build_number(run->version));
	build_add(&view, "provider", build_string(run->provider));
	return view;
}

enum ctl_exit watch_print_asked(struct ctl *ctl, const struct watch *watch)
{
	struct json_object *all = build_object(), *rows = build_array();

	for (size_t i = 0; i < watch->len; i++) {
		const struct watched *run = &watch->list[i];

		build_push(&rows, view_asked(run));
		if (ctl->json)
			continue;
		print_head(ctl, watch, i);
		ctl_line(ctl, "  %s: asked for", run->provider);
	}
	build_add(&all, "asked", rows);
	if (ctl->json)
		return ctl_print_json(ctl, all);
	build_drop(all);
	return CTL_DONE;
}

static void print_for_people(struct ctl *ctl, const struct watch *watch)
{
	for (size_t i = 0; i < watch->len; i++) {
		const struct watched *run = &watch->list[i];

		print_head(ctl, watch, i);
		if (run->has_verdict)
			report_print(ctl, &run->verdict);
		else
			ctl_line(ctl, "  %s: " NO_VERDICT, run->provider);
	}
}

enum ctl_exit watch_print_verdicts(struct ctl *ctl, const struct watch *watch)
{
	struct json_object *all = build_object(), *rows = build_array();
	enum ctl_exit end = CTL_DONE, printed = CTL_DONE;

	for (size_t i = 0; i < watch->len; i++) {
		const struct watched *run = &watch->list[i];

		if (!run->has_verdict || !report_is_good(&run->verdict))
			end = CTL_REFUSED;
		if (run->has_verdict)
			build_push(&rows, view_certificate(&run->verdict));
		else if (ctl->json)
			ctl_say(ctl, "%s, %s: " NO_VERDICT, run->contract, run->provider);
	}
	build_add(&all, "certificates", rows);
	if (ctl->json) {
		printed = ctl_print_json(ctl, all);
	} else {
		build_drop(all);
		print_for_people(ctl, watch);
	}
	return end == CTL_DONE ? printed : end;
}
