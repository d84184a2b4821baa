/* cmd_certify.c: onejob contract certify: of a contract's routes, or, with --renew, of whatever
 * runs out. */
#include "ctl/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/certify_watch.h"
#include "ctl/input.h"

#define RENEW_WITHIN "24h"
#define RENEW_WITHIN_S (24 * UINT64_C(3600))

/* The command line, read. */
struct certify_args {
	const char *contract; /* NULL: all, with --renew */
	const char *routes[CONTRACT_ROUTES_MAX];
	size_t routes_len; /* 0: every route */
	bool side_effects;
	bool renew;
	const char *within; /* as it was written */
	uint64_t within_s;
};

static enum ctl_exit add_route(struct ctl *ctl, const char *route, struct certify_args *out)
{
	if (!name_valid(route, strlen(route)))
		return ctl_usage(ctl, "--route %s: no provider can have this name", route);
	for (size_t i = 0; i < out->routes_len; i++)
		if (strcmp(out->routes[i], route) == 0)
			return ctl_usage(ctl, "--route %s is given twice", route);
	out->routes[out->routes_len++] = route;
	return CTL_DONE;
}

static enum ctl_exit read_routes(struct ctl *ctl, const struct args *args, struct certify_args *out)
{
	const char *const *again = args->again[OPTION_ROUTE];
	enum ctl_exit end = CTL_DONE;

	if (args->option[OPTION_ROUTE])
		end = add_route(ctl, args->option[OPTION_ROUTE], out);
	for (size_t i = 0; end == CTL_DONE && i < TIMES_MAX - 1 && again[i]; i++)
		end = add_route(ctl, again[i], out);
	return end;
}

static enum ctl_exit read_args(struct ctl *ctl, const struct args *args, struct certify_args *out)
{
	const char *within = args->option[OPTION_WITHIN];

	*out = (struct certify_args){ .contract = args->operand[0],
				      .side_effects = args->option[OPTION_SIDE_EFFECTS] != NULL,
				      .renew = args->option[OPTION_RENEW] != NULL,
				      .within = within ? within : RENEW_WITHIN,
				      .within_s = RENEW_WITHIN_S };
	if (!out->contract && !out->renew)
		return ctl_usage(ctl, "which contract? Only with --renew its name may be left out");
	if (out->contract && !name_valid(out->contract, strlen(out->contract)))
		return ctl_usage(ctl, "'%s' can't be a contract's name", out->contract);
	if (out->renew && args->option[OPTION_ROUTE])
		return ctl_usage(ctl, "--route and --renew don't go together");
	if (within && !out->renew)
		return ctl_usage(ctl, "--within means nothing without --renew");
	if (within && !input_length(within, &out->within_s))
		return ctl_usage(ctl, "--within %s: 30m, 12h or 7d", within);
	return read_routes(ctl, args, out);
}

static enum ctl_exit exit_of(enum certify_asked asked)
{
	switch (asked) {
	case CERTIFY_ASKED: return CTL_DONE;
	case CERTIFY_NO_SUCH_CONTRACT:
	case CERTIFY_NO_SUCH_ROUTE:
	case CERTIFY_NO_FIXTURES:
	case CERTIFY_SIDE_EFFECTS: return CTL_REFUSED;
	case CERTIFY_NOT_STORED:
	case CERTIFY_ASKED__MAX: break;
	}
	return CTL_UNREACHED;
}

static enum ctl_exit ask_one(struct ctl *ctl, const struct certify_args *want, struct watch *watch)
{
	const struct certify_order order = { .contract = want->contract,
					     .routes = want->routes_len ? want->routes : NULL,
					     .routes_len = want->routes_len,
					     .side_effects = want->side_effects };

	return exit_of(watch_ask(ctl, watch, &order));
}

/* All of one contract among those that run out, the first of which stands at `first`. A contract
 * with side effects that nobody spoke of is left out, which is said, and is no failure. */
static enum ctl_exit renew_contract(struct ctl *ctl, const struct certify_args *want,
				    const struct expiring *list, size_t len, size_t first,
				    struct watch *watch)
{
	const char *routes[CONTRACT_ROUTES_MAX];
	struct certify_order order = { .contract = list[first].contract,
				       .routes = routes,
				       .side_effects = want->side_effects };

	for (size_t i = first; i < len && order.routes_len < CONTRACT_ROUTES_MAX; i++)
		if (strcmp(list[i].contract, order.contract) == 0)
			routes[order.routes_len++] = list[i].provider;
	enum certify_asked asked = watch_ask(ctl, watch, &order);

	return asked == CERTIFY_SIDE_EFFECTS ? CTL_DONE : exit_of(asked);
}

static bool came_before(const struct expiring *list, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (strcmp(list[i].contract, list[at].contract) == 0)
			return true;
	return false;
}

/* One that can't be asked for keeps none of the others. */
static enum ctl_exit renew(struct ctl *ctl, const struct certify_args *want,
			   const struct expiring *list, size_t len, struct watch *watch)
{
	enum ctl_exit worst = CTL_DONE;

	for (size_t i = 0; i < len; i++) {
		if (came_before(list, i))
			continue;
		enum ctl_exit end = renew_contract(ctl, want, list, len, i, watch);

		if (end > worst)
			worst = end;
	}
	if (len == CERTIFICATES_EXPIRING_MAX)
		ctl_say(ctl, "%d routes at a time; there may be more: run it again",
			CERTIFICATES_EXPIRING_MAX);
	if (len == 0 && !ctl->json)
		ctl_line(ctl, "no certificate runs out within %s, so there is nothing to renew",
			 want->within);
	else if (watch->len == 0 && worst == CTL_DONE && !ctl->json)
		ctl_line(ctl, "nothing was asked for");
	return worst;
}

static enum ctl_exit ask_renewals(struct ctl *ctl, const struct certify_args *want,
				  struct watch *watch)
{
	struct expiring *list = calloc(CERTIFICATES_EXPIRING_MAX, sizeof *list);
	size_t len = 0;

	if (!list) {
		ctl_say(ctl, "out of memory");
		return CTL_REFUSED;
	}
	enum rc rc = certificate_store_expiring(ctl->db, (uint32_t)want->within_s, want->contract,
						list, &len);
	enum ctl_exit end = rc == RC_OK ? renew(ctl, want, list, len, watch)
					: ctl_failed(ctl, rc, "the certificates");

	free(list);
	return end;
}

static enum ctl_exit finish(struct ctl *ctl, const struct args *args, struct watch *watch)
{
	if (args->option[OPTION_NO_WAIT])
		return watch_print_asked(ctl, watch);
	enum ctl_exit end = watch_wait(ctl, watch);

	return end == CTL_DONE ? watch_print_verdicts(ctl, watch) : end;
}

enum ctl_exit cmd_contract_certify(struct ctl *ctl, const struct args *args)
{
	struct certify_args want;
	enum ctl_exit end = read_args(ctl, args, &want);

	if (end == CTL_DONE)
		end = ctl_ready(ctl);
	if (end != CTL_DONE)
		return end;
	struct watch *watch = watch_new();
	if (!watch) {
		ctl_say(ctl, "out of memory");
		return CTL_REFUSED;
	}
	end = want.renew ? ask_renewals(ctl, &want, watch) : ask_one(ctl, &want, watch);
	if (watch->len > 0 || (end == CTL_DONE && ctl->json)) {
		enum ctl_exit told = finish(ctl, args, watch);

		end = told > end ? told : end;
	}
	watch_free(watch);
	return end;
}
