/* create_group.h: creates that wait at the same moment share a statement, and its commit.
 *
 * The connections of a process that have joined a group take turns at writing new jobs. One that
 * comes while fewer than `leaders` write goes at once, alone. One that comes later waits until one
 * of them is done; then the one who has waited longest writes for as many as wait, with one
 * statement. So there is no delay for one alone and no timer to tune: the busier the database, the
 * more share a commit.
 * Each still gets its own exact answer. Whatever keeps one statement from writing all of them (a
 * key that is there, an unknown caller, a lost connection) sends each of them on alone, with its
 * own connection. */
#ifndef STORE_CREATE_GROUP_H
#define STORE_CREATE_GROUP_H

#include <stddef.h>

#include "store/db.h"
#include "store/job_store.h"

struct create_group;

/* How long a create waits for its turn. Then it leads all the same, and leaders that have been
 * writing for this long count no more: while one waits for a row's lock, those who come shall not.
 * Those whom it has taken along do, for as long as one statement may take. In milliseconds, under a
 * minute. */
#define CREATE_PATIENCE_MS 500

/* So many write at the same time, if none is stuck: one prepares its statement while the other's is
 * on the disk. */
#define CREATE_LEADERS 2

/* NULL: no memory. */
struct create_group *create_group_new(unsigned int leaders, unsigned int patience_ms);
void create_group_free(
	struct create_group *group); /* when its connections are gone; NULL is fine */

/* The creates of this connection take turns with those of the group's others; all of them belong to
 * different threads. Before its first use. */
void create_group_join(struct create_group *group, struct db *db);

/* How many lead, less those written off, and how many wait, at this moment. */
void create_group_count(struct create_group *group, size_t *writing_out, size_t *waiting_out);

#endif
