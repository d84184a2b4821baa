/* gate.h: looks at the head of a FastCGI request before libfcgi does.
 *
 * libfcgi ends the whole process where a parameter's announced length can't be allocated. So the
 * records up to the end of the parameters are looked at first, without taking them off the socket:
 * what doesn't add up ends that connection only. */
#ifndef API_GATE_H
#define API_GATE_H

#include <stddef.h>

#define GATE_MAX_BYTES                                                                             \
	131072 /* of BEGIN_REQUEST and parameters; web servers bound headers well below */

enum gate {
	GATE_MORE, /* the parameters end in what hasn't arrived yet */
	GATE_GOOD,
	GATE_WHOLE, /* good, and the body has arrived too: reading it can't wait */
	GATE_BAD,   /* no responder's request, or lengths that don't add up */
	GATE__MAX
};

/* One BEGIN_REQUEST of a responder, then PARAMS records up to an empty one, all of one request. */
enum gate gate_check(const unsigned char *bytes, size_t len);

/* What has arrived on a connected socket until now, without taking it off. GATE_BAD: the peer has
 * gone, too. `scratch` has GATE_MAX_BYTES. */
enum gate gate_look(int fd, unsigned char *scratch);

/* Waits until the head of a request has arrived on a connected socket. GATE_BAD: it is bad, the
 * peer has gone, or `wait_ms` have passed; else good or whole. `scratch` has GATE_MAX_BYTES. */
enum gate gate_wait(int fd, unsigned char *scratch, int wait_ms);

#endif
