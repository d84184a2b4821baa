/* build.c: see build.h. */
#include "ctl/build.h"

#include <json-c/json.h>
#include <string.h>

#include "core/view.h"

struct json_object *build_object(void)
{
	return json_object_new_object();
}

struct json_object *build_array(void)
{
	return json_object_new_array();
}

struct json_object *build_string(const char *text)
{
	return json_object_new_string(text);
}

struct json_object *build_number(uint64_t number)
{
	return json_object_new_uint64(number);
}

static int write_null(struct json_object *value, struct printbuf *to, int level, int flags)
{
	(void)value;
	(void)level;
	(void)flags;
	return printbuf_memappend(to, "null", 4);
}

struct json_object *build_null(void)
{
	struct json_object *value = json_object_new_boolean(0);

	if (value)
		json_object_set_serializer(value, write_null, NULL, NULL);
	return value;
}

struct json_object *build_parsed(const char *json)
{
	return json_tokener_parse(json);
}

void build_add(struct json_object **object, const char *name, struct json_object *value)
{
	if (*object && value && json_object_object_add(*object, name, value) == 0)
		return;
	json_object_put(value);
	json_object_put(*object);
	*object = NULL;
}

void build_push(struct json_object **array, struct json_object *value)
{
	if (*array && value && json_object_array_add(*array, value) == 0)
		return;
	json_object_put(value);
	json_object_put(*array);
	*array = NULL;
}

void build_drop(struct json_object *value)
{
	json_object_put(value);
}

struct json_object *build_done(const char *name, const char *value, const char *done)
{
	struct json_object *object = build_object();

	build_add(&object, name, view_string(value, strlen(value)));
	build_add(&object, "done", build_string(done));
	return object;
}

struct json_object *build_definition(const struct definition_row *row)
{
	struct json_object *view = build_object();

	build_add(&view, "name", build_string(row->name));
	build_add(&view, "version", build_number(row->version));
	build_add(&view, "definition", view_raw(row->definition.bytes, row->definition.len));
	build_add(&view, "created_at", view_time(row->created_us));
	build_add(&view, "updated_at", view_time(row->updated_us));
	return view;
}
