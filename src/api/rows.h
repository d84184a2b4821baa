/* rows.h: pages of lists, and the rows that only operators see, as JSON. Each returns a new object,
 * or NULL without memory. */
#ifndef API_ROWS_H
#define API_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/certificate.h"
#include "core/job.h"
#include "store/attempt_store.h"
#include "store/definition.h"

/* `cursor` leads to the next page; NULL: this is the last one. */
struct json_object *rows_jobs(const struct job *jobs, size_t len, const char *cursor);
struct json_object *rows_attempts(const struct attempt *attempts, size_t len, const char *cursor);
struct json_object *rows_races(const struct race *races, size_t len, const char *cursor);

/* A provider or a contract: its definition's members between the row's own: name, version, then
 * created_at, updated_at. */
struct json_object *rows_definition(const struct definition_row *row);

struct json_object *rows_certificates(const struct certificate *list, size_t len,
				      const char *cursor);

/* One page of them, taken over one by one. */
struct json_object *rows_begin(void);
struct json_object *rows_push(struct json_object *array,
			      struct json_object *row); /* NULL: both are gone */
struct json_object *rows_end(const char *name, struct json_object *array, const char *cursor);

#endif
