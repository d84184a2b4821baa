/* rc.h: how a fallible function ends. The floor that knows the cause logs it once; floors above
 * translate. */
#ifndef BASE_RC_H
#define BASE_RC_H

enum rc {
	RC_OK,
	RC_CONFLICT,  /* another one was first, or a statement's guard didn't hold: no error */
	RC_RETRY,     /* nothing was done; the same call may be made again */
	RC_UNCERTAIN, /* it may have been done: look before doing it again */
	RC_FAULT,     /* it can't be done; logged where it was found */
	RC_INVALID,   /* what the caller was given breaks a rule; nothing was done */
	RC_NOT_FOUND, /* there is no such thing, or the caller may not see it */
	RC__MAX
};

#define MUST_CHECK __attribute__((warn_unused_result))

#endif
