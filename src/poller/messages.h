/* messages.h: messages to owners' endpoints, on the desk's thread: taken when due, and what became
 * of them. */
#ifndef POLLER_MESSAGES_H
#define POLLER_MESSAGES_H

#include <stdbool.h>

struct desk;

void messages_tell(struct desk *d);

/* Writes down what became of those that came back, of as many as there is time for. False: the
 * database refused. */
bool messages_note(struct desk *d);

#endif
