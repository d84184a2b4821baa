/* contracts.c: the contracts, and asking for a certification of their routes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/handlers.h"
#include "api/page.h"
#include "api/rows.h"
#include "core/flaws.h"
#include "core/view.h"
#include "store/certificate_store.h"
#include "store/contract_store.h"

void contracts_list(const struct api *api, struct call *call, struct reply *reply)
{
	char after[NAME_MAX_LEN + 1];
	char cursor[CURSOR_MAX + 1];
	struct definition_row *rows = NULL;
	struct json_object *array;
	struct page page;
	size_t len = 0;
	bool more = false;

	if (!page_read(call, NULL, 0, &page, reply) || !page_after(&page, after, reply))
		return;
	if (contract_store_list(api->db, page.query[PAGE_CURSOR].given ? after : NULL, page.limit,
				&rows, &len, &more) != RC_OK) {
		answer_unavailable(reply);
		return;
	}
	array = rows_begin();
	for (size_t i = 0; array && i < len; i++)
		array = rows_push(array, rows_definition(&rows[i]));
	more = more && len > 0;
	if (more)
		cursor_of_name(rows[len - 1].name, cursor);
	reply_json(reply, 200, rows_end("contracts", array, more ? cursor : NULL));
	definition_list_free(rows, len);
}

static void refuse_missing(struct reply *reply)
{
	reply_problem(reply, PROBLEM_NOT_FOUND, "There is no contract of this name.");
}

void contracts_get(const struct api *api, struct call *call, struct reply *reply)
{
	struct definition_row row = { .version = 0 };
	char name[NAME_MAX_LEN + 1];
	enum rc rc = RC_NOT_FOUND;

	if (path_name(call, name))
		rc = contract_store_get(api->db, name, &row);
	if (rc == RC_OK)
		reply_json(reply, 200, rows_definition(&row));
	else if (rc == RC_NOT_FOUND)
		refuse_missing(reply);
	else
		answer_unavailable(reply);
	definition_row_release(&row);
}

static void refuse_contract(struct reply *reply, const struct flaws *flaws)
{
	reply_problem(reply, PROBLEM_INVALID_CONTRACT, "The definition has %zu flaw%s.",
		      flaws->count, flaws->count == 1 ? "" : "s");
	reply_add_flaws(reply, flaws);
}

/* `place`: of the route whose provider isn't there. */
static void refuse_route(struct reply *reply, size_t place, struct flaws *flaws)
{
	char route[32];

	snprintf(route, sizeof route, "/routes/%zu", place);
	flaws_add(flaws, route, "provider", strlen("provider"),
		  "there is no provider of this name");
	refuse_contract(reply, flaws);
}

static void put(const struct api *api, const char *name, const struct contract *contract,
		struct flaws *flaws, struct reply *reply)
{
	struct definition_row row = { .version = 0 };
	bool is_new = false;
	size_t unknown = 0;
	enum rc rc = contract_store_put(api->db, name, contract, &is_new, &unknown, &row);

	if (rc == RC_OK)
		reply_json(reply, is_new ? 201 : 200, rows_definition(&row));
	else if (rc == RC_NOT_FOUND)
		refuse_route(reply, unknown, flaws);
	else
		answer_unavailable(reply);
	definition_row_release(&row);
}

void contracts_put(const struct api *api, struct call *call, struct reply *reply)
{
	struct contract *contract = NULL;
	struct flaws flaws;
	char name[NAME_MAX_LEN + 1];
	enum rc rc;

	flaws_init(&flaws);
	if (!path_name(call, name))
		flaws_add(&flaws, "", NULL, 0,
			  "the name in the path is none: 1 to 64 of a-z, 0-9, '-', '_' and '.'");
	rc = contract_read(call->request->body, call->request->body_len, &contract, &flaws);
	if (rc == RC_OK && flaws.count == 0)
		put(api, name, contract, &flaws, reply);
	else if (rc == RC_OK || rc == RC_INVALID)
		refuse_contract(reply, &flaws);
	else
		answer_unavailable(reply);
	contract_free(contract);
	flaws_release(&flaws);
}

void contracts_delete(const struct api *api, struct call *call, struct reply *reply)
{
	char name[NAME_MAX_LEN + 1];
	enum rc rc = RC_NOT_FOUND;

	if (path_name(call, name))
		rc = contract_store_delete(api->db, name);
	if (rc == RC_OK)
		reply_empty(reply, 204);
	else if (rc == RC_NOT_FOUND)
		refuse_missing(reply);
	else
		answer_unavailable(reply);
}

/* A body being read: which routes shall be certified, and whether the caller knows what that does.
 */
struct order {
	struct flaws flaws;
	char names[CONTRACT_ROUTES_MAX][NAME_MAX_LEN + 1];
	const char *routes[CONTRACT_ROUTES_MAX];
	size_t len;
	bool some; /* not every route: those that are named */
	bool side_effects;
};

static void wrong_route(struct order *order, size_t place, const char *why)
{
	char index[24];

	snprintf(index, sizeof index, "%zu", place);
	flaws_add(&order->flaws, "/routes", index, strlen(index), "%s", why);
}

static bool is_named(const struct order *order, const struct json_value *value)
{
	for (size_t i = 0; i < order->len; i++)
		if (json_is_string(value, order->routes[i]))
			return true;
	return false;
}

static void read_routes(struct order *order, const struct json_value *routes)
{
	size_t place = 0;

	order->some = true;
	if (routes->type != JSON_ARRAY || routes->count == 0 ||
	    routes->count > CONTRACT_ROUTES_MAX) {
		flaws_add(&order->flaws, "", "routes", strlen("routes"),
			  "must be a list of 1 to %d providers, or left out", CONTRACT_ROUTES_MAX);
		return;
	}
	for (const struct json_value *v = routes->child; v; v = v->next, place++) {
		if (v->type != JSON_STRING || !name_valid(v->string, v->string_len)) {
			wrong_route(order, place, "is no provider's name");
		} else if (is_named(order, v)) {
			wrong_route(order, place, "stands twice");
		} else {
			memcpy(order->names[order->len], v->string, v->string_len);
			order->names[order->len][v->string_len] = '\0';
			order->routes[order->len] = order->names[order->len];
			order->len++;
		}
	}
}

static bool is_member(const struct json_value *value, const char *name)
{
	return value->name_len == strlen(name) && memcmp(value->name, name, value->name_len) == 0;
}

static void read_member(struct order *order, const struct json_value *v)
{
	bool is_null = v->type == JSON_NULL;

	if (is_member(v, "routes")) {
		if (!is_null)
			read_routes(order, v);
	} else if (is_member(v, "side_effects")) {
		order->side_effects = v->type == JSON_TRUE;
		if (!order->side_effects && !is_null && v->type != JSON_FALSE)
			flaws_add(&order->flaws, "", v->name, v->name_len, "must be true or false");
	} else {
		flaws_add(&order->flaws, "", v->name, v->name_len, "there is no such member");
	}
}

static void read_order(struct order *order, const struct json_value *body)
{
	if (body && body->type != JSON_OBJECT)
		flaws_add(&order->flaws, "", NULL, 0, "must be an object");
	for (const struct json_value *v = body ? body->child : NULL; v && body->type == JSON_OBJECT;
	     v = v->next)
		read_member(order, v);
}

/* What was asked for: {"contract", "version", "routes"}. */
static struct json_object *view_asked(const char *contract, uint32_t version,
				      char (*providers)[NAME_MAX_LEN + 1], size_t len)
{
	struct json_object *view;
	struct text text;

	text_init(&text, 256 + (NAME_MAX_LEN + 4) * CONTRACT_ROUTES_MAX);
	text_addf(&text, "{\"contract\":\"%s\",\"version\":%" PRIu32 ",\"routes\":[", contract,
		  version);
	for (size_t i = 0; i < len; i++)
		text_addf(&text, "%s\"%s\"", i ? "," : "", providers[i]);
	text_add_str(&text, "]}");
	view = text_ok(&text) ? view_raw(text.bytes, text.len) : NULL;
	text_release(&text);
	return view;
}

static void refuse_order(struct reply *reply, const struct flaws *flaws)
{
	reply_problem(reply, PROBLEM_INVALID_REQUEST, "The body has %zu flaw%s.", flaws->count,
		      flaws->count == 1 ? "" : "s");
	reply_add_flaws(reply, flaws);
}

static void certify(const struct api *api, const char *name, struct order *order,
		    struct reply *reply)
{
	const struct certify_order asked = { .contract = name,
					     .routes = order->some ? order->routes : NULL,
					     .routes_len = order->len,
					     .side_effects = order->side_effects };
	char providers[CONTRACT_ROUTES_MAX][NAME_MAX_LEN + 1];
	uint32_t version = 0;
	size_t len = 0, unknown = 0;

	switch (certify_store_ask(api->db, &asked, &version, providers, &len, &unknown)) {
	case CERTIFY_ASKED:
		reply_json(reply, 202, view_asked(name, version, providers, len));
		return;
	case CERTIFY_NO_SUCH_CONTRACT: refuse_missing(reply); return;
	case CERTIFY_NO_SUCH_ROUTE:
		wrong_route(order, unknown, "the contract has no route of this provider");
		refuse_order(reply, &order->flaws);
		return;
	case CERTIFY_NO_FIXTURES:
		reply_problem(reply, PROBLEM_NO_FIXTURES,
			      "No fixture of this contract has a check of its own.");
		return;
	case CERTIFY_SIDE_EFFECTS:
		reply_problem(
			reply, PROBLEM_SIDE_EFFECTS,
			"This contract's work has side effects: say \"side_effects\": true if "
			"its fixtures shall really be done.");
		return;
	case CERTIFY_NOT_STORED:
	case CERTIFY_ASKED__MAX: break;
	}
	answer_unavailable(reply);
}

void contracts_certify(const struct api *api, struct call *call, struct reply *reply)
{
	struct order order = { .len = 0 };
	char name[NAME_MAX_LEN + 1];

	flaws_init(&order.flaws);
	read_order(&order, call->body);
	if (order.flaws.count > 0)
		refuse_order(reply, &order.flaws);
	else if (!path_name(call, name))
		refuse_missing(reply);
	else
		certify(api, name, &order, reply);
	flaws_release(&order.flaws);
}
