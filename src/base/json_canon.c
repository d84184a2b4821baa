/* json_canon.c: equal values, equal bytes. The members' order is the one the scanner has left (see
 * json_order.c). */
#include "base/json.h"

#include "base/json_number.h"

static void canon_array(const struct json_value *array, struct text *out)
{
	text_add(out, "[", 1);
	for (const struct json_value *element = array->child; element; element = element->next) {
		if (element != array->child)
			text_add(out, ",", 1);
		json_canon(element, out);
	}
	text_add(out, "]", 1);
}

static void canon_object(const struct json_value *object, struct text *out)
{
	text_add(out, "{", 1);
	for (const struct json_value *member = object->by_name; member;
	     member = member->next_by_name) {
		if (member != object->by_name)
			text_add(out, ",", 1);
		text_add_json_string(out, member->name, member->name_len);
		text_add(out, ":", 1);
		json_canon(member, out);
	}
	text_add(out, "}", 1);
}

void json_canon(const struct json_value *value, struct text *out)
{
	struct json_decimal decimal;

	switch (value->type) {
	case JSON_NULL: text_add_str(out, "null"); return;
	case JSON_FALSE: text_add_str(out, "false"); return;
	case JSON_TRUE: text_add_str(out, "true"); return;
	case JSON_NUMBER:
		decimal = json_number_decimal(value);
		json_number_canon(&decimal, out);
		return;
	case JSON_STRING: text_add_json_string(out, value->string, value->string_len); return;
	case JSON_ARRAY: canon_array(value, out); return;
	case JSON_OBJECT: canon_object(value, out); return;
	case JSON__MAX: break;
	}
}
