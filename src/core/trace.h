/* trace.h: the traceparent header (W3C Trace Context, level 1). */
#ifndef CORE_TRACE_H
#define CORE_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/id.h"
#include "core/job.h"

/* Version 00: exactly 55 characters, lower-case hex, neither id all zero. A higher version is read
 * by its first 55 characters and may go on after a '-'; ff is no version. */
bool traceparent_valid(const char *text, size_t len);

/* The header of an attempt's request: the trace id of `parent` with its flags (of a higher version
 * only the sampled bit, the one we know), or, where parent is NULL or invalid, the job's id as
 * trace id, sampled. The parent-id is the last 8 bytes of the attempt's id, never all zero. Always
 * version 00. Returns traceparent_out. */
char *traceparent_child(char traceparent_out[TRACEPARENT_LEN + 1], const char *parent,
			const struct id *job_id, const struct id *attempt_id);

#define TRACE_ID_LEN 32

/* The trace id alone, of `parent` if that is valid, else the job's id: what every log line about
 * the job carries. */
char *trace_id(char trace_id_out[TRACE_ID_LEN + 1], const char *parent, const struct id *job_id);

#endif
