/* nodes.h: tests of the store on several nodes of a Galera cluster, which tests/support/run_test.sh
 * has started. `here` (testdb.h) is the first node; what its raw connection reads is never older
 * than what was committed anywhere before. */
#ifndef TESTS_CLUSTER_NODES_H
#define TESTS_CLUSTER_NODES_H

#include "../store/testdb.h"

#define NODES_MAX 3

extern size_t nodes_len;

int nodes_open(void **state);
int nodes_close(void **state);

struct db *node_db(size_t node); /* a new connection; the first node is 0 */
MYSQL *node_raw(size_t node);	 /* root's, shared */

/* As raw_number(), of one node and as old as that may be. */
uint64_t node_number(MYSQL *mysql, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A crew's member i talks to node i % 2. Where crew_lags says so, the other node of the two has
 * just written so much that this one doesn't see for a while what comes after it. */
struct db *node_of_member(size_t index);
extern struct crew_lags {
	bool lags;
	size_t node;
} crew_lags;

/* So many transactions of all nodes lost to one of another node so far. */
uint64_t nodes_conflicts(void);

/* Runs rounds until there were so many of those that a test is about them; fails where there
 * weren't. */
void nodes_until_they_met(void (*round)(unsigned int n));

/* A number, as this connection's node has it at this moment. */
uint64_t node_sees(struct db *db, const char *query);

/* Node b is busy with what was written at node a for about so long: what is written at a from now
 * on isn't seen at b before. */
void nodes_lag(size_t a, uint32_t rows);

#endif
