/* json_order.c: an object's members sorted by name, and the names that come twice.
 *
 * A merge sort of linked lists: n log n comparisons whatever a client sends, no memory, no hash to
 * flood. A comparison costs at most the shorter name, so all together stay within the text's length
 * times log n. */
#include "base/json_private.h"

#include <string.h>

#define LISTS 32 /* list i holds 2^i members; a text of 1 GiB has fewer than 2^30 */

static int name_compare(const struct json_value *a, const struct json_value *b)
{
	size_t shorter = a->name_len < b->name_len ? a->name_len : b->name_len;
	int order = memcmp(a->name, b->name, shorter);

	if (order != 0)
		return order;
	return (a->name_len > b->name_len) - (a->name_len < b->name_len);
}

/* All of `early` stand before all of `late` in the text. Members with one name end up side by side,
 * so they have been compared with each other somewhere: that finds every repeated name. */
static struct json_value *merge(struct json_value *early, struct json_value *late,
				const struct json_value **repeated_io)
{
	struct json_value *merged = NULL, **tail = &merged;

	while (early && late) {
		int order = name_compare(early, late);
		if (order == 0 &&
		    (!*repeated_io || late->name_offset < (*repeated_io)->name_offset))
			*repeated_io = late;
		struct json_value **smaller = order <= 0 ? &early : &late;
		*tail = *smaller;
		tail = &(*smaller)->next_by_name;
		*smaller = *tail;
	}
	*tail = early ? early : late;
	return merged;
}

const struct json_value *json_order_members(struct json_value *object)
{
	struct json_value *lists[LISTS] = { NULL }, *sorted = NULL;
	const struct json_value *repeated = NULL;
	unsigned int used = 0;

	for (struct json_value *member = object->child; member; member = member->next) {
		struct json_value *carry = member;
		unsigned int i = 0;

		carry->next_by_name = NULL;
		for (; i < used && lists[i]; i++) {
			carry = merge(lists[i], carry, &repeated);
			lists[i] = NULL;
		}
		lists[i] = carry;
		if (i == used)
			used++;
	}
	for (unsigned int i = 0; i < used; i++) {
		if (lists[i])
			sorted = merge(lists[i], sorted, &repeated);
	}
	object->by_name = sorted;
	return repeated;
}
