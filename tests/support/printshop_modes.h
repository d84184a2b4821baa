/* printshop_modes.h: the ways in which a printer can misbehave, and how they are written.
 *
 * A list of modes is written with ',' or '/' between them and with URL-encoded values behind '='.
 * So a blank, a comma or a slash inside a value is %20, %2C, %2F; in the query of /shop/mode the
 * whole list is encoded once more. Of two equal ones the later counts.
 *
 * What the request turns into, the first that applies:
 *   refuse-body     413 (or status=) before the body is read, then the connection is closed
 *   reset-early     a reset as soon as the header is whole
 *   417             417 to a request that has Expect: 100-continue; any other is served. The
 *                   connection is kept where no body has come, which tempts libcurl to ask again
 *   stall           nothing is answered until /shop/release; then the other modes apply
 *   delay=MS        as late as that, up to 600000
 *   reset, empty    read whole, then a reset, or a close without a byte
 *   keepalive-drop  the same as `empty`, from the second request of a connection on
 *   garbage         bytes that aren't HTTP, then a close
 * What the answer says:
 *   status=CODE, 204, in-progress (409), redirect=CODE (Location: /<printer>-elsewhere/here)
 *   retry-after=VALUE (twice: two lines), type=MIME
 *   body=TEXT big=BYTES nonjson dup-member nan fence echo nobody
 *   chat[=WAY] (printshop_chat.h); else the default body
 * How it is sent:
 *   early-hints (a 103 first), gzip, bad-gzip, and one of
 *   cut cut-stall chunked chunked-cut two-lengths close-delimited close-cut
 * Besides:
 *   100-ignore      never sends 100 Continue
 *   honour          gives the first answer again for a key that it has met, and prints nothing
 *   here            does nothing, and is where a redirect leads */
#ifndef PRINTSHOP_MODES_H
#define PRINTSHOP_MODES_H

#include "printshop_book.h"

enum mode_flag {
	MODE_REFUSE_BODY = 1 << 0,
	MODE_RESET_EARLY = 1 << 1,
	MODE_417 = 1 << 2,
	MODE_STALL = 1 << 3,
	MODE_RESET = 1 << 4,
	MODE_EMPTY = 1 << 5,
	MODE_KEEPALIVE_DROP = 1 << 6,
	MODE_GARBAGE = 1 << 7,
	MODE_204 = 1 << 8,
	MODE_IN_PROGRESS = 1 << 9,
	MODE_NONJSON = 1 << 10,
	MODE_DUP_MEMBER = 1 << 11,
	MODE_NAN = 1 << 12,
	MODE_FENCE = 1 << 13,
	MODE_ECHO = 1 << 14,
	MODE_NOBODY = 1 << 15,
	MODE_EARLY_HINTS = 1 << 16,
	MODE_GZIP = 1 << 17,
	MODE_BAD_GZIP = 1 << 18,
	MODE_CUT = 1 << 19,
	MODE_CUT_STALL = 1 << 20,
	MODE_CHUNKED = 1 << 21,
	MODE_CHUNKED_CUT = 1 << 22,
	MODE_TWO_LENGTHS = 1 << 23,
	MODE_CLOSE_DELIMITED = 1 << 24,
	MODE_CLOSE_CUT = 1 << 25,
	MODE_100_IGNORE = 1 << 26,
	MODE_HONOUR = 1 << 27,
};

enum {
	MODES_DELAY_MS_MAX = 600000,
	MODES_BIG_BYTES_MAX = 64 << 20,
	MODES_RETRY_AFTERS_MAX = 2,
	MODES_VALUE_BYTES = BOOK_TYPE_BYTES,
};

struct modes {
	unsigned int flags;
	uint32_t delay_ms;
	int status;	  /* 0: not said */
	int redirect;	  /* 0: none */
	size_t big_bytes; /* 0: not said */
	int chat;	  /* 0: none */
	bool has_body;
	struct buf body;
	char type[MODES_VALUE_BYTES];
	char retry_after[MODES_RETRY_AFTERS_MAX][MODES_VALUE_BYTES];
	int retry_after_count;
};

/* Adds a list to what is there already. False: a mode that doesn't exist, or a value out of range;
 * it is named in `flaw_out` for the answer. */
bool modes_add(struct modes *modes, const char *list, size_t len, struct buf *flaw_out);
void modes_release(struct modes *modes);

#endif
