#include "provider/seen.h"

/* The pre-request callback is the proof: libcurl calls it once the connection stands, TLS and proxy
 * included, and sends nothing of the request before. The counters alone prove less: a write that
 * failed half-way isn't counted. */
enum phase seen_phase(const struct seen_facts *facts, const struct answer *answer)
{
	if (!facts->may_send)
		return PHASE_NOT_SENT;
	if (answer->begun)
		return PHASE_ANSWER_BEGUN;
	switch ((int)facts->code) {
	case CURLE_UNSUPPORTED_PROTOCOL: /* bytes came that aren't HTTP */
	case CURLE_WEIRD_SERVER_REPLY: return PHASE_ANSWER_BEGUN;
	default: return facts->body_sent >= facts->body_len ? PHASE_SENT : PHASE_SENT_IN_PART;
	}
}

static enum seen_end end_before_sending(const struct seen_facts *facts)
{
	switch ((int)facts->code) {
	case CURLE_ABORTED_BY_CALLBACK: /* it stood, but too late to be used */
	case CURLE_OPERATION_TIMEDOUT:
		return SEEN_CONNECT_TIMEOUT; /* TCP, proxy or TLS: no connection that could carry
						the request */
	case CURLE_COULDNT_RESOLVE_HOST: return SEEN_NOT_RESOLVED;
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_PROXY: return SEEN_PROXY_FAILED;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_ENGINE_NOTFOUND:
	case CURLE_SSL_ENGINE_SETFAILED:
	case CURLE_SSL_ENGINE_INITFAILED:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CRL_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_INVALIDCERTSTATUS:
	case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
	case CURLE_SSL_CLIENTCERT: return SEEN_TLS_FAILED;
	case CURLE_URL_MALFORMAT:
	case CURLE_UNSUPPORTED_PROTOCOL: return SEEN_NOT_BUILT;
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING: return facts->proxied ? SEEN_PROXY_FAILED : SEEN_NOT_CONNECTED;
	default: return SEEN_NOT_CONNECTED;
	}
}

/* libcurl's own errors of the framing come as CURLE_RECV_ERROR too, but then the system has
 * reported none. */
static enum seen_end end_of_broken_reading(const struct seen_facts *facts,
					   const struct answer *answer)
{
	return answer->chunked && !facts->broke ? SEEN_MALFORMED : SEEN_RESET;
}

/* libcurl is content with a header that a close has cut (measured), and with lines that aren't
 * header lines. */
static enum seen_end end_of_success(const struct answer *answer)
{
	if (answer->status == 0 || answer->bad_line)
		return SEEN_MALFORMED;
	return answer->header_done ? SEEN_WHOLE : SEEN_TRUNCATED;
}

static enum seen_end end_after_sending(const struct seen_facts *facts, const struct answer *answer)
{
	switch ((int)facts->code) {
	case CURLE_OK: return end_of_success(answer);
	case CURLE_OPERATION_TIMEDOUT: return SEEN_TIMEOUT;
	case CURLE_PARTIAL_FILE: return SEEN_TRUNCATED;
	case CURLE_GOT_NOTHING: return SEEN_EMPTY_REPLY;
	case CURLE_BAD_CONTENT_ENCODING: return SEEN_BAD_ENCODING;
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_WEIRD_SERVER_REPLY: return SEEN_MALFORMED;
	case CURLE_WRITE_ERROR:
		if (answer->too_large) /* enough was seen to know that it can't be used */
			return end_of_success(answer);
		return answer->overflow ? SEEN_MALFORMED : SEEN_TRUNCATED;
	case CURLE_RECV_ERROR: return end_of_broken_reading(facts, answer);
	default:
		return SEEN_RESET; /* whatever else broke it off: nobody can say what the provider
				      did */
	}
}

enum seen_end seen_end(const struct seen_facts *facts, const struct answer *answer)
{
	return facts->may_send ? end_after_sending(facts, answer) : end_before_sending(facts);
}
