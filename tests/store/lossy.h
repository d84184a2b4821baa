/* lossy.h: a line to the database that loses, when told to, what goes over it: the question, or the
 * answer to it; or answers in the server's place that it refuses. */
#ifndef TESTS_STORE_LOSSY_H
#define TESTS_STORE_LOSSY_H

enum lossy {
	LOSE_NOTHING,
	LOSE_EXECUTE,	     /* a prepared statement's question: never seen by the server */
	LOSE_EXECUTE_ANSWER, /* done by the server, and nobody is told */
	LOSE_COMMIT,
	LOSE_COMMIT_ANSWER,
	REFUSE_EXECUTE,
	REFUSE_COMMIT,
	REFUSE_ALL /* whatever has an answer, what a new connection asks included */
};

/* Once a program. Returns the option file whose socket is the lossy line. */
const char *lossy_open(void);

/* From now on lose that, `times` times, each of them with the connection. The first `skip` of the
 * kind pass. */
void lossy_arm(enum lossy what, int skip, int times);
int lossy_left(void); /* how many are still to be lost or refused */

/* The same for REFUSE_...: the server never sees the question, and the client gets this error.
 * Where the server would have undone the whole transaction (1213, 1020), it does. */
void lossy_refuse(enum lossy what, unsigned int error, int skip, int times);

#endif
