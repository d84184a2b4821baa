#include "core/trace.h"

#include <stdio.h>
#include <string.h>

enum {
	TRACE_AT = 3,
	TRACE_LEN = 32,
	PARENT_AT = 36,
	PARENT_LEN = 16,
	FLAGS_AT = 53,
	PARENT_BYTES = 8
};

static bool hex(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f')))
			return false;
	return true;
}

static bool zeros(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] != '0')
			return false;
	return true;
}

bool traceparent_valid(const char *text, size_t len)
{
	if (len < TRACEPARENT_LEN)
		return false;
	if (text[2] != '-' || text[PARENT_AT - 1] != '-' || text[FLAGS_AT - 1] != '-')
		return false;
	if (!hex(text, 2) || !hex(text + TRACE_AT, TRACE_LEN) ||
	    !hex(text + PARENT_AT, PARENT_LEN) || !hex(text + FLAGS_AT, 2))
		return false;
	if (memcmp(text, "ff", 2) == 0 || zeros(text + TRACE_AT, TRACE_LEN) ||
	    zeros(text + PARENT_AT, PARENT_LEN))
		return false;
	if (len == TRACEPARENT_LEN)
		return true;
	return memcmp(text, "00", 2) != 0 && text[TRACEPARENT_LEN] == '-';
}

static void put_hex(char *out, const unsigned char *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
}

/* The sampled bit is the lowest one of the last hex digit. */
static bool sampled(char digit)
{
	return (digit <= '9' ? digit - '0' : digit - 'a' + 10) & 1;
}

char *traceparent_child(char traceparent_out[TRACEPARENT_LEN + 1], const char *parent,
			const struct id *job_id, const struct id *attempt_id)
{
	unsigned char parent_id[PARENT_BYTES];
	char *out = traceparent_out;

	memcpy(out, "00-................................-................-01", TRACEPARENT_LEN + 1);
	if (parent && traceparent_valid(parent, strlen(parent))) {
		memcpy(out + TRACE_AT, parent + TRACE_AT, TRACE_LEN);
		if (memcmp(parent, "00", 2) == 0)
			memcpy(out + FLAGS_AT, parent + FLAGS_AT, 2);
		else if (!sampled(parent[FLAGS_AT + 1]))
			out[FLAGS_AT + 1] = '0';
	} else {
		put_hex(out + TRACE_AT, job_id->bytes, ID_BYTES);
	}

	memcpy(parent_id, attempt_id->bytes + ID_BYTES - PARENT_BYTES, PARENT_BYTES);
	put_hex(out + PARENT_AT, parent_id, PARENT_BYTES);
	if (zeros(out + PARENT_AT, PARENT_LEN))
		out[PARENT_AT + PARENT_LEN - 1] = '1';
	return out;
}

char *trace_id(char trace_id_out[TRACE_ID_LEN + 1], const char *parent, const struct id *job_id)
{
	if (parent && traceparent_valid(parent, strlen(parent)))
		memcpy(trace_id_out, parent + TRACE_AT, TRACE_LEN);
	else
		put_hex(trace_id_out, job_id->bytes, ID_BYTES);
	trace_id_out[TRACE_ID_LEN] = '\0';
	return trace_id_out;
}
