/* rows.c: see rows.h. */
#include "api/rows.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>

#include "base/text.h"
#include "base/timestamp.h"
#include "core/view.h"

struct json_object *rows_begin(void)
{
	return json_object_new_array();
}

struct json_object *rows_push(struct json_object *array, struct json_object *row)
{
	if (array && row && json_object_array_add(array, row) == 0)
		return array;
	json_object_put(row);
	json_object_put(array);
	return NULL;
}

/* Takes `value` over; for json-c NULL is null. False: no memory. */
static bool add(struct json_object *object, const char *name, struct json_object *value)
{
	if (json_object_object_add(object, name, value) == 0)
		return true;
	json_object_put(value);
	return false;
}

/* The same for a value that must be there. */
static bool add_value(struct json_object *object, const char *name, struct json_object *value)
{
	return value && add(object, name, value);
}

struct json_object *rows_end(const char *name, struct json_object *array, const char *cursor)
{
	struct json_object *page = array ? json_object_new_object() : NULL;
	bool fine;

	if (!page) {
		json_object_put(array);
		return NULL;
	}
	fine = add(page, name, array);
	if (cursor)
		fine = fine && add_value(page, "next_cursor", json_object_new_string(cursor));
	else
		fine = fine && add(page, "next_cursor", NULL);
	if (fine)
		return page;
	json_object_put(page);
	return NULL;
}

struct json_object *rows_jobs(const struct job *jobs, size_t len, const char *cursor)
{
	struct json_object *array = rows_begin();

	for (size_t i = 0; array && i < len; i++)
		array = rows_push(array, view_job_row(&jobs[i]));
	return rows_end("jobs", array, cursor);
}

struct json_object *rows_attempts(const struct attempt *attempts, size_t len, const char *cursor)
{
	struct json_object *array = rows_begin();

	for (size_t i = 0; array && i < len; i++)
		array = rows_push(array, view_attempt_row(&attempts[i]));
	return rows_end("attempts", array, cursor);
}

static struct json_object *hex_string(const void *bytes, size_t len)
{
	struct json_object *string = NULL;
	struct text hex;

	text_init(&hex, 2 * len);
	text_add_hex(&hex, bytes, len);
	if (text_ok(&hex))
		string = json_object_new_string_len(hex.bytes, (int)hex.len);
	text_release(&hex);
	return string;
}

static struct json_object *race_row(const struct race *race)
{
	struct json_object *row = json_object_new_object();
	bool fine = row && add_value(row, "id", view_id(&race->id)) &&
		    add_value(row, "job_id", view_id(&race->job_id)) &&
		    add_value(row, "attempt_id", view_id(&race->attempt_id));
	const char *why = race_why_name(race->why);

	if (fine && race->has_winner)
		fine = add_value(row, "winner", view_id(&race->winner));
	else if (fine)
		fine = add(row, "winner", NULL);
	fine = fine && add_value(row, "why", json_object_new_string(why ? why : "")) &&
	       add_value(row, "sha256", hex_string(race->sha256, sizeof race->sha256)) &&
	       add_value(row, "bytes", json_object_new_uint64(race->bytes)) &&
	       add_value(row, "created_at", view_time(race->created_us));
	if (fine)
		return row;
	json_object_put(row);
	return NULL;
}

struct json_object *rows_races(const struct race *races, size_t len, const char *cursor)
{
	struct json_object *array = rows_begin();

	for (size_t i = 0; array && i < len; i++)
		array = rows_push(array, race_row(&races[i]));
	return rows_end("races", array, cursor);
}

struct json_object *rows_definition(const struct definition_row *row)
{
	const struct blob *definition = &row->definition;
	struct json_object *object = NULL;
	char created[TIMESTAMP_TEXT_LEN + 1];
	char updated[TIMESTAMP_TEXT_LEN + 1];
	struct text whole;

	if (!definition->bytes || definition->len < 3)
		return NULL;
	text_init(&whole, definition->len + 256);
	text_addf(&whole, "{\"name\":\"%s\",\"version\":%" PRIu32 ",", row->name, row->version);
	text_add(&whole, definition->bytes + 1, definition->len - 2);
	text_addf(&whole, ",\"created_at\":\"%s\",\"updated_at\":\"%s\"}",
		  timestamp_format(row->created_us, created),
		  timestamp_format(row->updated_us, updated));
	if (text_ok(&whole))
		object = view_raw(whole.bytes, whole.len);
	text_release(&whole);
	return object;
}

struct json_object *rows_certificates(const struct certificate *list, size_t len,
				      const char *cursor)
{
	struct json_object *array = rows_begin();

	for (size_t i = 0; array && i < len; i++)
		array = rows_push(array, view_certificate(&list[i]));
	return rows_end("certificates", array, cursor);
}
