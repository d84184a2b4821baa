#include "poller/request.h"

#include <stdio.h>

#include "core/intent.h"
#include "poller/certifying.h"

static enum rc parse_input(struct errand *errand)
{
	struct json_error error;

	if (errand->tree)
		return RC_OK;
	enum rc rc = json_parse(errand->input->bytes, errand->input->len, INTENT_DEPTH_MAX,
				&errand->tree, &error);

	return rc == RC_INVALID ? RC_FAULT : rc; /* it was checked when it was stored */
}

static enum rc render(struct errand *errand, struct request *r, struct text *why)
{
	enum rc rc = parse_input(errand);

	if (rc != RC_OK)
		return rc;
	r->values.input = json_root(errand->tree);
	if (!errand->route->request)
		return RC_OK;
	rc = template_render(errand->route->request, &r->values, &r->made, why);
	r->body = r->made.bytes;
	r->body_len = r->made.len;
	return rc;
}

static enum rc make_step(struct errand *errand, struct request *r)
{
	struct certifying *run = errand->run;
	const struct fixture *fixture = certify_fixture(run->certify);

	r->values.input = fixture ? fixture->input : NULL;
	run->step = certify_next(run->certify);
	if (run->step == CERTIFY_DONE)
		return RC_NOT_FOUND;
	(void)id_format(&run->task.id, r->run_id);
	snprintf(r->key, sizeof r->key, "%s-%u-%u", r->run_id, certify_round(run->certify),
		 certify_done(run->certify));
	if (run->step != CERTIFY_WORK) {
		const struct tokenizer *tokenizer = &errand->route->tokenizer;
		const struct json_value *url =
			run->step == CERTIFY_TOKENIZE ? tokenizer->url : tokenizer->detokenize_url;

		text_add(&r->url, url->string, url->string_len);
		if (!text_ok(&r->url))
			return RC_FAULT;
	}
	enum rc rc = certify_body(run->certify, &r->values, &r->made);

	r->body = r->made.bytes;
	r->body_len = r->made.len;
	return rc == RC_INVALID ? RC_NOT_FOUND : rc;
}

static bool by_contract(const struct errand *errand)
{
	return errand->has_contract &&
	       (errand->kind == ERRAND_SEND || errand->kind == ERRAND_RESEND ||
		errand->kind == ERRAND_STATUS);
}

enum rc request_make(struct errand *errand, const char *callback, struct request *r,
		     struct text *why)
{
	enum rc rc = RC_OK;

	*r = (struct request){ .body_len = 0 };
	text_init(&r->made, REQUEST_MAX_BYTES);
	text_init(&r->url, PROVIDER_MAX_BYTES);
	r->values.callback_url = callback;
	r->values.job_id = id_format(&errand->job_id, r->job_id);
	r->values.attempt_id = id_format(&errand->attempt_id, r->attempt_id);
	if (errand->kind == ERRAND_CERTIFY)
		rc = make_step(errand, r);
	else
		snprintf(r->key, sizeof r->key, "%s-%u", r->job_id, errand->generation);
	if (rc != RC_OK || errand->kind == ERRAND_CERTIFY)
		return rc;
	r->body = errand->input->bytes;
	r->body_len = errand->input->len;
	if (!by_contract(errand))
		return RC_OK;
	if (!errand->contract || !errand->route)
		return RC_RETRY;
	return errand->kind == ERRAND_STATUS ? parse_input(errand) : render(errand, r, why);
}

void request_release(struct request *request)
{
	text_release(&request->made);
	text_release(&request->url);
}

static void order_step(const struct errand *errand, const struct request *r,
		       struct exchange_order *order)
{
	order->certify = r->run_id;
	if (errand->run->step == CERTIFY_WORK)
		return;
	order->kind = EXCHANGE_TOOL;
	order->url = r->url.bytes;
}

void request_order(const struct errand *errand, const struct request *r,
		   struct exchange_order *order)
{
	order->input = r->body ? r->body : "";
	order->input_len = r->body_len;
	order->provider_key = r->key;
	order->callback_url = r->values.callback_url;
	order->values = &r->values;
	if (errand->kind == ERRAND_SEND || errand->kind == ERRAND_RESEND ||
	    errand->kind == ERRAND_CERTIFY)
		order->route = errand->route;
	if (errand->kind == ERRAND_CERTIFY)
		order_step(errand, r, order);
}
