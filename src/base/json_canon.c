/* json_canon.c: equal values, equal bytes. The members' order is the one the scanner has left (see
 * json_order.c). */
#include "base/json.h"

#include "base/json_number.h"

static void canon(const struct json_value *value, bool digits, struct text *out);

static void canon_array(const struct json_value *array, bool digits, struct text *out)
{
	text_add(out, "[", 1);
	for (const struct json_value *element = array->child; element; element = element->next) {
		if (element != array->child)
			text_add(out, ",", 1);
		canon(element, digits, out);
	}
	text_add(out, "]", 1);
}

static void canon_object(const struct json_value *object, bool digits, struct text *out)
{
	text_add(out, "{", 1);
	for (const struct json_value *member = object->by_name; member;
	     member = member->next_by_name) {
		if (member != object->by_name)
			text_add(out, ",", 1);
		text_add_json_string(out, member->name, member->name_len);
		text_add(out, ":", 1);
		canon(member, digits, out);
	}
	text_add(out, "}", 1);
}

static void canon_number(const struct json_value *number, bool digits, struct text *out)
{
	if (digits) {
		text_add(out, number->raw, number->raw_len);
		return;
	}
	struct json_decimal decimal = json_number_decimal(number);

	json_number_canon(&decimal, out);
}

static void canon(const struct json_value *value, bool digits, struct text *out)
{
	switch (value->type) {
	case JSON_NULL: text_add_str(out, "null"); return;
	case JSON_FALSE: text_add_str(out, "false"); return;
	case JSON_TRUE: text_add_str(out, "true"); return;
	case JSON_NUMBER: canon_number(value, digits, out); return;
	case JSON_STRING: text_add_json_string(out, value->string, value->string_len); return;
	case JSON_ARRAY: canon_array(value, digits, out); return;
	case JSON_OBJECT: canon_object(value, digits, out); return;
	case JSON__MAX: break;
	}
}

void json_canon(const struct json_value *value, struct text *out)
{
	canon(value, false, out);
}

void json_canon_digits(const struct json_value *value, struct text *out)
{
	canon(value, true, out);
}
