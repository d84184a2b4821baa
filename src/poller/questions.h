/* questions.h: what providers are asked about, on the desk's thread: taken when due, and answers
 * that keep the doubt. */
#ifndef POLLER_QUESTIONS_H
#define POLLER_QUESTIONS_H

#include <stdbool.h>

struct desk;
struct errand;

void questions_ask(struct desk *d);

/* It has come back, whatever came of it. */
void questions_returned(struct desk *d, const struct errand *errand);

/* Writes down the answers that came back and settle nothing, as many as there is time for. False:
 * the database refused. */
bool questions_note(struct desk *d);

#endif
