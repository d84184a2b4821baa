/* query.h: the query of a list: members by name, a limit, a cursor. Nothing is ignored. */
#ifndef API_QUERY_H
#define API_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/id.h"
#include "core/job.h"

#define QUERY_VALUE_MAX 255 /* bytes, decoded */
#define QUERY_DETAIL_MAX 160

/* One member that the list knows. */
struct query_member {
	const char *name;
	bool given;
	char value[QUERY_VALUE_MAX + 1]; /* decoded; no controls */
	size_t len;
};

/* Reads `query` (NULL: none) into the members by their names. Values are percent-decoded, '+' is a
 * blank, as forms write it. False: `detail_out` says which member is unknown, stands twice or can't
 * be decoded. */
bool query_read(const char *query, size_t len, struct query_member *members, size_t members_len,
		char detail_out[QUERY_DETAIL_MAX]);

/* `limit`: 1 to 200, 50 where it isn't given. False: it is something else. */
bool query_limit(const struct query_member *member, uint32_t *limit_out);

/* Cursors name the last row of the page before. They are opaque to clients: hex of an id or a name.
 */
#define CURSOR_MAX (2 * NAME_MAX_LEN)
void cursor_of_id(const struct id *id, char cursor_out[CURSOR_MAX + 1]);
void cursor_of_name(const char *name, char cursor_out[CURSOR_MAX + 1]);
bool cursor_to_id(const struct query_member *member, struct id *id_out);
bool cursor_to_name(const struct query_member *member, char name_out[NAME_MAX_LEN + 1]);

#endif
