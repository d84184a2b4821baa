/* onejob.pml: the rules about one job, for every order of steps and a crash at each: a Promela model for spin. model.sh runs it.
 *
 * What it stands for: src/core/moves.c (which moves there are), src/store (each transaction is one step here, for all of them
 * lock the job's row first; what isn't locked, or takes two transactions, is two steps) and src/poller (claim, send, wait, settle).
 * A comment at each step names its function. Acknowledged work and later words are here as the design has them; they, too, go
 * through settle_words().
 *
 * Bounds: one job; TRIES attempts in all, MAX_ATTEMPTS of which start by themselves; two pollers with one attempt in hand each. A
 * client creates and one cancels by key again and again, and the provider brings its word as late and as often as it likes. Every step
 * of a poller may crash, lose its lease or lose the database's answer, FAULTS times; an operator says whatever is permitted, OPS times;
 * ANY of them is no bound. A provider that honours keys is sent the same request again at most RESENDS times; it does no work twice
 * under a key, and may well do what it refused before. No route is left GIVE_UPS times. All that is finite, for a job and its attempts
 * only move on; with bounds for faults and words three attempts can be searched through as well.
 *
 * Left out: payloads (a result is the number of its attempt); a provider that did the work unusably; the swap's stale readers, whom
 * the row's lock shuts out; a host that stops between the look at the lease and the first byte; purging. And in models of their own:
 * who of many creates it was and what the others are told (intake.pml), for after the insert nobody looks at an intent again; where
 * a queued job goes next (routes.pml), for here a provider is whatever it likes to be. A route's certificate does nothing to a job but
 * let it be claimed, later or never, which is among the orders of steps here, and have it fail for good while it is queued.
 *
 * Each MUTANT(m) is a mutation: a fault that somebody could build in. model.sh checks that each of them is found. */

#include "choices.pml"

#define TRIES_LEFT (count < tries)	/* 2 or 3 */
byte faults = CHOSEN(FAULTS);	/* crashes, leases lost by the living, lost answers of the database */
#define MAY_FAIL (faults > 0)
#define FAULT faults = faults - (faults_allowed != ANY)
byte ops = CHOSEN(OPS);		/* words of an operator, and requests for an attempt */
#define MAY_SPEAK (ops > 0)
#define SPEAK ops = ops - (ops_allowed != ANY)
byte give_ups = CHOSEN(GIVE_UPS);	/* how often no route is left */
#define MAX_ATTEMPTS 2

/* Attempts: enum attempt_state. The order serves IN_DOUBT and IN_PLAY. */
#define A_NONE 0
#define A_STARTING 1
#define A_RUNNING 2
#define A_UNKNOWN 3
#define A_RELEASED 4
#define A_SUCCEEDED 5
#define A_FAILED 6
#define A_CANCELLED 7
#define A_DISCARDED 8
#define IN_DOUBT(s) (s >= A_STARTING && s <= A_UNKNOWN)
#define IN_PLAY(s) (s >= A_STARTING && s <= A_RELEASED)
#define ENDED(s) (s > A_RELEASED)

/* Jobs: enum job_state. */
#define J_NONE 0
#define J_QUEUED 1
#define J_RUNNING 2
#define J_UNKNOWN 3
#define J_SUCCEEDED 4
#define J_FAILED 5
#define J_CANCELLED 6
#define OPEN(s) (s >= J_QUEUED && s <= J_UNKNOWN)
#define DECIDED(s) (s > J_UNKNOWN)

/* Words: enum attempt_event. */
#define W_NONE 0
#define W_ACKNOWLEDGED 1
#define W_RESULT 2
#define W_FAILURE 3
#define W_TRACK_LOST 4
#define W_RELEASE 5
#define W_CANCEL 6

/* What a word rests on. Only W_TRACK_LOST may rest on a timer. */
#define E_NONE 0
#define E_PROVIDER 1
#define E_NOT_SENT 2
#define E_TIMER 3
#define E_OPERATOR 4

/* What the provider did with an attempt's request, whether or not anyone hears of it. */
#define T_NONE 0
#define T_DID 1
#define T_REFUSED 2

/* attempts.claimed_by and the lease that it names. LAPSED: run out, or no poller's; ORPHAN: runs still, and nobody renews it. */
#define LAPSED 0
#define HOLDER(poller) ((poller) + 1)
#define ORPHAN 3

/* --- the database */

byte jstate, version, completed, result, count, allowed = MAX_ATTEMPTS;
byte astate[4], version_read[4], held[4];	/* from 1 */
byte resent[4];			/* attempts.resent */
bool locked;			/* the job's row, by a claim that isn't committed */
bool too_late;			/* deadline_at has passed */

/* --- the world */

byte truth[4];
bool busy[2];			/* a poller has work in hand */
byte in_time;			/* the attempt that is to be sent again, and the hold of its taker runs; 0: none */

/* --- the monitors' memory: what was before the last commit, and what no column says */

bool by_hand[4];	/* an operator answers for what else it may do */
byte seen[4];		/* decisions taken when it started */
byte on_its_way;	/* the attempt that is being sent again, not yet heard of, under a lease that runs; 0: none */
byte astate_was[4];
byte jstate_was, version_was, completed_was, result_was, decisions;
hidden byte evidence;		/* of the transaction that commits */
hidden byte answered;		/* the word that is settled is the answer to a sending: one more than its number; 0: to none */
hidden byte requested;		/* that transaction is a request for an attempt */

/* The properties. Each is there to name the assertion that fails, and is false for ever; true switches it off, so that what is
 * seen is what its breach leads to. */
hidden byte work_done_twice_only_by_hand = false;
hidden byte one_attempt_in_doubt = CHOSEN(ONLY_THE_WORK);
hidden byte job_and_doubt_agree = CHOSEN(ONLY_THE_WORK);
hidden byte sent_only_when_committed = CHOSEN(ONLY_THE_WORK);
hidden byte no_send_after_its_turn = CHOSEN(ONLY_THE_WORK);
hidden byte sent_only_once = CHOSEN(ONLY_THE_WORK);
hidden byte sent_again_only_while_it_holds = CHOSEN(ONLY_THE_WORK);
hidden byte no_failure_while_sent_again = CHOSEN(ONLY_THE_WORK);
hidden byte no_doubt_resolved_by_a_timer = CHOSEN(ONLY_THE_WORK);
hidden byte failed_only_when_certain = CHOSEN(ONLY_THE_WORK);
hidden byte an_ended_attempt_stays = CHOSEN(ONLY_THE_WORK);
hidden byte one_winner = CHOSEN(ONLY_THE_WORK);
hidden byte no_result_after_an_unseen_decision = CHOSEN(ONLY_THE_WORK);
hidden byte version_counts_decisions = CHOSEN(ONLY_THE_WORK);
hidden byte a_settled_job_stays = CHOSEN(ONLY_THE_WORK);
hidden byte no_attempt_starting_for_ever = CHOSEN(ONLY_THE_WORK);
hidden byte no_job_forgotten = CHOSEN(ONLY_THE_WORK);

#define DOUBTS (IN_DOUBT(astate[1]) + IN_DOUBT(astate[2]) + IN_DOUBT(astate[3]))
#define RUNS (astate[1] == A_RUNNING -> 1 : (astate[2] == A_RUNNING -> 2 : (astate[3] == A_RUNNING -> 3 : 0)))
#define OTHER_IN_DOUBT(i) (DOUBTS - IN_DOUBT(astate[i]) > 0)

/* --- what must hold after every commit */

inline watch_attempt(i)
{
	assert(an_ended_attempt_stays || !ENDED(astate_was[i]) || astate[i] == astate_was[i]);
	assert(no_doubt_resolved_by_a_timer || evidence != E_TIMER || astate[i] == astate_was[i] || astate[i] == A_UNKNOWN);
	assert(failed_only_when_certain || astate[i] != A_FAILED || by_hand[i] || truth[i] == T_REFUSED || truth[i] == T_NONE);
	assert(no_failure_while_sent_again || on_its_way != i || astate[i] == A_UNKNOWN || astate[i] == A_SUCCEEDED ||
	       astate[i] == A_DISCARDED);
	astate_was[i] = astate[i]
}

inline watch_job()
{
	assert(one_winner || completed_was == 0 || (completed == completed_was && result == result_was));
	assert(one_winner || (completed == 0 && jstate != J_SUCCEEDED) ||
	       (jstate == J_SUCCEEDED && result == completed && astate[completed] == A_SUCCEEDED));
	assert(no_result_after_an_unseen_decision || completed == completed_was || seen[completed] == decisions);
	assert(a_settled_job_stays || !DECIDED(jstate_was) || (jstate == jstate_was && version == version_was) ||
	       (jstate_was == J_FAILED && (jstate == J_CANCELLED || (jstate == J_QUEUED && requested && version == version_was))));
	if
	:: DECIDED(jstate) && jstate != jstate_was -> decisions++
	:: else
	fi;
	assert(version_counts_decisions || version == decisions);
	assert(job_and_doubt_agree || jstate != J_QUEUED || DOUBTS == 0);
	assert(job_and_doubt_agree || (jstate != J_RUNNING && jstate != J_UNKNOWN) || DOUBTS == 1);
	jstate_was = jstate;
	version_was = version;
	completed_was = completed;
	result_was = result
}

inline commit()
{
	assert(one_attempt_in_doubt || DOUBTS <= 1);
	watch_attempt(1);
	watch_attempt(2);
	watch_attempt(3);
	watch_job();
	evidence = E_NONE;
	answered = 0;
	requested = false
}

/* --- core/moves.c */

/* moves_holds(), and HELD_BY_VERSION of store/sql.c */
#define HOLDS(i) (MUTANT(M_SWAP_TAKEN_SLOT) && jstate == J_SUCCEEDED || MUTANT(M_CANCELLED_TAKES_RESULT) && jstate == J_CANCELLED || \
	(OPEN(jstate) && completed == 0 && (version_read[i] == version || MUTANT(M_SWAP_ANY_VERSION))))

/* attempt_rules[].from and .operator_from, and the states in the WHERE of SQL_ATTEMPT_* */
#define FROM_RESULT(s) (IN_PLAY(s) || (MUTANT(M_ENDED_MOVES) && s != A_NONE))
#define FROM_HAND(s) (s == A_RUNNING || s == A_UNKNOWN || (MUTANT(M_STARTING_BY_HAND) && s == A_STARTING))
#define PERMITTED_FROM(event, s) ( \
	(event == W_ACKNOWLEDGED && s == A_STARTING) || \
	(event == W_RESULT && FROM_RESULT(s)) || \
	(event == W_FAILURE && (evidence == E_OPERATOR -> (FROM_HAND(s) || s == A_RELEASED) : IN_PLAY(s))) || \
	(event == W_TRACK_LOST && (s == A_STARTING || s == A_RUNNING)) || \
	(event == W_RELEASE && FROM_HAND(s)) || \
	(event == W_CANCEL && (FROM_HAND(s) || s == A_RELEASED)))

/* moves_sent_since(), and NOT_SENT_AGAIN of store/sql.c. Before any sending again `answered` tells nothing. */
#define UNDER_WAY(i) (astate[i] == A_UNKNOWN && held[i] != LAPSED)
#define SENT_SINCE(event, i) (answered > 1 && !MUTANT(M_ANY_SENDINGS_FAILURE) -> answered - 1 < resent[i] : \
	(answered == 0 || !MUTANT(M_ANY_SENDINGS_FAILURE)) && (UNDER_WAY(i) || (answered == 1 && resent[i] > 0)))
#define HEARS_ALL(event) (!MUTANT(M_FREED_WHILE_SENT_AGAIN) && (event == W_FAILURE || event == W_RELEASE || event == W_CANCEL))
#define PERMITTED(event, i) (PERMITTED_FROM(event, astate[i]) && !(HEARS_ALL(event) && SENT_SINCE(event, i)))

/* job_rules[].quiet_only, and NONE_ELSE_IN_DOUBT of store/sql.c */
#define QUIET(i) (MUTANT(M_RETRY_BESIDE_DOUBT) || !OTHER_IN_DOUBT(i))

/* may_retry() of store/settle.c */
#define MAY_RETRY(event, retry, named) \
	(event == W_RELEASE || (retry && !too_late && (named || count < allowed)))

/* --- store/settle.c */

/* settle_complete() and attempt_end(); the loser's end is SQL_ATTEMPT_DISCARD */
inline bring_result(i)
{
	if
	:: HOLDS(i) ->
		jstate = J_SUCCEEDED;
		completed = i;
		result = i;
		version++;
		astate[i] = A_SUCCEEDED
	:: else -> astate[i] = A_DISCARDED
	fi
}

/* job_requeue() */
inline requeue(one_more)
{
	jstate = J_QUEUED;
	if
	:: one_more && allowed < count + 1 -> allowed = count + 1
	:: else
	fi
}

/* job_fail() */
inline fail_for_good()
{
	jstate = J_FAILED;
	version = version + !MUTANT(M_FAILURE_KEEPS_VERSION)
}

/* The job's side of a failure, a release and a cancel. */
inline clear_the_way(i, event, retry, named)
{
	if
	:: HOLDS(i) && (jstate == J_RUNNING || jstate == J_UNKNOWN) && QUIET(i) ->
		if
		:: MAY_RETRY(event, retry, named) -> requeue(event == W_RELEASE || named)
		:: else -> fail_for_good()
		fi
	:: else
	fi
}

/* settle_locked(): the only place where a word becomes rows. `evidence` is set by the caller, who commits. */
inline settle(i, event, retry, named)
{
	if
	:: PERMITTED(event, i) ->
		if
		:: event == W_RESULT -> bring_result(i)
		:: event == W_ACKNOWLEDGED -> astate[i] = A_RUNNING
		:: event == W_TRACK_LOST ->
			if
			:: HOLDS(i) && jstate == J_RUNNING -> jstate = J_UNKNOWN	/* job_lose_track() */
			:: else
			fi;
			astate[i] = A_UNKNOWN
		:: else ->
			clear_the_way(i, event, retry, named);
			by_hand[i] = by_hand[i] || evidence == E_OPERATOR;
			astate[i] = (event == W_RELEASE -> A_RELEASED : (event == W_CANCEL -> A_CANCELLED : A_FAILED))
		fi;
		held[i] = LAPSED
	:: else		/* MOVE_LATE, MOVE_REPEATED, MOVE_REFUSED: no row moves */
	fi
}

/* --- poller/: two of them. The desk's thread and the wire's are one here: an attempt is with one of them at a time. */

/* request() of store/job_change.c, SQL_JOB_REQUEST */
#define REQUESTABLE (MUTANT(M_REQUEST_BESIDE_DOUBT) && OPEN(jstate) || \
	((jstate == J_FAILED || jstate == J_QUEUED || (MUTANT(M_REQUEST_REVIVES) && jstate == J_CANCELLED)) && DOUBTS == 0 && !too_late))

/* SQL_CLAIM_LOCK, and the unique key one_in_doubt */
#define CLAIMABLE (!too_late && (jstate == J_QUEUED && DOUBTS == 0 || \
	MUTANT(M_CLAIM_BESIDE_DOUBT) && (jstate == J_QUEUED || jstate == J_UNKNOWN)))

/* write_attempts() and write_jobs() of store/claim.c, and the commit */
inline write_claim(holder)
{
	count++;
	astate[count] = A_STARTING;
	version_read[count] = version;
	held[count] = holder;
	seen[count] = decisions;
	jstate = J_RUNNING;
	locked = false;
	commit()
}

inline do_or_refuse(i)
{
	if
	:: truth[i] = T_DID
	:: truth[i] = T_REFUSED
	fi;
	told = truth[i];
	assert(work_done_twice_only_by_hand || truth[1] != T_DID || i == 1 || truth[i] != T_DID || by_hand[1]);
	assert(work_done_twice_only_by_hand || truth[2] != T_DID || i == 2 || truth[i] != T_DID || by_hand[2])
}

/* The first byte leaves. What the provider does with it is settled here, whoever hears of it and when. */
inline send(i)
{
	assert(sent_only_when_committed || astate[i] != A_NONE);
	/* An operator's result may end it before it is sent; whatever else ends its poller's turn may start another. */
	assert(no_send_after_its_turn || astate[i] == A_STARTING || astate[i] == A_SUCCEEDED || astate[i] == A_DISCARDED);
	assert(sent_only_once || truth[i] == T_NONE);
	do_or_refuse(i)
}

/* The same under the same key. Work that was done isn't done again; what was refused, or never came, may be done now. */
inline send_again(i)
{
	assert(no_send_after_its_turn || astate[i] == A_UNKNOWN || astate[i] == A_SUCCEEDED || astate[i] == A_DISCARDED);
	if
	:: truth[i] == T_DID -> told = T_DID
	:: else -> do_or_refuse(i)
	fi
}

/* may_resend() of store/ask.c: the attempt in doubt. Its hold is over, or nobody has one. */
#define DOUBT (astate[1] == A_UNKNOWN -> 1 : (astate[2] == A_UNKNOWN -> 2 : (astate[3] == A_UNKNOWN -> 3 : 0)))
#define MAY_RESEND(i) (MUTANT(M_RESEND_UNHELD) || (jstate == J_RUNNING || jstate == J_UNKNOWN) && HOLDS(i))
#define HOLD_OVER (MUTANT(M_NO_HOLD) || in_time == 0)
#define RESENDABLE (resent[1] + resent[2] + resent[3] < resends && !too_late && HOLD_OVER && DOUBT > 0 && MAY_RESEND(DOUBT))

/* take_one() of store/ask.c: hold_lease() and begin() */
inline take_again(holder)
{
	mine = DOUBT;
	assert(sent_again_only_while_it_holds || (OPEN(jstate) && completed == 0 && seen[mine] == decisions));
	resent[mine]++;		/* SQL_ASK_BEGIN */
	sending = resent[mine];
	held[mine] = (MUTANT(M_NO_RESEND_LEASE) -> held[mine] : holder);
	commit()
}

/* It is heard of, or will never be: of the last sending nothing else comes. */
inline hear_again()
{
	if
	:: sending > 0 && on_its_way == mine && sending == resent[mine] -> on_its_way = 0
	:: else
	fi
}

/* keep() of store/ask.c: an answer that settles nothing. It counts only while the question is the last. */
inline note_again()
{
	if
	:: astate[mine] == A_UNKNOWN && sending == resent[mine] -> held[mine] = LAPSED
	:: else
	fi
}

/* Back to where nothing is in hand. */
inline forget()
{
	hear_again();
	in_time = (sending > 0 && !late && told == T_NONE && said == W_NONE -> 0 : in_time);	/* it was about to send */
	mine = 0;
	sending = 0;
	told = T_NONE;
	late = false;
	said = W_NONE;
	rests_on = E_NONE;
	busy[_pid] = false
}

/* errand_conclude() and desk_return() for what was heard, then settle_some() and settle_words() */
inline say(event, retry, by)
{
	hear_again();
	evidence = by;
	answered = (event == W_FAILURE -> sending + 1 : 0);
	settle(mine, event, retry, false);
	commit();
	late = false;
	told = T_NONE;
	said = event;
	rests_on = by;
	if
	:: MAY_FAIL	/* then it may be said again */
	:: else -> forget()
	fi
}

inline orphan(i)
{
	held[i] = (held[i] == HOLDER(_pid) -> ORPHAN : held[i])
}

/* The process is gone, and what it had in memory; its rows and its lease stay. It comes back under a new id. */
inline crash()
{
	FAULT;
	orphan(1);
	orphan(2);
	orphan(3);
	forget()
}

/* It couldn't renew in time and lives on, under a new id: desk_give_up_id() and register_anew() of poller/desk.c. */
#define LEASE_RUNS_OUT(when) d_step { when && MAY_FAIL && held[mine] == HOLDER(_pid) -> FAULT; held[mine] = LAPSED; hear_again() }

/* wire_send(): less than half of the lease has passed on the poller's own clock */
#define IN_TIME (!late || MUTANT(M_SEND_LATE))

#define MAY_BEGIN (!busy[_pid] && (_pid == 0 || busy[0]))	/* idle pollers are all alike: the second begins only beside the first */

active [2] proctype Poller()
{
	byte mine, said, rests_on;
	byte sending;	/* 0: the first; else which time it goes out again */
	byte told;	/* what the provider did with this sending */
	bool late;

	/* claim() of poller/desk.c looks at its clock; claim_work() of store/claim.c renews the lease and locks the job's row. */
end:
	if
	:: d_step { said != W_NONE -> forget() } -> goto end
	/* RC_UNCERTAIN, and it was done: the same is said again */
	:: d_step { said != W_NONE && MAY_FAIL && !locked -> FAULT; say(said, false, rests_on) } -> goto end
	:: d_step { !locked && CLAIMABLE && TRIES_LEFT && MAY_BEGIN -> locked = true; busy[_pid] = true }
	/* questions_ask() of poller/questions.c, the transaction of ask_take() */
	:: d_step { !locked && RESENDABLE && MAY_BEGIN ->
		take_again(HOLDER(_pid));
		busy[_pid] = true;
		in_time = mine;
		on_its_way = mine } -> goto taken
	:: d_step { MAY_FAIL && !locked && RESENDABLE && MAY_BEGIN ->	/* RC_UNCERTAIN, and it was done */
		FAULT;
		take_again(ORPHAN);
		late = true;	/* there is nothing in hand */
		forget() } -> goto end
	fi;
	/* claim_jobs() of store/claim.c: the transaction */
	if
	:: d_step { true -> write_claim(HOLDER(_pid)); mine = count }
	:: d_step { MAY_FAIL -> locked = false; crash() } -> goto end	/* or all is undone: RC_RETRY, RC_FAULT */
	:: d_step { MAY_FAIL ->	/* RC_UNCERTAIN: the answer to the commit is lost, and it was done */
		FAULT;
		write_claim(ORPHAN);	/* under a new id nobody renews the lease that holds it */
		held[count] = (MUTANT(M_UNCERTAIN_KEEPS_LEASE) -> HOLDER(_pid) : ORPHAN);
		forget() } -> goto end
#ifdef MUTANTS
	:: atomic { MUTANT(M_SEND_BEFORE_COMMIT) -> mine = count + 1; send(mine) } -> goto sent
	:: d_step { MUTANT(M_SEND_UNCERTAIN) -> locked = false; mine = count + 1 }	/* RC_UNCERTAIN, and it was not done */
#endif
	fi;
claimed:	/* desk_hand_out() and desk_take() of poller/desk.c */
	if
	:: !late -> late = true; goto claimed
	:: atomic { IN_TIME -> late = false; send(mine) } -> goto sent	/* wire_send() */
	:: d_step { !locked -> say(W_FAILURE, true, E_NOT_SENT) } -> goto end	/* refused, no such host; return_unsent() */
	:: LEASE_RUNS_OUT(late) -> goto claimed
	:: d_step { MAY_FAIL -> crash() } -> goto end
	fi;
taken:	/* as above; late is also when its hold is over, for then somebody else may take it */
	if
	:: d_step { !late -> late = true; in_time = 0 } -> goto taken
	:: atomic { IN_TIME -> in_time = (late -> in_time : 0); late = false; send_again(mine) } -> goto sent
	:: d_step { !locked -> note_again(); forget() } -> goto end	/* errand_never_sent(); errands_take_resends() */
	:: LEASE_RUNS_OUT(late) -> goto taken
	:: d_step { MAY_FAIL -> crash() } -> goto end
	fi;
sent:	/* take_finished() of poller/wire.c. Hearing and saying are one step: what else could happen between is a crash. */
	if
	:: d_step { !locked && told == T_DID -> say(W_RESULT, false, E_PROVIDER) }
	/* after a sending again: a contract violation, or a status that the row names; outcome_settles_resend() */
	:: d_step { !locked && told == T_REFUSED -> say(W_FAILURE, true, E_PROVIDER) }
	:: d_step { !locked && told == T_REFUSED -> say(W_FAILURE, false, E_PROVIDER) }
	:: d_step { !locked && sending > 0 -> note_again(); forget() } -> goto end	/* ask_note(): all else keeps the doubt */
	:: d_step { !locked && sending == 0 -> say(W_ACKNOWLEDGED, false, E_PROVIDER) }	/* 202, where the row has `accepted` */
	:: d_step { !locked && sending == 0 ->	/* a time-out, a reset, a cut answer; wire_abandon() */
		say((MUTANT(M_TIMEOUT_FAILS) -> W_FAILURE : W_TRACK_LOST), true, E_TIMER) }
#ifdef MUTANTS
	:: d_step { MUTANT(M_GATEWAY_FAILS) && !locked -> say(W_FAILURE, true, E_PROVIDER) }	/* an answer, but not the provider's */
	:: atomic { MUTANT(M_SEND_AGAIN) -> send(mine) } -> goto sent
#endif
	:: LEASE_RUNS_OUT(true) -> goto sent
	:: d_step { MAY_FAIL -> crash() } -> goto end
	fi;
	goto end
}

/* --- upkeep by whichever poller is at it, and the passing of time */

#define LOST(i) (astate[i] == A_STARTING && held[i] == LAPSED)	/* SQL_ATTEMPT_LOST_LEASES */
#define REAPABLE(i) (LOST(i) && !MUTANT(M_NO_REAPER))
#define EXPIRABLE (jstate == J_QUEUED && too_late && !MUTANT(M_NO_EXPIRY))	/* SQL_JOB_EXPIRE */

inline lose_track(i)
{
	evidence = E_TIMER;
	settle(i, W_TRACK_LOST, false, false);
	commit()
}

active proctype Upkeep()
{
	byte found, i;

end:
	do
	/* find_lost() reads without a lock ... */
	:: found == 0 && REAPABLE(1) -> found = 1
	:: found == 0 && REAPABLE(2) -> found = 2
	:: found == 0 && REAPABLE(3) -> found = 3
	/* ... and claim_reap() settles what it found, in a transaction of its own, whatever happened between ... */
	:: d_step { found > 0 && !locked ->
		evidence = E_TIMER;
		settle(found, (MUTANT(M_REAPER_FAILS) -> W_FAILURE : W_TRACK_LOST), true, false);
		commit();
		found = 0 }
	/* ... unless its process crashes between */
	:: d_step { MAY_FAIL && found > 0 -> FAULT; found = 0 }
	/* claim_expire(): one statement, which repeats the guard */
	:: d_step { EXPIRABLE && !locked ->
		jstate = J_FAILED;
		version = version + !MUTANT(M_EXPIRY_KEEPS_VERSION);
		commit() }
	/* give_up() of store/routes.c, in a claim's transaction or upkeep's; when it's too late it comes to the same */
	:: d_step { jstate == J_QUEUED && count > 0 && give_ups > 0 && !too_late && !locked ->
		give_ups--;
		fail_for_good();
		commit() }
	:: !too_late && jstate != J_NONE -> too_late = true
	/* a lease that nobody renews runs out */
	:: d_step { held[1] == ORPHAN -> held[1] = LAPSED }
	:: d_step { held[2] == ORPHAN -> held[2] = LAPSED }
	:: d_step { held[3] == ORPHAN -> held[3] = LAPSED }
	/* acknowledged work isn't heard of until its deadline: at most one attempt is in doubt, so the first is the only one */
	:: d_step { !locked && RUNS > 0 ->
		i = RUNS;
		lose_track(i);
		i = 0 }
	od
}

/* --- the provider's later word, by a callback or a status query, through settle_words(): also before its own answer is read */

#define HEARD(i) (truth[i] != T_NONE && IN_PLAY(astate[i]))	/* a word after the end: see Poller, settling */

active proctype Provider()
{
	byte i;

end:
	do
	:: atomic { !locked && (HEARD(1) || HEARD(2) || HEARD(3)) ->
		if
		:: HEARD(1) -> i = 1
		:: HEARD(2) -> i = 2
		:: HEARD(3) -> i = 3
		fi;
		d_step {
			evidence = E_PROVIDER;
			if
			:: truth[i] == T_DID -> settle(i, W_RESULT, false, false)
			:: else -> settle(i, W_FAILURE, true, false)
			fi;
			commit();
			i = 0 } }
	od
}

/* --- an operator, who may be wrong */

active proctype Operator()
{
	byte i, event;
	bool named;

end:
	do
	/* settle_by_operator() */
	:: atomic { MAY_SPEAK && !locked && (IN_PLAY(astate[1]) || IN_PLAY(astate[2]) || IN_PLAY(astate[3])) ->
		if
		:: IN_PLAY(astate[1]) -> i = 1
		:: IN_PLAY(astate[2]) -> i = 2
		:: IN_PLAY(astate[3]) -> i = 3
		fi;
		if
		:: event = W_RESULT
		:: event = W_FAILURE
		:: event = W_RELEASE
		:: event = W_CANCEL
		fi;
		if
		:: event != W_RESULT -> named = true	/* the next attempt's provider */
		:: named = false
		fi;
		d_step {
			SPEAK;
			evidence = E_OPERATOR;
			if
			:: LOST(i) -> settle(i, W_TRACK_LOST, false, false)	/* lose_lease() of settle_operator.c */
			:: else
			fi;
			settle(i, event, true, named);
			commit();
			i = 0;
			event = W_NONE;
			named = false } }
	/* job_store_request_attempt() */
	:: d_step { MAY_SPEAK && !locked && REQUESTABLE ->
		SPEAK;
		requested = true;
		requeue(true);		/* start_over() of store/job_change.c */
		commit() }
	od
}

/* --- clients, who do everything again and again */

inline insert_row(state, decided)
{
	jstate = state;
	version = decided;
	commit()
}

/* job_store_create(). Which of many creates it was, and what the others are told, is intake.pml's. */
active proctype Client()
{
end:
	do
	:: d_step { jstate == J_NONE -> insert_row(J_QUEUED, 0) }
	od
}

/* job_store_cancel_key(): the insert of a tombstone decides, else the row is locked and cancelled, as in job_store_cancel() */
active proctype Canceller()
{
end:
	do
	:: d_step { jstate == J_NONE -> insert_row(J_CANCELLED, 1) }
	:: d_step { jstate != J_NONE && !locked && jstate != J_SUCCEEDED && jstate != J_CANCELLED ->	/* moves_cancel_job() */
		jstate = J_CANCELLED;
		version = version + !MUTANT(M_CANCEL_KEEPS_VERSION);
		commit() }
	od
}

/* --- what must have happened at last: nothing is left to do but what nobody has to */

#define AT_REST (jstate != J_NONE && !locked && !busy[0] && !busy[1] && !(CLAIMABLE && TRIES_LEFT) && \
	!EXPIRABLE && !REAPABLE(1) && !REAPABLE(2) && !REAPABLE(3) && \
	held[1] != ORPHAN && held[2] != ORPHAN && held[3] != ORPHAN && RUNS == 0)

active proctype Rest()
{
end:
	do
	:: d_step { AT_REST && (astate[1] == A_STARTING || astate[2] == A_STARTING || astate[3] == A_STARTING) ->
		assert(no_attempt_starting_for_ever) }
	:: d_step { AT_REST && jstate == J_QUEUED && TRIES_LEFT -> assert(no_job_forgotten) }
	od
}
