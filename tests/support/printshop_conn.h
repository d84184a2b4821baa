/* printshop_conn.h: one connection of the print shop: it reads requests one after another, has each
 * answered, and ends as the answer wants it. Level-triggered epoll; a connection asks for input
 * only while it reads. */
#ifndef PRINTSHOP_CONN_H
#define PRINTSHOP_CONN_H

#include "printshop_book.h"
#include "printshop_http.h"
#include "printshop_modes.h"

enum phase {
	PHASE_READING,
	PHASE_HELD,	/* stalled, until a release */
	PHASE_DELAYED,	/* until its timer */
	PHASE_WATCHING, /* a /shop/wait, until its condition or its timer */
	PHASE_WRITING,
	PHASE_SILENT,	 /* an answer was begun and never goes on */
	PHASE_LINGERING, /* answered; input is thrown away: unread it would be a reset */
	PHASE_CLOSED,	 /* the descriptor is gone, conn_bury() frees the rest */
};

/* What follows when the answer is out. */
enum after { AFTER_KEEP, AFTER_CLOSE, AFTER_RESET, AFTER_LINGER, AFTER_SILENCE };

enum watch_bits { WATCH_REQUESTS = 1, WATCH_SHEETS = 2, WATCH_HUNG_UP = 4, WATCH_OPEN = 8 };

struct watch {
	char printer[BOOK_NAME_BYTES_MAX + 1];
	unsigned int bits; /* what is asked for: at least so many, `open` exactly */
	uint64_t requests; /* read to their end: whole, refused or broken off */
	uint64_t sheets;
	uint64_t hung_up;
	uint64_t open;
	bool met; /* it has held once; the answer is on its way */
};

struct conn {
	struct conn *prev;
	struct conn *next;
	int fd;
	uint64_t id;
	enum phase phase;
	uint32_t interest;
	enum after after;
	uint64_t due_ms;
	size_t timer_at; /* place in the heap; 0: no timer */
	struct buf in;
	struct buf out;
	size_t out_sent;
	struct request req;
	struct watch watch;
	/* the work request at hand */
	struct printer *printer; /* NULL: none */
	uint64_t number;	 /* of the request in the book */
	uint64_t work_count;	 /* of this connection */
	bool reading;		 /* its body isn't whole */
	struct modes modes;
	struct key_row *key;
	struct buf body; /* of the answer */
	const char *type;
	bool replayed;
};

void conn_set_up(int epoll_fd);
void conn_tear_down(void);
uint64_t conn_now_ms(void); /* CLOCK_MONOTONIC */

/* ACCEPT_FULL: out of descriptors or memory; accept nothing more until something was buried. */
enum accepted { ACCEPT_ONE, ACCEPT_NONE, ACCEPT_FULL };
enum accepted conn_accept(int listen_fd);
void conn_event(struct conn *conn, uint32_t events);
void conn_advance(struct conn *conn); /* takes on what has been read already */
struct conn *conn_first(void);	      /* the list of all that are alive */
size_t conn_watching(void);	      /* how many of them are in PHASE_WATCHING */
bool conn_bury(void);		      /* frees what was closed; true if there was any */

/* For those who answer: conn->out goes out, then what `after` says. conn_refuse() writes the whole
 * answer itself. */
void conn_end(struct conn *conn, enum after after);
void conn_refuse(struct conn *conn, int status, const char *detail, size_t len);
void conn_hold(struct conn *conn, enum phase phase);
void conn_hold_ms(struct conn *conn, enum phase phase, uint64_t ms);
void conn_continue(struct conn *conn); /* 100 Continue, if the client waits for it */
void conn_drop(struct conn *conn, bool hung_up);

int conn_timeout_ms(void); /* until the next timer; -1: none */
void conn_run_timers(void);

const char *conn_reason(int status);

/* printshop_work.c: a request to a printer. Its head is whole; its body is; a hold is over. */
void work_head(struct conn *conn);
void work_whole(struct conn *conn);
void work_resume(struct conn *conn);

/* printshop_control.c: a request under /shop/. */
bool control_is(const struct conn *conn);
void control_whole(struct conn *conn);
void control_timed_out(struct conn *conn);
void control_check_watches(void); /* has those answered whose condition holds */

#endif
